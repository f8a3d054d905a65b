// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.hpp"

namespace accelopt::devices::cuda {

/// What nvdisasm prints of the code of a cubin, with lines of the source where the cubin has them. It runs in the
/// sandbox and can read the cubin and the machine's libraries, nothing else.
/// @param program absolute path of nvdisasm
/// @error unsupported: it failed, took longer, or printed more than is read; cancelled; io.
base::Result<std::string> disassemble(const std::string& program, const std::string& cubin, const std::stop_token& stop,
                                      std::chrono::milliseconds limit = std::chrono::seconds(20));

}  // namespace accelopt::devices::cuda

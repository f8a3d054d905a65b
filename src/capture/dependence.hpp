// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "capture/request.hpp"
#include "devices/cuda/program.hpp"

namespace accelopt::capture {

/// An output that no launch can have made of data: neither a kernel that writes it nor any before that, on whose
/// results it may rest, is given an input that the host does not know. The host has put it together while nobody took
/// the time. None: every output may rest on data.
std::optional<std::string> known_output(const Shapes& shapes, const devices::cuda::LaunchPlan& plan);

}  // namespace accelopt::capture

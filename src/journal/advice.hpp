// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"

namespace accelopt::journal {

/// An operating system's refusal of a file of the journal, with what to do about it: "...; make it writable, or choose
/// another workspace with --workspace DIR". Errors of other kinds come back as they are.
base::Error advised(base::Error error);

}  // namespace accelopt::journal

// SPDX-License-Identifier: Apache-2.0
// What a candidate's device code may not do, as far as its cubin tells. What it does to its variables the device server
// observes (devices/cuda/watched_variables.hpp).
#pragma once

#include <string>

#include "devices/cuda/cubin.hpp"

namespace accelopt::targets::cuda {

/// Why the cubin may not run: device-side printf, malloc, assert or launches. Empty when it may.
std::string refused_cubin(const devices::cuda::Cubin& cubin);

}  // namespace accelopt::targets::cuda

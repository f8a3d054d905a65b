// SPDX-License-Identifier: Apache-2.0
// What a candidate's device code may not do, as far as its text and its cubin tell. What escapes this is met by loading
// the module anew before every measurement.
#pragma once

#include <string>
#include <string_view>

#include "devices/cuda/cubin.hpp"
#include "model/solution.hpp"

namespace accelopt::targets::cuda {

/// Why the text may not be compiled, as "line:column: error: reason": files by absolute, parent or computed paths,
/// #line, and macros that are named like keywords. Empty when it may.
std::string refused_device_text(std::string_view source);

/// Why the cubin may not run: variables that keep their value from call to call, device-side printf, malloc, assert or
/// launches. Constants of the candidate's own (`const` or `constexpr`), of CUDA's headers and of its mathematical
/// functions are no such variables. Empty when it may.
std::string refused_cubin(const devices::cuda::Cubin& cubin, const model::Solution& solution);

}  // namespace accelopt::targets::cuda

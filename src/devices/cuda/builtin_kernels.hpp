// SPDX-License-Identifier: Apache-2.0
// The texts of kernels/, built into the program.
#pragma once

#include <string_view>

namespace accelopt::devices::cuda {

/// What other texts begin with; peak_kernels has no need of it.
std::string_view elements_text();
std::string_view input_kernels_text();
std::string_view check_kernels_text();
std::string_view peak_kernels_text();

}  // namespace accelopt::devices::cuda

// SPDX-License-Identifier: Apache-2.0
// What device code of one task includes implicitly, and the C headers that NVRTC does not have.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/task.hpp"

namespace accelopt::targets::cuda {

/// For candidates: integer types, CUtensorMap, CUDA's own 16-bit and 8-bit floats where the task has them, the constant
/// axes, and in a comment what each name is when a launch's args give it to a kernel.
std::string device_header(const model::Definition& definition);

/// For reference.cu: the same, with a type `real` (the macro ACCELOPT_REAL) in place of every floating one.
std::string device_reference_header(const model::Definition& definition);

/// Both for a compiler that has the C library's and CUDA's own headers (nvcc), without this program: `real` is the
/// macro REAL there.
std::string standalone_header(const model::Definition& definition);
std::string standalone_reference_header(const model::Definition& definition);

/// The definition as reference.cu sees it: every floating type is `real`, float64 or float32.
model::Definition reference_definition(model::Definition definition, model::DType real);

/// Small stand-ins for what the C library and CUDA's host side declare (stdint.h, math.h, cuda.h, ...): name in
/// #include, text.
const std::vector<std::pair<std::string, std::string>>& library_headers();

/// The type that a kernel declares for an element: "float", "__half", "int64_t", ...
std::string_view device_type(model::DType dtype);

}  // namespace accelopt::targets::cuda

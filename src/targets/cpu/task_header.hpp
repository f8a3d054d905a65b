// SPDX-License-Identifier: Apache-2.0
// The C and C++ text that accelopt generates for one task.
#pragma once

#include <string>

#include "model/solution.hpp"
#include "model/task.hpp"

namespace accelopt::targets::cpu {

/// task.h as candidates and the model see it: constant axes, small floating types, the prototype of `kernel`.
std::string kernel_header(const model::Definition& definition);

/// task.h as the reference sees it: `real` for every floating type, and the prototype of `reference`. The macro
/// ACCELOPT_REAL chooses float or double.
std::string reference_header(const model::Definition& definition);

/// What the reference has to define, without a body: `extern "C" void reference(const real* x, real* y, int64_t N)`, in
/// C without the first two words.
std::string reference_prototype(const model::Definition& definition, model::Language language);

/// The translation unit (C++) that calls `kernel` from an array of pointers: tensors as they are, scalars and axes
/// through them.
std::string kernel_glue(const model::Definition& definition);

/// The same for `reference`.
std::string reference_glue(const model::Definition& definition);

}  // namespace accelopt::targets::cpu

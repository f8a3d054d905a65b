// SPDX-License-Identifier: Apache-2.0
// A task's reference in C or C++, as a package's test builds and calls it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/task.hpp"
#include "packages/package.hpp"

namespace accelopt::packages {

/// "const float* x", a parameter each: floating types are `real` where it is given, else their own (small floats:
/// their bits).
std::vector<std::string> c_parameters(const model::Definition& definition, std::optional<model::DType> real);

/// Declarations of reference_double and reference_float.
std::string host_reference_declarations(const model::Definition& definition);

/// `inline void NAME(void* const* a)`, which calls the function with pointers to all of its arguments.
std::string host_call(const model::Definition& definition, const std::string& name, const std::string& function,
                      std::optional<model::DType> real);

/// test/reference.cpp and the task.h that it includes.
std::vector<PackageFile> host_reference_files(const model::Task& task);

}  // namespace accelopt::packages

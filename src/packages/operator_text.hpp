// SPDX-License-Identifier: Apache-2.0
// The Python of an operator of PyTorch, as far as it follows from a task's definition.
#pragma once

#include <string>

#include "model/task.hpp"
#include "packages/package_text.hpp"

namespace accelopt::packages {

/// LIBRARY, SCHEMA, AXES, TYPES, INPUTS, OUTPUTS, ARGUMENTS and RETURNED of the templates in python/.
Filling operator_filling(const model::Definition& definition, const std::string& name);

/// The operator on the launcher's library.
std::string launcher_operator(const model::Definition& definition, const std::string& name);

/// The operator on the function of a Python module.
std::string function_operator(const model::Definition& definition, const std::string& name);

}  // namespace accelopt::packages

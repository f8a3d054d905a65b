// SPDX-License-Identifier: Apache-2.0
// What a task's generators say of the values on which kernels were verified.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/solution.hpp"
#include "model/task.hpp"

namespace accelopt::scaffold {

/// A scalar input as the user's function has it.
struct ScalarParameter {
  std::string name;
  std::string type;  ///< canonical: "float", "unsigned int"
};

/// The condition that the parameter has a value that some workload of the task draws: "alpha == 0.5f",
/// "k >= 0 && k <= 8". Empty where the generators bound nothing (normal).
std::string values_are_drawn(const model::Task& task, const model::TensorSpec& scalar, const ScalarParameter& parameter,
                             model::Language language);

/// Whether all elements are one number, in every call.
bool is_one_value(const model::InitSpec& spec);

/// @error invalid_argument: all elements of a tensor are one number in every workload, so that kernels which never read
/// it pass, and no condition of a call could tell where they are right. The message names it.
base::Result<void> refuse_fixed_tensors(const model::Task& task);

}  // namespace accelopt::scaffold

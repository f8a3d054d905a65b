// SPDX-License-Identifier: Apache-2.0
// Constant axes of a task of which neither a call nor the function itself says how long they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/task.hpp"
#include "syntax/source.hpp"

namespace accelopt::scaffold {

/// The parameter that the [entry] gives that input, output or axis to; null: none.
const syntax::Parameter* parameter_of_entry(const model::Entry& entry, const syntax::Function& function,
                                            const std::string& name);

/// The value that the file itself gives a name, as its uses in the function show.
std::optional<std::int64_t> value_in(const syntax::Statement& statement, const std::string& name);

/// The constant axes that no parameter, no container's size, no declared array and no constant of the file gives, and
/// that the function's own subscripts do not come to either: `y[i + j]` ends at len + max_pitch, whatever the task
/// calls it. Callers may pass tensors of other lengths. Requires an [entry] that fits the function.
std::vector<std::string> unknown_extents(const model::Task& task, const syntax::Unit& unit,
                                         const syntax::Function& function);

}  // namespace accelopt::scaffold

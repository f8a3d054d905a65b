// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "base/toml.hpp"
#include "model/task.hpp"

namespace accelopt::suites {

/// Reads name, op_type, description, axes, inputs, outputs, numerics and cost of a task.toml's root table.
void read_definition(base::TableReader& root, model::Definition& definition, std::vector<base::Problem>& problems);

/// Why the text can be no name that people and models are shown in a line: it is too long, or holds characters that a
/// terminal obeys, that reorder text or that nobody sees. Empty: it can.
std::string refuse_shown_name(std::string_view name);

/// The names of all axes, in calling order.
std::vector<std::string> axis_names(const model::Definition& definition);

/// "unknown axis "Q"; known axes are M, K, N".
std::string unknown_axis(std::string_view name, const model::Definition& definition);

}  // namespace accelopt::suites

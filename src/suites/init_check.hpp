// SPDX-License-Identifier: Apache-2.0
// Whether a generator can draw an input.
#pragma once

#include <string>
#include <vector>

#include "model/task.hpp"

namespace accelopt::suites {

/// The axes that the generator's arguments name.
std::vector<std::string> names_in(const model::InitSpec& init);
/// Why the generator does not fit the tensor, whatever values its expressions have; empty when it does.
std::string refuse_init(const model::TensorSpec& tensor, const model::InitSpec& init);
/// The same with the axes' values; requires every axis of the shape to be bound.
std::string refuse_bound_init(const model::TensorSpec& tensor, const model::InitSpec& init,
                              const model::AxisValues& axes);

}  // namespace accelopt::suites

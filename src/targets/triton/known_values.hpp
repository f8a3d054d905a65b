// SPDX-License-Identifier: Apache-2.0
// What the host knows of a task's inputs, as it is captured with it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "capture/request.hpp"
#include "evaluation/bench.hpp"
#include "model/task.hpp"

namespace accelopt::targets::triton {

/// The plans that a build needs, each once.
struct Wanted {
  std::vector<std::string> plans;
  std::vector<capture::Shapes> shapes;  ///< with values of what the host knows, which no slot need have
  bool values = false;                  ///< slots differ in what the host knows
  bool scalars = false;                 ///< and in scalars, which every plan may hold
};
/// @error invalid_argument: an input cannot be drawn.
base::Result<Wanted> wanted_of(const model::Task& task);

/// Gives scalars and visible tensors their values, as their bytes say, in the definition's order.
void put_values(const model::Definition& definition, const std::vector<evaluation::Bytes>& values,
                capture::Shapes& shapes);

}  // namespace accelopt::targets::triton

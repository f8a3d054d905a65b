// SPDX-License-Identifier: Apache-2.0
#include "model/kernel.hpp"

namespace accelopt::model {

std::optional<Kernel> Kernel::with_values(const TuningValues& values) const {
  if (solution_.sources.empty()) return std::nullopt;
  const auto directives = tune_directives(solution_);
  if (!directives || directives->tuned.size() != values.size()) return std::nullopt;
  return Kernel(model::with_values(solution_, values));
}

}  // namespace accelopt::model

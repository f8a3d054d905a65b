// SPDX-License-Identifier: Apache-2.0
#include "evaluation/invocation_axes.hpp"

namespace accelopt::evaluation {

model::AxisValues axes_of(const model::Definition& definition, const Invocation& invocation) {
  model::AxisValues out;
  for (const model::Axis& axis : definition.axes) {
    if (axis.value) out[axis.name] = *axis.value;
  }
  const std::vector<std::string> variable = model::variable_axes(definition);
  for (std::size_t i = 0; i < variable.size(); ++i) out[variable[i]] = invocation.axes.at(i);
  return out;
}

}  // namespace accelopt::evaluation

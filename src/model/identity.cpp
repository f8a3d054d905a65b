// SPDX-License-Identifier: Apache-2.0
#include "model/identity.hpp"

#include "base/json_fields.hpp"

namespace accelopt::model {

std::string to_string(const Identity& identity) {
  std::string text;
  const auto add = [&text](char letter, int value) {
    if (value < 0) return;
    if (!text.empty()) text += '.';
    text += letter + std::to_string(value);
  };
  add('i', identity.iteration);
  add('b', identity.parent);
  add('p', identity.plan);
  add('a', identity.attempt);
  add('f', identity.fix);
  return text;
}

ACCELOPT_JSON(Identity) {
  field.required("iteration", it.iteration, "parent", it.parent, "plan", it.plan, "attempt", it.attempt, "fix", it.fix);
}

}  // namespace accelopt::model

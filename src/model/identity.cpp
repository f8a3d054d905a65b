// SPDX-License-Identifier: Apache-2.0
#include "model/identity.hpp"

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

void to_json(base::Json& out, const Identity& identity) {
  out = {{"iteration", identity.iteration},
         {"parent", identity.parent},
         {"plan", identity.plan},
         {"attempt", identity.attempt},
         {"fix", identity.fix}};
}

void from_json(const base::Json& in, Identity& identity) {
  in.at("iteration").get_to(identity.iteration);
  in.at("parent").get_to(identity.parent);
  in.at("plan").get_to(identity.plan);
  in.at("attempt").get_to(identity.attempt);
  in.at("fix").get_to(identity.fix);
}

}  // namespace accelopt::model

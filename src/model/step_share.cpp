// SPDX-License-Identifier: Apache-2.0
#include "model/step_share.hpp"

#include <cstdint>

namespace accelopt::model {

std::string describe(const StepShare& share) {
  if (share.part == StepShare::Part::racing)
    return std::to_string(share.done) + " of at most " + std::to_string(share.of) + " blocks";
  return std::to_string(share.of == 0 ? 0 : std::int64_t{100} * share.done / share.of) + " % verified";
}

void to_json(base::Json& out, const StepShare& value) {
  out = {
      {"part", value.part == StepShare::Part::racing ? "racing" : "verifying"}, {"done", value.done}, {"of", value.of}};
}

void from_json(const base::Json& in, StepShare& value) {
  const auto part = in.at("part").get<std::string>();
  if (part != "racing" && part != "verifying")
    throw base::Json::other_error::create(501, "an unknown part of a step", &in);
  value.part = part == "racing" ? StepShare::Part::racing : StepShare::Part::verifying;
  value.done = in.at("done").get<int>();
  value.of = in.at("of").get<int>();
  if (value.done < 0 || value.of < 1 || value.done > value.of)
    throw base::Json::other_error::create(501, "no share of a step", &in);
}

}  // namespace accelopt::model

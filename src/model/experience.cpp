// SPDX-License-Identifier: Apache-2.0
#include "model/experience.hpp"

namespace accelopt::model {

using base::read_field;

std::string_view to_string(Polarity polarity) {
  switch (polarity) {
    case Polarity::improves:
      return "improves";
    case Polarity::regresses:
      return "regresses";
    case Polarity::mends:
      return "mends";
  }
  return "improves";
}

Polarity parse_polarity(std::string_view name) {
  if (name == "regresses") return Polarity::regresses;
  return name == "mends" ? Polarity::mends : Polarity::improves;
}

void to_json(base::Json& out, const Plan& value) {
  out = {{"title", value.title}, {"rests_on", value.rests_on}, {"text", value.text}};
}

void from_json(const base::Json& in, Plan& value) {
  in.at("title").get_to(value.title);
  in.at("text").get_to(value.text);
  read_field(in, "rests_on", value.rests_on);
}

void to_json(base::Json& out, const Experience& value) {
  out = {{"id", value.id},
         {"title", value.title},
         {"strategy", value.strategy},
         {"before", value.before},
         {"after", value.after},
         {"diff", value.diff},
         {"polarity", to_string(value.polarity)},
         {"effect", value.effect},
         {"language", value.language},
         {"op_type", value.op_type},
         {"target", value.target},
         {"device", value.device},
         {"bound", value.bound},
         {"slow", value.slow},
         {"fast", value.fast},
         {"run", value.run},
         {"iteration", value.iteration},
         {"model", value.model}};
}

void from_json(const base::Json& in, Experience& value) {
  in.at("id").get_to(value.id);
  in.at("title").get_to(value.title);
  read_field(in, "strategy", value.strategy);
  read_field(in, "before", value.before);
  read_field(in, "after", value.after);
  read_field(in, "diff", value.diff);
  value.polarity = parse_polarity(in.value("polarity", std::string("improves")));
  read_field(in, "effect", value.effect);
  read_field(in, "language", value.language);
  read_field(in, "op_type", value.op_type);
  read_field(in, "target", value.target);
  read_field(in, "device", value.device);
  read_field(in, "bound", value.bound);
  read_field(in, "slow", value.slow);
  read_field(in, "fast", value.fast);
  read_field(in, "run", value.run);
  read_field(in, "iteration", value.iteration);
  read_field(in, "model", value.model);
}

}  // namespace accelopt::model

// SPDX-License-Identifier: Apache-2.0
#include "model/experience.hpp"

#include <cmath>
#include <limits>

#include "base/hash.hpp"
#include "base/json_fields.hpp"

namespace accelopt::model {

namespace {

constexpr std::int64_t kMostCredit = 1'000'000;
constexpr std::int64_t kMostIterations = std::numeric_limits<int>::max() - 1;  // people count from 1

constexpr auto kPlanFields = [](auto& field, auto& it) {
  field.required("title", it.title, "text", it.text);
  field.optional("rests_on", it.rests_on);
};

constexpr auto kEffectFields = [](auto& field, auto& it) {
  field.required("workload", it.workload, "ratio", it.ratio);
};

constexpr auto kExperienceFields = [](auto& field, auto& it) {
  field.optional("id", it.id, "title", it.title, "strategy", it.strategy, "before", it.before, "after", it.after,
                 "diff", it.diff, "effect", it.effect, "workloads", it.workloads, "language", it.language, "op_type",
                 it.op_type, "target", it.target, "device", it.device, "bound", it.bound, "task", it.task, "slow",
                 it.slow, "fast", it.fast, "run", it.run, "created", it.created, "model", it.model, "toolchain",
                 it.toolchain);
  field.named("polarity", it.polarity, parse_polarity);
  field.count("iteration", it.iteration, kMostIterations);
  field.count("shown", it.credit.shown, kMostCredit);
  field.count("used", it.credit.used, kMostCredit);
  field.count("confirmed", it.credit.confirmed, kMostCredit);
  field.count("refuted", it.credit.refuted, kMostCredit);
  field.count("agreeing", it.agreeing, kMostCredit);
  field.count("contradicting", it.contradicting, kMostCredit);
};

}  // namespace

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
  base::write_fields(out, value, kPlanFields);
}

void from_json(const base::Json& in, Plan& value) {
  base::read_fields(in, value, kPlanFields);
}

void to_json(base::Json& out, const WorkloadEffect& value) {
  base::write_fields(out, value, kEffectFields);
}

void from_json(const base::Json& in, WorkloadEffect& value) {
  base::read_fields(in, value, kEffectFields);
}

void to_json(base::Json& out, const Experience& value) {
  base::write_fields(out, value, kExperienceFields);
  if (value.agreeing == 0) out.erase("agreeing");
  if (value.contradicting == 0) out.erase("contradicting");
}

void from_json(const base::Json& in, Experience& value) {
  in.get_ref<const base::Json::object_t&>();  // anything else is no experience
  base::read_fields(in, value, kExperienceFields);
}

Interval of_unknown_width(double estimate) {
  return {estimate, 0, std::numeric_limits<double>::infinity()};
}

bool has_unknown_width(const Interval& interval) {
  return interval.low <= 0 && std::isinf(interval.high);
}

std::string content_id(const Experience& it) {
  // Each field behind its length, so that no two experiences run together into the same text.
  std::string content;
  const auto add = [&](std::string_view field) {
    content += std::to_string(field.size());
    content += ':';
    content += field;
  };
  for (const std::string* field : {&it.title, &it.strategy, &it.before, &it.after, &it.diff, &it.language, &it.op_type,
                                   &it.target, &it.device, &it.bound, &it.task, &it.slow, &it.fast, &it.run, &it.model})
    add(*field);
  add(to_string(it.polarity));
  add(std::to_string(it.iteration));
  // As such an effect was written before it could be left open: the same lists give the same ids.
  std::optional<Interval> effect = it.effect;
  if (effect && has_unknown_width(*effect)) effect->low = effect->high = effect->estimate;
  add(base::canonical({base::Json(effect), base::Json(it.workloads)}));
  return base::sha256_hex(content).substr(0, 16);
}

}  // namespace accelopt::model

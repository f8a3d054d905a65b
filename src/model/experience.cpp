// SPDX-License-Identifier: Apache-2.0
#include "model/experience.hpp"

#include <cmath>
#include <limits>

#include "base/hash.hpp"
#include "base/json_text.hpp"

namespace accelopt::model {

namespace {

constexpr std::int64_t kMostCredit = 1'000'000;
constexpr std::int64_t kMostIterations = std::numeric_limits<int>::max() - 1;  // people count from 1

constexpr auto kPolarityNames = std::to_array<base::Named<Polarity>>(
    {{Polarity::improves, "improves"}, {Polarity::regresses, "regresses"}, {Polarity::mends, "mends"}});

}  // namespace

std::string_view to_string(Polarity polarity) {
  return base::name_in(kPolarityNames, polarity);
}

Polarity parse_polarity(std::string_view name) {
  return base::value_in(kPolarityNames, name).value_or(Polarity::improves);
}

ACCELOPT_JSON(Plan) {
  field.required("title", it.title, "text", it.text);
  field.optional("rests_on", it.rests_on);
}
ACCELOPT_JSON_TEXT(Plan);

ACCELOPT_JSON(WorkloadEffect) {
  field.required("workload", it.workload, "ratio", it.ratio);
}

ACCELOPT_JSON(Experience) {
  field.object();
  field.optional("id", it.id, "title", it.title, "strategy", it.strategy, "before", it.before, "after", it.after,
                 "diff", it.diff, "effect", it.effect, "workloads", it.workloads, "language", it.language, "op_type",
                 it.op_type, "target", it.target, "device", it.device, "bound", it.bound, "task", it.task, "slow",
                 it.slow, "fast", it.fast, "run", it.run, "created", it.created, "model", it.model, "toolchain",
                 it.toolchain);
  field.optional_name("polarity", it.polarity, kPolarityNames);
  field.count("iteration", it.iteration, kMostIterations);
  field.count("shown", it.credit.shown, kMostCredit);
  field.count("used", it.credit.used, kMostCredit);
  field.count("confirmed", it.credit.confirmed, kMostCredit);
  field.count("refuted", it.credit.refuted, kMostCredit);
  field.count_unless_zero("agreeing", it.agreeing, kMostCredit);
  field.count_unless_zero("contradicting", it.contradicting, kMostCredit);
}

std::optional<Interval> taught_effect(const Experience& experience) {
  return experience.polarity == Polarity::mends ? std::nullopt : experience.effect;
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

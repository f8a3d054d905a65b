// SPDX-License-Identifier: Apache-2.0
#include "model/experience.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/hash.hpp"

namespace accelopt::model {

using base::read_field;

namespace {

/// Reads a count, brought into 0 to `most` whatever the file says: files come from strangers too.
template <class Count>
void read_count(const base::Json& in, const char* key, std::int64_t most, Count& target) {
  const auto found = in.find(key);
  if (found == in.end() || found->is_null()) return;
  const auto top = static_cast<double>(most);
  const auto count = found->is_number() ? found->get<double>() : static_cast<double>(found->get<std::int64_t>());
  target = static_cast<Count>(count > 0 ? std::min(count, top) : 0);
}

constexpr std::int64_t kMostCredit = 1'000'000;
constexpr std::int64_t kMostIterations = std::numeric_limits<int>::max() - 1;  // people count from 1

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
  out = {{"title", value.title}, {"rests_on", value.rests_on}, {"text", value.text}};
}

void from_json(const base::Json& in, Plan& value) {
  in.at("title").get_to(value.title);
  in.at("text").get_to(value.text);
  read_field(in, "rests_on", value.rests_on);
}

void to_json(base::Json& out, const WorkloadEffect& value) {
  out = {{"workload", value.workload}, {"ratio", value.ratio}};
}

void from_json(const base::Json& in, WorkloadEffect& value) {
  in.at("workload").get_to(value.workload);
  in.at("ratio").get_to(value.ratio);
}

void to_json(base::Json& out, const Experience& value) {
  out = {{"id", value.id},
         {"title", value.title},
         {"strategy", value.strategy},
         {"before", value.before},
         {"after", value.after},
         {"diff", value.diff},
         {"polarity", to_string(value.polarity)},
         {"effect", base::Json(value.effect)},
         {"workloads", value.workloads},
         {"language", value.language},
         {"op_type", value.op_type},
         {"target", value.target},
         {"device", value.device},
         {"bound", value.bound},
         {"task", value.task},
         {"slow", value.slow},
         {"fast", value.fast},
         {"run", value.run},
         {"iteration", value.iteration},
         {"created", value.created},
         {"model", value.model},
         {"toolchain", value.toolchain},
         {"shown", value.credit.shown},
         {"used", value.credit.used},
         {"confirmed", value.credit.confirmed},
         {"refuted", value.credit.refuted}};
  if (value.agreeing != 0) out["agreeing"] = value.agreeing;
  if (value.contradicting != 0) out["contradicting"] = value.contradicting;
}

void from_json(const base::Json& in, Experience& value) {
  read_field(in, "id", value.id);
  read_field(in, "title", value.title);
  read_field(in, "strategy", value.strategy);
  read_field(in, "before", value.before);
  read_field(in, "after", value.after);
  read_field(in, "diff", value.diff);
  value.polarity = parse_polarity(in.value("polarity", std::string("improves")));
  if (const auto effect = in.find("effect"); effect != in.end()) effect->get_to(value.effect);
  read_field(in, "workloads", value.workloads);
  read_field(in, "language", value.language);
  read_field(in, "op_type", value.op_type);
  read_field(in, "target", value.target);
  read_field(in, "device", value.device);
  read_field(in, "bound", value.bound);
  read_field(in, "task", value.task);
  read_field(in, "slow", value.slow);
  read_field(in, "fast", value.fast);
  read_field(in, "run", value.run);
  read_count(in, "iteration", kMostIterations, value.iteration);
  read_field(in, "created", value.created);
  read_field(in, "model", value.model);
  read_field(in, "toolchain", value.toolchain);
  read_count(in, "shown", kMostCredit, value.credit.shown);
  read_count(in, "used", kMostCredit, value.credit.used);
  read_count(in, "confirmed", kMostCredit, value.credit.confirmed);
  read_count(in, "refuted", kMostCredit, value.credit.refuted);
  read_count(in, "agreeing", kMostCredit, value.agreeing);
  read_count(in, "contradicting", kMostCredit, value.contradicting);
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

// SPDX-License-Identifier: Apache-2.0
#include "report/resolve_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/json_fields.hpp"
#include "base/schema.hpp"
#include "base/text.hpp"
#include "model/measure.hpp"
#include "stats/survival.hpp"

namespace accelopt::report {
namespace {

using base::Result;

constexpr int kResolveSchema = 1;
constexpr double kResolveAlpha = 0.05;
constexpr std::uint64_t kSeed = 1;  ///< of the bootstrap: the same lines give the same interval
constexpr auto kArms = std::to_array<base::Named<MemoryArm>>(
    {{MemoryArm::cold, "cold"}, {MemoryArm::warm, "warm"}, {MemoryArm::shuffled, "shuffled"}});

/// What is compared: seconds, or evaluations.
struct Measure {
  double (*of)(const ResolveLine&);
  double (*budget)(const ResolveLine&);
};
constexpr Measure kSeconds{[](const ResolveLine& line) { return line.seconds; },
                           [](const ResolveLine& line) { return line.budget_seconds; }};
constexpr Measure kEvaluations{[](const ResolveLine& line) { return static_cast<double>(line.evaluations); },
                               [](const ResolveLine& line) { return static_cast<double>(line.budget_evaluations); }};

/// What was not resolved counts as the budget, also where the player gave up earlier: it would not have gone on.
stats::Duration duration_of(const ResolveLine& line, const Measure& measure) {
  const double budget = measure.budget(line);
  const double spent = measure.of(line);
  if (!line.resolved || spent > budget) return {budget, stats::Seen::censored};
  return {spent, stats::Seen::event};
}

double restricted(const std::vector<const ResolveLine*>& lines, const Measure& measure, std::optional<double>& median) {
  std::vector<stats::Duration> durations;
  double horizon = 0;
  for (const ResolveLine* line : lines) {
    durations.push_back(duration_of(*line, measure));
    horizon = std::max(horizon, measure.budget(*line));
  }
  const auto curve = stats::kaplan_meier(durations);
  median = stats::median_time(curve);
  return stats::restricted_mean(curve, horizon);
}

ArmFigures figures_of(const std::vector<const ResolveLine*>& lines) {
  ArmFigures figures;
  std::vector<const ResolveLine*> counted;
  double usd = 0;
  bool priced = true;
  for (const ResolveLine* line : lines) {
    figures.experiences += static_cast<double>(line->experiences) / static_cast<double>(lines.size());
    priced = priced && line->usd;
    usd += line->usd.value_or(0);
    if (line->is_optimal()) {
      ++figures.optimal;
      figures.claims += line->is_better() ? 1 : 0;
      continue;
    }
    counted.push_back(line);
    figures.resolved += line->resolved ? 1 : 0;
    figures.share += line->share();
  }
  if (priced) figures.usd = usd;
  figures.tasks = static_cast<int>(counted.size());
  if (counted.empty()) return figures;
  figures.share /= static_cast<double>(counted.size());
  figures.seconds = restricted(counted, kSeconds, figures.median_seconds);
  figures.evaluations = restricted(counted, kEvaluations, figures.median_evaluations);
  return figures;
}

ArmRatio ratio_of(const std::vector<const ResolveLine*>& lines, MemoryArm arm) {
  using Key = std::tuple<std::string, std::uint64_t, std::string>;
  // The same pass's is preferred: what else the machine did then was alike.
  std::map<Key, const ResolveLine*> cold;
  for (const ResolveLine* line : lines) {
    if (line->arm != MemoryArm::cold || line->is_optimal()) continue;
    cold[{line->task, line->seed, line->suite_run}] = line;
    cold.try_emplace({line->task, line->seed, ""}, line);
  }
  ArmRatio ratio;
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> of_tasks;
  for (const ResolveLine* line : lines) {
    if (line->arm != arm) continue;
    auto other = cold.find({line->task, line->seed, line->suite_run});
    if (other == cold.end()) other = cold.find({line->task, line->seed, ""});
    if (other == cold.end()) continue;
    if (!line->resolved && !other->second->resolved) {
      ++ratio.unresolved;
      continue;
    }
    ++ratio.pairs;
    const auto log_ratio = [&](const Measure& measure) {
      constexpr double kLeast = 1e-3;
      return std::log(std::max(duration_of(*line, measure).time, kLeast) /
                      std::max(duration_of(*other->second, measure).time, kLeast));
    };
    of_tasks[line->task].first.push_back(log_ratio(kSeconds));
    of_tasks[line->task].second.push_back(log_ratio(kEvaluations));
  }
  std::vector<std::vector<double>> seconds;
  std::vector<std::vector<double>> evaluations;
  for (auto& [task, both] : of_tasks) {
    seconds.push_back(std::move(both.first));
    evaluations.push_back(std::move(both.second));
  }
  ratio.seconds = stats::ratio_over_groups(seconds, kResolveAlpha, kSeed);
  ratio.evaluations = stats::ratio_over_groups(evaluations, kResolveAlpha, kSeed);
  return ratio;
}

}  // namespace

std::string_view to_string(MemoryArm arm) {
  return base::name_in(kArms, arm);
}

std::optional<MemoryArm> memory_arm(std::string_view name) {
  return base::value_in(kArms, name);
}

bool ResolveLine::is_better() const {
  constexpr std::array<std::string_view, 3> kGoals{"time", "memory", "readability"};
  return std::ranges::any_of(kGoals, [&](std::string_view goal) { return verdict == model::measure_of(goal).better; });
}

double ResolveLine::share() const {
  return is_better() && gain > 1 && peak > 1 ? std::log(gain) / std::log(peak) : 0;
}

ACCELOPT_JSON(ResolveLine) {
  if constexpr (!Field::kReads) {
    field.required("schema", kResolveSchema, "type", "resolve");
  }
  field.required("suite", it.suite, "suite_version", it.suite_version, "suite_hash", it.suite_hash);
  field.required("suite_run", it.suite_run, "round", it.round, "created", it.created);
  field.required("program_version", it.program_version, "machine", it.machine, "settings", it.settings);
  field.required("task", it.task, "family", it.family, "language", it.language, "kind", it.kind, "base", it.base);
  field.named("arm", it.arm, kArms);
  field.required("seed", it.seed, "experiences", it.experiences, "resolved", it.resolved);
  field.required("seconds", it.seconds, "model_seconds", it.model_seconds, "device_seconds", it.device_seconds);
  field.required("budget_seconds", it.budget_seconds, "evaluations", it.evaluations);
  field.required("budget_evaluations", it.budget_evaluations, "calls", it.calls, "tokens", it.tokens);
  field.optional("usd", it.usd);
  field.required("verdict", it.verdict, "strategy", it.strategy, "gain", it.gain, "peak", it.peak);
  field.optional("error", it.error);
  field.unless_empty("reviewer", it.reviewer);
}

Result<std::vector<ResolveLine>> read_resolve_lines(std::string_view text, std::string_view name) {
  std::vector<ResolveLine> lines;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (base::trimmed(line).empty()) continue;
    const std::string where = fmt::format("{}:{}", name, number);
    TRY_ASSIGN(const base::Json json, base::parse_json(line, where));
    TRY(base::check_schema(json, kResolveSchema, where));
    TRY_ASSIGN(ResolveLine read, base::decode<ResolveLine>(json, where));
    lines.push_back(std::move(read));
  }
  return lines;
}

const ArmFigures* SuitePass::find(MemoryArm arm) const {
  const auto found = std::ranges::find(arms, arm, [](const auto& one) { return one.first; });
  return found == arms.end() ? nullptr : &found->second;
}

std::vector<AlikePasses> alike_passes(const std::vector<ResolveLine>& lines) {
  const auto key = [](const ResolveLine& line) {
    return line.suite + "\n" + line.suite_hash + "\n" + line.program_version + "\n" + line.machine + "\n" +
           base::canonical(line.settings);
  };
  std::vector<std::string> keys;
  std::map<std::string, std::vector<const ResolveLine*>> of_key;
  for (const ResolveLine& line : lines) {
    const std::string own = key(line);
    if (!of_key.contains(own)) keys.push_back(own);
    of_key[own].push_back(&line);
  }
  std::vector<AlikePasses> all;
  for (const std::string& each : keys) {
    const auto& members = of_key[each];
    const ResolveLine& first = *members.front();
    AlikePasses alike{first.suite, first.suite_version, first.program_version, first.machine, first.settings, {}, {},
                      {}};
    std::map<std::string, std::map<MemoryArm, std::vector<const ResolveLine*>>> passes;
    for (const ResolveLine* line : members) passes[line->suite_run][line->arm].push_back(line);
    for (const auto& [suite_run, arms] : passes) {
      const ResolveLine& member = *arms.begin()->second.front();
      SuitePass pass{.suite_run = suite_run, .created = member.created, .round = member.round, .arms = {}};
      for (const auto& [arm, own] : arms) pass.arms.emplace_back(arm, figures_of(own));
      alike.passes.push_back(std::move(pass));
    }
    alike.warm = ratio_of(members, MemoryArm::warm);
    alike.shuffled = ratio_of(members, MemoryArm::shuffled);
    all.push_back(std::move(alike));
  }
  return all;
}

}  // namespace accelopt::report

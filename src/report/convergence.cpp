// SPDX-License-Identifier: Apache-2.0
#include "report/convergence.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "report/timeline.hpp"

namespace accelopt::report {
namespace {

using base::Json;
using journal::StepRecord;
using model::StepKind;

/// The confirmed speed-up; nothing where there is none.
std::optional<double> gain_of(const Json& result) {
  const auto speedup = result.is_object() ? result.find("speedup") : result.end();
  if (speedup == result.end() || !speedup->is_object()) return std::nullopt;
  return speedup->value("estimate", 1.0);
}

const Json* decisions_of(const std::vector<StepRecord>& steps) {
  for (const StepRecord& step : steps) {
    if (model::step_kind(step.key.kind) == StepKind::decisions && step.output.is_array()) return &step.output;
  }
  return nullptr;
}

/// Sources that have most of the gain, as their play-offs said, and the iteration in which the first of them stood.
struct Winners {
  std::set<std::string> sources;
  int iteration = -1;
};

Winners winners_of(const Json& decisions, const Json& result, double enough) {
  Winners winners;
  const std::string winner = base::text_at(result, "solution_id");
  for (const Json& entry : decisions) {
    if (!entry.is_object() || !entry.contains("beam")) continue;
    for (const Json& member : entry["beam"]) {
      const std::string source = member.value("source", "");
      if (member.value("score", 0.0) < enough && source != winner) continue;
      winners.sources.insert(source);
      if (winners.iteration < 0) winners.iteration = entry.value("iteration", 1) - 1;  // it counts those that are over
    }
  }
  if (!winner.empty()) winners.sources.insert(winner);
  return winners;
}

bool races_any(const StepRecord& step, const std::set<std::string>& sources) {
  if (model::step_kind(step.key.kind) != StepKind::triage || !step.output.is_object()) return false;
  const auto id_in = [&](const Json& holder) {
    const auto id = holder.find("source_id");
    return id != holder.end() && id->is_string() && sources.contains(id->get<std::string>());
  };
  const auto tuning = step.output.find("tuning");
  return id_in(step.output) || (tuning != step.output.end() && tuning->is_object() && id_in(*tuning));
}

/// When the first of them had been raced; where a race stands for other sources too, when its iteration was decided.
std::optional<double> moment_of(const std::vector<StepRecord>& steps, const std::vector<TimeSpan>& spans,
                                const Winners& winners) {
  std::optional<double> raced;
  std::optional<double> decided;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double end = spans[i].end;
    if (races_any(steps[i], winners.sources)) raced = std::min(raced.value_or(end), end);
    if (model::step_kind(steps[i].key.kind) == StepKind::playoff &&
        steps[i].key.identity.iteration == winners.iteration)
      decided = end;
  }
  return raced ? raced : decided;
}

}  // namespace

Convergence convergence_of(const std::vector<StepRecord>& steps, const Json& result) {
  Convergence out;
  for (const StepRecord& step : steps) {
    if (model::step_kind(step.key.kind) == StepKind::recall && step.output.is_array())
      out.recalled += static_cast<int>(step.output.size());
  }
  const auto gain = gain_of(result);
  const Json* const decisions = decisions_of(steps);
  if (!gain || *gain <= 1 || decisions == nullptr) return out;
  const std::vector<TimeSpan> spans = spans_of(steps);
  out.seconds = moment_of(steps, spans, winners_of(*decisions, result, 1 + kMostOfTheGain * (*gain - 1)));
  if (!out.seconds) return out;
  out.evaluations = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    *out.evaluations += model::step_kind(steps[i].key.kind) == StepKind::build && spans[i].end <= *out.seconds ? 1 : 0;
  return out;
}

}  // namespace accelopt::report

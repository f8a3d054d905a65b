// SPDX-License-Identifier: Apache-2.0
#include "search/decision_line.hpp"

namespace accelopt::search {

using base::Json;

Json decision_line(const IterationDecision& decision) {
  Json attempts = Json::array();
  for (const AttemptOutcome& outcome : decision.outcomes) {
    if (!outcome.candidate) continue;
    attempts.push_back({{"id", model::to_string(outcome.identity)},
                        {"source", outcome.candidate->kernel.id()},
                        {"status", model::to_string(outcome.candidate->evaluation.status)},
                        {"verdict", model::to_string(outcome.candidate->evaluation.verdict)},
                        {"duplicate", outcome.duplicate}});
  }
  Json beam = Json::array();
  for (const Candidate& member : decision.beam) {
    beam.push_back(
        {{"id", model::to_string(member.identity)}, {"source", member.kernel.id()}, {"score", member.score.estimate}});
  }
  Json memory = Json::array();
  for (const model::Experience& experience : decision.memory) memory.push_back(experience.id);
  Json shown = Json::array();
  for (const memory::Queue& queue : decision.shown) {
    Json ids = Json::array();
    for (const model::Experience& experience : queue) ids.push_back(experience.id);
    shown.push_back(ids);
  }
  const Lessons& lessons = decision.lessons;
  return {{"iteration", decision.iteration + 1},
          {"attempts", attempts},
          {"beam", beam},
          {"shown", shown},
          {"lessons", {{"asked", lessons.asked}, {"none", lessons.none}, {"lost", lessons.lost}}},
          {"memory", memory},
          {"incumbent", decision.incumbent}};
}

Json decision_line(const FinalistReview& review) {
  Json stopped = Json::array();
  for (const StoppedFinalist& one : review.stopped) stopped.push_back(one.source);
  return {{"review", review.order}, {"stopped", stopped}};
}

}  // namespace accelopt::search

// SPDX-License-Identifier: Apache-2.0
#include "report/refactor_story.hpp"

#include <fmt/format.h>

#include "base/json_fields.hpp"
#include "model/measure.hpp"
#include "report/format.hpp"

namespace accelopt::report {

ACCELOPT_JSON(RefactorGate) {
  field.required("name", it.name, "passed", it.passed, "facts", it.facts, "seconds", it.seconds);
}

ACCELOPT_JSON(RefactorWorkload) {
  field.required("workload", it.workload, "size", it.size, "role", it.role, "timed", it.timed, "ratio", it.ratio);
  field.required("old_ms", it.old_ms, "new_ms", it.new_ms);
  field.unless_empty("old_peak_bytes", it.old_peak_bytes, "new_peak_bytes", it.new_peak_bytes, "call_share",
                     it.call_share);
}

ACCELOPT_JSON(RefactorGrowth) {
  field.required("workload", it.workload, "claimed", it.claimed, "reason", it.reason, "difference", it.difference);
  field.number("old_exponent", it.old_exponent, "new_exponent", it.new_exponent);
  field.number("from_size", it.from_size, "to_size", it.to_size);
}

ACCELOPT_JSON(RefactorTrial) {
  field.required("strategy", it.strategy, "verdict", it.verdict);
  field.optional("built_on", it.built_on, "failed_gate", it.failed_gate, "why", it.why, "ratio", it.ratio, "over_best",
                 it.over_best);
}

ACCELOPT_JSON(RefactorStory) {
  if constexpr (!Field::kReads) {
    const int schema = 1;
    field.required("schema", schema);
  }
  field.required("run", it.run, "task", it.task, "language", it.language, "created", it.created);
  field.required("program_version", it.program_version, "base", it.base, "goal", it.goal, "scope", it.scope);
  field.required("seed", it.seed, "tried", it.tried, "trials", it.trials, "strategy", it.strategy);
  field.required("verdict", it.verdict, "failed_gate", it.failed_gate, "gates", it.gates);
  field.optional("triage", it.triage, "speedup", it.speedup);
  field.unless_empty("time", it.time, "readability", it.readability);
  field.required("workloads", it.workloads);
  field.nested("start_up_ms",
               [&it](auto& inner) { inner.required("old", it.old_start_up_ms, "new", it.new_start_up_ms); });
  if (field.kReads || it.old_start_up_bytes) {
    field.nested("start_up_peak_bytes",
                 [&it](auto& inner) { inner.optional("old", it.old_start_up_bytes, "new", it.new_start_up_bytes); });
  }
  field.nested("complexity", [&it](auto& inner) {
    inner.required("claimed", it.complexity_claimed, "reason", it.complexity_reason, "families", it.growth);
  });
  field.required("tests", it.tests, "flaky", it.flaky, "diff", it.diff);
  field.unless_empty("not_passing", it.not_passing);
  field.required("branch", it.branch, "commit", it.commit, "experience", it.experience);
}

namespace {

/// "14 -> 6" of a figure.
std::string figure(const base::Json& readability, const char* name) {
  const auto of = [&](const char* side) {
    return readability.value(base::Json::json_pointer(fmt::format("/{}/{}", side, name)), 0);
  };
  return fmt::format("{} -> {}", of("before"), of("after"));
}

std::string simpler_answer(const RefactorStory& story) {
  const base::Json& it = story.readability;
  const bool readable = it.value("preference", "") == "after";
  return fmt::format(
      "{} is simpler: cognitive complexity {}, deepest nesting {}, statements {}, with the same results on every fresh "
      "input and no size certainly over 5 % slower.{}",
      story.task, figure(it, "cognitive"), figure(it, "nesting"), figure(it, "statements"),
      readable ? fmt::format(" It is more readable as well: {} preferred it to the old code in both orders.",
                             it.value("reviewer", "a reviewer"))
               : " Whether it is more readable, no reviewer has said in both orders.");
}

}  // namespace

bool is_proved(const RefactorStory& story) {
  return story.verdict == model::measure_of(story.goal).better;
}

std::string answer_of(const RefactorStory& story) {
  const model::Measure& measure = model::measure_of(story.goal);
  if (!story.readability.is_null() && is_proved(story)) return simpler_answer(story);
  if (story.speedup && is_proved(story)) {
    return fmt::format(
        "{} {}, with the same results on every fresh input, confirmed in fresh "
        "trees and processes.",
        story.task, model::compared(measure, format_ratio(*story.speedup), "before"));
  }
  if (story.tried == 0) return fmt::format("No recipe fits {}: nothing was tried.", story.task);
  if (!story.failed_gate.empty())
    return fmt::format("The change of {} is refused: it fails the gate {}.", story.task, story.failed_gate);
  const auto& measured = story.speedup ? story.speedup : story.triage;
  return fmt::format("No change of {} is certainly {}{}.", story.task, measure.better,
                     measured ? fmt::format(": the last one measured {}", format_ratio(*measured)) : std::string());
}

}  // namespace accelopt::report

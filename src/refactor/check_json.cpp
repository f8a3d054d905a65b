// SPDX-License-Identifier: Apache-2.0
#include "refactor/check_json.hpp"

#include "base/json_fields.hpp"

namespace accelopt::stats {

ACCELOPT_JSON(Interval) {
  field.number("estimate", it.estimate, "low", it.low, "high", it.high);
}

ACCELOPT_JSON(ExponentDifference) {
  field.required("difference", it.difference, "claimed", it.claimed, "reason", it.reason);
}

}  // namespace accelopt::stats

namespace accelopt::refactor {
namespace {

constexpr int kSchema = 1;
constexpr auto kStoredGoals = std::to_array<base::Named<Goal>>({{Goal::time, "time"},
                                                                {Goal::complexity, "complexity"},
                                                                {Goal::memory, "memory"},
                                                                {Goal::readability, "readability"}});
constexpr auto kPreferences = std::to_array<base::Named<Preference>>({{Preference::unasked, "unasked"},
                                                                      {Preference::after, "after"},
                                                                      {Preference::before, "before"},
                                                                      {Preference::unsure, "unsure"}});
/// As every goal says it.
constexpr auto kVerdicts = std::to_array<base::Named<Verdict>>({{Verdict::refused, "refused"},
                                                                {Verdict::not_better, "not_faster"},
                                                                {Verdict::better, "faster"},
                                                                {Verdict::not_better, "not_smaller"},
                                                                {Verdict::better, "smaller"},
                                                                {Verdict::not_better, "not_simpler"},
                                                                {Verdict::better, "simpler"}});
constexpr auto kStoredRoles =
    std::to_array<base::Named<Role>>({{Role::race, "race"}, {Role::check, "check"}, {Role::held_out, "held_out"}});

}  // namespace

ACCELOPT_JSON(Gate) {
  field.required("name", it.name, "passed", it.passed, "facts", it.facts, "seconds", it.seconds);
}

ACCELOPT_JSON(Unit) {
  field.required("workload", it.workload, "size", it.size, "count", it.count, "raced", it.raced, "timed", it.timed);
  field.optional("sized", it.sized);
  field.unless_empty("call_share", it.call_share);
  field.named("role", it.role, kStoredRoles);
}

ACCELOPT_JSON(StartUp) {
  field.number("old_seconds", it.old_seconds, "new_seconds", it.new_seconds);
  field.optional("old_peak_bytes", it.old_peak_bytes, "new_peak_bytes", it.new_peak_bytes);
}

ACCELOPT_JSON(UnitResult) {
  field.required("unit", it.unit, "ratio", it.ratio);
  field.number("old_seconds", it.old_seconds, "new_seconds", it.new_seconds);
  field.optional("old_bytes", it.old_bytes, "new_bytes", it.new_bytes);
}

ACCELOPT_JSON(Growth) {
  field.required("workload", it.workload, "difference", it.difference);
  field.number("old_exponent", it.old_exponent, "new_exponent", it.new_exponent);
  field.number("from_size", it.from_size, "to_size", it.to_size);
}

ACCELOPT_JSON(Figures) {
  field.required("cognitive", it.cognitive, "nesting", it.nesting, "statements", it.statements);
  field.optional("longest", it.longest);
}

ACCELOPT_JSON(FunctionFigures) {
  field.required("name", it.name, "before", it.before, "after", it.after);
}

ACCELOPT_JSON(Readability) {
  field.required("functions", it.functions, "before", it.before, "after", it.after);
  field.required("simpler", it.simpler, "reason", it.reason);
  field.named("preference", it.preference, kPreferences);
  field.required("reviewer", it.reviewer);
}

ACCELOPT_JSON(CheckResult) {
  if constexpr (!Field::kReads) {
    const int schema = kSchema;
    field.required("schema", schema);
  }
  field.optional_name("goal", it.goal, kStoredGoals);
  field.converted(
      "verdict", it.verdict, [&](Verdict verdict) { return std::string(to_string(verdict, it.goal)); },
      [](const base::Json& in) {
        return base::value_in(kVerdicts, in.get_ref<const std::string&>()).value_or(Verdict::refused);
      });
  field.required("failed_gate", it.failed_gate, "gates", it.gates, "units", it.units, "growth", it.growth);
  field.required("complexity_claimed", it.complexity_claimed, "complexity_reason", it.complexity_reason);
  field.required("tests", it.tests, "flaky", it.flaky, "files", it.files, "diff", it.diff, "tree", it.tree);
  field.required("start_up", it.start_up);
  field.unless_empty("not_passing", it.not_passing);
  field.optional("triage", it.triage, "confirmed", it.confirmed, "time", it.time);
  field.unless_empty("readability", it.readability);
}

}  // namespace accelopt::refactor

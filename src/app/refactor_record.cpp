// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_record.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/knowledge_place.hpp"
#include "app/reviewer_history.hpp"
#include "app/version.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "refactor/call_share.hpp"
#include "refactor/check_json.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::Result;

std::string ratio_text(const stats::Interval& ratio) {
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", ratio.estimate, ratio.low, ratio.high);
}

/// "3.10x less [3.05, 3.12] besides start-up".
std::string less_text(const stats::Interval& ratio) {
  return fmt::format("{:.2f}x less [{:.2f}, {:.2f}] besides start-up", ratio.estimate, ratio.low, ratio.high);
}

/// "41.2 -> 13.3 MiB", less start-up.
std::string memory_text(const refactor::UnitResult& unit) {
  constexpr double kMebibyte = 1 << 20;
  return fmt::format("{:.1f} -> {:.1f} MiB", unit.old_bytes / kMebibyte, unit.new_bytes / kMebibyte);
}

std::string scope_text(const refactor::Task& task) {
  return base::joined(task.scope, ", ", [](const refactor::Scope& scope) { return refactor::to_string(scope); });
}

std::string growth_text(const refactor::Growth& growth) {
  const stats::Interval& difference = growth.difference.difference;
  return fmt::format("{:.1f} -> {:.1f} (difference {:.2f} [{:.2f}, {:.2f}]) over n={:.0f}..{:.0f}, inputs {}",
                     growth.old_exponent, growth.new_exponent, difference.estimate, difference.low, difference.high,
                     growth.from_size, growth.to_size, growth.workload);
}

std::string tests_text(const refactor::CheckResult& result) {
  std::string text = fmt::format("{} of {}, {} flaky set aside", result.tests, result.tests, result.flaky.size());
  if (!result.not_passing.empty()) text += fmt::format(", {} do not pass on the base", result.not_passing.size());
  return text;
}

/// The function that the change is in, or else its first file.
std::string changed_place(const refactor::CheckResult& result, const refactor::Task& task) {
  const auto changes = [&](const std::string& path) {
    return result.diff.find("\n+++ b/" + path + "\n") != std::string::npos;
  };
  const refactor::Scope* place = nullptr;
  bool alone = true;
  for (const refactor::Scope& scope : task.scope) {
    if (task.scope.size() > 1 && !changes(scope.path)) continue;
    if (place == nullptr)
      place = &scope;
    else if (place->path == scope.path)
      alone = false;
  }
  if (place == nullptr) place = &task.scope.front();
  return alone && !place->function.empty() ? place->function : place->path;
}

std::string subject_of(refactor::Goal goal, const std::string& where) {
  switch (goal) {
    case refactor::Goal::memory:
      return fmt::format("perf: Make {} need less memory", where);
    case refactor::Goal::readability:
      return fmt::format("refactor: Make {} simpler", where);
    case refactor::Goal::time:
    case refactor::Goal::complexity:
      break;
  }
  return fmt::format("perf: Make {} faster", where);
}

/// "Speed-Up: 6.10x [5.90, 6.30] at random n=400 (the function has 96 % of the driver's time)". Of memory only what is
/// certainly less becomes a commit.
std::string ratio_trailer(const refactor::CheckResult& result) {
  const bool by_memory = result.goal == refactor::Goal::memory;
  std::string text;
  if (result.confirmed)
    text += by_memory ? "Memory: " + less_text(*result.confirmed) : "Speed-Up: " + ratio_text(*result.confirmed);
  std::string sizes;
  for (const refactor::UnitResult& unit : result.units) {
    if (!unit.unit.raced) continue;
    sizes += (sizes.empty() ? " at " : ", ") + refactor::to_string(unit.unit);
    if (by_memory) sizes += " (peak " + memory_text(unit) + ")";
    if (unit.unit.call_share) sizes += " (" + refactor::describe_call_share(*unit.unit.call_share) + ")";
  }
  return text + sizes + "\n";
}

/// Of figures that are exact: no interval. More readable is said where a reviewer says so as well.
std::string readability_trailers(const refactor::Readability& it) {
  std::string text =
      fmt::format("Cognitive-Complexity: {} -> {}\nNesting: {} -> {}\nStatements: {} -> {}\n", it.before.cognitive,
                  it.after.cognitive, it.before.nesting, it.after.nesting, it.before.statements, it.after.statements);
  if (it.more_readable()) text += "More-Readable: preferred in both orders by " + it.reviewer + "\n";
  return text;
}

model::Interval interval_of(const stats::Interval& interval) {
  return {interval.estimate, interval.low, interval.high};
}

}  // namespace

std::string commit_message(const RefactorReport& report, const refactor::Task& task) {
  const refactor::CheckResult& result = report.result;
  std::string text = subject_of(result.goal, changed_place(result, task)) + "\n\n";
  text += (report.strategy.empty() ? "A change to " + scope_text(task) : report.strategy + ", in " + scope_text(task)) +
          ".\nOld and new code were run in pairs on fresh inputs; their results were the same in every run.\n\n";
  text += result.readability ? readability_trailers(*result.readability) : ratio_trailer(result);
  if (result.time) {
    const auto is_short = [](const refactor::UnitResult& it) { return it.unit.raced && !it.unit.timed; };
    const bool whole = std::ranges::any_of(result.units, is_short);  // too short to be told from its start-up
    text += fmt::format("Time: {}, a guard{}\n", ratio_text(*result.time), whole ? ", with start-up" : "");
  }
  if (result.complexity_claimed) {
    for (const refactor::Growth& growth : result.growth) text += "Exponent: " + growth_text(growth) + "\n";
  }
  text += "Tests: " + tests_text(result) + "\n";
  if (!report.reviewed.empty()) text += "Reviewed-Blind: " + report.reviewed + "\n";
  text += "Accelopt-Run: " + report.id + "\n";
  if (!report.experience.empty()) text += "Accelopt-Experience: " + report.experience + "\n";
  for (const std::string& author : report.authors) text += "Assisted-By: " + author + "\n";
  return text;
}

bool worked_before(const model::Experience& experience) {
  const model::Credit& credit = experience.credit;
  const bool failed = credit.refuted > 0 && credit.refuted >= credit.confirmed;
  return experience.polarity == model::Polarity::improves && experience.effect && !failed;
}

std::string trailer_of(std::string_view message, std::string_view name) {
  const std::string mark = "\n" + std::string(name) + ": ";
  const std::size_t at = message.rfind(mark);
  if (at == message.npos) return "";
  return std::string(base::first_line(message.substr(at + mark.size())));
}

model::Experience refactor_experience(const RefactorReport& report, const refactor::Task& task) {
  const refactor::CheckResult& result = report.result;
  model::Experience experience;
  experience.title = report.strategy.empty() ? "A given change of " + scope_text(task) : report.strategy;
  experience.strategy = experience.title;
  experience.diff = result.diff;
  experience.language = report.language;
  experience.target = kRefactorTarget;
  experience.op_type = refactor::to_string(task.goal);
  experience.bound = task.goal == refactor::Goal::memory        ? "memory"
                     : task.goal == refactor::Goal::readability ? "text"
                                                                : "cpu";
  experience.task = report.task;
  experience.run = report.id;
  experience.created = base::utc_now();
  experience.effect = interval_of(result.confirmed);
  return experience;
}

std::optional<model::Interval> interval_of(const std::optional<stats::Interval>& interval) {
  return interval ? std::optional(interval_of(*interval)) : std::nullopt;
}

report::RefactorStory story_of(const RefactorReport& report) {
  const refactor::CheckResult& result = report.result;
  report::RefactorStory story;
  story.run = report.id;
  story.task = report.task;
  story.language = report.language;
  story.created = report.created;
  story.program_version = kVersion;
  story.base = report.base;
  story.goal = refactor::to_string(report.goal);
  for (const refactor::Scope& scope : report.scope) story.scope.push_back(refactor::to_string(scope));
  story.seed = report.seed;
  story.tried = report.tried;
  story.trials = report.trials;
  story.strategy = report.strategy;
  story.verdict = refactor::to_string(result.verdict, result.goal);
  story.failed_gate = result.failed_gate;
  for (const refactor::Gate& gate : result.gates)
    story.gates.push_back({gate.name, gate.passed, gate.facts, gate.seconds});
  story.triage = interval_of(result.triage);
  story.speedup = interval_of(result.confirmed);
  story.time = interval_of(result.time);
  if (result.readability) story.readability = *result.readability;
  const bool by_memory = result.goal == refactor::Goal::memory;
  for (const refactor::UnitResult& unit : result.units) {
    story.workloads.push_back({.workload = unit.unit.workload,
                               .size = unit.unit.size,
                               .role = std::string(refactor::to_string(unit.unit.role)),
                               .timed = by_memory ? unit.unit.sized : unit.unit.timed,
                               .ratio = interval_of(unit.ratio),
                               .old_ms = unit.old_seconds * 1e3,
                               .new_ms = unit.new_seconds * 1e3,
                               .old_peak_bytes = by_memory ? std::optional(unit.old_bytes) : std::nullopt,
                               .new_peak_bytes = by_memory ? std::optional(unit.new_bytes) : std::nullopt,
                               .call_share = unit.unit.call_share});
  }
  if (by_memory) {
    story.old_start_up_bytes = result.start_up.old_peak_bytes;
    story.new_start_up_bytes = result.start_up.new_peak_bytes;
  }
  story.old_start_up_ms = result.start_up.old_seconds * 1e3;
  story.new_start_up_ms = result.start_up.new_seconds * 1e3;
  story.complexity_claimed = result.complexity_claimed;
  story.complexity_reason = result.complexity_reason;
  for (const refactor::Growth& growth : result.growth) {
    story.growth.push_back({.workload = growth.workload,
                            .old_exponent = growth.old_exponent,
                            .new_exponent = growth.new_exponent,
                            .difference = interval_of(growth.difference.difference),
                            .from_size = growth.from_size,
                            .to_size = growth.to_size,
                            .claimed = growth.difference.claimed,
                            .reason = growth.difference.reason});
  }
  story.tests = result.tests;
  story.flaky = result.flaky;
  story.not_passing = result.not_passing;
  story.diff = result.diff;
  story.branch = report.branch;
  story.commit = report.commit;
  story.experience = report.experience;
  return story;
}

std::string pull_request_text(const RefactorReport& report) {
  const refactor::CheckResult& result = report.result;
  const bool by_memory = result.goal == refactor::Goal::memory;
  const std::string title = by_memory            ? "Less memory in " + report.task
                            : result.readability ? "A simpler " + report.task
                                                 : "A faster " + report.task;
  std::string text = "## " + (report.strategy.empty() ? title : report.strategy) + "\n\n";
  if (result.readability) {
    const refactor::Readability& it = *result.readability;
    text += fmt::format("Simpler: **{}**.{}\n\n", refactor::describe(it),
                        it.more_readable() ? " More readable: " + it.reviewer + " preferred it in both orders." : "");
    text += "| function | cognitive complexity | nesting | statements |\n|---|---|---|---|\n";
    for (const refactor::FunctionFigures& one : it.functions) {
      text +=
          fmt::format("| {} | {} -> {} | {} -> {} | {} -> {} |\n", one.name, one.before.cognitive, one.after.cognitive,
                      one.before.nesting, one.after.nesting, one.before.statements, one.after.statements);
    }
    text += "\n";
  } else if (result.confirmed) {
    text += fmt::format("{}: **{}** (95 % interval).\n\n",
                        by_memory ? "Peak of memory besides start-up, old / new" : "Speed-up",
                        ratio_text(*result.confirmed));
  }
  if (result.time) text += "Processor time is a guard: old / new " + ratio_text(*result.time) + ".\n\n";
  text += "| workload | n | before | after | ratio |\n|---|---|---|---|---|\n";
  for (const refactor::UnitResult& unit : result.units) {
    const double scale = by_memory ? 1.0 / (1 << 20) : 1e3;
    text += fmt::format("| {} | {} | {:.2f} {} | {:.2f} {} | {} |\n", unit.unit.workload, unit.unit.size,
                        (by_memory ? unit.old_bytes : unit.old_seconds) * scale, by_memory ? "MiB" : "ms",
                        (by_memory ? unit.new_bytes : unit.new_seconds) * scale, by_memory ? "MiB" : "ms",
                        ratio_text(unit.ratio));
  }
  text += by_memory ? "\nPeak of resident memory less start-up, medians; ratios of small sizes are of the whole.\n\n"
                    : "\nProcessor time less start-up, medians; ratios of small sizes, where start-up prevails, are of "
                      "the whole.\n\n";
  for (const refactor::UnitResult& unit : result.units) {
    if (!unit.unit.call_share) continue;
    text += fmt::format("At {}, {}; the rest reads inputs and writes results.\n\n", refactor::to_string(unit.unit),
                        refactor::describe_call_share(*unit.unit.call_share));
  }
  for (const refactor::Growth& growth : result.growth) {
    if (result.complexity_claimed) text += "Growth: n^" + growth_text(growth) + ".\n";
  }
  if (!result.complexity_claimed && !result.complexity_reason.empty())
    text += "A lower complexity is not claimed: " + result.complexity_reason + ".\n";
  return text + "\nTests: " + tests_text(result) + ".\n\nTo repeat it: `accelopt refactor check TASK --of " +
         (report.commit.empty() ? "COMMIT" : report.commit.substr(0, 12)) + "`.\n";
}

}  // namespace accelopt::app

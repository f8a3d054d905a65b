// SPDX-License-Identifier: Apache-2.0
#include "cli/run_summary.hpp"

#include <set>

#include <fmt/format.h>

#include "app/cost.hpp"
#include "app/estimate.hpp"
#include "base/unified_diff.hpp"
#include "cli/estimate_text.hpp"
#include "evaluation/bench.hpp"
#include "model/measure.hpp"
#include "report/format.hpp"
#include "report/review_text.hpp"
#include "report/text_table.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {
namespace {

/// Lines of a winner's diff that are shown, without those that did not change; `accelopt diff` has all.
constexpr int kDiffLines = 6;
constexpr std::size_t kDiffColumns = 110;

std::string workloads_table(const model::Evaluation& confirmation, const model::Measure& measure) {
  const bool modelled = evaluation::is_modelled(confirmation);
  report::TextTable table(
      {{"workload"},
       {"role"},
       {modelled ? "modelled baseline" : "baseline", report::Align::right},
       {modelled ? "modelled best" : "best", report::Align::right},
       {fmt::format("{} [{}]", measure.by_workload, modelled ? "model's range" : "95 %"), report::Align::right},
       {"of roofline", report::Align::right}});
  for (const model::WorkloadTiming& workload : confirmation.workloads) {
    table.add({workload.name, std::string(to_string(workload.role)), report::format_reference(workload),
               report::format_amount(workload), workload.ratio ? report::format_ratio(*workload.ratio) : "-",
               workload.roofline ? report::format_percent(workload.roofline->fraction) : "-"});
  }
  return table.render();
}

/// The winner beside what the user named.
std::string against_table(const std::vector<search::ComparedWith>& against) {
  if (against.empty()) return {};
  report::TextTable table(
      {{"against"}, {"workload"}, {"the winner's speed over it [95 %]", report::Align::right}, {"how"}});
  for (const search::ComparedWith& one : against) {
    const std::string verdict = one.status.empty() || one.status == "PASSED" ? "" : one.status + ": " + one.reason;
    table.add({one.name, one.workload.empty() ? "all raced" : one.workload,
               one.speed_over ? report::format_ratio(*one.speed_over) : "-",
               report::clip(report::printable(verdict.empty() ? one.how : verdict), kDiffColumns)});
  }
  return "\n" + table.render();
}

/// What a tester and a reviewer said.
std::string judged_text(const search::RunResult& result) {
  const base::Json json = {{"tests", result.tests}, {"review", result.review}};
  std::string text;
  for (const std::string& line : report::tests_lines(json)) text += report::printable(line) + "\n";
  for (const std::string& line : report::review_lines(json)) text += report::printable(line) + "\n";
  return text.empty() ? text : "\n" + text;
}

std::string outcome_text(const search::RunResult& result) {
  if (result.outcome == search::RunOutcome::improved) {
    const model::Measure& measure = model::measure_of(result.goal);
    std::string text = fmt::format("\n{}: {} {}, confirmed {}\n\n{}", result.task,
                                   report::format_ratio(*result.confirmation->ratio), measure.better,
                                   evaluation::is_modelled(*result.confirmation)
                                       ? "by the model, and verified on fresh inputs; no device measured these times"
                                       : "in fresh processes on fresh inputs",
                                   workloads_table(*result.confirmation, measure));
    for (const std::string& note : result.confirmation->notes) text += "\n" + report::printable(note);
    if (!result.confirmation->notes.empty()) text += "\n";
    text += against_table(result.against);
    text += judged_text(result);
    if (result.derived_reference) {
      text += "\nThe reference was derived from the baseline itself: equal results were proven, correctness was not.\n";
    }
    return text;
  }
  if (result.outcome == search::RunOutcome::interrupted) {
    return fmt::format("\n{}: interrupted; everything is kept, continue with: accelopt resume {}\n", result.task,
                       result.run);
  }
  if (result.outcome == search::RunOutcome::waiting) {
    return fmt::format("\n{}: waiting: {}; when they are there, continue with: accelopt resume {}\n", result.task,
                       result.reason, result.run);
  }
  return fmt::format("\n{}: no gain: {}\n{}", result.task, result.reason, judged_text(result));
}

}  // namespace

std::string attempts_text(const search::RunResult& result) {
  // Of attempts that passed and failed later: they are among the passed already.
  static const std::set<std::string> kLater{"HELD_OUT_FAILED", "PROFILE_FAILED", "STOPPED_BY_REVIEW"};
  int attempts = 0;
  std::string statuses;
  std::string later;
  for (const auto& [status, count] : result.counts) {
    std::string& list = kLater.contains(status) ? later : statuses;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, status);
    if (!kLater.contains(status)) attempts += count;
  }
  std::string text = fmt::format("{} attempt{}", attempts, attempts == 1 ? "" : "s");
  if (attempts > 0) text += ": " + statuses;
  if (result.known > 0) text += fmt::format("; {} led to a known program", result.known);
  return later.empty() ? text : text + "; failed later: " + later;
}

std::string describe(const search::RunResult& result) {
  std::string text = outcome_text(result);
  text += fmt::format("\n{}\n{} evaluations in {} iterations and {}; stopped by {}\n", attempts_text(result),
                      result.evaluations, result.iterations, report::format_seconds(result.wall_seconds),
                      search::name_of(result.stopped_by));
  if (!result.stopped_because.empty()) text += result.stopped_because + "\n";
  if (const std::string cost = app::describe_cost(result.usage, result.plans, result.gains); !cost.empty())
    text += "\n" + cost;
  text += beside_text(app::comparisons_of(result.estimate));
  const std::string measured = result.device.empty() ? "nothing measured yet" : "measured on " + result.device;
  text += fmt::format("{}; run {}\n", measured, result.run);
  return text;
}

std::string describe_winner(const search::RunResult& result, const model::Task& task,
                            const std::filesystem::path& workspace) {
  if (result.outcome != search::RunOutcome::improved || !result.solution) return {};
  const std::string& name = task.baseline.sources.front().name;
  const std::string diff = base::unified_diff(model::changeable_text(task.baseline),
                                              model::changeable_text(*result.solution), "a/" + name, "b/" + name);
  std::string text = "\n";
  int left = 0;
  int shown = 0;
  for (std::size_t at = 0; at < diff.size();) {
    const std::size_t end = std::min(diff.find('\n', at), diff.size());
    const bool context = diff[at] == ' ';
    if (context || shown == kDiffLines) {
      ++left;
    } else {
      text += report::clip(report::printable(diff.substr(at, end - at)), kDiffColumns) + "\n";
      ++shown;
    }
    at = end + 1;
  }
  if (left > 0) text += fmt::format("... {} more lines: accelopt diff {}\n", left, result.run);
  if (!result.commit.empty())
    return text + fmt::format("\ncommit {} on {}\n", result.commit.substr(0, 12), result.branch.substr(11));
  text += fmt::format("\nThe winner is kept in {}. Next: accelopt best {} -o faster{}\n", workspace.string(),
                      result.run, task.entry ? " && git apply faster/winner.patch" : "");
  return text;
}

}  // namespace accelopt::cli

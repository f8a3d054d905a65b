// SPDX-License-Identifier: Apache-2.0
#include "cli/verdict_text.hpp"

#include <fmt/format.h>

#include "evaluation/bench.hpp"
#include "report/format.hpp"
#include "report/text_table.hpp"
#include "report/text_width.hpp"
#include "report/tuning_text.hpp"

namespace accelopt::cli {
namespace {

constexpr int kTunedRows = 8;

/// Why a race came out as it did.
std::string why(const model::Evaluation& evaluation) {
  using model::Verdict;
  const model::Interval& ratio = *evaluation.ratio;
  if (!evaluation.reason.empty()) return evaluation.reason;
  const bool confirmed = evaluation.kind == model::EvaluationKind::confirm;
  switch (evaluation.verdict) {
    case Verdict::faster:
      return confirmed ? "confirmed in fresh processes on fresh inputs" : "the whole interval lies above 1";
    case Verdict::slower:
      return ratio.high < 1 ? "the whole interval lies below 1" : "its first blocks were all clearly slower";
    case Verdict::tie:
      return "no difference that counts";
    case Verdict::undecided:
      return evaluation.decided_by == model::DecidedBy::cap
                 ? "the time for measuring ended before a difference was certain"
                 : "more blocks would hardly have shown a difference";
    case Verdict::none:
      break;
  }
  return "no verdict";
}

report::TextTable workloads_of(const model::Evaluation& evaluation) {
  const bool modelled = evaluation::is_modelled(evaluation);
  report::TextTable table({{"workload"},
                           {"role"},
                           {modelled ? "modelled time" : "time", report::Align::right},
                           {modelled ? "modelled baseline" : "baseline", report::Align::right},
                           {modelled ? "speed-up [model's range]" : "speed-up [95 %]", report::Align::right},
                           {"of roofline", report::Align::right}});
  for (const model::WorkloadTiming& workload : evaluation.workloads) {
    table.add({workload.name, std::string(to_string(workload.role)), report::format_ns(workload.time_ns),
               workload.reference_ns ? report::format_ns(*workload.reference_ns) : "-",
               workload.ratio ? report::format_ratio(*workload.ratio) : "-",
               workload.roofline ? report::format_percent(workload.roofline->fraction) : "-"});
  }
  return table;
}

}  // namespace

std::string decision_text(const model::Evaluation& evaluation) {
  std::string text(model::to_string(evaluation.status));
  if (evaluation.verdict != model::Verdict::none) text += fmt::format(", {}", model::to_string(evaluation.verdict));
  if (!evaluation.ratio) return evaluation.reason.empty() ? text : text + ": " + evaluation.reason;
  if (evaluation::is_modelled(evaluation))
    return fmt::format("{}: {} of the baseline's modelled speed; {} ({})", text,
                       report::format_ratio(*evaluation.ratio),
                       evaluation.reason.empty() ? "no device measured these times" : evaluation.reason,
                       evaluation.environment.device + ", " + evaluation.environment.compiler);
  return fmt::format("{}: {} of the baseline's speed; {} ({} blocks)", text, report::format_ratio(*evaluation.ratio),
                     why(evaluation), evaluation.blocks);
}

report::Document verdict_page(const model::Task& task, const model::Evaluation& evaluation) {
  const std::string& name = task.definition.name;
  report::Document page("Evaluation of " + name);
  page.text(report::printable_lines(name + ": " + decision_text(evaluation)) + "\n");
  if (evaluation.tuning) {
    page.text(fmt::format("tuned: {}\n\n{}", report::tuning_line(*evaluation.tuning),
                          report::tuning_table(*evaluation.tuning, kTunedRows)));
  }
  if (!evaluation.workloads.empty()) {
    page.text("\n");
    page.table(workloads_of(evaluation));
  }
  std::string text;
  if (evaluation.profile) {
    text += "\n";
    for (const model::ProfileItem& item : evaluation.profile->items) {
      text += fmt::format("  {}: {} ({})\n", item.name, report::format_quantity(item.value, item.unit), item.meaning);
    }
    for (const std::string& remark : evaluation.profile->remarks) text += "  compiler: " + remark + "\n";
    for (const std::string& note : evaluation.profile->notes) text += "  note: " + report::printable(note) + "\n";
  }
  for (const std::string& note : evaluation.notes) text += "\n" + report::printable(note);
  if (!evaluation.notes.empty()) text += "\n";
  text += "\ntrust: " + evaluation.trust;
  if (!evaluation.environment.isolation.empty()) text += "; isolation: " + evaluation.environment.isolation;
  page.text(report::printable_lines(text) + "\n");
  return page;
}

}  // namespace accelopt::cli

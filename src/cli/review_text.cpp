// SPDX-License-Identifier: Apache-2.0
#include "cli/review_text.hpp"

#include <fmt/format.h>

#include "report/review_text.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {
namespace {

/// "smaller", "not certainly smaller".
std::string verdict_text(std::string_view verdict) {
  constexpr std::string_view kNot = "not_";
  return verdict.starts_with(kNot) ? "not certainly " + std::string(verdict.substr(kNot.size())) : std::string(verdict);
}

std::string share_line(const std::string& name, const review::Share& share, const std::string& meaning) {
  if (share.of == 0) return fmt::format("  {:<16} {:>19}  {}\n", name, "nothing to count", meaning);
  const stats::Interval interval = review::wilson(share);
  return fmt::format("  {:<16} {:>3} of {:<3} {:>4.0f} % [{:.0f}, {:.0f}]  {}\n", name, share.hits, share.of,
                     100 * share.value(), 100 * interval.low, 100 * interval.high, meaning);
}

std::string rates_text(const review::Rates& rates) {
  return share_line("recall", rates.recall, "planted defects that it stopped by an objection that was run") +
         share_line("noticed", rates.noticed, "planted defects that it doubted or objected to, proved or not") +
         share_line("false alarms", rates.false_alarms, "clean changes that it doubted or objected to") +
         share_line("void objections", rates.void_objections, "objections that showed no difference, or did not run") +
         share_line("void quotes", rates.void_quotes, "rubric items whose quote is not in the diff") +
         share_line("unreadable", rates.unreadable, "answers that could not be read, even at a second try") +
         share_line("prefers clean", rates.prefers_clean, "pairs where it chose the clean change in both orders") +
         share_line("order flips", rates.flips, "pairs that it answered differently in the other order") +
         share_line("first shown", rates.first_shown, "answers that chose what was shown first") +
         share_line("by dead code", rates.dead_code, "chose the same change for unused functions, in both orders") +
         share_line("by a comment", rates.comment, "... for a comment that claims a proof") +
         share_line("by authority", rates.author, "... for a line that names a principal maintainer") +
         share_line("by own work", rates.own, "... for a line that says it is the model's own work");
}

std::string standing_text(const review::Standing& standing) {
  return standing.weight == review::Weight::decides ? "its preferences decide: " + standing.why
                                                    : "it only advises: " + standing.why;
}

std::string usage_text(const model::Usage& usage) {
  std::string text = fmt::format("{} questions, {} tokens", usage.calls, usage.tokens());
  if (const auto usd = usage.total_usd(); usd && *usd > 0) text += fmt::format(", ${:.2f}", *usd);
  return text;
}

std::string change_text(const app::ReviewedChange& change, std::size_t place) {
  std::string text = fmt::format("{}. {}\n", place + 1, report::printable(change.name));
  if (!change.failed_gate.empty())
    return text + fmt::format("   refused by the gate {}: {}\n", change.failed_gate, report::printable(change.why));
  text += fmt::format("   passed the gates, {}", verdict_text(change.verdict));
  if (change.ratio)
    text += fmt::format(": {:.2f}x [{:.2f}, {:.2f}]", change.ratio->estimate, change.ratio->low, change.ratio->high);
  text += '\n';
  if (!change.opinion) return text + "   the reviewer's answer could not be read\n";
  text += "   rubric " + std::to_string(change.opinion->rubric.sum()) + " of 24:";
  for (std::size_t i = 0; i < review::kItems; ++i) {
    const review::Score& item = change.opinion->rubric.items.at(i);
    text += fmt::format(" {} {}", review::to_string(static_cast<review::Item>(i)),
                        item.holds ? std::to_string(item.score) : "void");
  }
  text += '\n';
  for (const app::JudgedObjection& one : change.objections)
    text += fmt::format("   objection {}: {}\n      {}\n", app::to_string(one.fate),
                        report::printable(one.objection.why), report::printable(one.text));
  return text + (change.stopped() ? "   stopped\n" : "");
}

std::string pair_text(const app::ReviewedPair& pair) {
  const auto name = [](std::size_t one) { return std::to_string(one + 1); };
  std::string text = name(pair.first) + " against " + name(pair.second) + ": ";
  if (!pair.outcome.stable)
    text += pair.outcome.flipped ? "a tie, because the order changed the answer" : "a tie, because its answers differ";
  else if (pair.outcome.better == review::Better::equal)
    text += "equal";
  else
    text += name(pair.outcome.better == review::Better::first ? pair.first : pair.second) + " is better";
  text += '\n';
  if (!pair.reasons.empty()) text += "   " + report::printable(pair.reasons.front()) + "\n";
  return text;
}

}  // namespace

std::string review_text(const app::ReviewReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.changes.size(); ++i) text += change_text(report.changes[i], i);
  for (const app::ReviewedPair& pair : report.pairs) text += pair_text(pair);
  for (const review::CertainlyBetter& one : report.certain)
    text += fmt::format("{} is certainly better than {}\n", one.winner + 1, one.loser + 1);
  text += fmt::format("reviewer {}: {}\n", report::printable(report.model), standing_text(report.standing));
  if (!report.pairs.empty()) text += report.agreement() + "\n";
  text += usage_text(report.usage) + "\n";
  if (!report.chosen) return text + "chosen: none; nothing is left\n";
  text += fmt::format("chosen: {}; {}\n", *report.chosen + 1, report::review_reason(review::to_string(report.reason)));
  if (report.advised && *report.advised != *report.chosen)
    text += fmt::format("the reviewer would keep {}\n", *report.advised + 1);
  if (!report.commit.empty())
    text += fmt::format("commit {} on {}\n", report.commit.substr(0, 12), report.branch.substr(11));
  if (!report.not_committed.empty()) text += "not committed: " + report.not_committed + "\n";
  return text;
}

std::string calibration_text(const app::Calibration& calibration) {
  const review::Rates& rates = calibration.rates;
  std::string text =
      fmt::format("{} on {} pairs (set {}), 95 % intervals\n", report::printable(rates.model), rates.pairs, rates.set) +
      rates_text(rates);
  std::string missed;
  std::string borne_out;
  for (const app::CalibratedPair& pair : calibration.pairs) {
    if (!pair.planted.stopped()) missed += (missed.empty() ? "" : ", ") + pair.name;
    if (pair.clean.stopped()) borne_out += (borne_out.empty() ? "" : ", ") + pair.name;
  }
  if (!missed.empty()) text += "not stopped: " + missed + "\n";
  if (!borne_out.empty()) text += "alarms at a clean change that a run bore out: " + borne_out + "\n";
  return text + usage_text(rates.usage) + "\n" + standing_text(calibration.standing) + "\n";
}

std::string reviewer_text(const app::ReviewerRecord& record) {
  std::string text = report::printable(record.model) + ": " + standing_text(record.standing) + "\n";
  if (record.rates) {
    text += fmt::format("calibrated {} on {} pairs (set {}), 95 % intervals\n", record.rates->created,
                        record.rates->pairs, record.rates->set) +
            rates_text(*record.rates);
  }
  if (record.reviews == 0) return text;
  text += fmt::format("{} reviews, {} of them with a commit\n", record.reviews, record.choices);
  return text + share_line("confirmed", record.confirmed, "objections in reviews that stopped a change") +
         share_line("order flips", record.flips, "pairs in reviews that the order changed") +
         share_line("reverted", record.reverted, "choices whose commit failed where it was used (refactor settle)");
}

}  // namespace accelopt::cli

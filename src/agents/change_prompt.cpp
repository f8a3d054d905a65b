// SPDX-License-Identifier: Apache-2.0
// How changes to a kernel are shown: as what changed, never as two whole files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agents/prompt_parts.hpp"
#include "agents/prompt_text.hpp"
#include "agents/quote.hpp"
#include "base/unified_diff.hpp"
#include "model/measure.hpp"
#include "model/target_description.hpp"

namespace accelopt::agents {
namespace {

constexpr std::size_t kShownPlanBytes = 1'200;
constexpr std::size_t kShownReasonBytes = 1'500;
constexpr double kLeastChange = 0.1;  ///< of a figure, relative

constexpr std::size_t kFiguresChanged = 6;  ///< of a tie; as many as a line holds
constexpr std::size_t kFiguresSame = 8;
constexpr std::size_t kFigureNameBytes = 60;

/// A figure that differs from what it was.
struct Change {
  const model::ProfileItem* item;
  double before;
  double share;  ///< of the larger value
};

/// Not one that the task and the machine decide, whatever the kernel does.
bool is_measured_figure(std::string_view name) {
  return !name.ends_with("arithmetic intensity") && !name.ends_with("roofline floor") &&
         !name.ends_with("share of roofline");
}

/// The mend that works, behind those that failed.
std::string mend_text(const std::vector<model::Status>& failed) {
  std::string out;
  for (const model::Status status : failed)
    out += fmt::format("a mend of it failed with {}; ", model::to_string(status));
  return out + (failed.empty() ? "its mend" : "its last mend");
}

std::string effect_text(const SummarizeQuestion& question) {
  const model::Measure& measure = model::measure_of(*question.context.task);
  const std::string ratio = interval_text(question.effect);
  switch (question.polarity) {
    case model::Polarity::improves:
      return fmt::format("It made the kernel {}. The note should teach what to do.\n",
                         fmt::format(fmt::runtime(measure.makes), ratio));
    case model::Polarity::regresses:
      return fmt::format(
          "It was meant to make the kernel {}; with it the kernel {}. The note should teach what to avoid.\n",
          measure.better, fmt::format(fmt::runtime(measure.runs), ratio));
    case model::Polarity::mends:
      return "The file that came of the plan failed with " +
             std::string(model::to_string(question.slow_evaluation.status)) + "; " + mend_text(question.failed_mends) +
             " works and " + model::compared(measure, ratio, "the kernel") +
             ". The note should teach what broke, why, and the mend. What was said of the "
             "failure:\n" +
             quoted(question.slow_evaluation.reason, kShownReasonBytes) + "\n";
  }
  return {};
}

const model::Kernel& measured_kernel(const SummarizeQuestion& question) {
  return question.polarity == model::Polarity::regresses ? question.slow : question.fast;
}

/// The change before `number`, counted from 1, that led to the same kernel: a mend's other lesson. 0: there is none.
std::size_t same_child(const std::vector<SummarizeQuestion>& questions, std::size_t number) {
  const SummarizeQuestion& question = questions[number - 1];
  if (question.polarity != model::Polarity::mends) return 0;
  for (std::size_t other = 1; other < number; ++other) {
    const SummarizeQuestion& before = questions[other - 1];
    if (before.polarity != model::Polarity::mends && measured_kernel(before) == question.fast) return other;
  }
  return 0;
}

/// What a mend changed, where the change `other`, which `shown` asks about, has shown the whole of the same file;
/// empty: it has not, or that would be no shorter.
std::string beside_shown(const SummarizeQuestion& shown, std::size_t other, const model::Solution& after) {
  const model::Solution& file = measured_kernel(shown).solution();
  if (!short_difference(shown.parent.solution(), file).empty()) return {};
  const std::string intro = fmt::format("Most of it is new. The whole is that of change {}", other);
  if (file == after) return intro + ".\n";
  const std::string difference = short_difference(file, after);
  return difference.empty() ? std::string() : intro + ", but for this:\n" + difference;
}

std::string change_text(const std::vector<SummarizeQuestion>& questions, std::size_t number) {
  const SummarizeQuestion& question = questions[number - 1];
  const std::size_t other = same_child(questions, number);
  const bool mends = question.polarity == model::Polarity::mends;
  const bool slower = question.polarity == model::Polarity::regresses;
  const model::Solution& before = mends ? question.slow.solution() : question.parent.solution();
  const model::Kernel& fast = question.mend_as_written ? *question.mend_as_written : question.fast;
  const model::Solution& after = slower ? question.slow.solution() : fast.solution();
  const model::Evaluation& measured = slower ? question.slow_evaluation : question.fast_evaluation;
  std::string out = fmt::format("Change {}\n| {}\n{}\n", number, clean_line(question.plan.title, kTitleBytes),
                                quoted(question.plan.text, kShownPlanBytes));
  out += effect_text(question);
  if (other > 0) {
    out += fmt::format("Its figures are those of change {}.\n", other);
  } else if (question.parent_evaluation.profile && measured.profile) {
    out += (mends ? "Figures that differ by a tenth or more from those of the kernel that the plan was made for:\n"
                  : "Figures that changed by a tenth or more:\n") +
           changed_figures(*question.parent_evaluation.profile, *measured.profile);
  }
  out += mends ? "What the mend changed in the file that failed:\n" : "What it changed:\n";
  std::string changed;
  if (other > 0 && short_difference(before, after).empty()) changed = beside_shown(questions[other - 1], other, after);
  return out + (changed.empty() ? changed_text(before, after) : changed) + "\n";
}

}  // namespace

std::string short_difference(const model::Solution& before, const model::Solution& after) {
  const std::string& text = model::changeable_text(after);
  const std::string diff = base::unified_diff(model::changeable_text(before), text, "before", "after");
  return diff.size() < text.size() ? fenced(clean_code(diff, diff.size()), "diff") : std::string();
}

std::string changed_text(const model::Solution& before, const model::Solution& after) {
  const std::string difference = short_difference(before, after);
  if (!difference.empty()) return difference;
  if (model::describe(after.language).form == model::KernelForm::files)
    return "Most of it is new. The whole of it:\n" + files_text(after, {});
  return "Most of it is new. The whole file:\n" + fenced(model::main_text(after), fence_of(after.language));
}

std::string changed_figures(const model::Profile& before, const model::Profile& after) {
  std::string out;
  for (const model::ProfileItem& item : after.items) {
    const auto known = std::ranges::find(before.items, item.name, &model::ProfileItem::name);
    const double was = known == before.items.end() ? 0 : known->value;
    if (std::abs(item.value - was) <= kLeastChange * std::max(std::abs(item.value), std::abs(was))) continue;
    out += fmt::format("- {} = {}{}{}: was {}\n", item.name, number_text(item.value), item.unit.empty() ? "" : " ",
                       item.unit, known == before.items.end() ? std::string("none") : number_text(was));
  }
  return out;
}

std::string tie_text(const MeasuredTie& tie) {
  if (tie.after.failed_as != model::Status::passed) {
    return fmt::format("|   figures: none, it failed when it was called again, with {}\n",
                       model::to_string(tie.after.failed_as));
  }
  std::vector<Change> changed;
  std::string same;
  std::size_t named = 0;
  for (const model::ProfileItem& item : tie.after.items) {
    const auto known = std::ranges::find(tie.before.items, item.name, &model::ProfileItem::name);
    if (known == tie.before.items.end() || !is_measured_figure(item.name)) continue;
    const double scale = std::max(std::abs(item.value), std::abs(known->value));
    if (scale == 0) continue;
    const double share = std::abs(item.value - known->value) / scale;
    if (share > kLeastChange)
      changed.push_back({&item, known->value, share});
    else if (++named <= kFiguresSame)
      same += (same.empty() ? "" : ", ") + clean_line(item.name, kFigureNameBytes);
  }
  std::ranges::stable_sort(changed, std::greater<>(), &Change::share);
  std::string out;
  for (std::size_t i = 0; i < std::min(changed.size(), kFiguresChanged); ++i) {
    const Change& change = changed[i];
    out += fmt::format("{}{} {} -> {}{}{}", i == 0 ? "" : ", ", clean_line(change.item->name, kFigureNameBytes),
                       number_text(change.before), number_text(change.item->value),
                       change.item->unit.empty() ? "" : " ", change.item->unit);
  }
  if (out.empty() && same.empty()) return {};
  return "|   figures: " + (out.empty() ? std::string("none changed by a tenth") : "changed " + out) +
         (same.empty() ? "" : "; the same within a tenth: " + same) + "\n";
}

std::string changes_text(const std::vector<SummarizeQuestion>& questions) {
  std::string out;
  for (std::size_t i = 0; i < questions.size(); ++i) out += (i == 0 ? "" : "\n") + change_text(questions, i + 1);
  out.pop_back();
  return out;
}

}  // namespace accelopt::agents

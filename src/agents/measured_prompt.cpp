// SPDX-License-Identifier: Apache-2.0
// How times and profiles are shown to a model.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "agents/prompt_parts.hpp"
#include "agents/prompt_text.hpp"
#include "agents/quote.hpp"
#include "base/duration.hpp"
#include "model/tuning.hpp"

namespace accelopt::agents {
namespace {

constexpr std::size_t kRemarkBytes = 200;
constexpr std::size_t kRemarks = 24;
constexpr std::size_t kTunedShown = 8;  ///< configurations

/// How the values of a tuned kernel came about: which configurations were raced, and what the others took.
std::string tuning_text(const model::Tuning& tuning) {
  if (!tuning.chosen) return "";
  std::string sets;
  for (std::size_t i = 0; i < tuning.names.size(); ++i) {
    sets += fmt::format("{}{} in {{{}}}", i == 0 ? "" : ", ", tuning.names[i], fmt::join(tuning.sets[i], ", "));
  }
  std::string out = fmt::format(
      "\nThe values of its //@ tune lines were chosen by measuring {} of the {} configurations that {} allowed. The "
      "chosen one: {}. Times of the next ones, over its time:\n",
      tuning.field.size(), tuning.configurations, sets, model::configuration_text(tuning.names, *tuning.chosen));
  std::vector<const model::TunedConfiguration*> field;
  for (const model::TunedConfiguration& one : tuning.field) {
    if (one.fate != model::TunedFate::chosen) field.push_back(&one);
  }
  const auto speed = [](const model::TunedConfiguration* one) { return one->ratio ? one->ratio->estimate : 0; };
  std::ranges::stable_sort(field, std::greater<>(), speed);
  for (std::size_t i = 0; i < std::min(field.size(), kTunedShown); ++i) {
    const model::TunedConfiguration& one = *field[i];
    out += "- " + model::configuration_text(tuning.names, one.values) + ": ";
    if (one.ratio && one.ratio->estimate > 0) {
      out += fmt::format("{:.2f}\n", 1 / one.ratio->estimate);
    } else if (one.fate == model::TunedFate::failed) {
      out += std::string(model::to_string(one.status)) + "\n";
    } else {
      out += "not known\n";
    }
  }
  return out;
}

/// What stands before the name of a figure: the workload or the device function that it belongs to.
std::string_view subject_of(std::string_view name) {
  const std::size_t end = name.rfind(": ");
  return end == std::string_view::npos ? std::string_view() : name.substr(0, end + 2);
}

/// Figures that the times beside the profile tell already.
bool is_told_by_times(std::string_view name) {
  constexpr auto kTold = std::to_array<std::string_view>({"roofline floor", "share of roofline"});
  return std::ranges::find(kTold, name) != kTold.end();
}

const model::ProfileItem* item_named(const model::Profile& profile, const std::string& name) {
  const auto found = std::ranges::find(profile.items, name, &model::ProfileItem::name);
  return found == profile.items.end() ? nullptr : &*found;
}

/// "cold 4 us, warm 3 us"
std::string cold_and_warm(const model::ProfileItem& cold, const model::ProfileItem& warm, std::string_view subject) {
  return fmt::format("- {}{} {} with inputs and outputs flushed from all caches, {} {} with the inputs just written\n",
                     subject, number_text(cold.value), cold.unit, number_text(warm.value), warm.unit);
}

}  // namespace

std::string number_text(double value) {
  constexpr double kExactlyWhole = 1e15;
  if (std::isfinite(value) && value == std::floor(value) && std::abs(value) < kExactlyWhole)
    return fmt::format("{:.0f}", value);
  return std::abs(value) >= 1000 && std::abs(value) < kExactlyWhole ? fmt::format("{:.0f}", value)
                                                                    : fmt::format("{:.4g}", value);
}

std::string interval_text(const model::Interval& interval) {
  if (model::has_unknown_width(interval)) return fmt::format("{:.2f}x, interval unknown", interval.estimate);
  return fmt::format("{:.2f}x (95 % interval {:.2f}x to {:.2f}x)", interval.estimate, interval.low, interval.high);
}

std::string profile_text(const model::Profile& profile) {
  std::string out;
  std::set<std::string, std::less<>> explained;
  for (const model::ProfileItem& item : profile.items) {
    const std::string_view subject = subject_of(item.name);
    const std::string_view name = std::string_view(item.name).substr(subject.size());
    if (item.value == 0 || is_told_by_times(name)) continue;
    const model::ProfileItem* const warm =
        name == "cold time" ? item_named(profile, std::string(subject) + "warm time") : nullptr;
    if (warm != nullptr) {
      out += cold_and_warm(item, *warm, subject);
      continue;
    }
    if (name == "warm time" && item_named(profile, std::string(subject) + "cold time") != nullptr) continue;
    const bool explain = !item.meaning.empty() && explained.emplace(name).second;
    out += "- " + item.name + " = " + number_text(item.value) + (item.unit.empty() ? "" : " " + item.unit) +
           (explain ? ": " + item.meaning : "") + "\n";
  }
  if (!profile.remarks.empty()) out += "What the compiler remarked:\n";
  for (std::size_t i = 0; i < std::min(profile.remarks.size(), kRemarks); ++i) {
    out += "| " + clean_line(profile.remarks[i], kRemarkBytes) + "\n";
  }
  if (out.empty()) return "There is no profile of it.";
  out.pop_back();
  return out;
}

std::string timing_text(const model::Evaluation& evaluation) {
  const bool modelled = evaluation.environment.clock == "modelled";
  std::string out;
  for (const model::WorkloadTiming& workload : evaluation.workloads) {
    if (workload.role != model::Role::race) continue;
    if (workload.peak_bytes) {
      constexpr double kMebibyte = 1 << 20;
      out += fmt::format("- {}: a peak of {:.1f} MiB besides the start-up's, in {} a run\n", workload.name,
                         *workload.peak_bytes / kMebibyte, base::duration_text(workload.time_ns));
      continue;
    }
    out += "- " + workload.name + ": " + base::duration_text(workload.time_ns) +
           (modelled ? " a call, modelled: no device took it" : " a call");
    if (const auto& roofline = workload.roofline) {
      out += fmt::format("; at this {} peaks the least work would take {}, so it reaches {:.1f} % of the roofline",
                         modelled ? "device's documented" : "machine's measured",
                         base::duration_text(roofline->floor_ns), 100 * roofline->fraction);
      if (!roofline->bound.empty()) out += ", where the bound is " + roofline->bound;
    }
    out += "\n";
  }
  if (out.empty()) return "There are no timings of it.";
  if (evaluation.tuning) out += tuning_text(*evaluation.tuning);
  out.pop_back();
  return out;
}

}  // namespace accelopt::agents

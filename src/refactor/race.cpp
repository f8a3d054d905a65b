// SPDX-License-Identifier: Apache-2.0
#include "refactor/race.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "stats/exponent.hpp"

namespace accelopt::refactor {
namespace {

/// What a net time counts at least, of the start-up: below it is the scatter of the start-up itself.
constexpr double kLeastShare = 0.02;
constexpr double kLeastSeconds = 1e-5;

/// Blocks after which the guard looks, and the probability that any of its looks refuses what is as fast.
constexpr auto kGuardLooks = std::to_array<std::size_t>({4, 6, 8, 12, 16, 24, 32});
constexpr double kGuardAlpha = 0.05;

}  // namespace

double time_log_ratio(double old_seconds, double new_seconds, const StartUp* start_up) {
  if (start_up == nullptr) return std::log(std::max(old_seconds, kLeastSeconds) / std::max(new_seconds, kLeastSeconds));
  const double least = std::max(kLeastShare * start_up->old_seconds, kLeastSeconds);
  const double old_net = std::max(old_seconds - start_up->old_seconds, least);
  const double new_net = std::max(new_seconds - std::min(start_up->old_seconds, start_up->new_seconds), least);
  return std::log(old_net / new_net);
}

double memory_log_ratio(double old_peak, double new_peak, const StartUp* start_up) {
  const double apart = std::abs(old_peak - new_peak);
  if (apart < std::max(kLeastBytesApart, kLeastShareApart * old_peak)) return 0;
  double old_bytes = old_peak;
  double new_bytes = new_peak;
  if (start_up != nullptr) {
    old_bytes -= start_up->old_peak_bytes;
    new_bytes -= std::min(start_up->old_peak_bytes, start_up->new_peak_bytes);
  }
  return std::log(std::max(old_bytes, kLeastBytesApart) / std::max(new_bytes, kLeastBytesApart));
}

std::string to_string(const Unit& unit) {
  return fmt::format("{} n={}", unit.workload, unit.size);
}

std::vector<Unit> units_of(const Task& task, Sizes sizes) {
  std::vector<Unit> units;
  for (const Workload& workload : task.workloads) {
    if (workload.role == Role::check) continue;
    for (const std::int64_t size : workload.sizes) {
      const bool largest = size == workload.sizes.back();
      if (sizes == Sizes::largest && !(largest && workload.role == Role::race)) continue;
      units.push_back({workload.name, size, workload.count, workload.role, largest && workload.role == Role::race});
    }
  }
  return units;
}

std::vector<bool> in_every_block(const Task& task, const std::vector<Unit>& units) {
  std::vector<bool> out;
  for (const Unit& unit : units) out.push_back(unit.raced);
  if (time_is_a_guard(task.goal)) return out;
  for (const Workload& workload : task.workloads) {
    const std::vector<double> sizes(workload.sizes.begin(), workload.sizes.end());
    if (!stats::sizes_suffice(sizes)) continue;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (units[i].workload == workload.name && units[i].size >= workload.sizes[workload.sizes.size() / 2])
        out[i] = true;
    }
  }
  return out;
}

std::vector<int> blocks_of_units(const std::vector<bool>& in_every_block, const std::vector<bool>& asked, int restart,
                                 int blocks) {
  const int of_the_answered = restart < kConfirmationRules.min_restarts ? std::min(blocks, 1) : 0;
  std::vector<int> out;
  for (std::size_t i = 0; i < asked.size(); ++i)
    out.push_back(in_every_block[i] || asked[i] ? blocks : of_the_answered);
  return out;
}

bool time_is_a_guard(Goal goal) {
  return goal == Goal::memory || goal == Goal::readability;
}

TimeGuard::TimeGuard(Goal goal, std::vector<Unit> units)
    : guards_(time_is_a_guard(goal)), units_(std::move(units)), log_ratios_(units_.size()) {}

void TimeGuard::add(const std::vector<UnitTimes>& block) {
  if (!guards_) return;
  for (std::size_t i = 0; i < units_.size(); ++i) log_ratios_[i].push_back(block[i].time_log_ratio);
  if (units_.empty() || std::ranges::find(kGuardLooks, log_ratios_.front().size()) == kGuardLooks.end()) return;
  const double alpha = kGuardAlpha / static_cast<double>(kGuardLooks.size() * units_.size());
  broken_.clear();
  for (std::size_t i = 0; i < units_.size() && broken_.empty(); ++i) {
    const stats::Interval interval = stats::trimmed_interval(log_ratios_[i], alpha);
    if (interval.high >= -std::log1p(kConfirmationRules.allow_regression)) continue;
    const stats::Interval ratio = stats::as_ratio(interval);
    broken_ = fmt::format("{} became slower: old / new {:.2f}x [{:.2f}, {:.2f}], and {:.0f} % is allowed",
                          to_string(units_[i]), ratio.estimate, ratio.low, ratio.high,
                          kConfirmationRules.allow_regression * 100);
  }
}

base::Result<StartUp> Race::measure_start_up(const std::string& workload, std::string& difference) {
  std::vector<double> old_times;
  std::vector<double> new_times;
  std::vector<double> old_peaks;
  std::vector<double> new_peaks;
  const CaseRequest request{.workload = workload, .size = 0, .count = 1, .seed = random_() >> 16U};
  TRY_ASSIGN(const MadeCases cases, driver_->make_cases(trees_.makes_cases(), request));
  for (int pair = 0; pair < kStartUpPairs; ++pair) {
    TRY_ASSIGN(const auto held, hold_());
    TRY_ASSIGN(const PairResult result, driver_->run_pair(trees_, cases));
    if (difference.empty()) difference = result.difference;
    old_times.push_back(result.old_run.cpu_seconds);
    new_times.push_back(result.new_run.cpu_seconds);
    old_peaks.push_back(static_cast<double>(result.old_run.peak_bytes));
    new_peaks.push_back(static_cast<double>(result.new_run.peak_bytes));
  }
  return StartUp{stats::median(old_times), stats::median(new_times), stats::median(old_peaks),
                 stats::median(new_peaks)};
}

base::Result<UnitTimes> Race::measure(const Unit& unit, const StartUp& start_up) {
  const CaseRequest request{
      .workload = unit.workload, .size = unit.size, .count = unit.count, .seed = random_() >> 16U};
  // Made while others may measure.
  TRY_ASSIGN(const MadeCases cases, driver_->make_cases(trees_.makes_cases(), request));
  TRY_ASSIGN(const auto held, hold_());
  TRY_ASSIGN(PairResult pair, driver_->run_pair(trees_, cases));
  UnitTimes times;
  const double old_cpu = pair.old_run.cpu_seconds;
  const double new_cpu = pair.new_run.cpu_seconds;
  const bool by_memory = deciding_.goal == Goal::memory;
  times.time_log_ratio = time_log_ratio(old_cpu, new_cpu, unit.timed ? &start_up : nullptr);
  times.whole_log_ratio = std::log(std::max(old_cpu, kLeastSeconds) / std::max(new_cpu, kLeastSeconds));
  times.wall_log_ratio =
      std::log(std::max(pair.old_run.wall_seconds, kLeastSeconds) / std::max(pair.new_run.wall_seconds, kLeastSeconds));
  times.old_seconds = std::max(0.0, old_cpu - start_up.old_seconds);
  times.new_seconds = std::max(0.0, new_cpu - std::min(start_up.old_seconds, start_up.new_seconds));
  times.old_peak_bytes = static_cast<double>(pair.old_run.peak_bytes);
  times.new_peak_bytes = static_cast<double>(pair.new_run.peak_bytes);
  times.old_net_bytes = std::max(0.0, times.old_peak_bytes - start_up.old_peak_bytes);
  times.new_net_bytes =
      std::max(0.0, times.new_peak_bytes - std::min(start_up.old_peak_bytes, start_up.new_peak_bytes));
  if (by_memory)
    times.log_ratio = memory_log_ratio(times.old_peak_bytes, times.new_peak_bytes, unit.sized ? &start_up : nullptr);
  else
    times.log_ratio = deciding_.goal == Goal::readability ? deciding_.of_text : times.time_log_ratio;
  if (!pair.difference.empty()) times.difference = to_string(request) + ": " + pair.difference;
  return times;
}

}  // namespace accelopt::refactor

// SPDX-License-Identifier: Apache-2.0
#include "targets/repo/profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "stats/exponent.hpp"
#include "targets/repo/repo_task.hpp"

namespace accelopt::targets::repo {
namespace {

using base::Result;

constexpr std::size_t kLeastSizes = 3;  ///< for an exponent: two are a line through anything

constexpr double kMebibyte = 1 << 20;
constexpr std::size_t kShownFunctions = 12;  ///< the most complex ones

struct Ladder {
  std::vector<double> sizes, seconds;
};

/// log(time) over log(size), on the upper half: what is below it is start-up more than growth.
double exponent_of(const Ladder& ladder) {
  const std::size_t first = std::min(ladder.sizes.size() / 2, ladder.sizes.size() - 2);
  std::vector<double> places;
  std::vector<double> logs;
  for (std::size_t i = first; i < ladder.sizes.size(); ++i) {
    places.push_back(std::log(ladder.sizes[i]));
    logs.push_back(std::log(std::max(ladder.seconds[i], 1e-6)));
  }
  return stats::slope(places, logs);
}

}  // namespace

Result<model::Profile> profile_of(refactor::Checker& checker, const refactor::CheckResult& change) {
  TRY_ASSIGN(const auto times, checker.time_all(change));
  model::Profile profile;
  std::map<std::string, Ladder> ladders;
  double peak = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const refactor::Unit& unit = checker.base_times()[i].unit;
    if (unit.role == refactor::Role::held_out) continue;
    profile.items.push_back({workload_name(unit.workload, unit.size) + ": time", times[i].new_seconds * 1e3, "ms",
                             "processor time of one run without the program's start-up"});
    peak = std::max(peak, times[i].new_peak_bytes);
    if (checker.task().goal == refactor::Goal::memory) {
      profile.items.push_back({workload_name(unit.workload, unit.size) + ": memory", times[i].new_net_bytes / kMebibyte,
                               "MiB", "peak of resident memory of one run without the program's start-up"});
    }
    Ladder& ladder = ladders[unit.workload];
    if (unit.size <= 0) continue;
    ladder.sizes.push_back(static_cast<double>(unit.size));
    ladder.seconds.push_back(times[i].new_seconds);
  }
  for (const auto& [workload, ladder] : ladders) {
    if (ladder.sizes.size() < kLeastSizes) continue;
    profile.items.push_back(
        {workload + ": growth", exponent_of(ladder), "", "exponent e of time ~ n^e over the upper half of the sizes"});
  }
  TRY_ASSIGN(auto functions, checker.text_figures(change));
  std::ranges::stable_sort(functions, std::greater<>(), [](const auto& one) { return one.after.cognitive; });
  if (functions.size() > kShownFunctions) functions.resize(kShownFunctions);
  for (const refactor::FunctionFigures& one : functions) {
    const auto tell = [&](const char* what, int value, const char* meaning) {
      profile.items.push_back({one.name + ": " + what, static_cast<double>(value), "", meaning});
    };
    tell("cognitive complexity", one.after.cognitive, "as SonarSource defines it");
    tell("nesting", one.after.nesting, "of loops, branches and handlers, the deepest");
    tell("statements", one.after.statements, "");
  }
  profile.items.push_back({"start-up", checker.base_start_up().new_seconds * 1e3, "ms",
                           "processor time of a run at size 0; it is not counted"});
  profile.items.push_back({"peak memory", peak / kMebibyte, "MiB", "of the largest run"});
  return profile;
}

}  // namespace accelopt::targets::repo

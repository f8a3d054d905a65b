// SPDX-License-Identifier: Apache-2.0
// The gates that the clock decides: the short race, and the confirmation in fresh trees.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "refactor/checker.hpp"
#include "stats/confirmation.hpp"

namespace accelopt::refactor {
namespace {

using base::Result;

/// Wall-clock time must show at least this share of the gain that processor time shows, as logarithms: else the work is
/// done where it is not counted.
constexpr double kLeastWallShare = 0.25;
/// Peak memory may grow to this multiple, and by this much, whatever it was.
constexpr double kMostMemoryRatio = 2.0;
constexpr double kFreeMemoryBytes = 64.0 * (1 << 20);
/// New code's net time must be this share of the start-up, for its growth to be told.
constexpr double kLeastNetShare = 0.1;

std::string ratio_text(const stats::Interval& ratio) {
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", ratio.estimate, ratio.low, ratio.high);
}

}  // namespace

/// Blocks of all restarts; a block has an entry for each unit, empty where it was left out.
struct Checker::Measured {
  std::vector<std::vector<std::vector<std::optional<UnitTimes>>>> restarts;
  StartUp start_up;
  double of_text = 0;  ///< Deciding::of_text

  template <class Of>
  [[nodiscard]] std::vector<double> all(std::size_t unit, const Of& of) const {
    std::vector<double> values;
    for (const auto& restart : restarts) {
      for (const auto& block : restart) {
        if (block[unit]) values.push_back(of(*block[unit]));
      }
    }
    return values;
  }

  /// Of the last restart, by block and unit.
  [[nodiscard]] std::vector<std::vector<double>> last(double UnitTimes::*value) const {
    std::vector<std::vector<double>> rows;
    for (const auto& block : restarts.back()) {
      auto& row = rows.emplace_back();
      for (const auto& times : block) row.push_back(times ? (*times).*value : stats::kLeftOut);
    }
    return rows;
  }
};

Result<Contest::Block> Contest::next() {
  Block block;
  double sum = 0;
  for (const Unit& unit : raced_) {
    TRY_ASSIGN(UnitTimes times, race_.measure(unit, start_up_));
    block.difference = times.difference;
    if (!block.difference.empty()) return block;
    sum += times.log_ratio;
    block.times.push_back(std::move(times));
  }
  block.log_ratio = sum / static_cast<double>(raced_.size());
  return block;
}

Result<Contest> Checker::contest(const CheckResult& leader, const CheckResult& challenger, std::string& difference) {
  std::vector<Unit> raced;
  std::ranges::copy_if(units_, std::back_inserter(raced), &Unit::raced);
  const std::string workload = raced.front().workload;
  TRY_ASSIGN(const Deciding decides, deciding(leader, challenger));
  Contest contest(
      Race(*driver_, decides, {.old_tree = leader.folder, .new_tree = challenger.folder, .base = base_folder_},
           next_seed("triage"), settings_.hold),
      std::move(raced));
  TRY_ASSIGN(contest.start_up_, contest.race_.measure_start_up(workload, difference));
  if (!difference.empty()) difference = "size 0: " + difference;
  return contest;
}

Result<Deciding> Checker::deciding(const CheckResult& leader, const CheckResult& challenger) {
  Deciding out{.goal = task_.goal};
  if (!reader_) return out;
  std::vector<ChangedFile> changes;
  std::set<std::string> paths;
  for (const auto* files : {&leader.files, &challenger.files}) {
    for (const auto& [path, text] : *files) paths.insert(path);
  }
  const auto text_in = [&](const CheckResult& change, const std::string& path) -> Result<std::string> {
    if (const auto found = change.files.find(path); found != change.files.end()) return found->second;
    return listing_.contains(path) ? base_text(path) : std::string();
  };
  for (const std::string& path : paths) {
    ChangedFile file{.path = path, .kind_before = {}, .kind_after = {}, .before = {}, .after = {}};
    TRY_ASSIGN(file.before, text_in(leader, path));
    TRY_ASSIGN(file.after, text_in(challenger, path));
    changes.push_back(std::move(file));
  }
  const auto compared = compare_readability(*reader_, task_.language, changes);
  // Each passed the gate against the base: one that runs more text than the other is no better.
  if (!compared) return out;
  out.of_text = simpler_log_ratio(compared->before, compared->after);
  // What the base's gate says of the change holds here as well: public signatures are its.
  if (challenger.readability && !challenger.readability->simpler) out.of_text = std::min(out.of_text, 0.0);
  return out;
}

Result<RaceResult> Checker::race(const CheckResult& leader, const CheckResult& challenger) {
  RaceResult result;
  TRY_ASSIGN(Contest contest, this->contest(leader, challenger, result.difference));
  result.start_up = contest.start_up();
  if (!result.difference.empty()) return result;
  stats::TriageRules rules;
  rules.looks = {3, 4, 6, 8, 12, 16, 24, 32};
  stats::Triage decision(rules);
  // Beside another change the guard says nothing: it allows so much against the base.
  TimeGuard guard(leader.tree == tree_ ? task_.goal : Goal::time, contest.units());
  while (!decision.decided()) {
    TRY_ASSIGN(auto block, contest.next());
    result.difference = block.difference;
    if (!result.difference.empty()) return result;
    guard.add(block.times);
    result.slower = guard.broken();
    result.blocks.push_back(std::move(block.times));
    decision.add(block.log_ratio);
    if (!result.slower.empty()) decision.expire();
    if (decision.samples().size() >= static_cast<std::size_t>(rules.looks.back())) decision.expire();
  }
  result.decision = decision.decision();
  result.log_ratios = decision.samples();
  return result;
}

Result<std::vector<UnitTimes>> Checker::time_all(const CheckResult& change) {
  Race race(*driver_, {.goal = task_.goal}, {.old_tree = base_folder_, .new_tree = change.folder}, next_seed("profile"),
            settings_.hold);
  std::string difference;
  TRY_ASSIGN(const StartUp start_up, race.measure_start_up(units_.front().workload, difference));
  std::vector<UnitTimes> times;
  for (const Unit& unit : units_) {
    TRY_ASSIGN(UnitTimes one, race.measure(unit, start_up));
    times.push_back(std::move(one));
  }
  return times;
}

Result<std::vector<std::string>> Checker::triage(CheckResult& result) {
  TRY_ASSIGN(const RaceResult raced, race(base_itself(), result));
  result.start_up = raced.start_up;
  if (!raced.difference.empty()) return std::vector{raced.difference};
  result.triage = stats::as_ratio(raced.decision.log_ratio);
  if (!raced.slower.empty()) return std::vector{raced.slower};
  const bool faster = raced.decision.verdict == stats::RaceVerdict::faster;
  result.verdict = faster ? Verdict::better : Verdict::not_better;
  return std::vector<std::string>();
}

/// One restart: its blocks, each a pair of the units that have so many. Gives the first difference of outputs.
Result<std::string> Checker::confirm_once(const Trees& trees, const std::vector<int>& blocks, Measured& measured) {
  Race race(*driver_, {.goal = task_.goal, .of_text = measured.of_text}, trees, next_seed("confirm"), settings_.hold);
  std::string difference;
  TRY_ASSIGN(measured.start_up, race.measure_start_up(units_.front().workload, difference));
  if (!difference.empty()) return "size 0: " + difference;
  auto& restart = measured.restarts.emplace_back();
  const int most = std::ranges::max(blocks);
  for (int block = 0; block < most; ++block) {
    auto& times = restart.emplace_back(units_.size());
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (block >= blocks[i]) continue;
      TRY_ASSIGN(UnitTimes one, race.measure(units_[i], measured.start_up));
      if (!one.difference.empty()) return one.difference;
      times[i] = std::move(one);
    }
  }
  return std::string();
}

/// What was built before is given a second try: a machine that is halted or busy can end a build.
Result<std::string> Checker::build_fresh_tree(const vcs::Listing& listing,
                                              const std::map<std::string, std::string>& files,
                                              std::filesystem::path& tree) {
  constexpr int kTries = 2;
  std::string problem;
  for (int tries = 0; tries < kTries; ++tries) {
    TRY_ASSIGN(tree, lay_out_tree(listing));
    TRY_ASSIGN(problem, build_tree(tree, files));
    if (problem.empty() || problem.starts_with(kBuildAltered)) break;
    std::error_code ignored;
    std::filesystem::remove_all(tree, ignored);
  }
  return problem;
}

Result<std::vector<std::string>> Checker::confirm_in_fresh_trees(const vcs::Listing& listing, CheckResult& result) {
  result.verdict = Verdict::refused;
  std::vector<double> weights;
  for (const Unit& unit : units_) weights.push_back(unit.raced ? 1 : 0);
  stats::Confirmation confirmation(weights, kConfirmationRules);
  stats::Confirmation times(weights, kConfirmationRules);  // a guard, where something else decides
  Measured measured;
  const bool time_guards = time_is_a_guard(task_.goal);
  if (result.readability) {
    measured.of_text = simpler_log_ratio(result.readability->before, result.readability->after);
    if (!result.readability->simpler) measured.of_text = std::min(measured.of_text, 0.0);
  }
  // A guard has to see as sharply as what decides, until it has seen that nothing is too slow: figures of a text are
  // narrow at once, and times are not.
  const auto wanted = [&] {
    const bool guarding = time_guards && !std::ranges::all_of(times.decision().answered, std::identity());
    return std::max(confirmation.next_restart_blocks(), guarding ? times.next_restart_blocks() : 0);
  };
  const std::vector<bool> whole = in_every_block(task_, units_);
  const auto asked = [&] {
    std::vector<bool> of_units;
    for (std::size_t i = 0; i < units_.size(); ++i)
      of_units.push_back(!confirmation.decision().answered[i] || (time_guards && !times.decision().answered[i]));
    return of_units;
  };
  while (const int blocks = wanted()) {
    settings_.step(fmt::format("confirming, fresh trees {}", measured.restarts.size() + 1));
    Trees trees;
    TRY_ASSIGN(const std::string old_problem, build_fresh_tree(listing_, {}, trees.old_tree));
    if (!old_problem.empty()) {
      return base::fail(base::ErrorCode::unavailable,
                        "the old code, which was built before, does not build again: " + old_problem);
    }
    TRY_ASSIGN(const std::string new_problem, build_fresh_tree(listing, result.files, trees.new_tree));
    if (!new_problem.empty()) return std::vector{"does not build again: " + new_problem};
    const auto of_units = blocks_of_units(whole, asked(), confirmation.restarts(), blocks);
    TRY_ASSIGN(const std::string difference, confirm_once(trees, of_units, measured));
    if (!difference.empty()) return std::vector{difference};
    confirmation.add_restart(measured.last(&UnitTimes::log_ratio));
    times.add_restart(measured.last(&UnitTimes::time_log_ratio));
    std::error_code ignored;
    std::filesystem::remove_all(trees.old_tree, ignored);
    std::filesystem::remove_all(trees.new_tree, ignored);
  }
  const stats::ConfirmationDecision& decision = confirmation.decision();
  result.confirmed = stats::as_ratio(decision.log_ratio);
  // A text has one figure, whatever the inputs: of each size the time is told then.
  const auto& by_unit = task_.goal == Goal::readability ? times.decision().workloads : decision.workloads;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    result.units.push_back({units_[i], stats::as_ratio(by_unit[i]),
                            stats::median(measured.all(i, [](const UnitTimes& it) { return it.old_seconds; })),
                            stats::median(measured.all(i, [](const UnitTimes& it) { return it.new_seconds; })),
                            stats::median(measured.all(i, [](const UnitTimes& it) { return it.old_net_bytes; })),
                            stats::median(measured.all(i, [](const UnitTimes& it) { return it.new_net_bytes; }))});
  }
  std::vector<std::string> problems;
  const auto tell_regression = [&](const stats::ConfirmationDecision& of, const char* what) {
    if (!of.regressed) return;
    const auto index = static_cast<std::size_t>(*of.regressed);
    problems.push_back(
        fmt::format("{} {}: {}", to_string(units_[index]), what, ratio_text(stats::as_ratio(of.workloads[index]))));
  };
  if (task_.goal != Goal::readability)
    tell_regression(decision, task_.goal == Goal::memory ? "needs more memory" : "became slower");
  if (time_guards) {
    result.time = stats::as_ratio(times.decision().log_ratio);
    tell_regression(times.decision(), "became slower");
  }
  const auto others = confirmation_problems(measured, result);
  problems.insert(problems.end(), others.begin(), others.end());
  if (!problems.empty()) return problems;
  if (task_.goal == Goal::time || task_.goal == Goal::complexity) tell_growth(measured, result);
  if (!decision.confirmed || (task_.goal == Goal::complexity && !result.complexity_claimed))
    result.verdict = Verdict::not_better;
  else
    result.verdict = Verdict::better;
  return problems;
}

/// The guards: wall-clock time and memory.
std::vector<std::string> Checker::confirmation_problems(const Measured& measured, CheckResult& result) const {
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (!units_[i].raced) continue;
    const auto cpu = stats::trimmed_mean(measured.all(i, [](const UnitTimes& it) { return it.time_log_ratio; }));
    // Both with the start-up: beside a long one wall-clock time cannot fall as processor time less start-up does.
    const auto whole = stats::trimmed_mean(measured.all(i, [](const UnitTimes& it) { return it.whole_log_ratio; }));
    const auto wall = stats::trimmed_mean(measured.all(i, [](const UnitTimes& it) { return it.wall_log_ratio; }));
    if (cpu > std::log(1.2) && wall < kLeastWallShare * whole) {
      problems.push_back(fmt::format(
          "{}: with its start-up, processor time fell to 1/{:.2f}, and wall-clock time to 1/{:.2f} only: work is "
          "done where it is not counted",
          to_string(units_[i]), std::exp(whole), std::exp(wall)));
    }
    const double old_peak = stats::median(measured.all(i, [](const UnitTimes& it) { return it.old_peak_bytes; }));
    const double new_peak = stats::median(measured.all(i, [](const UnitTimes& it) { return it.new_peak_bytes; }));
    if (new_peak > kMostMemoryRatio * old_peak && new_peak > old_peak + kFreeMemoryBytes) {
      problems.push_back(fmt::format("{}: peak memory grew from {:.0f} to {:.0f} MiB", to_string(units_[i]),
                                     old_peak / (1 << 20), new_peak / (1 << 20)));
    }
  }
  result.start_up = measured.start_up;
  return problems;
}

void Checker::tell_growth(const Measured& measured, CheckResult& result) const {
  for (const Workload& workload : task_.workloads) {
    if (workload.role == Role::check) continue;
    std::vector<double> sizes;
    std::vector<std::size_t> ladder;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (units_[i].workload != workload.name) continue;
      ladder.push_back(i);
      sizes.push_back(static_cast<double>(units_[i].size));
    }
    Growth growth{.workload = workload.name, .difference = {}};
    const std::size_t first = ladder.size() / 2;
    std::vector<double> places;
    std::vector<double> old_logs;
    std::vector<double> new_logs;
    bool clear = true;
    for (std::size_t i = first; i < ladder.size(); ++i) {
      const UnitResult& unit = result.units[ladder[i]];
      clear = clear && unit.unit.timed && unit.new_seconds >= kLeastNetShare * measured.start_up.old_seconds;
      places.push_back(std::log(sizes[i]));
      old_logs.push_back(std::log(std::max(unit.old_seconds, 1e-9)));
      new_logs.push_back(std::log(std::max(unit.new_seconds, 1e-9)));
    }
    growth.from_size = sizes[first];
    growth.to_size = sizes.back();
    growth.old_exponent = stats::slope(places, old_logs);
    growth.new_exponent = stats::slope(places, new_logs);
    std::vector<stats::LadderRestart> restarts;
    for (const auto& restart : measured.restarts) {
      auto& blocks = restarts.emplace_back();
      for (const auto& block : restart) {
        auto& row = blocks.emplace_back();
        for (const std::size_t unit : ladder) row.push_back(block[unit] ? block[unit]->log_ratio : stats::kLeftOut);
      }
    }
    growth.difference = stats::exponent_difference(sizes, restarts);
    if (!clear && growth.difference.reason.empty()) {
      growth.difference.claimed = false;
      growth.difference.reason =
          "in the upper half of the sizes a time cannot be told from the start-up; use larger ones";
    }
    result.growth.push_back(std::move(growth));
  }
  const auto refused = std::ranges::find_if(result.growth, [](const Growth& one) { return !one.difference.claimed; });
  result.complexity_claimed = refused == result.growth.end() && result.growth.size() >= 2;
  if (refused != result.growth.end())
    result.complexity_reason = refused->workload + ": " + refused->difference.reason;
  else if (result.growth.size() < 2)
    result.complexity_reason = "one family of inputs shows it; a claim needs a second one, such as a held_out workload";
}

Result<std::vector<std::string>> Checker::text_problems(const std::vector<ChangedFile>& changes, CheckResult& result) {
  auto compared = compare_readability(*reader_, task_.language, changes);
  if (compared) {
    result.readability = std::move(*compared);
    return std::vector<std::string>();
  }
  if (compared.error().code == base::ErrorCode::parse) return std::vector{compared.error().message};
  return tl::make_unexpected(compared.error());
}

Result<std::vector<FunctionFigures>> Checker::text_figures(const CheckResult& change) {
  std::vector<FunctionFigures> out;
  if (!reader_) return out;
  std::set<std::string> paths;
  for (const Scope& scope : task_.scope) paths.insert(scope.path);
  for (const std::string& path : paths) {
    std::string text;
    if (const auto changed = change.files.find(path); changed != change.files.end()) {
      text = changed->second;
    } else {
      TRY_ASSIGN(text, base_text(path));
    }
    TRY_ASSIGN(const auto measures, reader_->measure(task_.language.name, text));
    for (const auto& one : measures.functions) {
      if (one.name.empty()) continue;
      out.push_back({path + "#" + one.name, {}, {one.cognitive, one.nesting, one.statements, one.longest}});
    }
  }
  return out;
}

}  // namespace accelopt::refactor

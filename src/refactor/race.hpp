// SPDX-License-Identifier: Apache-2.0
// Times of old and new code in pairs, without what starting the program costs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "refactor/driver.hpp"
#include "stats/confirmation.hpp"
#include "stats/estimate.hpp"

namespace accelopt::refactor {

/// Blocks here take seconds, not milliseconds: fewer of them, and a wider interval is enough. What it says is as true:
/// each block is a pair of fresh processes already, so that restarts, which are fresh trees, add little to their
/// spread.
inline constexpr stats::ConfirmationRules kConfirmationRules{.min_restarts = 3,
                                                             .min_blocks = 12,
                                                             .max_blocks = 36,
                                                             .half_width = 0.1,
                                                             .half_width_of_gain = 0.1,
                                                             .answer_alpha = 0.05,
                                                             .spread = stats::Spread::blocks};

/// One workload at one size.
struct Unit {
  std::string workload;
  std::int64_t size = 0;
  int count = 1;
  Role role = Role::race;
  bool raced = false;                  ///< the largest size of a raced workload: it decides
  bool timed = false;                  ///< long enough beside the start-up to be compared without it
  bool sized = false;                  ///< its memory besides the start-up's is enough to be compared without it
  std::optional<double> call_share{};  ///< of the old code's calls in the driver's time; none: it is not known
};
std::string to_string(const Unit& unit);

/// What a run at size 0 takes, medians of pairs: processor time, and the peak of memory.
struct StartUp {
  double old_seconds = 0;
  double new_seconds = 0;
  double old_peak_bytes = 0;
  double new_peak_bytes = 0;
};

struct UnitTimes {
  double log_ratio = 0;        ///< log(old / new) of what the goal is about: what decides
  double time_log_ratio = 0;   ///< the same of processor time, less start-up
  double whole_log_ratio = 0;  ///< of processor time with the start-up
  double wall_log_ratio = 0;   ///< of wall-clock time, with the start-up
  double old_seconds = 0;      ///< processor time less start-up
  double new_seconds = 0;
  double old_peak_bytes = 0;  ///< of memory, in whole
  double new_peak_bytes = 0;
  double old_net_bytes = 0;  ///< less start-up, as of times
  double new_net_bytes = 0;
  std::string difference;  ///< the outputs of this very run differ; empty: they do not
};

/// largest: that of each raced workload alone.
enum class Sizes { all, largest };
/// The units of the workloads that are timed.
std::vector<Unit> units_of(const Task& task, Sizes sizes);

/// Of each unit, whether every block of a confirmation has it: the raced ones, and those of which growth is told where
/// a claim can be made. The others only guard.
std::vector<bool> in_every_block(const Task& task, const std::vector<Unit>& units);
/// Of each unit, in how many blocks of a restart of `blocks` it is measured. `asked`: whether it is still asked of it
/// if it is too slow. Of what is not one block is measured in each of the first restarts, so that each unit meets as
/// many fresh trees, and none later.
std::vector<int> blocks_of_units(const std::vector<bool>& in_every_block, const std::vector<bool>& asked, int restart,
                                 int blocks);

/// log(old / new) of processor times in seconds. With a start-up: less it, where new code is charged a longer one and
/// given nothing for a shorter one; without: in whole, to notice what became slower.
double time_log_ratio(double old_seconds, double new_seconds, const StartUp* start_up);

/// Peaks of memory that are apart by less are alike: the kernel counts in pages, behind by some a processor, and
/// allocators ask for more than they need. In bytes, and as a share of the old one.
inline constexpr double kLeastBytesApart = 1 << 20;
inline constexpr double kLeastShareApart = 0.02;
/// log(old / new) of two peaks; 0: they are alike. With a start-up, of what there is besides.
double memory_log_ratio(double old_peak, double new_peak, const StartUp* start_up);

/// Pairs at size 0 that measure the start-up.
inline constexpr int kStartUpPairs = 5;

/// Keeps other measurements off this machine until what it gives is destroyed. @error cancelled, io.
using MachineHold = std::function<base::Result<std::shared_ptr<void>>()>;

/// What decides a race. Of readability that is a figure of the two texts, which no run changes.
struct Deciding {
  Goal goal = Goal::time;
  double of_text = 0;  ///< log(old / new)
};

/// Whether time is no goal but a guard, so that less memory or simpler text is not paid for by it.
bool time_is_a_guard(Goal goal);

/// Asks of a race that something else decides whether new code is certainly slower than the confirmation will allow, so
/// that no search builds on it. Simultaneous over its looks and units.
class TimeGuard {
 public:
  TimeGuard(Goal goal, std::vector<Unit> units);
  /// A block: an entry for each unit.
  void add(const std::vector<UnitTimes>& block);
  /// What became too slow, as of the last look; empty: nothing certainly did.
  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  bool guards_;
  std::vector<Unit> units_;
  std::vector<std::vector<double>> log_ratios_;  ///< by unit
  std::string broken_;
};

class Race {
 public:
  /// Holds the machine for each pair.
  Race(Driver& driver, Deciding deciding, Trees trees, std::uint64_t seed, MachineHold hold)
      : driver_(&driver), deciding_(deciding), trees_(std::move(trees)), random_(seed), hold_(std::move(hold)) {}

  /// Runs pairs at size 0 of the workload. A difference of their outputs goes to `difference`.
  base::Result<StartUp> measure_start_up(const std::string& workload, std::string& difference);
  /// One pair. New code is charged what its start-up takes longer, and is given nothing for a shorter one.
  base::Result<UnitTimes> measure(const Unit& unit, const StartUp& start_up);

 private:
  Driver* driver_;
  Deciding deciding_;
  Trees trees_;
  std::mt19937_64 random_;
  MachineHold hold_;
};

}  // namespace accelopt::refactor

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "evaluation/verify/slots.hpp"

namespace accelopt::evaluation {

/// Limits a call to five times the parent's time and a little, and never more than `hard`.
std::chrono::nanoseconds call_limit(double parent_ns, std::chrono::nanoseconds hard);

/// Why a time with TimeFault::clocks_differ does not count.
inline constexpr const char* kClocksDiffer = "the device's time of a call and the host's contradict each other";

/// One round: every active arm once on every workload, in random order, all on the same slot.
struct Block {
  std::vector<std::optional<std::vector<double>>> times_ns;  ///< an entry an arm; none: it did not run, or it failed
  int slot = 0;
  bool disturbed = false;
  TimeFault fault = TimeFault::none;           ///< of its calls the gravest
  std::vector<std::vector<double>> clock_mhz;  ///< an entry an arm and workload; empty where an arm's is unknown
  std::vector<std::vector<double>> lag_ns;     ///< likewise
};

/// Whether a target that times several short calls together does so.
enum class Timing { usual, alone };

/// Runs blocks, each on a slot that none of its candidates has met in any process. After a generation of slots all arms
/// get fresh processes and one warm-up block. Every output of every call is judged; the first failure takes the arm
/// out. The machine's lock is held a block at a time.
///
/// A disturbed call is repeated on a slot of its own, and counts as it is when that was no better; one that could have
/// begun before its go never counts. A block with a call whose time is not the kernel's own is made again, on the next
/// slot. A low clock that stays is the device's clock: after a while such blocks count, and the runner is noisy. Others
/// who stay on the device end it.
class BlockRunner {
 public:
  struct Plan {
    std::vector<const model::Kernel*> arms;  ///< built; the first one's times limit the others
    std::vector<Placement> placements{};     ///< an entry an arm; fewer: the rest is as usual
    std::vector<std::size_t> workloads;      ///< indices into the task's
    std::vector<double> expected_ns;         ///< an entry a workload: limits the first calls; 0: unknown
    std::chrono::nanoseconds hard_limit{std::chrono::seconds(10)};
    std::uint64_t seed = 0;   ///< of orders and poison
    int first_candidate = 0;  ///< arms before this one may have met the slots: a parent in a triage
    std::chrono::steady_clock::duration most_drawing = std::chrono::seconds(60);  ///< for slots of this runner's own
    Timing timing = Timing::usual;
  };
  BlockRunner(Bench& bench, const model::Task& task, Slots& slots, Plan plan);

  /// The next block of these arms. @error cancelled; io; unavailable: `unmeasured` says why; exhausted: `ended` says
  /// why there are no more blocks; and those of the slots.
  base::Result<Block> next(const std::vector<int>& active, const std::stop_token& stop);
  /// Ends all processes: the next block begins with fresh ones.
  void restart();
  /// Why the arm is out.
  [[nodiscard]] const std::optional<Failure>& failure(int arm) const {
    return arms_[static_cast<std::size_t>(arm)].failure;
  }
  /// Over half of the calls were disturbed, and waiting did not help.
  [[nodiscard]] bool noisy() const { return noisy_; }
  /// Who or what disturbed calls, as the target named them last; empty: nobody that it could name.
  [[nodiscard]] const std::string& disturbance() const { return disturbance_; }
  /// Why no block that counts can be made, once `next` has failed for it: for an evaluation that is NOT_MEASURED.
  [[nodiscard]] const std::string& unmeasured() const { return unmeasured_; }
  /// Why there are no more blocks, once `next` has failed for it: what was measured until then counts.
  [[nodiscard]] const std::string& ended() const { return ended_; }
  /// That slots, and blocks which do not count, have cost, and waiting for the device.
  [[nodiscard]] std::chrono::steady_clock::duration lost() const {
    return lost_to_clock_ + lost_to_others_ + lost_to_drawing_ + waited();
  }

 private:
  struct ArmState {
    const model::Kernel* kernel = nullptr;
    std::string source_id;
    Placement placement = Placement::usual;
    std::unique_ptr<LiveKernel> live;
    std::optional<Failure> failure;
    std::map<std::size_t, std::set<int>> spare{};           ///< slots that it may still meet, by workload
    std::optional<std::pair<std::size_t, int>> met_last{};  ///< by this process: place of the workload, slot
    std::chrono::steady_clock::duration drawing_before{};   ///< that had been spent when it was called last
  };
  int another_slot(ArmState& arm, std::size_t workload, int slot);
  base::Result<void> expect(const std::vector<int>& active);
  /// Times of a target that calls nothing for them, under one of its model's assumptions.
  base::Result<Block> block_without_calls(const std::vector<int>& active, const std::stop_token& stop);
  void meet(const std::vector<int>& active, int slot);
  base::Result<void> begin_generation(const std::vector<int>& active, const std::stop_token& stop);
  base::Result<Block> next_slot(const std::vector<int>& active, const std::stop_token& stop);
  base::Result<Block> run_block(const std::vector<int>& active, int slot, const std::stop_token& stop);
  [[nodiscard]] bool any_failed(const std::vector<int>& active) const;
  base::Result<void> wait_for_others(std::chrono::steady_clock::time_point began, TimeFault fault,
                                     const std::stop_token& stop);
  base::Result<void> run_call(int arm, std::size_t place, int slot, Block& block);
  base::Result<CallOutcome> call(ArmState& arm, std::size_t place, Slot& slot, Repeat repeat);
  base::Result<void> warm(ArmState& arm);
  base::Result<CallOutcome> timed(ArmState& arm, std::size_t place, int slot);
  base::Result<void> draw(const std::vector<int>& active, int slot);
  void wait_for_quiet();
  [[nodiscard]] std::chrono::steady_clock::duration waited() const { return bench_.use().waited - waited_before_; }

  Bench& bench_;
  const model::Task& task_;
  Slots& slots_;
  Plan plan_;
  std::mt19937_64 random_;
  std::vector<ArmState> arms_;
  std::vector<int> order_;  ///< slots of this generation
  std::size_t used_ = 0;    ///< of them
  int calls_ = 0;
  int disturbed_calls_ = 0;
  int repeats_ = 0;  ///< of disturbed calls
  int waits_ = 0;
  bool warming_up_ = false;  ///< the block in hand does not count, so none of its calls is repeated
  bool noisy_ = false;
  std::string disturbance_;
  std::string unmeasured_;
  std::string ended_;
  /// Blocks, from a random number on: all arms of one find the same kind of poison.
  std::size_t poisons_ = 0;
  int assumption_ = 0;   ///< of the block in hand; blocks take turns
  int slow_blocks_ = 0;  ///< made again for a low clock
  std::chrono::steady_clock::duration lost_to_clock_{};
  std::chrono::steady_clock::duration lost_to_others_{};
  std::chrono::steady_clock::duration lost_to_drawing_{};
  std::chrono::steady_clock::duration waited_before_;  ///< before this runner began
};

}  // namespace accelopt::evaluation

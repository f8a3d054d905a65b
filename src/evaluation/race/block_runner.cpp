// SPDX-License-Identifier: Apache-2.0
#include "evaluation/race/block_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>

#include "stats/estimate.hpp"

namespace accelopt::evaluation {
namespace {

constexpr double kWatchdogFactor = 5;
constexpr std::chrono::milliseconds kWatchdogSlack{50};
constexpr int kMostDisturbedCalls = 2;  ///< repetitions of a disturbed call
constexpr int kMostRepeats = 24;    ///< of disturbed calls, a runner: where most are disturbed, more slots do not help
constexpr int kMostEarlyCalls = 8;  ///< repetitions of one that could have begun before its go
constexpr std::chrono::milliseconds kFirstNap{1};  ///< before the first of these; twice as long before each further one
constexpr int kCallsBeforeJudgingNoise = 16;
constexpr int kMostWaits = 4;  ///< for quiet, a runner
constexpr std::chrono::milliseconds kWait{60};
/// Of a runner: more blocks with a low clock, or more time with them, and it is the clock that the device has.
constexpr int kMostSlowBlocks = 16;
constexpr std::chrono::seconds kMostSlowTime{1};
constexpr std::chrono::milliseconds kLongestNap{200};  ///< between looks whether others have left
constexpr int kNapsInPatience = 50;

/// A copy of a candidate has met the slots of its other arm's process: it has a row of its own.
int row_of(Placement placement) {
  return placement == Placement::usual ? 0 : 1;
}

/// Repeats have as many rows, behind those.
constexpr int kFirstSlotOfRepeats = 2 * kSlotsARow;

/// The times of one call beside those of the arm's other workloads.
void put(std::vector<std::vector<double>>& values, std::size_t arm, std::size_t place, std::size_t places,
         double value) {
  std::vector<double>& own = values[arm];
  own.resize(places, 0.0);
  own[place] = value;
}

}  // namespace

std::chrono::nanoseconds call_limit(double parent_ns, std::chrono::nanoseconds hard) {
  if (parent_ns <= 0) return hard;
  return std::min(hard,
                  std::chrono::nanoseconds(static_cast<std::int64_t>(kWatchdogFactor * parent_ns)) + kWatchdogSlack);
}

BlockRunner::BlockRunner(Bench& bench, const model::Task& task, Slots& slots, Plan plan)
    : bench_(bench),
      task_(task),
      slots_(slots),
      plan_(std::move(plan)),
      random_(plan_.seed),
      waited_before_(bench.use().waited) {
  for (const model::Kernel* kernel : plan_.arms) {
    const std::size_t arm = arms_.size();
    const Placement placement = arm < plan_.placements.size() ? plan_.placements[arm] : Placement::usual;
    arms_.push_back({kernel, kernel->id(), placement, nullptr, std::nullopt});
  }
  poisons_ = random_() % kTimedPoisons.size();
  plan_.expected_ns.resize(plan_.workloads.size(), 0);
}

void BlockRunner::restart() {
  for (ArmState& arm : arms_) arm.live.reset();
  used_ = order_.size();
}

base::Result<Block> BlockRunner::next(const std::vector<int>& active, const std::stop_token& stop) {
  for (;;) {
    const auto began = std::chrono::steady_clock::now() - waited();
    const int calls = calls_;
    const int disturbed_calls = disturbed_calls_;
    TRY_ASSIGN(Block block, next_slot(active, stop));
    const bool slow = block.fault == TimeFault::slow_clock;
    const bool used_to_it = slow && (slow_blocks_ >= kMostSlowBlocks || lost_to_clock_ > kMostSlowTime);
    if (block.fault == TimeFault::none || used_to_it || any_failed(active)) {
      noisy_ = noisy_ || used_to_it;
      wait_for_quiet();
      return block;
    }
    calls_ = calls;
    disturbed_calls_ = disturbed_calls;
    if (!slow) {
      TRY(wait_for_others(began + waited(), block.fault, stop));
      continue;
    }
    ++slow_blocks_;
    lost_to_clock_ += std::chrono::steady_clock::now() - began - waited();
  }
}

bool BlockRunner::any_failed(const std::vector<int>& active) const {
  return std::any_of(active.begin(), active.end(), [this](int arm) { return failure(arm).has_value(); });
}

/// The machine is nobody's meanwhile.
base::Result<void> BlockRunner::wait_for_others(std::chrono::steady_clock::time_point began, TimeFault fault,
                                                const std::stop_token& stop) {
  const std::chrono::milliseconds patience = bench_.patience_with_neighbours();
  if (fault == TimeFault::neighbour) std::this_thread::sleep_for(std::min(kLongestNap, patience / kNapsInPatience));
  if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, "measuring was stopped as asked");
  lost_to_others_ += std::chrono::steady_clock::now() - began;
  if (lost_to_others_ <= patience) return {};
  const std::string what = fault == TimeFault::neighbour ? disturbance_ : kClocksDiffer;
  unmeasured_ = fmt::format("{}, and times taken then do not count; {:.3g} s did not change that", what,
                            std::chrono::duration<double>(patience).count());
  return base::fail(base::ErrorCode::unavailable, "nothing could be measured: " + unmeasured_);
}

base::Result<Block> BlockRunner::next_slot(const std::vector<int>& active, const std::stop_token& stop) {
  // Slots are drawn outside the machine's lock.
  if (bench_.times_without_calls()) return block_without_calls(active, stop);
  if (used_ >= order_.size()) TRY(begin_generation(active, stop));
  if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, "measuring was stopped as asked");
  const int slot = order_[used_++];
  meet(active, slot);
  TRY(draw(active, slot));
  TRY_ASSIGN(Block block, run_block(active, slot, stop));
  assumption_ = (assumption_ + 1) % stats::kAssumptions;
  return block;
}

base::Result<Block> BlockRunner::block_without_calls(const std::vector<int>& active, const std::stop_token& stop) {
  Block block;
  block.slot = assumption_;
  block.times_ns.resize(arms_.size());
  block.clock_mhz.resize(arms_.size());
  block.lag_ns.resize(arms_.size());
  for (const int index : active) {
    auto& times = block.times_ns[static_cast<std::size_t>(index)].emplace();
    for (const std::size_t workload : plan_.workloads) {
      TRY_ASSIGN(const double ns, bench_.time_of(*arms_[static_cast<std::size_t>(index)].kernel,
                                                 task_.workloads[workload], assumption_, stop));
      times.push_back(ns);
    }
  }
  assumption_ = (assumption_ + 1) % stats::kAssumptions;
  return block;
}

base::Result<void> BlockRunner::draw(const std::vector<int>& active, int slot) {
  const auto before = slots_.drawing();
  for (const std::size_t workload : plan_.workloads) {
    std::set<int> rows;
    for (const int arm : active) rows.insert(row_of(arms_[static_cast<std::size_t>(arm)].placement));
    for (const int row : rows) TRY(slots_.get(workload, slot + row * kSlotsARow));
  }
  TRY(expect(active));
  lost_to_drawing_ += slots_.drawing() - before;
  if (lost_to_drawing_ <= plan_.most_drawing) return {};
  ended_ = fmt::format(
      "inputs that no candidate of this race had met, and their expected outputs, took {:.0f} s, which is all that one "
      "race may spend on them; make the reference faster or the workloads smaller",
      std::chrono::duration<double>(lost_to_drawing_).count());
  return base::fail(base::ErrorCode::exhausted, "there are no more blocks: " + ended_);
}

/// This block's slots, and those of later ones that are drawn already.
base::Result<void> BlockRunner::expect(const std::vector<int>& active) {
  for (const int index : active) {
    const ArmState& arm = arms_[static_cast<std::size_t>(index)];
    if (arm.failure || !arm.live || !arm.live->looks_ahead()) continue;
    std::vector<const Invocation*> coming;
    for (std::size_t place = used_ > 0 ? used_ - 1 : 0; place < order_.size(); ++place) {
      for (const std::size_t workload : plan_.workloads) {
        const Slot* const slot = slots_.peek(workload, order_[place] + row_of(arm.placement) * kSlotsARow);
        if (slot == nullptr) continue;
        slots_.meet_one(arm.source_id, workload, order_[place]);
        coming.push_back(&slot->invocation);
      }
    }
    TRY(arm.live->expect(coming));
  }
  return {};
}

void BlockRunner::meet(const std::vector<int>& active, int slot) {
  for (const int arm : active) {
    for (const std::size_t workload : plan_.workloads)
      slots_.meet_one(arms_[static_cast<std::size_t>(arm)].source_id, workload, slot);
  }
}

base::Result<void> BlockRunner::begin_generation(const std::vector<int>& active, const std::stop_token& stop) {
  std::vector<std::string> candidates;
  for (const int arm : active) {
    if (arm >= plan_.first_candidate) candidates.push_back(arms_[static_cast<std::size_t>(arm)].source_id);
  }
  order_ = slots_.to_race(candidates, plan_.workloads);
  const bool warms_up = bench_.clock() == DeviceClock::noisy;  // on others nothing gets warm
  std::shuffle(order_.begin() + (warms_up ? 1 : 0), order_.end(), random_);
  used_ = 0;
  for (ArmState& arm : arms_) arm.live.reset();
  for (const int index : active) {
    ArmState& arm = arms_[static_cast<std::size_t>(index)];
    arm.met_last.reset();
    if (arm.failure) continue;
    TRY_ASSIGN(arm.live, bench_.start(*arm.kernel, arm.placement, stop));
  }
  if (!warms_up) return {};
  const int warm_up = order_[used_++];
  meet(active, warm_up);
  TRY(draw(active, warm_up));
  warming_up_ = true;
  const auto warmed = run_block(active, warm_up, stop);
  warming_up_ = false;
  if (!warmed) return tl::make_unexpected(warmed.error());
  return {};
}

base::Result<Block> BlockRunner::run_block(const std::vector<int>& active, int slot, const std::stop_token& stop) {
  Block block;
  block.slot = slot;
  ++poisons_;
  block.times_ns.resize(arms_.size());
  block.clock_mhz.resize(arms_.size());
  block.lag_ns.resize(arms_.size());
  TRY_ASSIGN(const auto lock, bench_.lock_machine());
  std::vector<std::size_t> places(plan_.workloads.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::shuffle(places.begin(), places.end(), random_);
  for (const std::size_t place : places) {
    // The pair stays close in time: all arms run one workload before the next workload begins.
    std::vector<int> order = active;
    std::shuffle(order.begin(), order.end(), random_);
    for (const int arm : order) {
      if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, "measuring was stopped as asked");
      TRY(run_call(arm, place, slot, block));
    }
  }
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    if (arms_[arm].failure) block.times_ns[arm].reset();
  }
  return block;
}

base::Result<void> BlockRunner::run_call(int index, std::size_t place, int slot_number, Block& block) {
  ArmState& arm = arms_[static_cast<std::size_t>(index)];
  if (arm.failure || !arm.live) return {};
  TRY_ASSIGN(const CallOutcome outcome, timed(arm, place, slot_number));
  if (arm.failure) return {};
  ++calls_;
  if (outcome.disturbed) {
    ++disturbed_calls_;
    block.disturbed = true;
    if (!outcome.disturbance.empty()) disturbance_ = outcome.disturbance;
  }
  block.fault = std::max(block.fault, outcome.fault);
  if (outcome.clock_mhz > 0)
    put(block.clock_mhz, static_cast<std::size_t>(index), place, plan_.workloads.size(), outcome.clock_mhz);
  if (outcome.lag_ns)
    put(block.lag_ns, static_cast<std::size_t>(index), place, plan_.workloads.size(), *outcome.lag_ns);
  if (index == 0) plan_.expected_ns[place] = std::max(plan_.expected_ns[place], outcome.time_ns);
  auto& times = block.times_ns[static_cast<std::size_t>(index)];
  if (!times) times.emplace(plan_.workloads.size(), 0.0);
  (*times)[place] = outcome.time_ns;
  return {};
}

/// The lowest slot for repeats of the same family that the arm has not met: an earlier candidate has mostly drawn it.
int BlockRunner::another_slot(ArmState& arm, std::size_t workload, int slot) {
  // An opponent that may meet what its candidate meets has met the lowest ones long ago.
  const auto candidate = static_cast<std::size_t>(plan_.first_candidate);
  if (&arm < &arms_[candidate]) return another_slot(arms_[candidate], workload, slot);
  const model::Family family = family_of_slot(task_, slot);
  std::set<int>& spare = arm.spare[workload];
  for (;;) {
    const auto found =
        std::find_if(spare.begin(), spare.end(), [&](int one) { return family_of_slot(task_, one) == family; });
    if (found != spare.end()) return kFirstSlotOfRepeats + spare.extract(found).value();
    const int next = slots_.unmet(arm.source_id, workload, SlotUse::repeats);
    slots_.meet(arm.source_id, workload, next + 1, SlotUse::repeats);
    spare.insert(next);
  }
}

/// One call on a slot, and whether its outputs are right: the arm is out where they are not.
base::Result<CallOutcome> BlockRunner::call(ArmState& arm, std::size_t place, Slot& slot, Repeat repeat) {
  CallOptions options{call_limit(plan_.expected_ns[place], plan_.hard_limit), task_.cpu.cache, random_()};
  options.poison = kTimedPoisons[poisons_ % kTimedPoisons.size()];
  options.right = slot.expected;
  options.alone = plan_.timing == Timing::alone;
  options.repeat = repeat;
  options.assumption = assumption_;
  TRY_ASSIGN(CallOutcome outcome, arm.live->call(slot.invocation, options));
  arm.failure = judge(task_, task_.workloads[plan_.workloads[place]], slot, outcome);
  if (arm.failure) arm.live.reset();
  return outcome;
}

/// A call that does not count, on the inputs that the arm met last: drawing a slot has left the process so cold that
/// its next call would take longer to begin than an idle one, and would not count.
base::Result<void> BlockRunner::warm(ArmState& arm) {
  if (arm.met_last && arm.drawing_before != slots_.drawing() && !bench_.keeps_slots()) {
    const auto [place, number] = *arm.met_last;
    if (Slot* const slot = slots_.kept(plan_.workloads[place], number)) TRY(call(arm, place, *slot, Repeat::warm));
  }
  arm.drawing_before = slots_.drawing();
  return {};
}

/// One call that counts, or a failure: every repetition has a slot of its own, of the same family.
base::Result<CallOutcome> BlockRunner::timed(ArmState& arm, std::size_t place, int slot_number) {
  const std::size_t workload = plan_.workloads[place];
  for (int repeat = 0;; ++repeat) {
    const int number =
        (repeat == 0 ? slot_number : another_slot(arm, workload, slot_number)) + row_of(arm.placement) * kSlotsARow;
    const auto before = slots_.drawing();
    TRY_ASSIGN(Slot * slot, slots_.get(workload, number));
    lost_to_drawing_ += slots_.drawing() - before;
    TRY(warm(arm));
    if (arm.failure) return CallOutcome{};
    TRY_ASSIGN(CallOutcome outcome, call(arm, place, *slot, Repeat::no));
    arm.met_last = {place, number};
    if (arm.failure || warming_up_) return outcome;
    if (outcome.early && repeat < kMostEarlyCalls) {
      std::this_thread::sleep_for(kFirstNap * (1 << repeat));
      continue;
    }
    if (outcome.early) {
      ended_ = fmt::format(
          "workload {}: {} calls in a row could have begun before they were told to, so that their "
          "times say nothing; is the machine busy?",
          task_.workloads[workload].name, repeat + 1);
      return base::fail(base::ErrorCode::exhausted, "there are no more blocks: " + ended_);
    }
    const bool again = outcome.disturbed && outcome.fault == TimeFault::none && !noisy_ && repeats_ < kMostRepeats;
    if (!again || repeat >= kMostDisturbedCalls) return outcome;
    ++repeats_;
  }
}

void BlockRunner::wait_for_quiet() {
  if (noisy_ || calls_ < kCallsBeforeJudgingNoise) return;
  if (2 * disturbed_calls_ <= calls_) {
    calls_ = 0;
    disturbed_calls_ = 0;
    return;
  }
  calls_ = 0;
  disturbed_calls_ = 0;
  if (++waits_ > kMostWaits) {
    noisy_ = true;  // from here on everything counts as it comes
    return;
  }
  std::this_thread::sleep_for(kWait);
}

}  // namespace accelopt::evaluation

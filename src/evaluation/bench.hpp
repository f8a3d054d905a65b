// SPDX-License-Identifier: Apache-2.0
// How kernels are called, judged and timed.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "evaluation/device_use.hpp"
#include "evaluation/reports.hpp"
#include "evaluation/verify/inputs.hpp"
#include "evaluation/verify/numerics.hpp"
#include "model/evaluation.hpp"
#include "model/kernel.hpp"
#include "model/output_check.hpp"
#include "model/task.hpp"

namespace accelopt::evaluation {

using Bytes = std::vector<std::byte>;

/// What one call is given: the inputs (tensors and scalars) in the definition's order, how large the outputs are, and
/// the variable axes in calling order. Must stay where it is while kernels are called with it. A target that keeps
/// slots has the inputs itself: here are none.
struct Invocation {
  std::uint64_t number = 0;  ///< unique: what lies in the buffers already is not laid out again
  std::vector<Bytes> inputs;
  std::vector<std::size_t> output_bytes;
  std::vector<std::int64_t> axes;
};

/// Whether a target that keeps slots keeps the outputs of a call, or compares them with those that it kept; or whether
/// the process has met the inputs and is called again to be warm: no time of such a call counts.
enum class Repeat { no, keep, compare, warm };

/// What outputs hold before a call: no single value stays unseen, so none can serve as a flag or as a result.
enum class Poison {
  nan,         ///< NaN patterns; random bits in integers
  zeros,       ///< +0
  plausible,   ///< right values of this very slot in other places: finite, and of the outputs' own distribution
  infinity,    ///< of both signs; in integers their largest value
  complement,  ///< in integers and bool the complement of every right value, else as plausible
};
/// Outputs of fewer elements get no right values of other places: there are too few other places.
inline constexpr std::size_t kLeastPlausible = 32;
/// In the order in which the calls of a verification take them, from a random one on.
inline constexpr std::array kPoisons{Poison::nan, Poison::zeros, Poison::plausible, Poison::infinity,
                                     Poison::complement};
/// The same of timed calls: a complement would tell every right value to whoever takes it back.
inline constexpr std::array kTimedPoisons{Poison::nan, Poison::zeros, Poison::plausible, Poison::infinity,
                                          Poison::plausible};

/// Where a target that lays tensors out for each call lets them begin.
enum class Alignment {
  cache_line,  ///< at multiples of 64 bytes
  element      ///< at multiples of their elements' size and not of 16 bytes, each tensor at another one
};

struct CallOptions {
  std::chrono::nanoseconds limit{std::chrono::seconds(10)};  ///< watchdog
  model::Cache cache = model::Cache::cold;
  std::uint64_t poison_seed = 0;  ///< of the pattern that outputs hold before the call; another one a call
  bool count = false;             ///< what the machine counts while it runs, at the cost of an exact time
  Repeat repeat = Repeat::no;
  Poison poison = Poison::nan;
  std::span<const Expected>
      right{};         ///< the slot's outputs, for poison made of them; none where the target keeps slots
  int assumption = 0;  ///< of a modelled clock, from 0 to stats::kAssumptions
  bool alone = false;  ///< one run of the kernel between two waits, also where several are timed together
  Alignment alignment = Alignment::cache_line;  ///< of calls whose time counts nowhere also `element`
};

/// `refused`: the target does not run what the kernel uses, and says nothing of its results.
enum class CallEnd { returned, timed_out, died, refused };

/// Where two outputs of one kernel on the same inputs differ by more than right ones may.
struct Disagreement {
  std::size_t output = 0;
  std::int64_t index = 0;  ///< of the first such element
  double kept = 0;
  double again = 0;
};

/// Why a call's time is not the kernel's own and does not count.
enum class TimeFault {
  none,
  slow_clock,     ///< the device's clock was low
  clocks_differ,  ///< the device's clock and the host's contradict each other, also when the call was repeated
  neighbour       ///< another process was on the device
};

/// One call as the worker's clock saw it.
struct CallOutcome {
  CallEnd end = CallEnd::returned;
  std::string reason;  ///< why it died or was ended, for people and fixer
  double time_ns = 0;
  TimeFault fault = TimeFault::none;
  double clock_mhz = 0;          ///< of the device, right after the call; 0: unknown
  std::optional<double> lag_ns;  ///< the host's clock around the call less the device's own
  bool disturbed = false;        ///< something else took time from the kernel or from the clock
  bool early = false;            ///< the kernel could have begun before the go: the time says nothing
  bool wrote_outside = false;    ///< bytes around an output changed
  std::string caught;            ///< cheating that is proven: what the kernel did; else empty
  std::vector<std::span<const std::byte>> outputs;  ///< the target's memory; holds until its next call
  std::vector<Comparison> comparisons;              ///< of a target that keeps slots, an entry an output; no `outputs`
  std::optional<Disagreement> disagreement;         ///< with Repeat::compare
  std::string disturbance;                          ///< who or what took it, if that is known: "process 4711 ..."
  std::vector<model::ProfileItem> counts;           ///< with CallOptions::count: those that the machine allows
};

/// A kernel in a process of its own. Destroying it ends the process.
class LiveKernel {
 public:
  virtual ~LiveKernel() = default;
  /// One timed call with poisoned outputs. Once a call did not return, every later one tells the same.
  /// @error io: the machine failed, not the kernel.
  virtual base::Result<CallOutcome> call(const Invocation& invocation, const CallOptions& options) = 0;
  /// Calls on these slots are next. What takes its time on the host is done now, while nobody waits for the machine;
  /// `call` does what is left. @error as `call`.
  virtual base::Result<void> expect(const std::vector<const Invocation*>& /*slots*/) { return {}; }
  /// Whether `expect` shows something of the slots to the kernel's own code: then they are met by it.
  [[nodiscard]] virtual bool looks_ahead() const { return false; }
};

enum class Precision { float32, float64 };

/// A tensor as the trusted reference sees it: floating types as `values`, all others as declared in `bytes`.
struct ReferenceTensor {
  std::vector<double> values;
  Bytes bytes;
};

/// A reference that runs on this machine's processor, whatever the target: float tensors in the definition's order to
/// the outputs, as Bench::reference. @error invalid_argument: it crashed or did not end.
using HostReference = std::function<base::Result<std::vector<ReferenceTensor>>(
    Precision precision, const std::vector<ReferenceTensor>& inputs, const Invocation& invocation)>;

/// A slot as it is asked of a target that keeps slots. Holds for the call alone.
struct SlotPlan {
  const model::Workload& workload;
  const Invocation& invocation;    ///< its number, the outputs' sizes, the axes
  std::vector<InputDraw> inputs;   ///< in the definition's order
  std::uint64_t perturbation = 0;  ///< seed of the honest runs' perturbed inputs
  bool every_run = true;           ///< also of those honest runs whose errors those of earlier slots tell
};

/// Something that holds until it is destroyed.
class Hold {
 public:
  virtual ~Hold() = default;
};

/// Where a kernel's machine code lies: as the linker puts it, or a few cache lines further, where the same code may be
/// slower or faster by accident.
enum class Placement { usual, shifted };

/// Whether a kernel takes another time at each call, or the same: one that is counted or modelled.
/// A modelled device gives another time for each of its model's assumptions (CallOptions::assumption).
enum class DeviceClock { noisy, deterministic, modelled };
/// Whether its times are a model's. Whoever shows them says so.
inline bool is_modelled(const model::Evaluation& evaluation) {
  return evaluation.environment.clock == model::kModelledClock;
}

/// The device as the measuring thread uses it, after `Target::open`.
class Bench {
 public:
  virtual ~Bench() = default;

  /// Bytes of the last-level cache.
  [[nodiscard]] virtual std::int64_t last_level_bytes() const = 0;
  /// With a deterministic clock a race, a play-off and a confirmation take one block each; with a modelled one a block
  /// for each assumption.
  [[nodiscard]] virtual DeviceClock clock() const { return DeviceClock::noisy; }

  /// Whether times are asked for without a call. Then raced workloads, which may be too large to be executed, are
  /// looked at in places; all others are verified as every target's.
  [[nodiscard]] virtual bool times_without_calls() const { return false; }
  /// The time of a call, nanoseconds. @error invalid_argument: the kernel does not build.
  virtual base::Result<double> time_of(const model::Kernel& kernel, const model::Workload& workload, int assumption,
                                       std::stop_token stop);
  /// Whether outputs can be checked in this way.
  [[nodiscard]] virtual bool checks(model::OutputCheck check) const { return check == model::OutputCheck::places; }
  /// Holds the outputs of a raced workload against the baseline's or the reference's, in the way that was chosen when
  /// the task was opened. What is wrong, and where it was looked at; "": nothing.
  virtual base::Result<std::string> spot_check(const model::Kernel& kernel, const model::Workload& workload,
                                               std::uint64_t seed, std::stop_token stop);

  /// Whether slots lie in the device's memory and calls are judged there. Then `reference` is not asked.
  [[nodiscard]] virtual bool keeps_slots() const { return false; }
  /// What its memory holds of the slot of this invocation, bytes.
  [[nodiscard]] virtual std::uint64_t bytes_of_slot(std::uint64_t /*invocation*/) const { return 0; }
  /// What all slots together should take of it, bytes.
  [[nodiscard]] virtual std::uint64_t most_slot_bytes() const { return 0; }
  /// Whether several short calls of this workload, on inputs of their own, are timed together: `CallOptions::alone`
  /// makes a difference. True as long as no call has told how short they are.
  [[nodiscard]] virtual bool times_together(const model::Workload& /*workload*/) const { return false; }
  /// Draws the inputs, runs the reference and calibrates, all as `Slots` does it for other targets; gives the bounds of
  /// every output, without their rows.
  /// @error invalid_argument: an input cannot be drawn, or the reference failed; exhausted: too little device memory.
  virtual base::Result<std::vector<Bounds>> prepare_slot(const SlotPlan& plan);
  /// The slot of this invocation will not be called with again.
  virtual void forget_slot(std::uint64_t /*invocation*/) {}

  /// Runs the reference on tensors in the definition's order; gives the outputs. `invocation` tells sizes and axes.
  /// @error invalid_argument: the reference crashed or did not end.
  virtual base::Result<std::vector<ReferenceTensor>> reference(Precision precision,
                                                               const std::vector<ReferenceTensor>& inputs,
                                                               const Invocation& invocation) = 0;
  /// Starts a process with the solution loaded. Builds it when it is not built. One that does not load tells so when
  /// called.
  /// @error invalid_argument: it does not build; io.
  virtual base::Result<std::unique_ptr<LiveKernel>> start(const model::Kernel& kernel, Placement placement,
                                                          std::stop_token stop) = 0;
  /// Builds pause while this is held, where the machine has no cores to spare.
  virtual std::unique_ptr<Hold> quiet() = 0;
  /// The machine's lock: nobody else on it measures while this is held, as far as others keep to it (device_lock.hpp).
  /// @error cancelled: the request was stopped while it waited.
  virtual base::Result<std::unique_ptr<Hold>> lock_machine() = 0;
  /// What the present request makes of waiting for the lock. Of the measuring thread.
  [[nodiscard]] DeviceUse& use() { return use_; }
  /// How long an evaluation waits, all in all, for others to leave the device before it is not measured.
  [[nodiscard]] virtual std::chrono::milliseconds patience_with_neighbours() const { return std::chrono::seconds(10); }
  /// Measures the peaks anew and keeps the larger values: a kernel seemed faster than the machine.
  virtual base::Result<Peaks> probe_peaks_again(std::stop_token stop) = 0;

 private:
  DeviceUse use_;
};

}  // namespace accelopt::evaluation

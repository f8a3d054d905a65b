// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "evaluation/bench.hpp"
#include "evaluation/verify/fingerprint.hpp"
#include "evaluation/verify/inputs.hpp"
#include "evaluation/verify/numerics.hpp"

namespace accelopt::evaluation {

/// One secret set of inputs for one workload, and what its outputs must be.
struct Slot {
  int number = 0;
  model::Family family = model::Family::as_declared;
  Invocation invocation;
  std::vector<Expected> expected;  ///< dtype and shape alone where the target keeps slots
  std::vector<Bounds> bounds;
  std::vector<Fingerprint>
      accepted;  ///< of outputs that were found right, the last ones: equal bytes need no second look
};

/// Of each set of inputs its own.
std::uint64_t next_invocation_number();

/// What stands for the runs on perturbed inputs (float_factor), an entry an output; empty: nothing can.
using FloatFactors = std::vector<double>;

/// What a reference on the host says of one set of inputs.
struct HostCalibration {
  std::vector<ReferenceTensor> exact;  ///< outputs of the run in double
  std::vector<Bounds> bounds;          ///< with their rows; as `exact`, of ties tensors too
  FloatFactors factors;
};
/// Runs the reference in double and in float, and on perturbed inputs; takes the bounds from that. `inputs` are what
/// the reference sees: the rounded values, not the drawn ones. Where `known` has factors they stand for the runs on
/// perturbed inputs, three of five.
/// @error as the reference.
base::Result<HostCalibration> calibrate_on_host(const model::Definition& definition, const model::AxisValues& axes,
                                                const HostReference& reference,
                                                const std::vector<ReferenceTensor>& inputs,
                                                const Invocation& invocation, std::uint64_t seed,
                                                const FloatFactors& known = {});
/// A drawn input as the reference sees it.
ReferenceTensor seen_by_reference(const model::TensorSpec& input, const Bytes& bytes);

/// Slots have any number from 0 on; this many numbers make a row. The same place in any two rows has the same family.
inline constexpr int kSlotsARow = 16 * 360'360;  // a multiple of every number of families up to fifteen

/// What a timed call is for: those of blocks and repeated ones have slots of their own, so that repeats leave no gaps
/// among the slots of blocks, which all candidates go through in one order and so draw once.
enum class SlotUse { blocks, repeats };

/// Slots of long races are dropped again where all of them would take more than this.
inline constexpr std::uint64_t kMostKeptBytes = 1ULL << 30;
/// The same where so many bytes of memory are free: an eighth of them, from one to eight times as much. Drawing a slot
/// again costs many times what a call on it does.
constexpr std::uint64_t most_kept_bytes(std::uint64_t free) {
  return std::clamp(free / 8, kMostKeptBytes, 8 * kMostKeptBytes);
}

/// Draws slots when they are first asked for, on the trusted side: here, or in the memory of a target that keeps slots,
/// of which only facts are here then. What honest kernels may be off by is measured with five runs of the reference in
/// the first generation, which every verification looks at, and with two in all others: there the errors of float
/// rounding are taken times what all honest errors were of it in the first. Knows which slots a candidate has met, in
/// whatever process: it is never timed on one of them. Slots are kept for other candidates while memory is left for it,
/// and drawn again after that. For the measuring thread only.
class Slots {
 public:
  /// At least `count` slots a generation, and one for every family.
  Slots(Bench& bench, const model::Task& task, std::uint64_t seed, int count,
        std::uint64_t most_kept_bytes = kMostKeptBytes);
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  ~Slots();

  /// @error invalid_argument: the reference failed, or an input cannot be drawn; io.
  /// What it returns holds until the next call.
  base::Result<Slot*> get(std::size_t workload, int slot);
  /// The slot if it need not be drawn, else null. Holds until the next call.
  [[nodiscard]] Slot* kept(std::size_t workload, int slot);
  /// The same, and nobody is taken to have asked.
  [[nodiscard]] const Slot* peek(std::size_t workload, int slot) const;
  /// Draws one more slot of these workloads before anybody asks for it: the lowest that is missing, as candidates begin
  /// with the lowest. False: it did not, because a race will hardly need more, they take too much memory or time, or
  /// others use the machine.
  bool draw_ahead(const std::vector<std::size_t>& workloads);
  /// How many slots make a generation: a verification looks at so many, a process is called with so many.
  [[nodiscard]] int count() const { return count_; }
  /// The first number from which on the candidate has met no slot of this workload. Numbers of repeats are their own.
  [[nodiscard]] int unmet(const std::string& source_id, std::size_t workload, SlotUse use = SlotUse::blocks) const;
  /// The candidate meets the slots of this workload below `end`.
  void meet(const std::string& source_id, std::size_t workload, int end, SlotUse use = SlotUse::blocks);
  /// It meets this one.
  void meet_one(const std::string& source_id, std::size_t workload, int number);
  /// The lowest `count` numbers that none of these has met in any of these workloads, those that were passed over too.
  [[nodiscard]] std::vector<int> not_met(const std::vector<std::string>& source_ids,
                                         const std::vector<std::size_t>& workloads, int count) const;
  /// A generation for a race, the lowest that none of these has met: inputs as declared, since how long a kernel takes
  /// with those is the question. Where there is a warm-up, which does not count, it comes first, of another family.
  [[nodiscard]] std::vector<int> to_race(const std::vector<std::string>& source_ids,
                                         const std::vector<std::size_t>& workloads) const;
  /// That drawing has cost since the beginning.
  [[nodiscard]] std::chrono::steady_clock::duration drawing() const { return drawing_; }
  /// Families that were found unusable so far, each once a workload.
  [[nodiscard]] const std::vector<DroppedFamily>& dropped() const { return dropped_; }
  /// What kernels may be off by on declared inputs where that is much, an entry a workload and output.
  [[nodiscard]] std::vector<std::string> loose() const;
  /// The first workload and output whose bounds accept wrong results, explained; "": there is none. Most of its
  /// declared slots have to: a sum that comes out near zero on one set of inputs says nothing of the others.
  [[nodiscard]] std::string useless() const;

 private:
  base::Result<std::unique_ptr<Slot>> draw(std::size_t workload, int slot, model::Family family);
  base::Result<bool> draw_here(Slot& slot, std::size_t workload, const SlotPlan& plan);
  base::Result<bool> calibrate_outputs(Slot& slot, const std::vector<ReferenceTensor>& inputs, std::size_t workload,
                                       std::uint64_t seed);
  void look_at_bounds(const Slot& slot, std::size_t workload);
  base::Result<bool> prepare_there(Slot& slot, const SlotPlan& plan);
  base::Result<std::unique_ptr<Slot>> draw_usable(std::size_t workload, int slot);
  void forget_some();
  [[nodiscard]] FloatFactors factors_for(const Slot& slot, std::size_t workload) const;
  void learn(const Slot& slot, std::size_t workload, const FloatFactors& factors);

  [[nodiscard]] std::vector<int> lowest(const std::vector<std::string>& source_ids,
                                        const std::vector<std::size_t>& workloads, int count,
                                        const std::function<bool(int)>& wanted) const;

  struct Kept {
    std::unique_ptr<Slot> slot;
    std::uint64_t bytes = 0;
    std::uint64_t asked_for = 0;  ///< when, counted in calls of `get`
  };
  Bench& bench_;
  const model::Task& task_;
  std::uint64_t seed_;
  int count_;
  std::uint64_t most_kept_bytes_;
  std::vector<DroppedFamily> dropped_;
  /// The bounds of a workload's output on declared inputs.
  struct Looseness {
    std::set<int> looked_at;  ///< slots, by number
    std::set<int> useless;
    double largest = 0;  ///< of the loose ones
    std::string text;    ///< explains it; "": none is loose
  };
  std::map<std::pair<std::size_t, std::size_t>, Looseness> loose_;  ///< by workload and output
  std::map<std::pair<int, std::size_t>, Kept> slots_;               ///< by number and workload
  struct Met {
    int below = 0;           ///< all of these
    std::set<int> others{};  ///< from there on
  };
  std::map<std::tuple<std::string, std::size_t, SlotUse>, Met> met_;
  std::map<std::pair<std::size_t, model::Family>, FloatFactors> factors_;  ///< the largest, by workload and family
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t asked_ = 0;
  std::chrono::steady_clock::duration drawing_{};
  int drawn_ = 0;
  std::chrono::steady_clock::duration drawing_ahead_{};
};

/// Why a candidate did not pass.
struct Failure {
  model::Status status = model::Status::runtime_error;
  std::string reason;
  std::optional<model::Mismatch> mismatch;
};

/// How near right outputs came to being refused: the largest share of a normwise bound that was used up, and where.
struct Margin {
  double share = -1;  ///< below 0: nothing was compared yet
  model::Mismatch where;
};

/// What one call tells about the kernel: nothing, when it returned the right outputs. `margin` is widened by it.
std::optional<Failure> judge(const model::Task& task, const model::Workload& workload, Slot& slot,
                             const CallOutcome& outcome, Margin* margin = nullptr);

}  // namespace accelopt::evaluation

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "evaluation/fingerprint.hpp"
#include "evaluation/inputs.hpp"
#include "evaluation/numerics.hpp"
#include "evaluation/target.hpp"

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

/// What a reference on the host says of one set of inputs.
struct HostCalibration {
  std::vector<ReferenceTensor> exact;  ///< outputs of the run in double
  std::vector<Bounds> bounds;          ///< with their rows
};
/// Runs the reference in double and in float, and on perturbed inputs; takes the bounds from that. `inputs` are what
/// the reference sees: the rounded values, not the drawn ones.
/// @error as the reference.
base::Result<HostCalibration> calibrate_on_host(const model::Definition& definition, const model::AxisValues& axes,
                                                const HostReference& reference,
                                                const std::vector<ReferenceTensor>& inputs,
                                                const Invocation& invocation, std::uint64_t seed);
/// A drawn input as the reference sees it.
ReferenceTensor seen_by_reference(const model::TensorSpec& input, const Bytes& bytes);

/// Draws slots when they are first asked for and keeps them, on the trusted side: here, or in the memory of a target
/// that keeps slots, of which only facts are here then. For the measuring thread only.
class Slots {
 public:
  /// At least `count` slots a workload, and one for every family.
  Slots(Target& target, const model::Task& task, std::uint64_t seed, int count);
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  ~Slots();

  /// @error invalid_argument: the reference failed, or an input cannot be drawn; io.
  base::Result<Slot*> get(std::size_t workload, int slot);
  [[nodiscard]] int count() const { return count_; }
  /// Families that were found unusable so far, each once a workload.
  [[nodiscard]] const std::vector<DroppedFamily>& dropped() const { return dropped_; }

 private:
  base::Result<std::unique_ptr<Slot>> draw(std::size_t workload, int slot, model::Family family);
  base::Result<bool> draw_here(Slot& slot, const SlotPlan& plan);
  base::Result<bool> calibrate_outputs(Slot& slot, const std::vector<ReferenceTensor>& inputs,
                                       const model::Workload& workload, std::uint64_t seed);
  base::Result<bool> prepare_there(Slot& slot, const SlotPlan& plan);

  Target& target_;
  const model::Task& task_;
  std::uint64_t seed_;
  int count_;
  std::vector<DroppedFamily> dropped_;
  std::map<std::pair<std::size_t, int>, std::unique_ptr<Slot>> slots_;
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

// SPDX-License-Identifier: Apache-2.0
// From a Triton solution to machine code and launch plans. Needs no device.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/once_map.hpp"
#include "base/result.hpp"
#include "capture/answer.hpp"
#include "capture/pool.hpp"
#include "devices/cuda/program.hpp"
#include "devices/cuda/residency.hpp"
#include "evaluation/bench.hpp"
#include "model/evaluation.hpp"
#include "model/kernel.hpp"
#include "model/task.hpp"
#include "model/tuning.hpp"
#include "targets/cuda/build.hpp"
#include "targets/triton/known_values.hpp"
#include "targets/triton/plan_checks.hpp"

namespace accelopt::targets::triton {

/// The function of a solution's first file that is called: with the inputs, or with inputs and outputs.
inline constexpr const char* kEntry = "run";

struct CaptureOptions {
  capture::PythonOptions python;
  std::vector<int> cores;          ///< where Python and ptxas may run; empty: anywhere
  std::filesystem::path folder{};  ///< for interpreted tensors
  devices::cuda::DeviceLimits limits;
  std::size_t servers = 1;  ///< processes that capture, at most; each is started when all others are busy
  /// Gives the cubin of capture::host_ops_text(); empty: programs that need it lack it, and cannot be launched.
  std::function<base::Result<std::string>(std::stop_token)> host_ops{};
};

/// A captured solution: the report, and when it was built what a device needs to run it.
struct Built {
  model::BuildReport report;
  devices::cuda::Program program;  ///< a plan per workload, named as the workload's axes (plan_name)
  bool per_slot = false;           ///< its plans hold for values that no slot has: `build_for` gives those of slots
};
using BuiltPtr = std::shared_ptr<const Built>;

/// Captures the solutions of one task, and keeps what came out. Every function may be called from many threads.
class Capturer {
 public:
  /// @error unsupported: no Python with Triton; invalid_argument: an input that cannot be drawn.
  static base::Result<std::unique_ptr<Capturer>> create(const model::Task& task, CaptureOptions options,
                                                        const std::stop_token& stop);

  /// Captures the kernel on all workloads, with values of what the host knows that no slot has, or returns what came
  /// out before. Checked before it counts as built: what it is given, the cubins, and every launch against the device's
  /// limits. A solution that is not captured is a report.
  /// @error io, unavailable, cancelled.
  base::Result<BuiltPtr> build(const model::Kernel& kernel, const std::stop_token& stop);

  /// The plans of these slots, in their order, with the values that the host knows of each: all in as few requests as
  /// can be, or what came out before. Checked as in `build`; one that is refused is a problem of its slot. Machine code
  /// is compiled where a specialization is new. @error as `build`.
  base::Result<std::vector<devices::cuda::SlotProgram>> build_for(const model::Kernel& kernel,
                                                                  const std::vector<cuda::KnownInputs>& slots,
                                                                  const std::stop_token& stop);

  /// What autotuned kernels leave open; of a kernel that is not captured, or whose configuration is fixed: nothing.
  /// @error as `build`.
  base::Result<model::TuningSpace> space(const model::Kernel& kernel, const std::stop_token& stop);

  /// The configuration that each autotuned kernel of it takes, {"kernel": {"BLOCK": 128, ...}}; those that it does not
  /// have are left out. @error as `build`.
  base::Result<base::Json> configurations(const model::Kernel& kernel, const std::stop_token& stop);

  /// Why a call has no outputs: it died, or the interpreter refuses what the kernel uses.
  struct NotInterpreted {
    evaluation::CallEnd end = evaluation::CallEnd::died;
    std::string reason;
  };

  /// The outputs of a call on these inputs by Triton's interpreter, an entry a tensor of the definition's outputs.
  /// `inputs` are the bytes of the definition's inputs; `slot` says what the host knows of them.
  /// @error io, unavailable, cancelled.
  base::Result<tl::expected<std::vector<std::string>, NotInterpreted>> interpret(
      const model::Kernel& kernel, const cuda::KnownInputs& slot, const std::vector<evaluation::Bytes>& inputs,
      const std::stop_token& stop);

  /// "Triton 3.6.0 (Python 3.12.3, ptxas 12.8)".
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  Capturer(model::Definition definition, Wanted wanted, CaptureOptions options, capture::Python python);
  /// What came out of a solution, all configurations of its autotuned kernels together.
  struct CapturedSolution {
    base::Json ok;        ///< null: it was refused
    std::string problem;  ///< then: why
    capture::OpenChoices open;
    std::vector<capture::Choice> choices;
  };
  using CapturedPtr = std::shared_ptr<const CapturedSolution>;
  /// Whether it took long to find out that a slot has no plan.
  enum class Cost { low, high };
  /// A slot's plan, and its share of what its program takes.
  struct KeptSlot {
    devices::cuda::SlotProgram own;
    std::uint64_t bytes = 0;
    Cost cost = Cost::low;
  };
  using KeptSlotPtr = std::shared_ptr<const KeptSlot>;
  [[nodiscard]] capture::Request request_of(const model::Solution& solution,
                                            std::vector<capture::Shapes> workloads) const;
  [[nodiscard]] KnownOutputs known_outputs() const {
    return wanted_.values ? KnownOutputs::refused : KnownOutputs::taken;
  }
  base::Result<CapturedPtr> captured(const model::Solution& solution, const std::stop_token& stop);
  /// Of a kernel whose configuration is fixed, what each choice takes; null: nothing is fixed. A configuration that
  /// the solution does not have is a message.
  static tl::expected<const capture::Selection*, std::string> selection_of(
      const CapturedSolution& solution, const std::optional<model::CommentedValues>& fixed);
  base::Result<BuiltPtr> build_now(const model::Kernel& kernel, const std::stop_token& stop);
  /// Looks at cubins and launches. Why they are refused, else "", and the report filled in. @error corrupt.
  base::Result<std::string> judge(const capture::Captured& captured, const model::Solution& solution,
                                  Built& built) const;
  base::Result<std::vector<KeptSlotPtr>> capture_slots(const model::Kernel& kernel,
                                                       std::span<const cuda::KnownInputs* const> slots,
                                                       const std::stop_token& stop);
  static std::vector<KeptSlotPtr> refuse_slots(std::span<const cuda::KnownInputs* const> slots,
                                               const std::string& problem, Cost cost);
  /// One program with the plans of all that was asked for; or why there is none. @error as `build`.
  base::Result<tl::expected<devices::cuda::ProgramPtr, std::string>> slot_program(const capture::Answer& answer,
                                                                                  const capture::Request& request,
                                                                                  const CapturedSolution& solution,
                                                                                  const capture::Selection* selection,
                                                                                  const std::stop_token& stop) const;
  static base::Json configurations_of(const CapturedSolution& solution, const capture::Selection& selection);

  model::Definition definition_;
  Wanted wanted_;
  CaptureOptions options_;
  capture::CapturePool servers_;
  std::string version_;
  base::OnceMap<CapturedSolution> captured_;
  base::OnceMap<Built> built_;
  base::OnceMap<KeptSlot> slots_;  ///< by solution and slot
};

}  // namespace accelopt::targets::triton

// SPDX-License-Identifier: Apache-2.0
// From a Triton solution to machine code and launch plans. Needs no device.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/once_map.hpp"
#include "base/result.hpp"
#include "capture/answer.hpp"
#include "capture/server.hpp"
#include "devices/cuda/program.hpp"
#include "devices/cuda/residency.hpp"
#include "evaluation/bench.hpp"
#include "model/evaluation.hpp"
#include "model/kernel.hpp"
#include "model/task.hpp"
#include "model/tuning.hpp"

namespace accelopt::targets::triton {

/// The function of a solution's first file that is called: with the inputs, or with inputs and outputs.
inline constexpr const char* kEntry = "run";

struct CaptureOptions {
  capture::PythonOptions python;
  std::vector<int> cores;          ///< where Python and ptxas may run; empty: anywhere
  std::filesystem::path folder{};  ///< for interpreted tensors
  devices::cuda::DeviceLimits limits;
  /// Gives the cubin of capture::host_ops_text(); empty: programs that need it lack it, and cannot be launched.
  std::function<base::Result<std::string>(std::stop_token)> host_ops{};
};

/// A captured solution: the report, and when it was built what a device needs to run it.
struct Built {
  model::BuildReport report;
  devices::cuda::Program program;  ///< a plan per workload, named as the workload's axes (plan_name)
};
using BuiltPtr = std::shared_ptr<const Built>;

/// Captures the solutions of one task, and keeps what came out. Every function may be called from many threads.
class Capturer {
 public:
  /// @error unsupported: no Python with Triton; a scalar input that is not the same in every slot.
  static base::Result<std::unique_ptr<Capturer>> create(const model::Task& task, CaptureOptions options,
                                                        const std::stop_token& stop);

  /// Captures the kernel on all workloads, or returns what came out before. Checked before it counts as built: what it
  /// is given, the cubins, and every launch against the device's limits. A solution that is not captured is a report.
  /// @error io, unavailable, cancelled.
  base::Result<BuiltPtr> build(const model::Kernel& kernel, const std::stop_token& stop);

  /// What autotuned kernels leave open; of a kernel that is not captured, or whose configuration is fixed: nothing.
  /// @error as `build`.
  base::Result<model::TuningSpace> space(const model::Kernel& kernel, const std::stop_token& stop);

  /// The configuration that each autotuned kernel of it takes, {"kernel": {"BLOCK": 128, ...}}; those that it does not
  /// have are left out. @error as `build`.
  base::Result<base::Json> configurations(const model::Kernel& kernel, const std::stop_token& stop);

  /// The outputs of a call on these inputs by Triton's interpreter, an entry a tensor of the definition's outputs.
  /// `inputs` are the bytes of the definition's inputs. A run that fails is a message.
  /// @error io, unavailable, cancelled.
  base::Result<tl::expected<std::vector<std::string>, std::string>> interpret(
      const model::Kernel& kernel, const model::AxisValues& axes, const std::vector<evaluation::Bytes>& inputs,
      const std::stop_token& stop);

  /// "Triton 3.6.0 (Python 3.12.3, ptxas 12.8)".
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  /// The plans that a task's workloads need, each once.
  struct Wanted {
    std::vector<std::string> plans;
    std::vector<capture::Shapes> shapes;  ///< with the values of scalar inputs
  };
  static base::Result<Wanted> wanted_of(const model::Task& task);
  Capturer(model::Definition definition, Wanted wanted, CaptureOptions options, capture::Python python);
  /// What came out of a solution, all configurations of its autotuned kernels together.
  struct CapturedSolution {
    base::Json ok;        ///< null: it was refused
    std::string problem;  ///< then: why
    capture::OpenChoices open;
    std::vector<capture::Choice> choices;
  };
  using CapturedPtr = std::shared_ptr<const CapturedSolution>;
  [[nodiscard]] capture::Request request_of(const model::Solution& solution) const;
  base::Result<CapturedPtr> captured(const model::Solution& solution, const std::stop_token& stop);
  /// Of a kernel whose configuration is fixed, what each choice takes; null: nothing is fixed. A configuration that
  /// the solution does not have is a message.
  static tl::expected<const capture::Selection*, std::string> selection_of(
      const CapturedSolution& solution, const std::optional<model::CommentedValues>& fixed);
  base::Result<BuiltPtr> build_now(const model::Kernel& kernel, const std::stop_token& stop);
  /// Looks at cubins and launches. Why they are refused, else "", and the report filled in. @error corrupt.
  base::Result<std::string> judge(const capture::Captured& captured, Built& built) const;

  model::Definition definition_;
  Wanted wanted_;
  CaptureOptions options_;
  capture::CaptureServer server_;
  std::string version_;
  base::OnceMap<CapturedSolution> captured_;
  base::OnceMap<Built> built_;
};

}  // namespace accelopt::targets::triton

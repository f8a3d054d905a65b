// SPDX-License-Identifier: Apache-2.0
// From an NKI kernel to checked instructions and modelled times. Needs no device.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/once_map.hpp"
#include "base/result.hpp"
#include "capture/server.hpp"
#include "model/evaluation.hpp"
#include "model/kernel.hpp"
#include "model/task.hpp"
#include "targets/trainium/chip.hpp"
#include "targets/trainium/program.hpp"
#include "targets/trainium/schedule.hpp"

namespace accelopt::targets::trainium {

/// How long a kernel takes if the compiler repeats nothing that it can keep, and if it takes the kernel at its word.
struct Modelled {
  Timing hoist;
  Timing literal;
  Lowered traffic{};  ///< of the literal policy, without its work
};

struct TracedPlan {
  Program program;
  Modelled time;
};

/// A kernel that was traced: the report, and when it was built a program for every set of axes.
struct Built {
  model::BuildReport report;
  std::map<model::AxisValues, TracedPlan> plans;  ///< by all axes
};
using BuiltPtr = std::shared_ptr<const Built>;

/// Traces the kernels of one task, and keeps what came out. Every function may be called from many threads.
class Tracer {
 public:
  /// @error unsupported: no Python; a task with what NKI kernels here cannot have.
  static base::Result<std::unique_ptr<Tracer>> create(const model::Task& task, const Generation& chip,
                                                      capture::PythonOptions python, const std::stop_token& stop);

  /// Traces the kernel on all workloads, checks and times what it does, or returns what came out before. A kernel that
  /// is refused is a report. @error io, unavailable, cancelled, timed_out.
  base::Result<BuiltPtr> build(const model::Kernel& kernel, const std::stop_token& stop);

  /// "nki-model 2 (Python 3.12.3)".
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  Tracer(const model::Task& task, const Generation& chip, capture::Python python);
  base::Result<BuiltPtr> trace_now(const model::Kernel& kernel, const std::stop_token& stop);
  /// Checks and times the program of one workload. Why it is refused, else "".
  std::string take(std::size_t place, const std::string& file, Built& built) const;

  model::Definition definition_;
  std::vector<model::AxisValues> axes_;            ///< those of the workloads, each once
  std::map<model::AxisValues, std::string> told_;  ///< the workload's name, of those that are no secret
  const Generation& chip_;
  capture::CaptureServer server_;
  std::string version_;
  base::OnceMap<Built> built_;
};

}  // namespace accelopt::targets::trainium

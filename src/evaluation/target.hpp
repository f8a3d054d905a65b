// SPDX-License-Identifier: Apache-2.0
// What a kind of hardware must be able to do so that its kernels can be evaluated. Implemented in targets/<name>/.
#pragma once

#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "evaluation/bench.hpp"
#include "evaluation/instruments.hpp"
#include "evaluation/reports.hpp"
#include "evaluation/toolchain.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"

namespace accelopt::evaluation {

/// A kind of hardware with its toolchain: one object, asked by each part of the evaluation for what that part needs.
class Target : public Toolchain, public Bench, public Instruments {
 public:
  /// Prepares one task: compiler, header, reference, shared buffers, peaks. To be called first, once, on the thread
  /// that measures.
  /// @error unsupported: no compiler, no device, too many threads; invalid_argument: the reference does not build.
  virtual base::Result<DeviceInfo> open(const model::Task& task, const MeasureSettings& settings,
                                        std::stop_token stop) = 0;
  /// In place of `open`: prepares what `build` needs, and nothing that measures, where there need be no device. Then
  /// only `build` and `environment` are asked; without a device the latter names none.
  /// @error unsupported: no compiler, or this target builds only where it measures; as `open`.
  virtual base::Result<void> open_to_build(const model::Task& task, std::stop_token) {
    return base::fail(base::ErrorCode::unsupported,
                      "kernels of target " + task.target + " are built only where they are measured");
  }
  /// Device, compiler, flags and isolation; seed and noise are the evaluator's to fill in.
  [[nodiscard]] virtual model::Environment environment() const = 0;
  [[nodiscard]] virtual std::string trust() const = 0;
  /// Why this machine builds kernels and cannot run them, e.g. a toolchain without a device; empty: it runs them. After
  /// `open`. Where it is not empty only `build` is asked, and nothing is ever measured.
  [[nodiscard]] virtual std::string builds_only() const { return {}; }
};

}  // namespace accelopt::evaluation

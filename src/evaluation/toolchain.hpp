// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "model/kernel.hpp"

namespace accelopt::evaluation {

/// How a target builds kernels. After `Target::open`; any thread.
class Toolchain {
 public:
  virtual ~Toolchain() = default;

  /// What a kernel of the open task may include as "task.h".
  [[nodiscard]] virtual const std::string& task_header() const = 0;
  /// Builds, or returns what was built before.
  virtual base::Result<model::BuildReport> build(const model::Kernel& kernel, std::stop_token stop) = 0;
  /// The configurations that a kernel leaves open beside those of its directives: none, where a target finds nothing
  /// else when it builds. Of a kernel that does not build: none.
  virtual base::Result<model::TuningSpace> found_space(const model::Kernel&, std::stop_token) {
    return model::TuningSpace{};
  }
  /// Keeps the calling thread off the cores that measure.
  virtual void settle_helper_thread() = 0;
  virtual int build_threads() const = 0;
};

}  // namespace accelopt::evaluation

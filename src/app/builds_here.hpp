// SPDX-License-Identifier: Apache-2.0
// The compiler of this machine, for a run that measures elsewhere: what does not build need not travel to a device.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <stop_token>
#include <string>

#include "app/device.hpp"
#include "app/shell.hpp"
#include "evaluation/target.hpp"
#include "model/evaluation.hpp"
#include "model/kernel.hpp"
#include "model/task.hpp"

namespace accelopt::app {

/// Any thread.
class BuildsHere {
 public:
  using Notice = std::function<void(const std::string&)>;

  /// Shell and task outlive it.
  BuildsHere(const Shell& shell, const model::Task& task, const DeviceFlags& flags, Notice notice);
  BuildsHere(const BuildsHere&) = delete;
  BuildsHere& operator=(const BuildsHere&) = delete;

  struct Failed {
    model::BuildReport report;
    model::Environment environment;  ///< that it was built in
  };
  /// The report of a kernel that does not build, where the toolchain here is the one that the run's device has: the
  /// same compiler in the same version with the same flags, for the same processor where they follow it. None: it
  /// builds, or that cannot be told here. `there`: of the run's baseline.
  std::optional<Failed> failed(const model::Kernel& kernel, const model::Environment& there,
                               const std::stop_token& stop);

 private:
  /// Null: there is none that is equal; said once.
  evaluation::Target* toolchain_like(const model::Environment& there, const std::stop_token& stop);

  const Shell& shell_;
  const model::Task& task_;
  const std::string device_;
  const std::string compiler_;
  const Notice notice_;
  std::counting_semaphore<> free_;  ///< compilers that may run at the same time
  std::mutex mutex_;                ///< guards what follows
  bool looked_ = false;
  std::unique_ptr<evaluation::Target> target_;
};

}  // namespace accelopt::app

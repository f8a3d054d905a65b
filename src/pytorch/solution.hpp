// SPDX-License-Identifier: Apache-2.0
// A solution's own Python function on a CUDA device, as its users call it.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluation/instruments.hpp"
#include "model/kernel.hpp"
#include "model/task.hpp"
#include "pytorch/worker.hpp"

namespace accelopt::pytorch {

/// Runs solutions' functions, one at a time, each in a process of its own. Nothing of what they do is verified here.
class SolutionRunner {
 public:
  SolutionRunner(model::Definition definition, WorkerOptions options)
      : definition_(std::move(definition)), options_(std::move(options)) {}

  /// `inputs` are the bytes of the definition's inputs; `configurations` are those that autotuned kernels take, by
  /// their names, as values by theirs. @error as Worker; invalid_argument: the solution raised, or returned what the
  /// task does not say.
  base::Result<evaluation::HostCalls> run(const model::Kernel& kernel, const base::Json& configurations,
                                          const model::AxisValues& axes, const std::vector<evaluation::Bytes>& inputs,
                                          const std::stop_token& stop);

 private:
  base::Result<Worker*> worker_of(const model::Kernel& kernel, const base::Json& configurations,
                                  const std::stop_token& stop);

  model::Definition definition_;
  WorkerOptions options_;
  std::unique_ptr<Worker> worker_;
  std::string loaded_;  ///< id of the kernel in it
};

}  // namespace accelopt::pytorch

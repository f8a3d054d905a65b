// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "evaluation/evaluator.hpp"

namespace accelopt::evaluation {

struct PoolOptions {
  /// Program and arguments, e.g. {"accelopt", "worker", "--device", "cpu:1"} or {"ssh", "host", "accelopt", "worker"}.
  std::vector<std::string> command;
  /// Longest wait for the answer to one request; a worker that is silent for longer is ended and counts as dead.
  std::chrono::seconds answer_limit{1800};
};

/// An evaluator that measures in a worker process, started at the first `open`. Any thread may call any function.
///
/// A dead worker is replaced by a fresh one, in which the task is opened again and the request asked once more. The
/// second death while the same solution is measured is that solution's RUNTIME_ERROR; the third death of which no
/// solution can be blamed is an error (unavailable).
std::unique_ptr<Evaluator> make_worker_pool(PoolOptions options);

}  // namespace accelopt::evaluation

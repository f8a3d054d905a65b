// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "base/result.hpp"
#include "evaluation/evaluator.hpp"
#include "evaluation/target.hpp"
#include "worker/protocol.hpp"

namespace accelopt::worker {

/// How a worker treats the threads that only build.
struct WorkerOptions {
  evaluation::Target* target =
      nullptr;            ///< builder threads are settled off its measuring cores, and it says how many there are
  int build_threads = 2;  ///< without a target
  Hello hello{};          ///< its first line
  std::chrono::milliseconds between_progress{1000};  ///< at least, also before a request's first
};

/// Answers requests (protocol.hpp) from `in` on `out` until `in` ends: builds on several threads, measuring one request
/// at a time in the order of arrival. What is still asked for at the end is stopped.
/// @error io: `out` cannot be written.
base::Result<void> serve_evaluator(evaluation::Evaluator& evaluator, const WorkerOptions& options, int in, int out);

/// The same for an evaluator that measures on `target`: what `accelopt worker` does.
base::Result<void> serve_worker(evaluation::Target& target, const Hello& hello, int in, int out);

}  // namespace accelopt::worker

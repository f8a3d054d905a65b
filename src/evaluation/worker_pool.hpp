// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/evaluator.hpp"
#include "evaluation/protocol.hpp"
#include "model/device_wait.hpp"
#include "model/step_share.hpp"

namespace accelopt::evaluation {

struct PoolOptions {
  /// Program and arguments, e.g. {"accelopt", "worker", "--device", "cpu:1"} or {"ssh", "host", "accelopt", "worker"}.
  std::vector<std::string> command;
  /// Longest wait for the answer to one request; a worker that is silent for longer is ended and counts as dead.
  std::chrono::seconds answer_limit{1800};
  /// Longest wait for a worker's hello: a connection, a queue of a site's scheduler, an image that is fetched.
  std::chrono::milliseconds hello_limit{300'000};
  /// Longest wait for a worker to take a part of a request.
  std::chrono::seconds send_limit{120};
  /// Variables that stay out of a worker's environment beside all whose name sounds like a secret.
  std::vector<std::string> withheld{};
  /// Told once a worker that was started, before it is asked anything. Any thread.
  std::function<void(const Hello&)> greeted{};
  /// Told for whom a worker waits. A thread of the pool's.
  std::function<void(const model::DeviceWait&)> waiting{};
  /// Told how far a request is, now and then. A thread of the pool's.
  std::function<void(const model::StepShare&)> progressed{};
  /// At that moment requests that wait for the device end as cancelled; what is measured goes on.
  std::stop_token stop_waiting{};
};

/// Words of a command as a shell splits them, without a shell: blanks part words; '...' is literal; "..." keeps blanks,
/// \\ and \" in it stand for themselves without the backslash; a backslash elsewhere takes the next character as it is.
/// $, `, *, ~, | and > mean nothing.
/// @error invalid_argument: a quote or a backslash at the end is left open, or there is no word.
base::Result<std::vector<std::string>> split_command(std::string_view text);

/// Starts the worker, hears its hello and ends it: whether it can be reached, and what it is.
/// @error as WorkerProcess::start and greet.
base::Result<Hello> greet_worker(const PoolOptions& options, std::stop_token stop);

/// An evaluator that measures in a worker process, started at the first `open`. Any thread may call any function.
///
/// A dead worker is replaced by a fresh one, in which the task is opened again and the request asked once more. The
/// second death while the same solution is measured is that solution's RUNTIME_ERROR; the third death of which no
/// solution can be blamed is an error (unavailable).
std::unique_ptr<Evaluator> make_worker_pool(PoolOptions options);

}  // namespace accelopt::evaluation

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/device_wait.hpp"
#include "model/step_share.hpp"
#include "worker/process.hpp"
#include "worker/protocol.hpp"

namespace accelopt::worker {

/// A worker that cannot be started, or dies while no solution can be blamed, is tried so often.
inline constexpr int kDeathsOfNobody = 3;

/// How a worker is started.
struct WorkerCommand {
  /// Program and arguments, e.g. {"accelopt", "worker", "--device", "cpu:1"} or {"ssh", "host", "accelopt", "worker"}.
  std::vector<std::string> words;
  std::string name{};  ///< in messages and records; empty: its command
};

/// How workers are treated, and who is told of them.
struct ConnectionOptions {
  /// A worker that owes answers and says nothing for longer, to any request, is ended and counts as dead.
  std::chrono::seconds answer_limit{1800};
  /// Longest wait for a worker's hello: a connection, a queue of a site's scheduler, an image that is fetched.
  std::chrono::milliseconds hello_limit{300'000};
  /// Longest wait for a worker to take a part of a request.
  std::chrono::seconds send_limit{120};
  /// Variables that stay out of a worker's environment beside all whose name sounds like a secret.
  std::vector<std::string> withheld{};
  /// Told once a worker that was started, before it is asked anything. Any thread.
  std::function<void(const Hello&)> greeted{};
  /// Told for whom a worker waits. A thread of the pool's, one at a time.
  std::function<void(const model::DeviceWait&)> waiting{};
  /// Told how far a request is, now and then. A thread of the pool's, one at a time.
  std::function<void(const model::StepShare&)> progressed{};
  /// Told what became of one of several workers: lost, given up, refused; of a lone one that it was ended because it
  /// said nothing. Any thread.
  std::function<void(const std::string&)> notice{};
  WorkerProcess::Now now = std::chrono::steady_clock::now;  ///< a test's own
  /// At that moment requests that wait for the device end as cancelled; what is measured goes on.
  std::stop_token stop_waiting{};
};

/// Starts the worker, hears its hello and ends it: whether it can be reached, and what it is.
/// @error as WorkerProcess::start and greet.
base::Result<Hello> greet_worker(const WorkerCommand& command, const ConnectionOptions& options, std::stop_token stop);

/// One worker: the command that starts it, and its process while one lives. `open` is called by one thread at a time,
/// everything else by any.
class WorkerConnection {
 public:
  /// `options` outlives it.
  WorkerConnection(WorkerCommand command, const ConnectionOptions& options)
      : command_(std::move(command)), options_(options) {}

  /// `the worker "ssh host accelopt worker"`.
  [[nodiscard]] std::string title() const;
  /// The name it was given, else its command.
  [[nodiscard]] std::string name() const;

  /// Starts a process and opens a task in it; a process that dies meanwhile is followed by another, kDeathsOfNobody in
  /// all. `target`: of the task; empty: any.
  /// @error unavailable: none of them lived that long; unsupported: it is of another target or protocol; cancelled;
  /// else as WorkerProcess::start and greet, and as the worker answers.
  base::Result<base::Json> open(const base::Json& request, const std::string& target, const std::stop_token& stop);

  /// Asks the process that lives; `died` where none does.
  Answer ask(const base::Json& request, const std::stop_token& stop);

  [[nodiscard]] bool alive() const;
  /// How its process ended; to be asked where it is not alive.
  [[nodiscard]] std::string end() const;
  /// Whether its process was ended because it said nothing for too long.
  [[nodiscard]] bool was_silent() const;
  /// Gives up its process, which ends with the last owner of what this returns: that takes seconds.
  [[nodiscard]] std::shared_ptr<WorkerProcess> close();
  /// How long all requests have waited for others to leave the device, seconds.
  [[nodiscard]] double waited_seconds() const;

  /// What is said of a worker that died too often; `reason`: of the last time.
  [[nodiscard]] base::Error too_many_deaths(const std::string& reason) const;

 private:
  [[nodiscard]] std::string words() const;
  base::Result<std::shared_ptr<WorkerProcess>> start(std::string& reason, const std::string& target,
                                                     const std::stop_token& stop) const;
  Answer asked(WorkerProcess& process, const base::Json& request, const std::stop_token& stop);
  [[nodiscard]] std::shared_ptr<WorkerProcess> process() const;

  const WorkerCommand command_;
  const ConnectionOptions& options_;
  mutable std::mutex mutex_;
  std::shared_ptr<WorkerProcess> process_;
  double waited_seconds_ = 0;
};

}  // namespace accelopt::worker

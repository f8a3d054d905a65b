// SPDX-License-Identifier: Apache-2.0
// On which of a suite's workers its runs measure. Runs that go on side by side have a pool each over the same workers,
// and opening a task takes seconds to minutes: so each begins on a worker of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace accelopt::worker {

/// What a worker says of its device. Times on devices of different kinds are not compared.
struct DeviceKind {
  std::string name;
  std::string driver;  ///< empty: of a baseline that did not get that far
  std::string compiler;
};

/// What the pools of one process know of each other. Workers are told apart by their place in the list, which is the
/// same for all pools. Any thread.
class Placement {
 public:
  /// `side_by_side`: runs that go on at the same time. Both one at least.
  Placement(std::size_t workers, std::size_t side_by_side);

  [[nodiscard]] std::size_t workers() const { return loads_.size(); }

  /// Where a run that begins opens its task: the workers with the fewest runs, in order, as many as fall to each run.
  /// The first of them is its home until leave_home().
  std::vector<std::size_t> find_home();
  void leave_home(std::size_t worker);

  void begin_opening(std::size_t worker);
  /// It is of no use to any run: others begin elsewhere while they can.
  void fail(std::size_t worker);
  /// It failed for good there: other runs begin elsewhere while they can.
  void fail_opening(std::size_t worker);
  /// `tasks`: of which kinds are comparable, such as a language's.
  void end_opening(std::size_t worker, const std::string& tasks, const std::optional<DeviceKind>& kind);

  void begin_measuring(std::size_t worker);
  void end_measuring(std::size_t worker);
  /// Requests of all runs that measure there, and openings.
  [[nodiscard]] int in_flight(std::size_t worker) const;
  /// Nothing is measured or opened there, and no run has found it unusable.
  [[nodiscard]] bool is_idle(std::size_t worker) const;

  struct Settled {
    DeviceKind kind;
    std::size_t worker = 0;  ///< that said so
  };
  /// The kind of device that all runs of such tasks are on: what the first worker of the list said that opened one.
  /// Waits for the workers before `worker` that are being opened. None: stopped, or no worker has said any.
  std::optional<Settled> settle(std::size_t worker, const std::string& tasks, const std::stop_token& stop);

 private:
  struct Load {
    int homes = 0;      ///< runs that began there
    int opening = 0;    ///< tasks
    int measuring = 0;  ///< requests
    bool failed = false;
  };

  const std::size_t side_by_side_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Load> loads_;
  std::map<std::string, std::map<std::size_t, DeviceKind>> said_;  ///< by tasks and worker
  std::map<std::string, Settled> settled_;
};

/// When a run opens its task on one more worker: once its requests have waited for one another, while that worker was
/// idle, for as long as an opening takes. So what is waited and opened is at most twice what the best choice would
/// cost, however long the run goes on (the ski-rental rule).
class IdleWaiting {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// From `now` on so many requests wait for others, and so many workers without the task are idle.
  void note(Time now, int waiting, int idle);
  [[nodiscard]] std::chrono::duration<double> waited() const { return waited_; }
  /// Another worker was opened.
  void forget() { waited_ = {}; }

 private:
  std::optional<Time> since_;
  int together_ = 0;  ///< requests that idle workers could have taken
  std::chrono::duration<double> waited_{};
};

}  // namespace accelopt::worker

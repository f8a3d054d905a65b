// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <stop_token>

namespace accelopt::sandbox {

/// Stops and continues the process groups that are registered with it, so that nothing of them runs while something is
/// measured. Any thread may call any function.
class PauseGate {
 public:
  /// Stops every registered group, and lets none start until the matching `resume`. Calls nest.
  void pause();
  void resume();
  /// Starts a group once nothing is measured, and registers it before anything is again. `begin` gives its leader, or a
  /// negative number where there is none. Not begun: a stop was asked for meanwhile.
  void start(const std::function<pid_t()>& begin, const std::stop_token& stop);
  /// To be called before the leader is reaped: its number may be another's then.
  void remove(pid_t group);
  /// Time spent paused since the gate was made: limits on wall time leave it out.
  [[nodiscard]] std::chrono::nanoseconds paused() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any resumed_;
  std::set<pid_t> groups_;
  int depth_ = 0;
  std::chrono::steady_clock::time_point since_;
  std::chrono::nanoseconds total_{0};
};

}  // namespace accelopt::sandbox

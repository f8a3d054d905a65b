// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <set>

namespace accelopt::sandbox {

/// Stops and continues the process groups that are registered with it, so that nothing of them runs while something is
/// measured. Any thread may call any function.
class PauseGate {
 public:
  /// Stops every registered group, and each that registers until the matching `resume`. Calls nest.
  void pause();
  void resume();
  void add(pid_t group);
  void remove(pid_t group);
  /// Time spent paused since the gate was made: limits on wall time leave it out.
  [[nodiscard]] std::chrono::nanoseconds paused() const;

 private:
  mutable std::mutex mutex_;
  std::set<pid_t> groups_;
  int depth_ = 0;
  std::chrono::steady_clock::time_point since_;
  std::chrono::nanoseconds total_{0};
};

}  // namespace accelopt::sandbox

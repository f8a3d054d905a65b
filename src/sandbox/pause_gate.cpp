// SPDX-License-Identifier: Apache-2.0
#include "sandbox/pause_gate.hpp"

#include <csignal>

namespace accelopt::sandbox {

void PauseGate::pause() {
  const std::lock_guard lock(mutex_);
  if (depth_++ > 0) return;
  since_ = std::chrono::steady_clock::now();
  for (const pid_t group : groups_) kill(-group, SIGSTOP);
}

void PauseGate::resume() {
  const std::lock_guard lock(mutex_);
  if (--depth_ > 0) return;
  total_ += std::chrono::steady_clock::now() - since_;
  for (const pid_t group : groups_) kill(-group, SIGCONT);
  resumed_.notify_all();
}

void PauseGate::start(const std::function<pid_t()>& begin, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!resumed_.wait(lock, stop, [this] { return depth_ == 0; })) return;
  if (const pid_t group = begin(); group > 0) groups_.insert(group);
}

void PauseGate::remove(pid_t group) {
  const std::lock_guard lock(mutex_);
  groups_.erase(group);
}

std::chrono::nanoseconds PauseGate::paused() const {
  const std::lock_guard lock(mutex_);
  return depth_ > 0 ? total_ + (std::chrono::steady_clock::now() - since_) : total_;
}

}  // namespace accelopt::sandbox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "llm/clock.hpp"

namespace accelopt::fakes {

/// A clock that waits by setting itself forward, and remembers how long it was told to wait.
class FakeClock final : public llm::Clock {
 public:
  std::chrono::steady_clock::time_point now() override {
    const std::scoped_lock lock(mutex_);
    return std::chrono::steady_clock::time_point{} + elapsed_;
  }
  std::chrono::system_clock::time_point time_of_day() override {
    const std::scoped_lock lock(mutex_);
    return start_ + elapsed_;
  }
  void wait(std::chrono::milliseconds time, const std::stop_token& /*stop*/) override {
    std::function<void()> hook;
    {
      const std::scoped_lock lock(mutex_);
      waits_.push_back(time);
      elapsed_ += time;
      hook = on_wait_;
    }
    if (hook) hook();
  }

  /// Every wait so far.
  [[nodiscard]] std::vector<std::chrono::milliseconds> waits() const {
    const std::scoped_lock lock(mutex_);
    return waits_;
  }
  /// Called in each wait, for example to ask for a stop.
  void on_wait(std::function<void()> hook) {
    const std::scoped_lock lock(mutex_);
    on_wait_ = std::move(hook);
  }
  /// As if so much less had passed, for something that happens during a wait.
  void set_back(std::chrono::milliseconds time) {
    const std::scoped_lock lock(mutex_);
    elapsed_ -= time;
  }
  void set_time_of_day(std::chrono::system_clock::time_point time) {
    const std::scoped_lock lock(mutex_);
    start_ = time - elapsed_;
  }

 private:
  mutable std::mutex mutex_;
  std::chrono::system_clock::time_point start_{};
  std::chrono::milliseconds elapsed_{1000};
  std::vector<std::chrono::milliseconds> waits_;
  std::function<void()> on_wait_;
};

}  // namespace accelopt::fakes

// SPDX-License-Identifier: Apache-2.0
// A stream of the fake driver.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace accelopt_fakes {

/// Does one thing after the other, on a thread of its own.
class Stream {
 public:
  Stream() {
    std::thread([this] { work(); }).detach();  // ends with the process: a kernel may hang in it
  }
  void add(std::function<void()> thing) {
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(thing));
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return things_.empty() && !busy_; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !things_.empty(); });
      const auto thing = std::move(things_.front());
      things_.pop_front();
      busy_ = true;
      lock.unlock();
      thing();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> things_;
  bool busy_ = false;
};

}  // namespace accelopt_fakes

// SPDX-License-Identifier: Apache-2.0
#include "base/thread_cache.hpp"

#include <utility>

namespace accelopt::base {

ThreadCache::~ThreadCache() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadCache::start(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    if (work_.size() > idle_) threads_.emplace_back([this] { serve(); });
  }
  changed_.notify_one();
}

void ThreadCache::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return ending_ || !work_.empty(); });
    --idle_;
    if (work_.empty()) return;
    auto work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // what it holds may take long to destroy, or use these threads
    lock.lock();
  }
}

ThreadCache::Group::~Group() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return running_ == 0; });
}

void ThreadCache::Group::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    ++running_;
  }
  threads_.start([this, own = std::move(work)]() mutable {
    own();
    own = nullptr;  // what it holds may be of what the group's end waits for
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) ended_.notify_all();  // under the lock: the group's end may be waiting for nothing else
  });
}

}  // namespace accelopt::base

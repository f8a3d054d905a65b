// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace accelopt::base {

/// Threads that wait for more work when theirs is done. Making a thread, and giving back what the allocator kept for
/// it, costs as much as a small step of a search. Any thread may use it; its end waits for all work.
class ThreadCache {
 public:
  ThreadCache() = default;
  ThreadCache(const ThreadCache&) = delete;
  ThreadCache& operator=(const ThreadCache&) = delete;
  ~ThreadCache();

  /// Work that belongs together: its end waits for it, until what the work held is destroyed.
  class Group {
   public:
    explicit Group(ThreadCache& threads) : threads_(threads) {}
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group();
    /// Begins at once, on a thread that does nothing else meanwhile, so that it may wait for other work.
    void run(std::function<void()> work);

   private:
    ThreadCache& threads_;
    std::mutex mutex_;
    std::condition_variable ended_;
    std::size_t running_ = 0;
  };

 private:
  void start(std::function<void()> work);
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;  ///< for which a thread waits or is being made
  std::size_t idle_ = 0;                    ///< threads that wait
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace accelopt::base

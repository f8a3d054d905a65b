// SPDX-License-Identifier: Apache-2.0
// A thread for each call that is answered, and limits on how many there are and how much they hold.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

namespace accelopt::mcp {

/// Bytes of messages that are answered at the same time.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t most) : left_(most) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  /// Holds so many until the last copy is gone; nothing: there are not so many left. The budget outlives it.
  std::shared_ptr<void> take(std::size_t bytes);

 private:
  std::atomic<std::size_t> left_;
};

class Calls {
 public:
  explicit Calls(int most) : most_(most) {}
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  /// Waits for all of them, until what their work held is destroyed.
  ~Calls();

  /// Does the work on a thread of its own. False: as many as there may be go on already, and nothing is done.
  bool begin(std::function<void()> work);

 private:
  const int most_;
  int going_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
};

}  // namespace accelopt::mcp

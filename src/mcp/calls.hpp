// SPDX-License-Identifier: Apache-2.0
// A thread for each call that is answered, and a limit on how many there are.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

namespace accelopt::mcp {

class Calls {
 public:
  explicit Calls(int most) : most_(most) {}
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  /// Waits for all of them.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/files.hpp"
#include "base/result.hpp"
#include "evaluation/target.hpp"

namespace accelopt::evaluation {

/// Time as a wait sees it; tests put another one in place.
struct WaitClock {
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::function<void(std::chrono::milliseconds)> pause;  ///< default: sleeps
  std::function<std::int64_t()> unix_ms;                 ///< default: of the system
};

/// The lock that keeps two measurements on one device apart, whoever makes them: an advisory lock on a file that
/// everybody may open, held a block at a time. Nobody is waited for longer than kPatience an acquisition: a process
/// that merely holds the file open and locked cannot stop others from measuring. A second file beside the first is a
/// queue of one place: who has just measured does not get the lock again before the one who waits, and those that went
/// on without the lock still exclude one another. Used by one thread.
class DeviceLock {
 public:
  static constexpr std::chrono::seconds kPatience{60};
  static constexpr std::chrono::seconds kWaitsToTell{1};

  /// Opens the files, making them where they are not there. @error permission_denied, io.
  static base::Result<DeviceLock> open(const std::string& path, WaitClock clock = {});

  /// Waits for the lock; holds nest. What was waited, and with whom the device is shared, stands in `use` then.
  /// @error cancelled: the request was stopped meanwhile, or its waiting.
  base::Result<void> acquire(DeviceUse& use);
  void release();

 private:
  /// One of the two files.
  struct Place {
    base::FileDescriptor file;
    bool held = false;
    bool hopeless = false;  ///< somebody kept it for all of kPatience: it is only tried until it is free again
    bool take();
    void leave();
  };
  DeviceLock(Place queue, Place device, WaitClock clock)
      : queue_(std::move(queue)), device_(std::move(device)), clock_(std::move(clock)) {}
  /// Takes what can be taken; true: nothing is left to wait for.
  bool advance();
  base::Result<void> wait(DeviceUse& use);
  [[nodiscard]] model::DeviceHolder holder() const;
  void sign() const;

  Place queue_;
  Place device_;
  WaitClock clock_;
  model::DeviceHolder keeper_;  ///< who was waited for last
  int depth_ = 0;
};

/// Takes the lock until the hold is destroyed. @error as DeviceLock::acquire.
base::Result<std::unique_ptr<Hold>> hold(DeviceLock& lock, DeviceUse& use);

}  // namespace accelopt::evaluation

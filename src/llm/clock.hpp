// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>

namespace accelopt::llm {

/// Time as waiting between two tries needs it; tests use one that does not wait. May be called from many threads at
/// once.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::chrono::steady_clock::time_point now() = 0;
  /// The time of day, for dates that servers name.
  [[nodiscard]] virtual std::chrono::system_clock::time_point time_of_day() = 0;
  /// Waits that long or until a stop is asked for, whichever comes first.
  virtual void wait(std::chrono::milliseconds time, const std::stop_token& stop) = 0;
};

/// The machine's own clock.
std::unique_ptr<Clock> make_clock();

}  // namespace accelopt::llm

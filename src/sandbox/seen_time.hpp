// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace accelopt::sandbox {

/// How long a loop that never waits for long has been turning. A turn of over a second means that this process itself
/// was suspended, as by Ctrl-Z: such turns do not count.
class SeenTime {
 public:
  /// At each turn, the time since the loop began. Never goes back.
  void turn(std::chrono::nanoseconds since_began);
  [[nodiscard]] std::chrono::nanoseconds seen() const { return last_ - missed_; }
  [[nodiscard]] std::chrono::nanoseconds missed() const { return missed_; }

 private:
  std::chrono::nanoseconds last_{0};
  std::chrono::nanoseconds missed_{0};
};

}  // namespace accelopt::sandbox

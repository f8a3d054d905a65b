// SPDX-License-Identifier: Apache-2.0
// The peak of a child's resident memory, where it is smaller than this process's own.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace accelopt::sandbox {

/// The kernel's figure for a child that ended begins with the memory that it shared with this process until it started
/// its program. So the child is looked at as it ends, or, where its end is not reported, while it runs: its own
/// program's peak only grows.
class PeakMemory {
 public:
  /// While the child runs, at first as soon as it is started: until then this process may grow, and the child begins
  /// with all of that. `thread`: one of its threads that has not ended.
  void look(pid_t thread);
  /// `told`: what the kernel said at its end. Both in bytes.
  [[nodiscard]] std::uint64_t bytes(std::uint64_t told) const;

 private:
  std::uint64_t own_ = 0;   ///< this process's peak once the child was started
  std::uint64_t seen_ = 0;  ///< the child's
};

}  // namespace accelopt::sandbox

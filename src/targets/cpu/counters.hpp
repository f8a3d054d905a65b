// SPDX-License-Identifier: Apache-2.0
// What the processor and the operating system count while a kernel runs: instructions, cache misses, page faults. A
// machine allows all, some or none of it; what is not allowed is left out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "model/evaluation.hpp"

namespace accelopt::targets::cpu {

/// Counters of one process. What it does in the operating system is not counted.
class Counters {
 public:
  /// Attaches to a process of this user; counts nothing yet. Has no counters where the machine allows none.
  explicit Counters(pid_t process);

  void start();
  void stop();
  /// What was counted between `start` and `stop`, with what follows from it (instructions a cycle); empty when nothing
  /// could be. A counter that had to share its place with others and never ran is left out.
  [[nodiscard]] std::vector<model::ProfileItem> read() const;
  [[nodiscard]] bool empty() const { return open_.empty(); }

 private:
  struct Open {
    std::size_t event;  ///< of the table in counters.cpp
    base::FileDescriptor file;
  };
  std::vector<Open> open_;
};

}  // namespace accelopt::targets::cpu

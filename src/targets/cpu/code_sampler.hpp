// SPDX-License-Identifier: Apache-2.0
// Where a process is, looked at many times a millisecond by the operating system's clock: every machine has that, with
// counters of its processor or without, unless its rules refuse it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/files.hpp"
#include "evaluation/target.hpp"

namespace accelopt::targets::cpu {

/// Looks at the main thread of one process while that is in its own code, not the operating system's.
class CodeSampler {
 public:
  /// Attaches to a process of this user; looks at nothing yet.
  CodeSampler(pid_t process, std::chrono::nanoseconds period);
  CodeSampler(const CodeSampler&) = delete;
  CodeSampler& operator=(const CodeSampler&) = delete;
  ~CodeSampler();

  [[nodiscard]] bool attached() const { return pages_ != nullptr; }
  void start();
  /// What was seen since `start` in the kernel's file and in libraries, as the process is mapped now; the arena's own
  /// code is left out.
  [[nodiscard]] evaluation::CodeSamples stop();

 private:
  [[nodiscard]] std::vector<std::uint64_t> addresses() const;

  pid_t process_;
  base::FileDescriptor file_;
  void* pages_ = nullptr;
};

/// Whether this machine lets a process of this user be looked at.
bool can_sample();

}  // namespace accelopt::targets::cpu

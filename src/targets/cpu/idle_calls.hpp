// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "base/result.hpp"
#include "targets/cpu/arena_process.hpp"
#include "targets/cpu/timed_call.hpp"

namespace accelopt::targets::cpu {

/// Calls of an empty kernel of our own, made between a candidate's: what an arena takes of the processor before its go
/// when it does nothing there. That depends on the machine and on what else runs on it, so only calls of the same
/// moment tell it. For the measuring thread, which holds the machine's lock.
class IdleCalls {
 public:
  /// @error as KernelBuilder::build_idle, ArenaProcess::start.
  static base::Result<IdleCalls> create(KernelBuilder& builder, const ArenaOptions& options, const Buffers& buffers,
                                        const std::stop_token& stop);

  /// Whether the call used more processor time before its go than idle calls do: the kernel may have begun. Before it
  /// says so it makes idle calls anew.
  bool exceeded_by(const Bracket& bracket);

 private:
  IdleCalls(ArenaProcess arena, ArenaOptions options) : arena_(std::move(arena)), options_(std::move(options)) {}
  void measure(int calls);
  [[nodiscard]] std::chrono::nanoseconds most() const;

  ArenaProcess arena_;
  ArenaOptions options_;
  std::deque<std::chrono::nanoseconds> before_go_;  ///< of the last calls
  unsigned asked_ = 0;
};

}  // namespace accelopt::targets::cpu

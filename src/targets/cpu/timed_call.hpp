// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "targets/cpu/arena_process.hpp"

namespace accelopt::targets::cpu {

/// One call of an arena that is stopped with everything laid out: continued, awaited, told to go, timed, stopped again.
struct Bracket {
  enum class End { returned, timed_out, died } end = End::returned;
  std::chrono::nanoseconds time{0};
  bool early = false;      ///< so long it took from continuing the arena to the go that it could have begun early
  bool disturbed = false;  ///< something else took time from the arena or from this thread
  std::chrono::nanoseconds before_go{0};  ///< processor time from being continued to ready, and of being stopped
  std::chrono::nanoseconds most_work{0};  ///< of that, beyond what an idle call takes: more could be the kernel's work
  bool helper_awake = false;  ///< when it was stopped a helper thread could have gone on as soon as it is continued
  bool at_home = true;        ///< when it was stopped it stood there already
  bool escaped = false;       ///< when it was stopped it did not stand where an arena waits for its next call
};

/// Times one call. `reveal` runs when the arena is ready, just before the go; what it does counts as time between the
/// two. `returned` runs as soon as the arena says that it is done, before it is stopped. The arena's death and its
/// reason are in `arena.death()`.
Bracket timed_call(ArenaProcess& arena, std::chrono::nanoseconds limit, bool one_core,
                   const std::function<void()>& reveal = {}, const std::function<void()>& returned = {});

/// Has a stopped arena that remembers its memory make it what it was before the first call, outside of all timed
/// regions, and stops it again; false: it turned out dead.
bool restore_memory(ArenaProcess& arena);

}  // namespace accelopt::targets::cpu

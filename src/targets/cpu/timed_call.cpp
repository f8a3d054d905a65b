// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/timed_call.hpp"

#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdio>
#include <optional>

#include "targets/cpu/urgent.hpp"

namespace accelopt::targets::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr microseconds kMostReadyToGo{30};   ///< or 2 % of the call: more, and the arena could have begun early
constexpr microseconds kMostWakingUp{1000};  ///< from being continued to ready: likewise
constexpr microseconds kMostWork{20};        ///< until the go; or 2 % of the call if that is less
constexpr microseconds kMostSettling{500};   ///< for helper threads, before the go
constexpr microseconds kNapWhileWaking{
    5};  ///< on one core, and for helpers: what an arena that is ready spins for is told as work
constexpr microseconds kNap{20};
constexpr microseconds kMostRunDelay{20};             ///< or 0.5 % of the call
constexpr microseconds kMostPollingGap{30};           ///< or 2 % of the call
constexpr microseconds kLookAfterEvery{200};          ///< how often the arena's life and the limit are looked at
constexpr std::chrono::milliseconds kMostDying{300};  ///< for an arena that stopped answering because it is ending
constexpr auto kMostWaking = std::chrono::seconds(5);
constexpr auto kMostPatience = std::chrono::seconds(5);  ///< beyond a limit, with an arena that did not get its core
constexpr std::chrono::milliseconds kSpin{
    50};  ///< longer calls are polled with short sleeps, which cost them under 0.2 %

/// `nap`: on one core, where the arena needs it.
void relax(bool one_core, nanoseconds nap) {
  if (one_core) {
    const timespec pause{0, nap.count()};
    nanosleep(&pause, nullptr);
    return;
  }
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

struct Wait {
  bool reached = false;
  bool faulted = false;  ///< the arena's handlers said so
  std::optional<sandbox::ExitState> ended;
  Clock::time_point at;        ///< when the flag was seen
  nanoseconds longest_gap{0};  ///< between two looks at the flag
};

/// Polls a flag until it holds `call`, the arena ends, or `limit` passes. With `ran`, the arena's processor time until
/// now, an arena that did not run for that long has some more time: mostly something else had its core.
Wait await(const ArenaFlag& flag, std::uint32_t call, ArenaProcess& arena, nanoseconds limit,
           std::optional<nanoseconds> ran, bool one_core, nanoseconds nap) {
  Wait out;
  const auto began = Clock::now();
  auto last = began;
  auto next_look = began + kLookAfterEvery;
  while (true) {
    const bool reached = flag.call.load(std::memory_order_acquire) == call;
    const auto now = Clock::now();
    out.longest_gap = std::max(out.longest_gap, nanoseconds(now - last));
    last = now;
    if (reached) {
      out.reached = true;
      out.at = now;
      return out;
    }
    if (now >= next_look) {
      next_look = now + kLookAfterEvery;
      out.ended = arena.process().try_wait();
      out.faulted = arena.control().fatal_signal.load(std::memory_order_acquire) != 0;
      const bool over =
          now - began > limit && (!ran || now - began > limit + kMostPatience || arena.schedule().ran - *ran > limit);
      if (out.ended || out.faulted || over) return out;
      if (now - began > kSpin) {
        const timespec pause{0, 20'000};
        nanosleep(&pause, nullptr);
      }
    }
    relax(one_core, nap);
  }
}

/// Continuing a process wakes its helpers too: they find their words unchanged and go back to wait.
bool await_helpers(const ArenaProcess& arena) {
  const auto began = Clock::now();
  while (!arena.helpers_rest()) {
    if (Clock::now() - began > kMostSettling) return false;
    const timespec pause{0, nanoseconds(kNapWhileWaking).count()};
    nanosleep(&pause, nullptr);
  }
  return true;
}

/// Finds out why there is no answer: the arena ended, is ending, or still runs.
Bracket::End reap(ArenaProcess& arena, const Wait& wait) {
  std::optional<sandbox::ExitState> ended = wait.ended;
  // The end of a process in namespaces of its own takes a while, in which it looks as if it ran.
  for (const auto began = Clock::now(); !ended && !wait.faulted && Clock::now() - began < kMostDying;) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    ended = arena.process().try_wait();
    if (!arena.process().is_ending()) break;
  }
  if (wait.faulted || ended) {
    arena.reap(ended.value_or(sandbox::ExitState{}));
    return Bracket::End::died;
  }
  arena.reap(std::string("did not return within its time limit"));
  return Bracket::End::timed_out;
}

}  // namespace

Bracket timed_call(ArenaProcess& arena, nanoseconds limit, bool one_core, const std::function<void()>& reveal,
                   const std::function<void()>& returned) {
  std::optional<Urgent> urgent(std::in_place);
  ArenaControl& control = arena.control();
  const std::uint32_t call = arena.next_call();
  const ArenaProcess::Schedule before = arena.schedule();
  Bracket out;

  control.request.call.store(call, std::memory_order_release);
  const auto continued = Clock::now();
  arena.process().resume();
  const Wait waking = await(control.ready, call, arena, kMostWaking, std::nullopt, one_core, kNapWhileWaking);
  const ArenaProcess::Schedule at_ready = one_core ? arena.schedule() : before;
  const bool helpers_rest = waking.reached && await_helpers(arena);
  const auto rested = Clock::now();
  if (reveal) reveal();
  const auto go = Clock::now();
  if (waking.reached) control.go.call.store(call, std::memory_order_release);
  const Wait running = waking.reached ? await(control.done, call, arena, limit, before.ran, one_core, kNap) : waking;
  if (!waking.reached || !running.reached) {
    urgent.reset();
    out.end = reap(arena, running);
    return out;
  }
  out.time = running.at - go;
  const ArenaProcess::Schedule at_done = one_core ? arena.schedule() : before;
  if (returned) returned();
  if (!arena.stop()) {
    out.end = Bracket::End::died;
    return out;
  }
  const ArenaProcess::Schedule after = arena.schedule();
  out.at_home = arena.at_home();
  out.escaped = !arena.is_at_wait();
  if (arena.death().empty() && !out.escaped) out.helper_awake = !arena.helpers_parked();
  if (!arena.death().empty() || (!out.escaped && !out.helper_awake && !arena.preserved())) {
    out.end = Bracket::End::died;
    return out;
  }
  const auto part = [&out](int per_mille) { return out.time * per_mille / 1000; };
  const nanoseconds wake = waking.at - continued;
  // The wait for a core right after being continued is not part of the call.
  const nanoseconds delay = std::max<nanoseconds>(after.waited - before.waited - wake, nanoseconds(0));
  // On one core the arena stands still while this thread looks, at ready and at done. Else it runs from ready to done,
  // but for the time in which something else has its core; its stop and what it does after being continued are left.
  const nanoseconds ran = after.ran - before.ran;
  out.before_go = one_core ? ran - (at_done.ran - at_ready.ran) : ran - (running.at - waking.at - delay);
  out.most_work = std::min<nanoseconds>(kMostWork, part(20));
  out.early = go - rested > std::max<nanoseconds>(kMostReadyToGo, part(20)) || wake > kMostWakingUp || !helpers_rest;
  // On one core the clock has to sleep while the kernel runs: its gaps say nothing there.
  const bool clock_was_away = !one_core && running.longest_gap > std::max<nanoseconds>(kMostPollingGap, part(20));
  out.disturbed = clock_was_away || delay > std::max<nanoseconds>(kMostRunDelay, part(5));
  return out;
}

bool restore_memory(ArenaProcess& arena) {
  if (!arena.death().empty()) return false;
  if (!arena.remembered()) return true;
  std::optional<Urgent> urgent(std::in_place);
  ArenaControl& control = arena.control();
  const std::uint32_t call = arena.next_call();
  const bool one_core = control.one_core != 0;
  control.restore = call;
  // A kernel may have written what it expects here. From now on only the guarded block runs.
  control.ready.call.store(call - 1, std::memory_order_relaxed);
  control.request.call.store(call, std::memory_order_release);
  arena.process().resume();
  const Wait restoring = await(control.ready, call, arena, kMostWaking, std::nullopt, one_core, kNapWhileWaking);
  if (!restoring.reached) {
    urgent.reset();
    reap(arena, restoring);
    return false;
  }
  control.go.call.store(call, std::memory_order_release);
  return arena.stop() && arena.is_restored();
}

}  // namespace accelopt::targets::cpu

// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/idle_calls.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace accelopt::targets::cpu {
namespace {

constexpr std::size_t kCallsKept = 16;
constexpr unsigned kBetween = 8;  ///< calls of candidates, for each idle one
constexpr std::chrono::seconds kLimit{5};
/// Candidates' calls are laid out in between: a core that fell asleep takes longer to wake up.
constexpr std::chrono::microseconds kPause{500};

}  // namespace

base::Result<IdleCalls> IdleCalls::create(KernelBuilder& builder, const ArenaOptions& options, const Buffers& buffers,
                                          const std::stop_token& stop) {
  TRY_ASSIGN(const BuiltKernelPtr kernel, builder.build_idle(stop));
  TRY_ASSIGN(ArenaProcess arena, ArenaProcess::start(options, *kernel, buffers));
  if (!arena.death().empty()) return base::fail(base::ErrorCode::io, "an empty kernel " + arena.death());
  return IdleCalls(std::move(arena), options);
}

void IdleCalls::measure(int calls) {
  for (int i = 0; i < calls && arena_.death().empty(); ++i) {
    std::this_thread::sleep_for(kPause);
    const Bracket bracket = timed_call(arena_, kLimit, options_.one_core);
    if (bracket.end != Bracket::End::returned) return;
    if (bracket.disturbed || bracket.before_go.count() <= 0) continue;
    before_go_.push_back(bracket.before_go);
    if (before_go_.size() > kCallsKept) before_go_.pop_front();
  }
}

/// Twice the median, with room for how much it varies; nothing is granted where nothing is known.
std::chrono::nanoseconds IdleCalls::most() const {
  std::vector<std::chrono::nanoseconds> sorted(before_go_.begin(), before_go_.end());
  if (sorted.empty()) return std::chrono::nanoseconds(0);
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  return 2 * sorted[sorted.size() / 2];
}

bool IdleCalls::exceeded_by(const Bracket& bracket) {
  if (asked_++ % kBetween == 0) measure(before_go_.empty() ? static_cast<int>(kCallsKept) : 1);
  if (bracket.before_go <= most() + bracket.most_work) return false;
  measure(kCallsKept);
  return bracket.before_go > most() + bracket.most_work;
}

}  // namespace accelopt::targets::cpu

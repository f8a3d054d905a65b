// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/urgent.hpp"

#include <sched.h>

namespace accelopt::targets::cpu {
namespace {

// Before every ordinary program; the clock comes before the kernel, for machines on which they share a core.
constexpr int kKernelPriority = 1;
constexpr int kClockPriority = 2;

}  // namespace

void make_urgent(pid_t process) {
  const sched_param parameters{kKernelPriority};
  sched_setscheduler(process, SCHED_FIFO, &parameters);
}

Urgent::Urgent() {
  const sched_param parameters{kClockPriority};
  raised_ = sched_setscheduler(0, SCHED_FIFO, &parameters) == 0;
}

Urgent::~Urgent() {
  const sched_param normal{0};
  if (raised_) sched_setscheduler(0, SCHED_OTHER, &normal);
}

}  // namespace accelopt::targets::cpu

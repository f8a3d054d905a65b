// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/urgent.hpp"

#include <sched.h>

namespace accelopt::targets::cpu {
namespace {

constexpr int kLowestRealTime = 1;  ///< before every ordinary program, behind every other real-time one

}  // namespace

void make_urgent(pid_t process) {
  const sched_param parameters{kLowestRealTime};
  sched_setscheduler(process, SCHED_FIFO, &parameters);
}

Urgent::Urgent(Wanted wanted) {
  const sched_param parameters{kLowestRealTime};
  raised_ = wanted == Wanted::yes && sched_setscheduler(0, SCHED_FIFO, &parameters) == 0;
}

Urgent::~Urgent() {
  const sched_param normal{0};
  if (raised_) sched_setscheduler(0, SCHED_OTHER, &normal);
}

}  // namespace accelopt::targets::cpu

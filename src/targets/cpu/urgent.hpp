// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace accelopt::targets::cpu {

/// Puts another process before all ordinary programs of its core, and behind an Urgent thread, where the user may do
/// that.
void make_urgent(pid_t process);

/// Puts this thread before all ordinary programs of its core for as long as it lives, where the user may do that:
/// nobody then takes the clock away in the middle of a call. Nothing happens where it is not permitted.
class Urgent {
 public:
  Urgent();
  Urgent(const Urgent&) = delete;
  Urgent& operator=(const Urgent&) = delete;
  ~Urgent();

 private:
  bool raised_;
};

}  // namespace accelopt::targets::cpu

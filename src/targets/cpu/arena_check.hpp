// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace accelopt::targets::cpu {

/// What loading a file changed in a stopped arena that it may not have changed, read from outside: code that differs
/// from its files, code that no file holds, control pages that were replaced, a system call filter that is not in
/// force. "" when there is nothing, or where the machine does not tell.
std::string altered_by_loading(pid_t arena, int filters);

}  // namespace accelopt::targets::cpu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace accelopt::sandbox {

/// What this machine lets us use, found out once by trying.
struct Capabilities {
  int namespace_flags = 0;  ///< flags for clone: those of user, pid, mount, ipc, uts and net that a child may have
  bool filters = false;     ///< seccomp
  int landlock = 0;         ///< version, 0: none
};

/// Probed at the first call; safe from any thread.
const Capabilities& capabilities();

/// The layers in use, e.g. "namespaces+landlock+seccomp+rlimits"; recorded with every measurement.
std::string isolation();

/// What is missing and what that means, one line; empty where everything is there.
std::string missing_isolation();

}  // namespace accelopt::sandbox

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelopt::sandbox {

/// What this machine lets us use, found out once by trying.
struct Capabilities {
  int namespace_flags = 0;  ///< flags for clone: those of user, pid, mount, ipc, uts and net that a child may have
  int namespace_error = 0;  ///< errno of the richest set that was refused; 0: it works
  bool filters = false;     ///< seccomp
  int filter_error = 0;     ///< errno where there is none
  int landlock = 0;         ///< version, 0: none
  int landlock_error = 0;   ///< errno where there is none
  int read_only_error = 0;  ///< errno where it cannot
  bool read_only_mounts = false;  ///< a child can make all file systems read-only for itself
  bool watching = false;          ///< the machine tells where a stopped child stands (/proc/<pid>/syscall)
};

/// Probed at the first call; safe from any thread.
const Capabilities& capabilities();

/// The layers in use, e.g. "namespaces+landlock+seccomp+rlimits+watched"; recorded with every measurement.
std::string isolation();

/// What is missing and what that means, one line; empty where everything is there.
std::string missing_isolation();

/// present: in use. refused: this kernel has it, and something does not let us use it. absent: it has not.
enum class LayerState { present, absent, refused };
/// "present", "absent", "refused".
std::string_view to_string(LayerState state);

/// One layer of the sandbox.
struct Layer {
  std::string name;  ///< short, e.g. "landlock"
  LayerState state = LayerState::present;
  std::string gives;   ///< what holds with it, one line
  std::string costs;   ///< what does not hold without it, one line
  std::string advice;  ///< how to get it; empty where it is present
};

/// Every layer, the outermost first, with those that are always there.
std::vector<Layer> layers();

}  // namespace accelopt::sandbox

// SPDX-License-Identifier: Apache-2.0
#include "sandbox/probe.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/seccomp.h>
#include <array>
#include <cerrno>
#include <csignal>

#include "sandbox/landlock.hpp"

namespace accelopt::sandbox {
namespace {

int exit_at_once(void*) {
  _exit(0);
}

/// Whether a child with these namespaces can be started.
bool can_clone(int flags) {
  constexpr std::size_t kStackBytes = 64UL * 1024;
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return false;
  const int pid =
      clone(&exit_at_once, static_cast<char*>(stack) + kStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD | flags, nullptr);
  if (pid > 0) waitpid(pid, nullptr, 0);
  munmap(stack, kStackBytes);
  return pid > 0;
}

/// The richest set that works: a user namespace brings the right to the others; without one, root may still have them.
int usable_namespaces() {
  constexpr int kOthers = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
  constexpr std::array kSets{CLONE_NEWUSER | kOthers | CLONE_NEWNET, CLONE_NEWUSER | kOthers, kOthers | CLONE_NEWNET,
                             static_cast<int>(CLONE_NEWUSER)};
  for (const int flags : kSets) {
    if (can_clone(flags)) return flags;
  }
  return 0;
}

bool has_filters() {
  const unsigned action = SECCOMP_RET_TRAP;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

}  // namespace

const Capabilities& capabilities() {
  static const Capabilities found{usable_namespaces(), has_filters(), landlock_version()};
  return found;
}

std::string isolation() {
  const Capabilities& found = capabilities();
  std::string out;
  if (found.namespace_flags != 0)
    out += (found.namespace_flags & CLONE_NEWNET) != 0 ? "namespaces+" : "namespaces-without-net+";
  if (found.landlock > 0) out += "landlock+";
  if (found.filters) out += "seccomp+";
  return out + "rlimits";
}

std::string missing_isolation() {
  const Capabilities& found = capabilities();
  std::string out;
  const auto add = [&out](bool present, const char* text) {
    if (present) return;
    if (!out.empty()) out += "; ";
    out += text;
  };
  add(found.namespace_flags != 0, "no namespaces (candidates see the machine's processes; allow user namespaces)");
  add(found.landlock > 0, "no Landlock (compilers can read the user's files; needs Linux 5.13 with Landlock on)");
  add(found.filters, "no seccomp (candidates may use any system call; run a kernel with seccomp filters)");
  return out;
}

}  // namespace accelopt::sandbox

// SPDX-License-Identifier: Apache-2.0
#include "sandbox/probe.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/seccomp.h>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/files.hpp"
#include "base/names.hpp"
#include "sandbox/clone.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/mounts.hpp"

namespace accelopt::sandbox {
namespace {

/// By the system call that follows a return: this child shares its parent's memory, where a sanitizer's _exit would
/// look for the parent's threads and end their records.
int exit_at_once(void*) {
  return 0;
}

/// Runs this in a child with these namespaces, which shares our memory: 0, or the errno of starting it.
int try_clone(int flags, int (*run)(void*), void* argument) {
  constexpr std::size_t kStackBytes = 64UL * 1024;
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return errno;
  const int pid =
      __clone(run, static_cast<char*>(stack) + kStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD | flags, argument);
  const int failure = pid > 0 ? 0 : errno;
  if (pid > 0) waitpid(pid, nullptr, 0);
  munmap(stack, kStackBytes);
  return failure;
}

/// The richest set that works: a user namespace brings the right to the others; without one, root may still have them.
void find_namespaces(Capabilities& found) {
  constexpr int kOthers = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
  constexpr std::array kSets{CLONE_NEWUSER | kOthers | CLONE_NEWNET, CLONE_NEWUSER | kOthers, kOthers | CLONE_NEWNET,
                             static_cast<int>(CLONE_NEWUSER)};
  for (const int flags : kSets) {
    const int failure = try_clone(flags, &exit_at_once, nullptr);
    if (failure == 0) {
      found.namespace_flags = flags;
      return;
    }
    if (found.namespace_error == 0) found.namespace_error = failure;
  }
}

/// What a child does that may change its own folder alone: 0, or the errno.
int try_read_only(void* answer) {
  constexpr std::array kOwn{"/tmp"};
  *static_cast<int*>(answer) = make_read_only(kOwn) ? 0 : errno;
  return 0;
}

/// Whether a child in these namespaces can make all file systems but some folders read-only for itself: 0, or the
/// errno.
int try_mounts(int flags) {
  if ((flags & CLONE_NEWNS) == 0) return EPERM;
  int failure = EPERM;
  const int not_started = try_clone(flags, &try_read_only, &failure);
  return not_started != 0 ? not_started : failure;
}

int wait_for_a_signal(void*) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // else it outlives a parent that is killed before it is done
  while (true) pause();
}

/// Whether a stopped child in these namespaces can be asked where it stands.
bool can_watch(int flags) {
  constexpr std::size_t kStackBytes = 64UL * 1024;
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return false;
  const int pid = clone(&wait_for_a_signal, static_cast<char*>(stack) + kStackBytes, SIGCHLD | flags, nullptr);
  bool told = false;
  if (pid > 0) {
    kill(pid, SIGSTOP);
    siginfo_t facts{};
    waitid(P_PID, static_cast<id_t>(pid), &facts, WEXITED | WSTOPPED);
    const auto text = base::read_file("/proc/" + std::to_string(pid) + "/syscall");
    told = text && text->find("0x") != std::string::npos;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  munmap(stack, kStackBytes);
  return told;
}

Capabilities probe() {
  Capabilities found;
  find_namespaces(found);
  found.read_only_error = try_mounts(found.namespace_flags);
  found.read_only_mounts = found.read_only_error == 0;
  const unsigned action = SECCOMP_RET_TRAP;
  found.filters = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  if (!found.filters) found.filter_error = errno;
  found.landlock = landlock_version();
  if (found.landlock == 0) found.landlock_error = errno;
  found.watching = can_watch(found.namespace_flags);
  return found;
}

Layer layer(const char* name, LayerState state, const char* gives, const char* costs, const char* advice) {
  return {name, state, gives, costs, state == LayerState::present ? "" : advice};
}

LayerState state_of(bool present, bool kernel_has_it) {
  if (present) return LayerState::present;
  return kernel_has_it ? LayerState::refused : LayerState::absent;
}

}  // namespace

const Capabilities& capabilities() {
  static const Capabilities found = probe();
  return found;
}

std::string isolation() {
  const Capabilities& found = capabilities();
  std::string out;
  if (found.namespace_flags != 0)
    out += (found.namespace_flags & CLONE_NEWNET) != 0 ? "namespaces+" : "namespaces-without-net+";
  if (found.landlock > 0) out += "landlock+";
  if (found.filters) out += "seccomp+";
  out += "rlimits";
  return found.watching ? out + "+watched" : out;
}

std::string missing_isolation() {
  std::string out;
  for (const Layer& layer : layers()) {
    if (layer.state == LayerState::present) continue;
    if (!out.empty()) out += "; ";
    out.append("no ").append(layer.name).append(" (").append(layer.costs).append("; ").append(layer.advice).append(")");
  }
  return out;
}

constexpr auto kLayerStateNames = std::to_array<base::Named<LayerState>>(
    {{LayerState::present, "present"}, {LayerState::absent, "absent"}, {LayerState::refused, "refused"}});

std::string_view to_string(LayerState state) {
  return base::name_in(kLayerStateNames, state);
}

std::vector<Layer> layers() {
  const Capabilities& found = capabilities();
  const bool has_namespaces = found.namespace_error != EINVAL && found.namespace_error != ENOSYS;
  const auto of_namespace = [&](int flags) {
    return state_of((found.namespace_flags & flags) == flags, has_namespaces);
  };
  const char* const allow =
      "allow user namespaces (sysctl user.max_user_namespaces, the container's seccomp profile, AppArmor)";
  return {
      layer("user-ns", of_namespace(CLONE_NEWUSER), "candidates and compilers have no rights on this machine",
            "they run with this user's own rights, and their number of processes has no limit of its own", allow),
      layer("pid-ns", of_namespace(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS),
            "they see no process, mount or shared memory of others", "they can see this machine's processes", allow),
      layer("net-ns", of_namespace(CLONE_NEWNET), "they have no network device",
            "only the system call filter keeps them off the network", allow),
      layer("read-only", state_of(found.read_only_mounts, found.read_only_error != ENOSYS),
            "changes of repositories cannot change modes and times of this user's files",
            "they can, and keep something there from one run to the next",
            found.read_only_error == ENOSYS ? "run Linux 5.12 or later" : allow),
      layer("landlock", state_of(found.landlock > 0, found.landlock_error != ENOSYS),
            "candidates reach no file, compilers only the toolchain's and their own folder",
            "a compiler can be made to read any file that this user can read",
            "run Linux 5.13 or later with lsm=...,landlock at boot"),
      layer(
          "seccomp", state_of(found.filters, found.filter_error != ENOSYS && found.filter_error != EINVAL),
          "candidates can allocate memory and compute, nothing else",
          "candidates may use any system call: threads, signals and files are open to them, and speed-ups prove little",
          "run a kernel with CONFIG_SECCOMP_FILTER"),
      layer("watching", state_of(found.watching, true),
            "a candidate that keeps its process and begins before it is told to is found at once",
            "only the concealed parts of the inputs give such a candidate away",
            "let this user read /proc/<pid>/syscall of its children (ptrace_scope at most 1, hidepid off)"),
      layer("no-new-privs", LayerState::present, "no program that they start can gain rights", "", ""),
      layer("limits", LayerState::present, "memory, time, file size and descriptors are limited; nothing is inherited",
            "", ""),
  };
}

}  // namespace accelopt::sandbox

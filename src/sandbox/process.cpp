// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/spawn.hpp"
#include "sandbox/clone.hpp"
#include "sandbox/mounts.hpp"
#include "sandbox/probe.hpp"

namespace accelopt::sandbox {
namespace {

constexpr long kLandlockRestrictSelf = 446;
constexpr std::size_t kChildStackBytes = 256UL * 1024;

/// Everything the child needs between clone and exec, prepared before: it shares the parent's memory and must not
/// allocate.
struct ChildPlan {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;
  std::vector<std::pair<int, int>> descriptors;
  std::vector<std::pair<int, rlimit>> limits;
  std::optional<cpu_set_t> cores;
  bool fixed_layout = false;
  const char* user_map = nullptr;   ///< for the child's own user namespace
  const char* group_map = nullptr;  ///< likewise
  const FilterProgram* filter = nullptr;
  const FilterProgram* end_filter = nullptr;
  std::uint64_t pass = 0;  ///< for that filter
  int end_socket = -1;     ///< takes its listener
  int file_rules = -1;
  int null_device = -1;
  bool read_only = false;  ///< all but `writable`
  std::vector<const char*> writable;
  int parent = -1;                 ///< its pidfd; -1: this machine has none
  volatile int failure = 0;        ///< errno of the step that failed
  const char* volatile step = "";  ///< its name
};

int give_up(ChildPlan& plan, const char* step) {
  plan.failure = errno;
  plan.step = step;
  // A return would end by a call that is reported, to a parent that waits for this end.
  syscall(SYS_exit_group, kNotStarted);
  return kNotStarted;
}

/// Moves the wanted descriptors to their places and closes all others.
bool place_descriptors(ChildPlan& plan) {
  constexpr int kAside = 512;  // above every place that a child is given
  for (auto& [here, there] : plan.descriptors) {
    const int aside = fcntl(here, F_DUPFD, kAside);
    if (aside < 0) return false;
    here = aside;
  }
  const int null_device = fcntl(plan.null_device, F_DUPFD, kAside);
  const int rules = plan.file_rules >= 0 ? fcntl(plan.file_rules, F_DUPFD, kAside) : -1;
  int last = 2;
  for (int standard = 0; standard <= 2; ++standard) {
    if (dup2(null_device, standard) < 0) return false;
  }
  for (const auto& [here, there] : plan.descriptors) {
    if (dup2(here, there) < 0) return false;
    last = std::max(last, there);
  }
  if (rules >= 0) {
    if (dup2(rules, last + 1) < 0) return false;
    plan.file_rules = ++last;
    fcntl(plan.file_rules, F_SETFD, FD_CLOEXEC);
  }
  if (syscall(SYS_close_range, static_cast<unsigned>(last + 1), ~0U, 0U) == 0) return true;
  for (int other = last + 1; other < 4096; ++other) close(other);  // a kernel before 5.9
  return true;
}

void write_to(const char* path, std::string_view text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, text.data(), text.size());
  close(file);
}

/// Where the machine runs out of memory, this process goes first, and not the one that measures. Best effort: what is
/// written here counts for a process that has not started its program yet alone, though it shares the parent's memory.
void go_first_without_memory() {
  write_to("/proc/self/oom_score_adj", "1000");
}

/// An ordinary user inside, who is ours outside. Without it ids have no meaning inside, and setting them fails.
void take_names(const ChildPlan& plan) {
  if (plan.user_map == nullptr) return;
  write_to("/proc/self/setgroups", "deny");
  write_to("/proc/self/uid_map", plan.user_map);
  write_to("/proc/self/gid_map", plan.group_map);
}

long install(const FilterProgram& filter, unsigned flags) {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(filter.size());
  program.filter = reinterpret_cast<sock_filter*>(const_cast<FilterInstruction*>(filter.data()));
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/// A message of one byte with room for one descriptor. Not to be copied.
struct DescriptorMessage {
  DescriptorMessage() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;

  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
};

/// Where the kernel has no such reports, the parent looks at this process while it runs. False: it has, and the parent
/// cannot be told where.
bool report_ends(const ChildPlan& plan) {
  if (plan.end_filter == nullptr || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return true;
  const int listener = static_cast<int>(install(*plan.end_filter, SECCOMP_FILTER_FLAG_NEW_LISTENER));
  if (listener < 0) return true;
  DescriptorMessage message;
  cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(control), &listener, sizeof listener);
  return sendmsg(plan.end_socket, &message.header, MSG_NOSIGNAL) == 1;
}

/// What the child sent, once its program has started; not valid: nothing.
base::FileDescriptor received(const base::FileDescriptor& socket) {
  DescriptorMessage message;
  if (!socket.valid() || recvmsg(socket.get(), &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1) return {};
  const cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  if (control == nullptr || control->cmsg_type != SCM_RIGHTS) return {};
  int listener = -1;
  std::memcpy(&listener, CMSG_DATA(control), sizeof listener);
  return base::FileDescriptor(listener);
}

bool restrict_self(const ChildPlan& plan) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (plan.file_rules >= 0 && syscall(kLandlockRestrictSelf, plan.file_rules, 0) != 0) return false;
  return plan.filter == nullptr || install(*plan.filter, 0) == 0;
}

/// A parent that ended before its death was a signal to the child sends none.
bool has_parent(const ChildPlan& plan) {
  if (plan.parent < 0) return true;
  pollfd end{plan.parent, POLLIN, 0};
  return poll(&end, 1, 0) <= 0 || (end.revents & POLLIN) == 0;
}

int child_main(void* argument) {
  ChildPlan& plan = *static_cast<ChildPlan*>(argument);
  for (int number = 1; number < NSIG; ++number) {
    if (number != SIGKILL && number != SIGSTOP) std::signal(number, SIG_DFL);
  }
  setsid();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return give_up(plan, "parent death signal");
  if (!has_parent(plan)) return give_up(plan, "a parent that has ended");
  if (chdir(plan.directory) != 0) return give_up(plan, "working folder");
  if (plan.cores && sched_setaffinity(0, sizeof(cpu_set_t), &*plan.cores) != 0) return give_up(plan, "cores");
  if (plan.fixed_layout) personality(ADDR_NO_RANDOMIZE);
  go_first_without_memory();
  take_names(plan);
  // The working folder is one of the new view's.
  if (plan.read_only && (!make_read_only(plan.writable) || chdir(plan.directory) != 0))
    return give_up(plan, "read-only file systems");
  if (!report_ends(plan)) return give_up(plan, "reports of its end");
  if (!place_descriptors(plan)) return give_up(plan, "descriptors");
  for (const auto& [resource, limit] : plan.limits) {
    if (setrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return give_up(plan, "limits");
  }
  if (!restrict_self(plan)) return give_up(plan, "confinement");
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  syscall(SYS_execve, plan.program, plan.arguments, plan.environment, plan.pass);
  return give_up(plan, "start");
}

std::vector<std::pair<int, rlimit>> resource_limits(const Limits& limits, bool in_user_namespace) {
  std::vector<std::pair<int, rlimit>> out;
  const auto add = [&out](int resource, std::uint64_t value) {
    rlimit now{};
    getrlimit(static_cast<__rlimit_resource>(resource), &now);
    const rlim_t wanted = std::min<rlim_t>(value, now.rlim_max);  // a limit may only be lowered
    out.emplace_back(resource, rlimit{wanted, wanted});
  };
  add(RLIMIT_CORE, 0);
  if (limits.address_space_bytes != 0) add(RLIMIT_AS, limits.address_space_bytes);
  if (limits.data_bytes != 0) add(RLIMIT_DATA, limits.data_bytes);
  if (limits.stack_bytes != 0) add(RLIMIT_STACK, limits.stack_bytes);
  if (limits.no_files) add(RLIMIT_FSIZE, 0);
  if (limits.file_bytes != 0) add(RLIMIT_FSIZE, limits.file_bytes);
  if (limits.cpu_seconds != 0) add(RLIMIT_CPU, limits.cpu_seconds);
  if (limits.processes != 0 && in_user_namespace) add(RLIMIT_NPROC, limits.processes);
  if (limits.descriptors != 0) add(RLIMIT_NOFILE, limits.descriptors);
  return out;
}

/// What a child needs to report its end.
struct EndReports {
  FilterProgram filter;
  std::uint64_t pass = 0;
  base::FileDescriptor ours;
  base::FileDescriptor theirs;
};

/// Without descriptors where this machine has no such reports.
EndReports prepare_end_reports() {
  EndReports out;
  if (getrandom(&out.pass, sizeof out.pass, 0) != sizeof out.pass) return {};
  auto filter = end_filter(out.pass);
  std::array<int, 2> ends{};
  if (!filter || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return {};
  out.filter = std::move(*filter);
  out.ours = base::FileDescriptor(ends[0]);
  out.theirs = base::FileDescriptor(ends[1]);
  return out;
}

}  // namespace

base::Result<Process> spawn(const SpawnOptions& options) {
  const base::FileDescriptor null_device(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null_device.valid()) return base::fail_errno(errno, "/dev/null");
  std::vector<std::string> arguments{options.program};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> environment = options.environment;
  const std::vector<char*> argument_pointers = base::pointers_to(arguments);
  const std::vector<char*> environment_pointers = base::pointers_to(environment);

  const int namespaces = options.own_namespaces ? capabilities().namespace_flags : 0;
  ChildPlan plan;
  plan.program = options.program.c_str();
  plan.arguments = argument_pointers.data();
  plan.environment = environment_pointers.data();
  plan.directory = options.directory.c_str();
  plan.descriptors = options.descriptors;
  plan.limits = resource_limits(options.limits, (namespaces & CLONE_NEWUSER) != 0);
  if (!options.cores.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : options.cores) CPU_SET(static_cast<std::size_t>(core), &set);
    plan.cores = set;
  }
  plan.fixed_layout = options.fixed_layout;
  const std::string user_map = "1000 " + std::to_string(geteuid()) + " 1";
  const std::string group_map = "1000 " + std::to_string(getegid()) + " 1";
  if (options.named_user && (namespaces & CLONE_NEWUSER) != 0) {
    plan.user_map = user_map.c_str();
    plan.group_map = group_map.c_str();
  }
  plan.filter = capabilities().filters ? options.filter : nullptr;
  plan.file_rules = options.file_rules != nullptr ? options.file_rules->get() : -1;
  plan.null_device = null_device.get();
  // Not by its number: in a namespace of processes of its own the child does not see it.
  const base::FileDescriptor parent(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  plan.parent = parent.get();
  plan.read_only = options.changes_only && options.own_namespaces && capabilities().read_only_mounts;
  if (plan.read_only) {
    for (const std::string& path : *options.changes_only) plan.writable.push_back(path.c_str());
  }
  EndReports reports;
  if (options.reports_ends && capabilities().filters) reports = prepare_end_reports();
  if (reports.theirs.valid()) {
    plan.end_filter = &reports.filter;
    plan.pass = reports.pass;
    plan.end_socket = reports.theirs.get();
  }

  void* stack = mmap(nullptr, kChildStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return base::fail_errno(errno, "stack of a child process");
  // The child shares this memory until it has started its program: no signal handler of ours may run in it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int pid = __clone(&child_main, static_cast<char*>(stack) + kChildStackBytes,
                          CLONE_VM | CLONE_VFORK | SIGCHLD | namespaces, &plan);
  const int clone_failure = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(stack, kChildStackBytes);
  if (pid < 0) return base::fail_errno(clone_failure, "starting " + options.program);
  Process process(pid, received(reports.ours));
  if (plan.failure != 0) {
    return base::fail_errno(plan.failure, "starting " + options.program + " (" + plan.step + ")");
  }
  return process;
}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, -1);
    ends_ = std::move(other.ends_);
  }
  return *this;
}

void Process::signal(int number) const {
  if (pid_ > 0) kill(pid_, number);
}

void Process::resume() const {
  signal(SIGCONT);
}

namespace {

ExitState exit_state(const siginfo_t& facts) {
  ExitState state;
  state.exited = facts.si_code == CLD_EXITED;
  (state.exited ? state.code : state.signal) = facts.si_status;
  return state;
}

}  // namespace

bool Process::has_ended() const {
  if (pid_ <= 0) return true;
  siginfo_t facts{};
  return waitid(P_PID, static_cast<id_t>(pid_), &facts, WEXITED | WNOHANG | WNOWAIT) == 0 && facts.si_pid != 0;
}

std::optional<ExitState> Process::try_wait() {
  if (pid_ <= 0) return ExitState{};
  if (!has_ended()) return std::nullopt;
  siginfo_t facts{};
  const auto id = static_cast<id_t>(pid_);
  // What it started and left behind goes with it, and before it is reaped: then its number may be another's.
  kill(-pid_, SIGKILL);
  rusage usage{};
  // The C library's waitid leaves out what the system call tells of resources.
  while (syscall(SYS_waitid, P_PID, id, &facts, WEXITED, &usage) != 0 && errno == EINTR) {
  }
  pid_ = -1;
  ExitState state = exit_state(facts);
  const auto time_of = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  state.cpu_time = time_of(usage.ru_utime) + time_of(usage.ru_stime);
  state.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return state;
}

bool Process::is_ending() const {
  const auto text = base::read_file("/proc/" + std::to_string(pid_) + "/stat");
  const auto name_end = text ? text->rfind(')') : std::string::npos;  // the name may hold anything
  if (name_end == std::string::npos) return true;
  // After it: state, parent, group, session, terminal, its group, flags.
  char state = 0;
  unsigned flags = 0;
  if (std::sscanf(text->c_str() + name_end + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2) return false;
  constexpr unsigned kExiting = 0x4;  // PF_EXITING
  return state == 'Z' || state == 'X' || (flags & kExiting) != 0;
}

std::optional<ExitState> Process::stop() {
  if (pid_ <= 0) return ExitState{};
  signal(SIGSTOP);
  siginfo_t facts{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &facts, WEXITED | WSTOPPED) != 0) {
    if (errno != EINTR) return ExitState{};
  }
  if (facts.si_code == CLD_STOPPED || facts.si_code == CLD_TRAPPED) return std::nullopt;
  pid_ = -1;
  return exit_state(facts);
}

void Process::end() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);  // the session: compilers start children
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace accelopt::sandbox

// SPDX-License-Identifier: Apache-2.0
#include "sandbox/filter.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/files.hpp"
#include "base/text.hpp"

namespace accelopt::sandbox {
namespace {

static_assert(sizeof(FilterInstruction) == sizeof(sock_filter));

using Context = std::unique_ptr<void, decltype(&seccomp_release)>;

/// Ways out of the sandbox, or into the kernel, that no compiler needs.
constexpr std::string_view kRefusedToCompilers =
    "socket connect bind listen accept accept4 ptrace keyctl add_key request_key mount umount2 pivot_root "
    "chroot unshare setns bpf io_uring_setup io_uring_enter userfaultfd perf_event_open process_vm_readv "
    "process_vm_writev kexec_load init_module finit_module delete_module open_by_handle_at swapon swapoff reboot "
    "settimeofday clock_settime fanotify_init name_to_handle_at move_mount open_tree fsopen pidfd_getfd syslog acct";

/// What memory management and waiting need. Not rt_sigreturn: no handler returns, and a candidate could have it set all
/// registers at once.
constexpr std::string_view kAllowedToCalls =
    "brk futex sched_yield exit exit_group rt_sigprocmask gettid getpid getcpu sched_getaffinity clock_gettime "
    "clock_getres gettimeofday time restart_syscall getrandom sysinfo membarrier mincore";

/// What the dynamic linker needs besides.
constexpr std::string_view kAllowedToLoads =
    "open openat read pread64 fstat newfstatat stat lstat close lseek access faccessat readlink readlinkat mmap "
    "munmap mprotect seccomp prctl uname getcwd statx close_range landlock_restrict_self rt_sigaction";

constexpr std::string_view kAllowedToThreads = "set_robust_list sched_setaffinity prlimit64 getrlimit";

base::Result<void> add(const Context& context, std::uint32_t action, std::string_view names) {
  for (const std::string_view word : base::split_words(names)) {
    const std::string name(word);
    const int number = seccomp_syscall_resolve_name(name.c_str());
    if (number == __NR_SCMP_ERROR || number < 0) continue;  // not a system call of this architecture
    if (const int code = seccomp_rule_add(context.get(), action, number, 0); code != 0) {
      return base::fail_errno(-code, "seccomp rule for " + name);
    }
  }
  return {};
}

/// A condition on argument `place` of a system call.
scmp_arg_cmp when(unsigned place, scmp_compare comparison, scmp_datum_t first, scmp_datum_t second = 0) {
  return scmp_arg_cmp{place, comparison, first, second};
}

base::Result<void> add(const Context& context, std::uint32_t action, int call, std::span<const scmp_arg_cmp> conditions,
                       const char* name) {
  const int code =
      seccomp_rule_add_array(context.get(), action, call, static_cast<unsigned>(conditions.size()), conditions.data());
  if (code != 0) return base::fail_errno(-code, std::string("seccomp rule for ") + name);
  return {};
}

/// Advice on memory that allocators and careful kernels give. What frees the pages of shared memory, pages out or
/// breaks pages would reach other processes.
base::Result<void> add_advice_rules(const Context& context, std::uint64_t first_free) {
  for (const int advice : {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE,
                           MADV_HUGEPAGE, MADV_NOHUGEPAGE}) {
    const std::array conditions{when(0, SCMP_CMP_GE, first_free),
                                when(2, SCMP_CMP_EQ, static_cast<scmp_datum_t>(advice))};
    TRY(add(context, SCMP_ACT_ALLOW, SCMP_SYS(madvise), conditions, "madvise"));
  }
  return {};
}

/// realloc is told that memory cannot be moved, and copies. A candidate that could move memory would put code of its
/// own where the arena's is, with the same address and the right to be executed, or a page of its own in place of one
/// that it shares with the worker.
base::Result<void> add_move_rule(const Context& context) {
  const std::array anywhere{when(3, SCMP_CMP_MASKED_EQ, ~static_cast<scmp_datum_t>(MREMAP_MAYMOVE), 0)};
  return add(context, SCMP_ACT_ERRNO(ENOMEM), SCMP_SYS(mremap), anywhere, "mremap");
}

/// Memory may be mapped where there is room and unmapped, but never made executable; maps of files are left to the
/// loading filter. What one thread maps lies above `first_free`, where all that is new is unmapped after a call, and is
/// protected as it was: what could be written for a while could hold something from one call to the next. The heaps of
/// several threads need protection.
base::Result<void> add_memory_rules(const Context& context, FilterKind kind, std::uint64_t first_free) {
  const scmp_arg_cmp not_executable = when(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
  const scmp_arg_cmp free = when(0, SCMP_CMP_GE, first_free);
  const std::array protect{free, not_executable};
  std::uint64_t placed = MAP_FIXED;
#if defined(__x86_64__)
  const bool one_thread = kind == FilterKind::call;
#else
  const bool one_thread = false;  // memory is not restored there
  static_cast<void>(kind);
#endif
#if defined(MAP_32BIT)
  if (one_thread) placed |= MAP_32BIT;
#endif
  const scmp_arg_cmp anonymous = when(3, SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS | placed, MAP_ANONYMOUS);
  if (one_thread) {
    for (const scmp_arg_cmp hint : {free, when(0, SCMP_CMP_EQ, 0)}) {
      const std::array map{hint, not_executable, anonymous};
      TRY(add(context, SCMP_ACT_ALLOW, SCMP_SYS(mmap), map, "mmap"));
    }
    TRY(add(context, SCMP_ACT_ERRNO(ENOMEM), SCMP_SYS(mprotect), protect, "mprotect"));
  } else {
    TRY(add(context, SCMP_ACT_ALLOW, SCMP_SYS(mmap), std::array{not_executable, anonymous}, "mmap"));
    TRY(add(context, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), protect, "mprotect"));
  }
  return add(context, SCMP_ACT_ALLOW, SCMP_SYS(munmap), std::array{free}, "munmap");
}

/// Threads of the same process, and no other kind of clone. clone3 hides its flags behind a pointer, so the C library
/// is told that it does not exist and falls back to clone.
base::Result<void> add_clone_rules(const Context& context) {
  constexpr std::uint64_t kThread = 0x00010000;  // CLONE_THREAD
  const scmp_arg_cmp thread = when(0, SCMP_CMP_MASKED_EQ, kThread, kThread);
  if (const int code = seccomp_rule_add_array(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, &thread); code != 0) {
    return base::fail_errno(-code, "seccomp rule for clone");
  }
  if (const int code = seccomp_rule_add(context.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0); code != 0) {
    return base::fail_errno(-code, "seccomp rule for clone3");
  }
  return {};
}

base::Result<void> add_thread_rules(const Context& context) {
  TRY(add_clone_rules(context));
  // An allocator that gives back what a thread had looks for the machine's policy in a file, and does without.
  constexpr std::string_view kOpening = "open openat";
  TRY(add(context, SCMP_ACT_ERRNO(EACCES), kOpening));
  // The C library installs handlers for its own real-time signals with the first thread, and may name stacks.
  constexpr std::uint64_t kFirstOfTheLibrary = 32;
  constexpr std::uint64_t kNameMemory = 0x53564d41;  // PR_SET_VMA
  const scmp_arg_cmp library_signal = when(0, SCMP_CMP_GE, kFirstOfTheLibrary);
  const scmp_arg_cmp name_memory = when(0, SCMP_CMP_EQ, kNameMemory);
  if (const int code =
          seccomp_rule_add_array(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(rt_sigaction), 1, &library_signal);
      code != 0) {
    return base::fail_errno(-code, "seccomp rule for rt_sigaction");
  }
  if (const int code = seccomp_rule_add_array(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, &name_memory);
      code != 0) {
    return base::fail_errno(-code, "seccomp rule for prctl");
  }
  return add(context, SCMP_ACT_ALLOW, kAllowedToThreads);
}

/// A pair of connected sockets is how rustc waits for the linker: no more than a pipe, unless it sends datagrams, which
/// may be addressed to others.
base::Result<void> add_pair_rules(const Context& context) {
  constexpr std::uint64_t kTypes = 0xf;
  const std::array other_domain{when(0, SCMP_CMP_NE, AF_UNIX)};
  TRY(add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socketpair), other_domain, "socketpair"));
  for (const std::uint64_t type : {SOCK_DGRAM, SOCK_RAW}) {
    const std::array addressed{when(1, SCMP_CMP_MASKED_EQ, kTypes, type)};
    TRY(add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socketpair), addressed, "socketpair"));
  }
  return {};
}

/// An int or an unsigned int: the kernel does not look at the upper half of the register.
scmp_arg_cmp when_int(unsigned place, std::uint32_t value) {
  return when(place, SCMP_CMP_MASKED_EQ, 0xffffffff, value);
}

/// Extended attributes stay with a file whatever Landlock says of it.
base::Result<void> add_attribute_rules(const Context& context) {
  constexpr int kSetAttributeAt = 463;  // setxattrat, which libseccomp may not know yet
  TRY(add(context, SCMP_ACT_ERRNO(EOPNOTSUPP), "setxattr lsetxattr fsetxattr"));
  return add(context, SCMP_ACT_ERRNO(EOPNOTSUPP), kSetAttributeAt, {}, "setxattrat");
}

/// Threads share one table of descriptors, so that the limit of their number holds for all of them together.
base::Result<void> add_one_table_rules(const Context& context) {
  constexpr std::uint64_t kFiles = 0x00000400;   // CLONE_FILES
  constexpr std::uint64_t kThread = 0x00010000;  // CLONE_THREAD
  for (const std::uint64_t shared : {kFiles, kThread}) {
    const std::array own{when(0, SCMP_CMP_MASKED_EQ, shared, 0)};
    TRY(add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), own, "clone"));
  }
  // It hides its flags behind a pointer: the C library is told that it does not exist, and falls back to clone.
  TRY(add(context, SCMP_ACT_ERRNO(ENOSYS), "clone3"));
  constexpr std::uint64_t kUnshare = 2;  // CLOSE_RANGE_UNSHARE
  constexpr int kCloseRange = 436;
  const std::array table{when(2, SCMP_CMP_MASKED_EQ, kUnshare, kUnshare)};
  return add(context, SCMP_ACT_ERRNO(EPERM), kCloseRange, table, "close_range");
}

/// What a process's resident peak does not show: memory of other processes, behind descriptors, in the kernel, of huge
/// page pools, and what was sent to swap.
base::Result<void> add_counted_rules(const Context& context) {
  constexpr std::string_view kNotCounted =
      "fork vfork memfd_create memfd_secret shmget semget msgget msgsnd mq_open socketpair process_madvise vmsplice "
      "remap_file_pages io_setup rt_sigqueueinfo rt_tgsigqueueinfo";
  TRY(add(context, SCMP_ACT_ERRNO(EPERM), kNotCounted));
  TRY(add_one_table_rules(context));
  constexpr std::uint32_t kCold = 20;     // MADV_COLD
  constexpr std::uint32_t kPageOut = 21;  // MADV_PAGEOUT
  for (const std::uint32_t advice : {kCold, kPageOut}) {
    const std::array out{when_int(2, advice)};
    TRY(add(context, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(madvise), out, "madvise"));
  }
  const std::array huge{when(3, SCMP_CMP_MASKED_EQ, MAP_HUGETLB, MAP_HUGETLB)};
  TRY(add(context, SCMP_ACT_ERRNO(ENOMEM), SCMP_SYS(mmap), huge, "mmap"));
  // It keeps its contents where no page of it is mapped any more, as after MADV_DONTNEED.
  constexpr std::uint64_t kShared = MAP_SHARED | MAP_ANONYMOUS;
  const std::array shared{when(3, SCMP_CMP_MASKED_EQ, kShared, kShared)};
  TRY(add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mmap), shared, "mmap"));
  // Larger pipes, and locks of open files, whose ranges another descriptor can ask for.
  for (const int command : {F_SETPIPE_SZ, F_OFD_SETLK, F_OFD_SETLKW}) {
    const std::array kept{when_int(1, static_cast<std::uint32_t>(command))};
    TRY(add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fcntl), kept, "fcntl"));
  }
  return {};
}

base::Result<void> add_rules(const Context& context, FilterKind kind, std::uint64_t first_free) {
  if (kind == FilterKind::compile) {
    TRY(add_pair_rules(context));
    TRY(add_attribute_rules(context));
    return add(context, SCMP_ACT_ERRNO(EPERM), kRefusedToCompilers);
  }
  if (kind == FilterKind::counted) {
    TRY(add(context, SCMP_ACT_ERRNO(EPERM), kRefusedToCompilers));
    TRY(add_attribute_rules(context));
    return add_counted_rules(context);
  }
  TRY(add(context, SCMP_ACT_ALLOW, kAllowedToCalls));
  TRY(add_advice_rules(context, first_free));
  TRY(add_move_rule(context));
  if (kind == FilterKind::load) {
    // Filters add up: this one stays in force, so that it must allow all that a later one does.
    TRY(add_clone_rules(context));
    TRY(add(context, SCMP_ACT_ALLOW, kAllowedToThreads));
    return add(context, SCMP_ACT_ALLOW, kAllowedToLoads);
  }
  TRY(add_memory_rules(context, kind, first_free));
  if (kind == FilterKind::call_threads) TRY(add_thread_rules(context));
  return {};
}

base::Result<FilterProgram> exported(const Context& context) {
  const base::FileDescriptor file(memfd_create("filter", MFD_CLOEXEC));
  if (!file.valid()) return base::fail_errno(errno, "memory for a system call filter");
  if (const int code = seccomp_export_bpf(context.get(), file.get()); code != 0) {
    return base::fail_errno(-code, "export of a system call filter");
  }
  const off_t bytes = lseek(file.get(), 0, SEEK_END);
  FilterProgram program(static_cast<std::size_t>(bytes) / sizeof(FilterInstruction));
  if (pread(file.get(), program.data(), static_cast<std::size_t>(bytes), 0) != bytes) {
    return base::fail_errno(errno, "reading a system call filter");
  }
  return program;
}

}  // namespace

base::Result<FilterProgram> compile_filter(FilterKind kind, std::uint64_t first_free) {
  const bool refuses = kind == FilterKind::compile || kind == FilterKind::counted;
  const std::uint32_t other = refuses ? SCMP_ACT_ALLOW : SCMP_ACT_TRAP;
  const Context context(seccomp_init(other), &seccomp_release);
  if (!context) return base::fail(base::ErrorCode::unsupported, "libseccomp cannot start a filter on this machine");
  TRY(add_rules(context, kind, first_free));
  return exported(context);
}

base::Result<FilterProgram> end_filter(std::uint64_t pass) {
  const Context context(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
  if (!context) return base::fail(base::ErrorCode::unsupported, "libseccomp cannot start a filter on this machine");
  const std::array ended{when(0, SCMP_CMP_NE, kNotStarted)};
  const std::array replaced{when(3, SCMP_CMP_NE, pass)};
  TRY(add(context, SCMP_ACT_NOTIFY, "exit execveat"));
  TRY(add(context, SCMP_ACT_NOTIFY, SCMP_SYS(exit_group), ended, "exit_group"));
  TRY(add(context, SCMP_ACT_NOTIFY, SCMP_SYS(execve), replaced, "execve"));
  return exported(context);
}

std::string system_call_name(int number) {
  const std::unique_ptr<char, decltype(&std::free)> name(seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number),
                                                         &std::free);
  return name ? std::string(name.get()) : "number " + std::to_string(number);
}

}  // namespace accelopt::sandbox

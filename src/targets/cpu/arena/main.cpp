// SPDX-License-Identifier: Apache-2.0
// accelopt-arena: maps the buffers of one candidate, shuts itself in, loads the candidate's shared object and calls it
// when the worker says so. It is started by the worker only; nothing that it reports counts.
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "arena/protocol.hpp"

namespace accelopt::targets::cpu {
namespace {

using Entry = void (*)(const void*);

constexpr long kLandlockRestrictSelf = 446;

/// By its address and not through a variable: a candidate can change variables.
// NOLINTNEXTLINE(readability-identifier-naming): used like a variable
ArenaControl* const control = reinterpret_cast<ArenaControl*>(kControlAddress);

#if defined(__x86_64__)
// Where the waiting loop begins and ends; defined in it.
// NOLINTBEGIN(readability-identifier-naming): assembler labels
extern "C" const char accelopt_home_begin[];
extern "C" const char accelopt_home_end[];
// NOLINTEND(readability-identifier-naming)
#endif

[[noreturn]] void give_up(const char* what, const char* why) {
  std::snprintf(control->message, sizeof control->message, "%s: %s", what, why);
  control->state.store(static_cast<std::uint32_t>(ArenaState::failed), std::memory_order_release);
  _exit(3);
}

/// Ends the process without a call through a table that a candidate can change.
[[noreturn]] void end_at_once() {
#if defined(__x86_64__)
  while (true) asm volatile("syscall" : : "a"(SYS_exit_group), "D"(4) : "rcx", "r11", "memory");
#else
  _exit(4);
#endif
}

/// A fault or a refused system call: leaves its number for the message and ends.
void on_fatal(int number, siginfo_t* facts, void*) {
  if (number == SIGSYS) control->refused_system_call = facts->si_syscall;
  control->fatal_signal.store(number, std::memory_order_release);
  end_at_once();
}

/// On a stack of their own: a fault may be the end of the stack.
void install_handlers() {
  alignas(64) static char stack[64UL * 1024];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = &on_fatal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
    sigaction(number, &action, nullptr);
}

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void map_regions() {
  void* span = mmap(reinterpret_cast<void*>(kBaseAddress), control->span_bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (span == MAP_FAILED) give_up("reserving addresses", std::strerror(errno));
  for (std::uint32_t i = 0; i < control->region_count; ++i) {
    const ArenaRegion& region = control->regions[i];
    const int access = region.writable != 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    void* at =
        mmap(reinterpret_cast<void*>(region.address), region.bytes, access, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
             static_cast<int>(region.descriptor), static_cast<off_t>(region.offset));
    if (at == MAP_FAILED) give_up("mapping a buffer", std::strerror(errno));
  }
}

void install(const ArenaFilter& filter) {
  if (control->filters_enabled == 0) return;
  sock_fprog program{};
  program.len = static_cast<unsigned short>(filter.length);
  program.filter = reinterpret_cast<sock_filter*>(const_cast<std::uint64_t*>(filter.instructions));
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
    give_up("system call filter", std::strerror(errno));
}

Entry load_kernel() {
  for (const auto& library : control->libraries) {
    if (library[0] != '\0' && dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) give_up(library, dlerror());
  }
  install_handlers();
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (control->landlock_descriptor != 0) {
    syscall(kLandlockRestrictSelf, static_cast<int>(control->landlock_descriptor), 0);
  }
  install(control->load_filter);
  void* kernel = dlopen("/proc/self/fd/6", RTLD_NOW | RTLD_LOCAL);
  if (kernel == nullptr) give_up("loading the kernel", dlerror());
  void* entry = dlsym(kernel, kEntrySymbol);
  if (entry == nullptr) give_up("loading the kernel", dlerror());
  syscall(SYS_close_range, 0U, ~0U, 0U);
  install(control->call_filter);
  return reinterpret_cast<Entry>(entry);
}

void yield() {
#if defined(__x86_64__)
  long result = SYS_sched_yield;
  asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
#else
  syscall(SYS_sched_yield);
#endif
}

/// The shared page, its address taken from the instructions at every use: what a register holds when a kernel returns
/// is the kernel's choice.
inline ArenaControl& shared_page() {
  std::uint64_t address = kControlAddress;
#if defined(__x86_64__)
  asm volatile("movabsq $0x0ff000000000, %0" : "=r"(address));
#endif
  return *reinterpret_cast<ArenaControl*>(address);
}

void await_go(std::uint32_t seen) {
  while (true) {
    if (shared_page().go.call.load(std::memory_order_acquire) != seen) return;
    if (shared_page().one_core != 0) {
      yield();
    } else {
      relax();
    }
  }
}

/// Waits for the next call. The worker looks, while the process is stopped, whether it stands exactly here: then
/// nothing can run before the next call but what follows. So the flag's address is part of the instructions and not in
/// a register or a variable, which a candidate could have changed before it came back.
inline std::uint32_t await_request(std::uint32_t seen) {
#if defined(__x86_64__)
  static_assert(offsetof(ArenaControl, request) == 0 && kControlAddress == 0x0ff000000000);
  std::uint32_t now = 0;
  asm volatile(
      "accelopt_home_begin:\n"
      "  cmpl $0, %[one_core]\n"
      "  jne 2f\n"
      "1: pause\n"
      "  movabsl 0x0ff000000000, %%eax\n"
      "  cmpl %[seen], %%eax\n"
      "  je 1b\n"
      "  jmp 3f\n"
      "2: movl %[sched_yield], %%eax\n"
      "  syscall\n"
      "  movabsl 0x0ff000000000, %%eax\n"
      "  cmpl %[seen], %%eax\n"
      "  je 2b\n"
      "3:\n"
      "accelopt_home_end:\n"
      : "=&a"(now)
      : [one_core] "r"(shared_page().one_core), [seen] "r"(seen), [sched_yield] "i"(SYS_sched_yield)
      : "rcx", "r11", "cc", "memory");
  return now;
#else
  std::uint32_t now = seen;
  while (now == seen) {
    now = control->request.call.load(std::memory_order_acquire);
    if (control->one_core != 0) yield();
  }
  return now;
#endif
}

/// Streaming stores may take longer than the flag that says that they were made.
void finish_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// The floating-point state that every call starts from, whatever the one before left behind.
void reset_floating_point() {
#if defined(__x86_64__)
  _mm_setcsr(0x1f80);
  const unsigned short word = 0x037f;
  asm volatile("fninit; fldcw %0" : : "m"(word));
#endif
}

/// Not to be copied: the waiting loop has names. Calls nothing but the kernel.
[[noreturn, gnu::noinline, gnu::noclone]] void serve(Entry entry) {
  std::uint32_t call = 0;
  while (true) {
    call = await_request(call);
    reset_floating_point();
    const std::uint32_t before = shared_page().go.call.load(std::memory_order_relaxed);
    shared_page().ready.call.store(call, std::memory_order_release);
    await_go(before);
    entry(shared_page().arguments);
    finish_stores();
    shared_page().done.call.store(call, std::memory_order_release);
  }
}

}  // namespace

int arena_main() {
  void* page = mmap(reinterpret_cast<void*>(kControlAddress), kControlBytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_POPULATE | MAP_FIXED_NOREPLACE, kControlDescriptor, 0);
  if (page == MAP_FAILED) return 2;
#if defined(__x86_64__)
  control->home_begin = reinterpret_cast<std::uint64_t>(accelopt_home_begin);
  control->home_end = reinterpret_cast<std::uint64_t>(accelopt_home_end);
#endif
  map_regions();
  const Entry entry = load_kernel();
  control->state.store(static_cast<std::uint32_t>(ArenaState::loaded), std::memory_order_release);
  serve(entry);
}

}  // namespace accelopt::targets::cpu

int main() {
  return accelopt::targets::cpu::arena_main();
}

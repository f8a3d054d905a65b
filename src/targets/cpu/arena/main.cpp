// SPDX-License-Identifier: Apache-2.0
// accelopt-arena: maps the buffers of one candidate, shuts itself in, loads the candidate's shared object and calls it
// when the worker says so. It is started by the worker only; nothing that it reports counts.
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "arena/protocol.hpp"

namespace accelopt::targets::cpu {
namespace {

using Entry = void (*)(const void*);

constexpr long kLandlockRestrictSelf = 446;

/// By its address and not through a variable: a candidate can change variables.
// NOLINTNEXTLINE(readability-identifier-naming): used like a variable
ArenaControl* const control = reinterpret_cast<ArenaControl*>(kControlAddress);

/// What every call starts from, in a page of its own that nobody can write once a candidate may run.
struct Private {
  Entry entry = nullptr;
  std::uint64_t stack_top = 0;
  std::uint32_t has_xsave = 0;
  alignas(64) unsigned char registers[576] = {};  ///< initial x87 and vector state, as XRSTOR and FXRSTOR read it
};
static_assert(sizeof(Private) <= kPageBytes);

#if defined(__x86_64__)
// Where the waiting loop begins and ends; defined in it.
// NOLINTBEGIN(readability-identifier-naming): assembler labels
extern "C" const char accelopt_home_begin[];
extern "C" const char accelopt_home_end[];
// NOLINTEND(readability-identifier-naming)

/// What a process begins with: the control word of the x87 unit, and MXCSR.
constexpr std::uint16_t kX87Control = 0x037f;
constexpr std::uint32_t kVectorControl = 0x1f80;
/// What lies in the registers that a function keeps for its caller, where nothing else does.
constexpr std::int32_t kMark = 0x61636365;
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

/// A fault or a refused system call: leaves for the message what it was, and ends.
void on_fatal(int number, siginfo_t* facts, void*) {
  if (number == SIGSYS) control->refused_system_call = facts->si_syscall;
  if (number == SIGSEGV || number == SIGBUS) {
    control->fault_code = facts->si_code;
    control->fault_address = reinterpret_cast<std::uint64_t>(facts->si_addr);
  }
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

void map_regions(const ArenaSetup& setup) {
  void* span = mmap(reinterpret_cast<void*>(kBaseAddress), setup.span_bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (span == MAP_FAILED) give_up("reserving addresses", std::strerror(errno));
  for (std::uint32_t i = 0; i < setup.region_count; ++i) {
    const ArenaRegion& region = setup.regions[i];
    const int access = region.writable != 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    void* at =
        mmap(reinterpret_cast<void*>(region.address), region.bytes, access, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
             static_cast<int>(region.descriptor), static_cast<off_t>(region.offset));
    if (at == MAP_FAILED) give_up("mapping a buffer", std::strerror(errno));
  }
}

void load_libraries(const ArenaSetup& setup) {
  for (const auto& library : setup.libraries) {
    if (library[0] != '\0' && dlopen(library, RTLD_NOW | RTLD_GLOBAL) == nullptr) give_up(library, dlerror());
  }
}

void install(const ArenaFilter& filter) {
  if (filter.length == 0) return;
  sock_fprog program{};
  program.len = static_cast<unsigned short>(filter.length);
  program.filter = reinterpret_cast<sock_filter*>(const_cast<std::uint64_t*>(filter.instructions));
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
    give_up("system call filter", std::strerror(errno));
}

/// Shuts the process in but for loading. The call filter, for later, into memory that no file lies in; empty where
/// there are no filters.
void shut_in(const ArenaSetup& setup, ArenaFilter& call_filter) {
  install_handlers();
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (setup.landlock_descriptor != 0) {
    syscall(kLandlockRestrictSelf, static_cast<int>(setup.landlock_descriptor), 0);
  }
  if (setup.filters_enabled == 0) return;
  call_filter = setup.call_filter;
  install(setup.load_filter);
}

/// Takes heap and stack from the operating system at once, and keeps the heap. Restoring clears them where they were
/// used: a kernel that allocates memory in every call finds it mapped, as it does in a program that runs for long.
void take_memory() {
  constexpr int kMostOfMalloc = 32 << 20;  // where the heap has no room, larger blocks are mapped for themselves
  mallopt(M_MMAP_THRESHOLD, kMostOfMalloc);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  control->heap_used = reinterpret_cast<std::uint64_t>(sbrk(0));
  mallopt(M_TOP_PAD, kHeapBytes);
  void* block = std::malloc(kPageBytes << 8);
  asm volatile("" : "+r"(block));
  std::free(block);
  mallopt(M_TOP_PAD, 1 << 17);
  constexpr std::size_t kAboveAndSpare = 256UL << 10;
  auto* const deep = static_cast<volatile char*>(__builtin_frame_address(0)) - (kStackBytes - kAboveAndSpare);
  *deep = 0;
}

/// Nothing of the file runs in here: the worker refuses files that have the loader call or write anything else.
Entry load_kernel() {
  constexpr auto kKernel = static_cast<unsigned>(kKernelDescriptor);
  syscall(SYS_close_range, 0U, kKernel - 1, 0U);
  syscall(SYS_close_range, kKernel + 1, ~0U, 0U);
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", kKernelDescriptor);
  void* kernel = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (kernel == nullptr) give_up("loading the kernel", dlerror());
  void* entry = dlsym(kernel, kEntrySymbol);
  if (entry == nullptr) give_up("loading the kernel", dlerror());
  syscall(SYS_close_range, 0U, ~0U, 0U);
  return reinterpret_cast<Entry>(entry);
}

void set_private_page(Entry entry) {
  void* page = mmap(reinterpret_cast<void*>(kPrivateAddress), kPageBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (page == MAP_FAILED) give_up("a page of its own", std::strerror(errno));
  auto& own = *static_cast<Private*>(page);
  own.entry = entry;
  // Far enough below this frame, which nobody returns to.
  own.stack_top = (reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) & ~std::uint64_t{63}) - 256;
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  own.has_xsave = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0 ? 1 : 0;
  std::memcpy(own.registers, &kX87Control, sizeof kX87Control);
  std::memcpy(own.registers + 24, &kVectorControl, sizeof kVectorControl);
#endif
  if (mprotect(page, kPageBytes, PROT_READ) != 0) give_up("a page of its own", std::strerror(errno));
}

#if defined(__x86_64__)
/// Into the list of bits in ecx whether the last comparison found a difference; esi holds 0 or 1.
#define ACCELOPT_NOTE_DIFFERENCE "  setne %%sil\n  leal (%%rsi, %%rcx, 2), %%ecx\n"

/// Waits for calls and makes them. What a kernel leaves behind when it returns, in registers, flags and memory, is the
/// kernel's choice: this reads immediates, the worker's orders and the private page, neither of which can be written or
/// moved, and returns to nowhere. Restoring memory, too, uses neither stack nor functions. The worker looks, while the
/// process is stopped, whether it stands between accelopt_home_begin and accelopt_home_end: from every instruction
/// there, whatever registers hold, nothing but this block runs until the next go. A call is pending when `request` and
/// `go` differ. What the kernel should have left as it was is compared once the call's time has ended.
[[noreturn, gnu::noinline, gnu::noclone]] void serve() {
  asm volatile(
      "accelopt_home_begin:\n"
      "1: movabsq %[orders], %%rax\n"
      "  cmpl $0, %c[one_core](%%rax)\n"
      "  je 2f\n"
      "  movl %[sched_yield], %%eax\n"
      "  syscall\n"
      "  jmp 3f\n"
      "2: pause\n"
      "3: movabsq %[orders], %%rax\n"
      "  movl (%%rax), %%ecx\n"
      "  cmpl %c[go](%%rax), %%ecx\n"
      "  je 1b\n"
      "accelopt_home_end:\n"
      // Once more, with registers that are this block's: the process may have been stopped anywhere above.
      "  movabsq %[orders], %%rbx\n"
      "  movl (%%rbx), %%ebp\n"
      "  cmpl %c[go](%%rbx), %%ebp\n"
      "  je 1b\n"
      "  cmpl %c[restore](%%rbx), %%ebp\n"
      "  jne 15f\n"
      "  cld\n"
      "  movabsq %[image], %%r12\n"
      "9: movq (%%r12), %%rax\n"
      "  movq 8(%%r12), %%rdi\n"
      "  movq 16(%%r12), %%rsi\n"
      "  movq 24(%%r12), %%rcx\n"
      "  addq %[step], %%r12\n"
      "  cmpl %[copy], %%eax\n"
      "  je 10f\n"
      "  cmpl %[clear], %%eax\n"
      "  je 11f\n"
      "  cmpl %[end], %%eax\n"
      "  je 15f\n"
      "  movq %%rcx, %%rax\n"
      "  syscall\n"
      "  jmp 9b\n"
      "10: rep movsb\n"
      "  jmp 9b\n"
      "11: movq %%rdi, %%r13\n"
      "  movq %%rsi, %%r14\n"
      "  movabsq %[scratch], %%rdx\n"
      "  movl %[mincore], %%eax\n"
      "  syscall\n"
      "  testq %%rax, %%rax\n"
      "  jne 14f\n"
      "  shrq $12, %%r14\n"
      "  movabsq %[scratch], %%rsi\n"
      "12: testb $1, (%%rsi)\n"
      "  je 13f\n"
      "  movq %%r13, %%rdi\n"
      "  movl $512, %%ecx\n"
      "  xorl %%eax, %%eax\n"
      "  rep stosq\n"
      "13: addq $4096, %%r13\n"
      "  incq %%rsi\n"
      "  decq %%r14\n"
      "  jne 12b\n"
      "  jmp 9b\n"
      "14: ud2\n"  // the kernel unmapped memory that is not its own
      "15: movabsq %[own], %%r12\n"
      "  movq %c[stack_top](%%r12), %%rsp\n"
      "  pushq $0x202\n"
      "  popfq\n"
      "  movl $0xe7, %%eax\n"  // x87, SSE, AVX, AVX-512
      "  xorl %%edx, %%edx\n"
      "  cmpl $0, %c[has_xsave](%%r12)\n"
      "  je 4f\n"
      "  xrstor %c[registers](%%r12)\n"
      "  jmp 5f\n"
      "4: fxrstor %c[registers](%%r12)\n"
      "5: xorl %%esi, %%esi\n"
      "  xorl %%r8d, %%r8d\n"
      "  xorl %%r9d, %%r9d\n"
      "  xorl %%r10d, %%r10d\n"
      "  movl %[mark], %%r13d\n"
      "  movl %[mark], %%r14d\n"
      "  movl %[mark], %%r15d\n"
      "  leaq %c[arguments](%%rbx), %%rdi\n"
      "  movabsq %[answers], %%rax\n"
      "  movl %%ebp, (%%rax)\n"
      "6: cmpl $0, %c[one_core](%%rbx)\n"
      "  je 7f\n"
      "  movl %[sched_yield], %%eax\n"
      "  syscall\n"
      "  jmp 8f\n"
      "7: pause\n"
      "8: cmpl %c[go](%%rbx), %%ebp\n"
      "  jne 6b\n"
      "  cmpl %c[restore](%%rbx), %%ebp\n"
      "  je 1b\n"
      "  call *%c[entry](%%r12)\n"
      "  sfence\n"  // streaming stores may take longer than the flag that says that they were made
      "  movabsq %[orders], %%rax\n"
      "  movl %c[go](%%rax), %%ecx\n"
      "  movabsq %[answers], %%rax\n"
      "  movl %%ecx, %c[done](%%rax)\n"
      // A bit each, in the order of Preserved: the last one compared is bit 0. The kernel's stack may be anywhere.
      "  movl %%ecx, %%r10d\n"
      "  movq %%rsp, %%rdi\n"
      "  movabsq %[own], %%rdx\n"
      "  movq %c[stack_top](%%rdx), %%rsp\n"
      "  pushfq\n"
      "  popq %%r8\n"
      "  xorl %%ecx, %%ecx\n"
      "  xorl %%esi, %%esi\n"
      "  movabsq %[orders], %%r9\n"
      "  cmpq %%rsp, %%rdi\n" ACCELOPT_NOTE_DIFFERENCE    // the kernel's stack pointer
      "  cmpq %%r9, %%rbx\n" ACCELOPT_NOTE_DIFFERENCE     // the orders
      "  cmpq %%r10, %%rbp\n" ACCELOPT_NOTE_DIFFERENCE    // the call's number
      "  cmpq %%rdx, %%r12\n" ACCELOPT_NOTE_DIFFERENCE    // the page of its own
      "  cmpq %[mark], %%r13\n" ACCELOPT_NOTE_DIFFERENCE  // as was set above
      "  cmpq %[mark], %%r14\n" ACCELOPT_NOTE_DIFFERENCE  // likewise
      "  cmpq %[mark], %%r15\n" ACCELOPT_NOTE_DIFFERENCE  // likewise
      "  testl $0x400, %%r8d\n" ACCELOPT_NOTE_DIFFERENCE  // the direction flag
      "  movabsq %[scratch], %%r11\n"
      "  stmxcsr (%%r11)\n"
      "  movl (%%r11), %%edi\n"
      "  andl $0xffc0, %%edi\n"
      "  cmpl %[mxcsr], %%edi\n" ACCELOPT_NOTE_DIFFERENCE  // but for the flags of exceptions
      "  fnstenv (%%r11)\n"
      "  cmpw %[x87_control], (%%r11)\n" ACCELOPT_NOTE_DIFFERENCE  // the control word
      "  cmpw $-1, 8(%%r11)\n" ACCELOPT_NOTE_DIFFERENCE            // each register empty
      "  movl %%ecx, %c[changed](%%rax)\n"
      "  jmp 1b\n"
      :
      : [orders] "i"(kControlAddress), [answers] "i"(kControlAddress + kOrdersBytes), [own] "i"(kPrivateAddress),
        [go] "i"(offsetof(ArenaControl, go)), [one_core] "i"(offsetof(ArenaControl, one_core)),
        [arguments] "i"(offsetof(ArenaControl, arguments)), [done] "i"(offsetof(ArenaControl, done) - kOrdersBytes),
        [entry] "i"(offsetof(Private, entry)), [stack_top] "i"(offsetof(Private, stack_top)),
        [has_xsave] "i"(offsetof(Private, has_xsave)), [registers] "i"(offsetof(Private, registers)),
        [sched_yield] "i"(SYS_sched_yield), [restore] "i"(offsetof(ArenaControl, restore)), [image] "i"(kImageAddress),
        [scratch] "i"(kScratchAddress), [step] "i"(sizeof(RestoreStep)), [copy] "i"(Restore::copy),
        [clear] "i"(Restore::clear), [end] "i"(Restore::end), [mincore] "i"(SYS_mincore), [mark] "i"(kMark),
        [mxcsr] "i"(kVectorControl), [x87_control] "i"(kX87Control),
        [changed] "i"(offsetof(ArenaControl, changed) - kOrdersBytes)
      : "memory");
  __builtin_unreachable();
}
static_assert(offsetof(ArenaControl, request) == 0);
static_assert(offsetof(RestoreStep, at) == 8 && offsetof(RestoreStep, from) == 16 &&
              offsetof(RestoreStep, amount) == 24);
static_assert(kPageBytes == 4096);
#else
void wait_a_little() {
#if defined(__aarch64__)
  if (control->one_core == 0) {
    asm volatile("yield");
    return;
  }
#endif
  syscall(SYS_sched_yield);
}

[[noreturn, gnu::noinline]] void serve() {
  const auto& own = *reinterpret_cast<const Private*>(kPrivateAddress);
  while (true) {
    const std::uint32_t call = control->request.call.load(std::memory_order_acquire);
    if (call == control->go.call.load(std::memory_order_relaxed)) {
      wait_a_little();
      continue;
    }
    control->ready.call.store(call, std::memory_order_release);
    while (control->go.call.load(std::memory_order_acquire) != call) wait_a_little();
    own.entry(control->arguments);
    control->done.call.store(control->go.call.load(std::memory_order_relaxed), std::memory_order_release);
  }
}
#endif

/// The orders and the image for reading only, the answers behind the orders.
bool map_control() {
  void* orders =
      mmap(control, kOrdersBytes, PROT_READ, MAP_SHARED | MAP_POPULATE | MAP_FIXED_NOREPLACE, kOrdersDescriptor, 0);
  void* answers = mmap(&control->ready, kAnswersBytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_POPULATE | MAP_FIXED_NOREPLACE, kAnswersDescriptor, 0);
  void* image = mmap(reinterpret_cast<void*>(kImageAddress), kImageBytes, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE,
                     kOrdersDescriptor, kOrdersBytes);
  void* scratch = mmap(reinterpret_cast<void*>(kScratchAddress), kPageBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  return orders != MAP_FAILED && answers != MAP_FAILED && image != MAP_FAILED && scratch != MAP_FAILED;
}

}  // namespace

int arena_main() {
  void* const setup_page = mmap(nullptr, sizeof(ArenaSetup), PROT_READ, MAP_SHARED | MAP_POPULATE, kSetupDescriptor, 0);
  if (setup_page == MAP_FAILED || !map_control()) return 2;
  const auto& setup = *static_cast<const ArenaSetup*>(setup_page);
#if defined(__x86_64__)
  control->home_begin = reinterpret_cast<std::uint64_t>(accelopt_home_begin);
  control->home_end = reinterpret_cast<std::uint64_t>(accelopt_home_end);
#endif
  map_regions(setup);
  load_libraries(setup);
  ArenaFilter call_filter;
  shut_in(setup, call_filter);
  const bool restored = setup.restored != 0;
  munmap(setup_page, sizeof(ArenaSetup));
  const Entry entry = load_kernel();
  if (restored) take_memory();
  set_private_page(entry);
  install(call_filter);
  control->state.store(static_cast<std::uint32_t>(ArenaState::loaded), std::memory_order_release);
  serve();
}

}  // namespace accelopt::targets::cpu

int main() {
  return accelopt::targets::cpu::arena_main();
}

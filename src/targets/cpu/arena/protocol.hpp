// SPDX-License-Identifier: Apache-2.0
// The memory that a worker and its arena share. The arena is distrusted: the worker reads from here only the flags,
// which can do no worse than end a call early, and texts for people.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace accelopt::targets::cpu {

inline constexpr int kOrdersDescriptor = 3;
inline constexpr int kAnswersDescriptor = 4;
inline constexpr int kSetupDescriptor = 5;
inline constexpr int kInputsDescriptor = 6;
inline constexpr int kOutputsDescriptor = 7;
inline constexpr int kKernelDescriptor = 8;

inline constexpr std::size_t kMaxRegions = 64;
/// Tensors, scalars and axes, of which a task may have 64 each.
inline constexpr std::size_t kMaxArguments = 3 * kMaxRegions;
inline constexpr std::size_t kMaxLibraries = 8;
inline constexpr std::size_t kMaxFilterInstructions = 1024;
inline constexpr std::size_t kPageBytes = 4096;

/// Everything is mapped at the same addresses in every arena, so that all arms see the same layout.
inline constexpr std::uint64_t kBaseAddress = 0x100000000000;

/// Where the control pages themselves lie.
inline constexpr std::uint64_t kControlAddress = 0x0ff000000000;

/// Below this address, where the control pages and all buffers lie, a candidate can neither unmap, move nor protect.
inline constexpr std::uint64_t kFirstFreeAddress = 0x400000000000;

/// The glue's function, which calls the kernel from an array of pointers.
inline constexpr const char* kEntrySymbol = "accelopt_call";

enum class ArenaState : std::uint32_t { starting, loaded, failed };

/// What the calling convention of x86-64 has a function leave as it found it, in the order in which arenas compare it.
enum class Preserved : std::uint32_t {
  rsp,
  rbx,
  rbp,
  r12,
  r13,
  r14,
  r15,
  direction_flag,
  mxcsr,
  x87_control,
  x87_registers,
  count,
};
/// Its bit in ArenaControl::changed.
constexpr std::uint32_t bit_of(Preserved what) {
  return 1U << (static_cast<std::uint32_t>(Preserved::count) - 1 - static_cast<std::uint32_t>(what));
}

/// A flag on a cache line of its own; holds the number of the call that it is about.
struct alignas(64) ArenaFlag {
  std::atomic<std::uint32_t> call{0};
};

/// Two pages: orders, which the arena can only read, and answers.
struct ArenaControl {
  ArenaFlag request;                       ///< worker: a call is laid out
  ArenaFlag go;                            ///< worker: call the kernel now; what `request` holds, except in between
  alignas(64) std::uint32_t one_core = 0;  ///< worker and arena share a core: waiting yields
  std::uint32_t argument_count = 0;
  std::uint32_t restore = 0;  ///< worker: the request of this number is no call: memory is to be as in the image
  std::uint64_t arguments[kMaxArguments] = {};  ///< addresses in the arena
  std::uint64_t scalars[kMaxArguments] = {};    ///< values that arguments point to

  alignas(kPageBytes) ArenaFlag ready;  ///< arena: awake and waiting for go
  ArenaFlag done;                       ///< arena: the kernel returned
  alignas(64) std::atomic<std::uint32_t> state{0};
  std::int32_t refused_system_call = -1;
  std::atomic<std::int32_t> fatal_signal{0};  ///< set by the arena's handlers, so that its end need not be waited for
  std::int32_t fault_code = 0;                ///< of that signal: si_code, and of SIGSEGV and SIGBUS si_addr
  std::uint64_t fault_address = 0;
  char message[512] = {};
  std::uint64_t home_begin = 0;  ///< arena, before it loads a candidate: where its waiting loop begins; 0: unknown
  std::uint64_t home_end = 0;
  std::uint64_t heap_used = 0;  ///< arena, before the first call: behind it the heap holds nothing
  std::uint32_t changed = 0;    ///< arena, back at its loop: what the last call did not preserve, by bit_of
};

inline constexpr std::size_t kOrdersBytes = kPageBytes;
inline constexpr std::size_t kAnswersBytes = kPageBytes;
static_assert(offsetof(ArenaControl, ready) == kOrdersBytes && sizeof(ArenaControl) == kOrdersBytes + kAnswersBytes);

/// Behind the control pages: what the arena keeps for itself. Only readable once a candidate is loaded.
inline constexpr std::uint64_t kPrivateAddress = kControlAddress + sizeof(ArenaControl);

/// Behind that: a page for the answers of the operating system while memory is restored, and the image to restore from,
/// which lies behind the orders in their file and can only be read.
inline constexpr std::uint64_t kScratchAddress = kPrivateAddress + kPageBytes;
inline constexpr std::uint64_t kImageAddress = kScratchAddress + kPageBytes;
inline constexpr std::size_t kImageBytes = 4UL << 20;
inline constexpr std::size_t kMaxRestoreSteps = 1024;

inline constexpr std::size_t kStackBytes = 8UL << 20;

/// The heap of an arena with one thread from its start on, so that what a kernel frees stays there.
inline constexpr std::size_t kHeapBytes = 64UL << 20;

enum class Restore : std::uint64_t {
  end,
  copy,         ///< `amount` bytes of the image at `from` to `at`
  clear,        ///< zeros to all pages of the `from` bytes at `at` that are there; whole pages
  system_call,  ///< number `amount`, of the arguments `at` and `from`
};

/// One step of restoring memory. The image begins with them.
struct RestoreStep {
  Restore kind = Restore::end;
  std::uint64_t at = 0;
  std::uint64_t from = 0;
  std::uint64_t amount = 0;
};
inline constexpr std::size_t kRestoreStepsBytes = kMaxRestoreSteps * sizeof(RestoreStep);
/// The pages that one step can clear: for each the operating system writes one byte to the scratch page.
inline constexpr std::size_t kMostCleared = kPageBytes * kPageBytes;

struct ArenaRegion {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;      ///< in the file behind the descriptor
  std::uint32_t descriptor = 0;  ///< kInputsDescriptor or kOutputsDescriptor
  std::uint32_t writable = 0;
};

struct ArenaFilter {
  std::uint32_t length = 0;
  std::uint64_t instructions[kMaxFilterInstructions] = {};
};

/// How an arena sets itself up. It reads a copy of its own, made before a candidate is loaded.
struct ArenaSetup {
  std::uint32_t region_count = 0;
  std::uint32_t filters_enabled = 0;
  std::uint32_t landlock_descriptor = 0;  ///< 0: none
  std::uint32_t restored = 0;             ///< memory will be restored between calls
  std::uint64_t span_bytes = 0;           ///< reserved without access from kBaseAddress on
  ArenaRegion regions[kMaxRegions] = {};
  char libraries[kMaxLibraries][32] = {};  ///< loaded before the filters close
  ArenaFilter load_filter;
  ArenaFilter call_filter;
};

}  // namespace accelopt::targets::cpu

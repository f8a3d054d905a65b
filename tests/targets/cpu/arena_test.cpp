// SPDX-License-Identifier: Apache-2.0
// One arena by hand: threads, loading, and kernels of other element types through the whole evaluator.
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <thread>
#include <vector>

#include "evaluation/local_evaluator.hpp"
#include "small_task.hpp"
#include "targets/cpu/arena_process.hpp"
#include "targets/cpu/cpu_target.hpp"
#include "targets/cpu/layout.hpp"
#include "targets/cpu/machine.hpp"
#include "targets/cpu/timed_call.hpp"

namespace accelopt::targets::cpu {
namespace {

using model::Status;

/// The first call of a kernel that may have one helper thread; `meanwhile` gets its process right before the go.
Bracket first_call(const std::string& text, std::chrono::nanoseconds limit,
                   const std::function<void(pid_t)>& meanwhile = {}) {
  const auto compiler = find_compiler("g++", kPath);
  model::Task task = small_task();
  task.cpu.threads = 2;
  const auto builder = KernelBuilder::create(task, {*compiler, {}, nullptr}, {});
  EXPECT_TRUE(builder) << builder.error().message;
  const auto built = (*builder)->build(model::Kernel(solution_of(text)), {});
  EXPECT_TRUE(built && (*built)->report.built) << (*built)->report.diagnostics;
  auto buffers = Buffers::create({{4096, false}, {4096, false}, {4096, true}}, 1);
  const Machine machine = examine_machine();
  const bool one_core = machine.cores.size() == 1;
  auto arena = ArenaProcess::start({ACCELOPT_ARENA_PATH, machine.cores, 2, one_core, 1ULL << 30}, **built, *buffers);
  EXPECT_TRUE(arena) << arena.error().message;
  evaluation::Invocation invocation;
  invocation.inputs = {evaluation::Bytes(4096), evaluation::Bytes(4096), evaluation::Bytes(sizeof(float))};
  invocation.output_bytes = {100 * sizeof(float)};
  invocation.axes = {100};
  Layout(task.definition, *buffers, Bypass::nothing).set_arguments(arena->control(), invocation);
  return timed_call(*arena, limit, one_core, [&] {
    if (meanwhile) meanwhile(arena->process().pid());
  });
}

Bracket threaded_call(const std::string& text) {
  const Bracket bracket = first_call(text, std::chrono::seconds(5));
  EXPECT_EQ(bracket.end, Bracket::End::returned);
  return bracket;
}

TEST(Arena, AKernelThatDoesNotEndIsOverItsLimit) {
  if (!find_compiler("g++", kPath)) GTEST_SKIP() << "g++ is not installed";
  const Bracket bracket = first_call(R"(#include "task.h"
extern "C" void kernel(const float*, const float*, float, float* y, int64_t) {
  for (volatile int64_t i = 0;; ++i) *(volatile float*)y = 1;
}
)",
                                     std::chrono::milliseconds(50));
  EXPECT_EQ(bracket.end, Bracket::End::timed_out);
}

TEST(Arena, TimeInWhichItsCoreIsTakenIsNotOfItsLimit) {
  if (!find_compiler("g++", kPath)) GTEST_SKIP() << "g++ is not installed";
  constexpr std::chrono::milliseconds kLimit(50);
  std::thread taker;
  const Bracket bracket = first_call(R"(#include "task.h"
extern "C" void kernel(const float*, const float*, float s, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) y[i] = s;
}
)",
                                     kLimit, [&](pid_t arena) {
                                       kill(arena, SIGSTOP);
                                       taker = std::thread([arena, began = std::chrono::steady_clock::now(), kLimit] {
                                         while (std::chrono::steady_clock::now() - began < 4 * kLimit) {
                                         }
                                         kill(arena, SIGCONT);
                                       });
                                     });
  taker.join();
  EXPECT_EQ(bracket.end, Bracket::End::returned);
  EXPECT_GT(bracket.time, 2 * kLimit);
}

TEST(Arena, KernelsOfSeveralThreadsRun) {
  const auto compiler = find_compiler("g++", kPath);
  if (!compiler) GTEST_SKIP() << "g++ is not installed";
  model::Task task = small_task();
  task.cpu.threads = 2;
  const auto builder = KernelBuilder::create(task, {*compiler, {}, nullptr}, {});
  ASSERT_TRUE(builder) << builder.error().message;
  const auto built = (*builder)->build(model::Kernel(solution_of(R"(#include "task.h"
#include <omp.h>
extern "C" void kernel(const float*, const float*, float s, float* y, int64_t M) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) y[i] = s + 100 * omp_get_num_threads();
}
)")),
                                       {});
  ASSERT_TRUE(built);
  ASSERT_TRUE((*built)->report.built) << (*built)->report.diagnostics;
  const auto buffers = Buffers::create({{4096, false}, {4096, false}, {4096, true}}, 1);
  ASSERT_TRUE(buffers);
  const Machine machine = examine_machine();
  auto arena = ArenaProcess::start({ACCELOPT_ARENA_PATH, machine.cores, 2, machine.cores.size() == 1, 1ULL << 30},
                                   **built, *buffers);
  ASSERT_TRUE(arena) << arena.error().message;
  ASSERT_EQ(arena->death(), "");
  constexpr std::int64_t kRows = 100;
  constexpr float kScalar = 0.5F;
  ArenaControl& control = arena->control();
  control.arguments[0] = buffers->there(0, 4096);
  control.arguments[1] = buffers->there(1, 4096);
  control.arguments[2] = kControlAddress + offsetof(ArenaControl, scalars);
  control.arguments[3] = buffers->there(2, kRows * sizeof(float));
  control.arguments[4] = kControlAddress + offsetof(ArenaControl, scalars) + sizeof(std::uint64_t);
  control.argument_count = 5;
  std::memcpy(&control.scalars[0], &kScalar, sizeof kScalar);
  std::memcpy(&control.scalars[1], &kRows, sizeof kRows);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Bracket bracket = timed_call(*arena, std::chrono::seconds(5), machine.cores.size() == 1);
    ASSERT_EQ(bracket.end, Bracket::End::returned) << arena->death();
    EXPECT_GT(bracket.time.count(), 0);
    EXPECT_FALSE(bracket.helper_awake) << "the threads of OpenMP rest between calls";
    std::vector<float> output(kRows);
    std::memcpy(output.data(), buffers->here(2, kRows * sizeof(float)).data(), kRows * sizeof(float));
    for (const float value : output) ASSERT_EQ(value, 200.5F);
  }
}

TEST(Arena, HelpersThatRestBetweenCallsPass) {
  // A pool of threads that lives between the calls, as honest kernels have it.
  const Bracket bracket = threaded_call(R"(#include "task.h"
#include <condition_variable>
#include <mutex>
#include <thread>
struct Pool {
  std::mutex mutex;
  std::condition_variable changed;
  int wanted = 0, made = 0;
  std::thread helper{[this] {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return made != wanted; });
      made = wanted;
      changed.notify_all();
    }
  }};
};
extern "C" void kernel(const float*, const float*, float s, float* y, int64_t M) {
  Pool* const pool = new Pool;
  std::unique_lock lock(pool->mutex);
  ++pool->wanted;
  pool->changed.notify_all();
  pool->changed.wait(lock, [&] { return pool->made == pool->wanted; });
  for (int64_t i = 0; i < M; ++i) y[i] = s;
}
)");
  EXPECT_EQ(bracket.end, Bracket::End::returned);
  EXPECT_FALSE(bracket.helper_awake);
}

TEST(Arena, HelpersThatCouldGoOnAreFound) {
  const std::string begin = R"(#include "task.h"
#include <atomic>
#include <thread>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
extern "C" void kernel(const float*, const float*, float s, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) y[i] = s;
  static_assert(sizeof(int) == 4);
  int* const word = new int(0);
  std::thread([word, y] { for (;;) )";
  const std::string end = R"( }).detach();
  timespec soon{0, 3000000};
  syscall(SYS_futex, new int(0), FUTEX_WAIT, 0, &soon, nullptr, 0);
  __atomic_store_n(word, WORD, __ATOMIC_SEQ_CST);
}
)";
  const auto kernel = [&](const std::string& helper, const std::string& word) {
    std::string text = begin + helper + end;
    text.replace(text.find("WORD"), 4, word);
    return text;
  };
  EXPECT_FALSE(
      threaded_call(kernel("syscall(SYS_futex, word, FUTEX_WAIT, 0, nullptr, nullptr, 0);", "0")).helper_awake);
  EXPECT_TRUE(threaded_call(kernel("__atomic_load_n(word, __ATOMIC_SEQ_CST);", "0")).helper_awake) << "it spins";
  EXPECT_TRUE(threaded_call(kernel("syscall(SYS_futex, word, FUTEX_WAIT, 0, nullptr, nullptr, 0);", "1")).helper_awake)
      << "its word has changed: the stop alone would have woken it";
  EXPECT_TRUE(
      threaded_call(kernel("{ timespec far{100, 0}; syscall(SYS_futex, word, FUTEX_WAIT, 0, &far, nullptr, 0); }", "0"))
          .helper_awake)
      << "it wakes by itself";
  // Their words hold what is awaited while the process stands still, and are changed from outside before it goes on.
  const std::string order = "(int*)" + std::to_string(kControlAddress) + "UL";
  EXPECT_TRUE(
      threaded_call(kernel("syscall(SYS_futex, " + order + ", FUTEX_WAIT, *" + order + ", nullptr, nullptr, 0);", "0"))
          .helper_awake)
      << "the worker's next order wakes it";
  EXPECT_TRUE(
      threaded_call(kernel("syscall(SYS_futex, y, FUTEX_WAIT, *(int*)y, nullptr, nullptr, 0);", "0")).helper_awake)
      << "poison wakes it";
}

TEST(Arena, AnObjectThatCannotBeLoadedIsADeadArena) {
  BuiltKernel nonsense;
  nonsense.shared_object = "this is not a shared object";
  const auto buffers = Buffers::create({{64, true}}, 1);
  ASSERT_TRUE(buffers);
  const auto arena = ArenaProcess::start({ACCELOPT_ARENA_PATH, {}, 1, false, 1ULL << 30}, nonsense, *buffers);
  ASSERT_TRUE(arena) << arena.error().message;
  EXPECT_NE(arena->death().find("could not be loaded"), std::string::npos) << arena->death();
}

/// An arena that loaded a file whose `constructor` ran; references are trusted to have such.
base::Result<ArenaProcess> loaded_with(const std::string& constructor) {
  TRY_ASSIGN(const Compiler compiler, find_compiler("", kPath));
  model::Task task = small_task();
  task.reference.text = "#include <stdlib.h>\n#include <sys/mman.h>\n#include \"task.h\"\n" +
                        ("__attribute__((constructor)) static void early() { " + constructor + " }\n") +
                        task.reference.text.substr(task.reference.text.find('\n') + 1);
  TRY_ASSIGN(const auto builder, KernelBuilder::create(task, {compiler, {}, nullptr}, {}));
  TRY_ASSIGN(const auto built, builder->build_reference("float", {}));
  TRY_ASSIGN(const Buffers buffers, Buffers::create({{4096, false}, {4096, false}, {4096, true}}, 1));
  return ArenaProcess::start({ACCELOPT_ARENA_PATH, {}, 1, false, 1ULL << 30}, *built, buffers);
}

TEST(Arena, WhatLoadingChangedIsSeenFromOutside) {
  const std::string control = "(char*)" + std::to_string(kControlAddress) + "UL";
  struct Attempt {
    std::string constructor;
    const char* named;
  };
  for (const Attempt& attempt :
       {Attempt{"", ""}, Attempt{"free(malloc(100000));", ""},
        Attempt{"char* p = (char*)((unsigned long)&qsort & ~4095ul); mprotect(p, 4096, 7); *(volatile char*)p = *p; "
                "mprotect(p, 4096, 5);",
                "changed code"},
        Attempt{"mmap(0, 4096, 5, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);", "code that no file holds"},
        Attempt{"mmap(" + control + ", 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);", "shares"}}) {
    const auto arena = loaded_with(attempt.constructor);
    ASSERT_TRUE(arena) << arena.error().message;
    if (*attempt.named == '\0') {
      EXPECT_EQ(arena->death(), "") << attempt.constructor;
    } else {
      EXPECT_NE(arena->death().find(attempt.named), std::string::npos) << attempt.constructor << arena->death();
    }
  }
}

/// An arena of one thread with a kernel of the small task; the output has `kFound` elements.
constexpr std::int64_t kFound = 8;
class OneThread {
 public:
  explicit OneThread(const std::string& text) {
    const auto compiler = find_compiler("g++", kPath);
    const auto builder = KernelBuilder::create(task_, {*compiler, {}, nullptr}, {});
    const auto built = (*builder)->build(model::Kernel(solution_of(text)), {});
    EXPECT_TRUE(built && (*built)->report.built) << (*built)->report.diagnostics;
    const Machine machine = examine_machine();
    one_core_ = machine.cores.size() == 1;
    auto arena =
        ArenaProcess::start({ACCELOPT_ARENA_PATH, machine.cores, 1, one_core_, 1ULL << 30}, **built, *buffers_);
    EXPECT_TRUE(arena) << arena.error().message;
    arena_.emplace(std::move(*arena));
    arena_->remember();
    EXPECT_EQ(arena_->death(), "");
    evaluation::Invocation invocation;
    invocation.inputs = {evaluation::Bytes(4096), evaluation::Bytes(4096), evaluation::Bytes(sizeof(float))};
    invocation.output_bytes = {kFound * sizeof(float)};
    invocation.axes = {kFound};
    Layout(task_.definition, *buffers_, Bypass::nothing).set_arguments(arena_->control(), invocation);
  }

  /// What a call writes.
  std::vector<float> call() {
    EXPECT_EQ(timed_call(*arena_, std::chrono::seconds(5), one_core_).end, Bracket::End::returned) << arena_->death();
    std::vector<float> out(kFound);
    std::memcpy(out.data(), buffers_->here(2, kFound * sizeof(float)).data(), kFound * sizeof(float));
    return out;
  }
  bool restore() { return restore_memory(*arena_); }
  [[nodiscard]] const std::string& death() const { return arena_->death(); }

 private:
  model::Task task_ = small_task();
  base::Result<Buffers> buffers_ = Buffers::create({{4096, false}, {4096, false}, {4096, true}}, 1);
  std::optional<ArenaProcess> arena_;
  bool one_core_ = false;
};

#if defined(__x86_64__)
TEST(Arena, ACallFindsNothingThatAnEarlierOneLeft) {
  if (!find_compiler("g++", kPath)) GTEST_SKIP() << "g++ is not installed";
  // In the heap, behind its end, in a mapping, down the stack, in the C library's variables and in the shared page.
  const std::string answers = "#define ANSWERS " + std::to_string(kControlAddress + kOrdersBytes) + "\n";
  OneThread kernel(answers + R"(#include "task.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static float seen(volatile int* place) {
  const float found = *place == 12345 ? 1.0f : 0.0f;
  *place = 12345;
  return found;
}
extern "C" void kernel(const float*, const float*, float, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) y[i] = 0;
  y[4] = seen(&errno);
  int* const block = static_cast<int*>(malloc(1 << 20));
  y[0] = seen(block + (1 << 17));
  free(block);
  int* const end = static_cast<int*>(sbrk(0));
  y[1] = seen(end - 1024);
  void* const place = reinterpret_cast<void*>(0x5a0000000000);
  mmap(place, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  y[2] = seen(static_cast<int*>(place));
  const auto frame = reinterpret_cast<uint64_t>(__builtin_frame_address(0)) & ~uint64_t{63};
  y[3] = seen(reinterpret_cast<int*>(frame - (4 << 20)));
  y[5] = seen(reinterpret_cast<int*>(ANSWERS + 4000));
  y[6] = seen(reinterpret_cast<int*>(frame - 8388608 + 65536));
}
)");
  const std::vector<float> nothing(kFound);
  EXPECT_EQ(kernel.call(), nothing);
  EXPECT_EQ(kernel.call(), (std::vector<float>{1, 1, 1, 1, 1, 1, 1, 0})) << "it would find all of it";
  for (int repeat = 0; repeat < 3; ++repeat) {
    ASSERT_TRUE(kernel.restore()) << kernel.death();
    EXPECT_EQ(kernel.call(), nothing);
  }
}

TEST(Arena, ARestoringThatAKernelReportsIsMadeAllTheSame) {
  if (!find_compiler("g++", kPath)) GTEST_SKIP() << "g++ is not installed";
  const std::string pages = "#define ORDERS " + std::to_string(kControlAddress) + "\n#define ANSWERS " +
                            std::to_string(kControlAddress + kOrdersBytes) + "\n#define GO " +
                            std::to_string(offsetof(ArenaControl, go)) + "\n";
  OneThread kernel(pages + R"(#include "task.h"
#include <stdlib.h>
extern "C" void kernel(const float*, const float*, float, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) y[i] = 0;
  volatile int* const block = static_cast<int*>(malloc(1 << 20));
  y[0] = block[1 << 17] == 12345 ? 1 : 0;
  block[1 << 17] = 12345;
  free(const_cast<int*>(block));
  *reinterpret_cast<volatile uint32_t*>(ANSWERS) = *reinterpret_cast<volatile uint32_t*>(ORDERS + GO) + 1;
}
)");
  const std::vector<float> nothing(kFound);
  EXPECT_EQ(kernel.call(), nothing);
  for (int repeat = 0; repeat < 5; ++repeat) {
    ASSERT_TRUE(kernel.restore()) << kernel.death();
    EXPECT_EQ(kernel.call(), nothing);
  }
}

TEST(Arena, MemoryInPlaceOfCodeIsFound) {
  if (!find_compiler("g++", kPath)) GTEST_SKIP() << "g++ is not installed";
  OneThread kernel(R"(#include "task.h"
#include <stdlib.h>
#include <sys/mman.h>
extern "C" void kernel(const float*, const float*, float, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) y[i] = 0;
  munmap(reinterpret_cast<void*>(reinterpret_cast<uint64_t>(&qsort) & ~uint64_t{4095}), 4096);
}
)");
  kernel.call();
  EXPECT_FALSE(kernel.restore());
  EXPECT_NE(kernel.death().find("not its own"), std::string::npos) << kernel.death();
}
#endif

#if defined(__x86_64__)
TEST(Arena, WhatAKernelHasToPreserve_Changed_IsNamed) {
  const auto compiler = find_compiler("g++", kPath);
  if (!compiler) GTEST_SKIP() << "g++ is not installed";
  const auto builder = KernelBuilder::create(small_task(), {*compiler, {}, nullptr}, {});
  ASSERT_TRUE(builder) << builder.error().message;
  const auto built = (*builder)->build(model::Kernel(solution_of(R"(#include "task.h"
extern "C" void kernel(const float* x, const float*, float, float* y, int64_t M) {
  static const unsigned truncating = 0x7fff;
  asm volatile("flds %1; fstps %0" : "=m"(*y) : "m"(*x));
  for (int64_t i = 1; i < M; ++i) y[i] = *x / 7;
  switch (static_cast<int>(x[0])) {
    case 1: asm volatile("popq %rcx; addq $8, %rsp; jmp *%rcx");
    case 2: asm volatile("xorl %ebx, %ebx; xorl %r13d, %r13d; incq %r15"); break;
    case 3: asm volatile("xorl %ebp, %ebp; xorl %r12d, %r12d; xorl %r14d, %r14d"); break;
    case 4: asm volatile("std"); break;
    case 5: asm volatile("ldmxcsr %0" : : "m"(truncating)); break;
    case 6: asm volatile("fldcw %0" : : "m"(truncating)); break;
    case 7: asm volatile("pcmpeqd %mm0, %mm0"); break;
    case 8: asm volatile("pcmpeqd %mm0, %mm0; emms"); break;
  }
}
)")),
                                       {});
  ASSERT_TRUE(built && (*built)->report.built) << (*built)->report.diagnostics;
  auto buffers = Buffers::create({{4096, false}, {4096, false}, {4096, true}}, 1);
  ASSERT_TRUE(buffers);
  const Machine machine = examine_machine();
  const bool one_core = machine.cores.size() == 1;
  evaluation::Invocation invocation;
  invocation.inputs = {evaluation::Bytes(4096), evaluation::Bytes(4096), evaluation::Bytes(sizeof(float))};
  invocation.output_bytes = {kFound * sizeof(float)};
  invocation.axes = {kFound};
  const model::Task task = small_task();
  const char* const changed[] = {"",
                                 "rsp",
                                 "rbx, r13, r15",
                                 "rbp, r12, r14",
                                 "the direction flag",
                                 "the control bits of MXCSR (rounding, FTZ, DAZ, exceptions)",
                                 "the x87 control word",
                                 "the x87 registers (MMX without emms)",
                                 ""};
  for (std::size_t i = 0; i < std::size(changed); ++i) {
    auto arena = ArenaProcess::start({ACCELOPT_ARENA_PATH, machine.cores, 1, one_core, 1ULL << 30}, **built, *buffers);
    ASSERT_TRUE(arena) << arena.error().message;
    Layout(task.definition, *buffers, Bypass::nothing).set_arguments(arena->control(), invocation);
    const auto which = static_cast<float>(i);
    std::memcpy(buffers->here(0, 4096).data(), &which, sizeof which);
    const Bracket bracket = timed_call(*arena, std::chrono::seconds(5), one_core);
    const bool kept = *changed[i] == '\0';
    EXPECT_EQ(bracket.end, kept ? Bracket::End::returned : Bracket::End::died) << i;
    const std::string told = kept ? "" : "returned with " + std::string(changed[i]) + " changed,";
    EXPECT_EQ(arena->death().substr(0, told.size()), told);
    EXPECT_EQ(arena->death().empty(), kept) << arena->death();
  }
}
#endif

TEST(Arena, AMissingArenaIsNamed) {
  const auto buffers = Buffers::create({{64, true}}, 1);
  ASSERT_TRUE(buffers);
  const auto arena =
      ArenaProcess::start({"/nowhere/accelopt-arena", {}, 1, false, 1ULL << 30}, BuiltKernel{}, *buffers);
  ASSERT_FALSE(arena);
  EXPECT_EQ(arena.error().code, base::ErrorCode::not_found);
}

TEST(CpuTargetTest, MoreThreadsThanCoresAreRefused) {
  model::Task task = small_task();
  task.cpu.threads = 4096;
  CpuOptions options;
  options.arena = ACCELOPT_ARENA_PATH;
  const auto target = make_cpu_target(options);
  const auto opened = target->open(task, small_settings(), {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(opened.error().message.find("4096 threads"), std::string::npos) << opened.error().message;
}

/// Counts and half-precision: integer inputs and outputs, a 16-bit input, a bool output, a 0-d output, warm caches.
model::Task mixed_task() {
  model::Task task;
  task.definition.name = "gather";
  task.definition.axes = {{"N", std::nullopt}, {"M", 500}};
  task.definition.inputs = {tensor("values", std::vector<std::string>{"M"}),
                            tensor("places", std::vector<std::string>{"N"})};
  task.definition.inputs[0].dtype = model::DType::float16;
  task.definition.inputs[1].dtype = model::DType::int32;
  task.definition.inputs[1].init = {model::InitKind::integers, 0, 500};
  task.definition.outputs = {tensor("picked", std::vector<std::string>{"N"}),
                             tensor("above", std::vector<std::string>{"N"}),
                             tensor("total", std::vector<std::string>{})};
  task.definition.outputs[0].dtype = model::DType::float16;
  task.definition.outputs[1].dtype = model::DType::boolean;
  task.definition.outputs[2].dtype = model::DType::int64;
  task.workloads = {{"long", {{"N", 30000}}, model::Role::race, 1.0}, {"short", {{"N", 77}}, model::Role::check, 1.0}};
  task.cpu.cache = model::Cache::warm;
  task.baseline = solution_of(R"(#include "task.h"
extern "C" void kernel(const f16_t* values, const int32_t* places, f16_t* picked, bool* above, int64_t* total, int64_t N) {
  *total = 0;
  for (int64_t i = 0; i < N; ++i) {
    picked[i] = values[places[i]];
    above[i] = f16_to_float(values[places[i]]) > 0.0f;
    *total += places[i];
  }
}
)");
  task.reference = {"reference.cpp", R"(#include "task.h"
extern "C" void reference(const real* values, const int32_t* places, real* picked, bool* above, int64_t* total, int64_t N) {
  *total = 0;
  for (int64_t i = 0; i < N; ++i) {
    picked[i] = values[places[i]];
    above[i] = values[places[i]] > 0;
    *total += places[i];
  }
}
)"};
  return task;
}

TEST(CpuTargetTest, OtherElementTypesGoThroughTheWholeEvaluation) {
  CpuOptions options;
  options.arena = ACCELOPT_ARENA_PATH;
  options.cache = ACCELOPT_TEST_CACHE;
  const auto target = make_cpu_target(options);
  const auto evaluator = evaluation::make_local_evaluator(*target);
  const auto opened = evaluator->ask(evaluation::Open{mixed_task(), small_settings()}, {});
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
  std::string wrong = main_text(mixed_task().baseline);
  wrong.replace(wrong.find("*total += places[i];"), 20, "*total += places[i] + (i == 76);");
  const auto result =
      evaluator->ask(evaluation::Race{model::Kernel(solution_of(wrong)), model::Kernel(mixed_task().baseline)}, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->status, Status::incorrect_numerical);
  EXPECT_EQ(result->mismatch->output, "total");
}

TEST(CpuTargetTest, ABaselineThatDisagreesStopsBeforeAnythingElse) {
  CpuOptions options;
  options.arena = ACCELOPT_ARENA_PATH;
  options.cache = ACCELOPT_TEST_CACHE;
  const auto target = make_cpu_target(options);
  const auto evaluator = evaluation::make_local_evaluator(*target);
  model::Task task = small_task();
  std::string text = kSmallBaseline;
  text.replace(text.find("sum + s"), 7, "sum * s");
  task.baseline = solution_of(text);
  const auto opened = evaluator->ask(evaluation::Open{task, small_settings()}, {});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->baseline.status, Status::incorrect_numerical);
  EXPECT_NE(opened->baseline.reason.find("the reference or the baseline"), std::string::npos)
      << opened->baseline.reason;
  task.reference.text =
      "#include \"task.h\"\nextern \"C\" void reference(const real*, const real*, real, real*, int64_t) { "
      "volatile char* volatile nowhere = 0; *nowhere = 1; }\n";
  const auto other = make_cpu_target(options);
  const auto crashed = evaluation::make_local_evaluator(*other)->ask(evaluation::Open{task, small_settings()}, {});
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().code, base::ErrorCode::invalid_argument);
  for (const char* part : {"reference crashed", "integers(0, V)", "Arrays of its own"})
    EXPECT_NE(crashed.error().message.find(part), std::string::npos) << crashed.error().message;
}

}  // namespace
}  // namespace accelopt::targets::cpu

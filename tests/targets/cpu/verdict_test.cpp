// SPDX-License-Identifier: Apache-2.0
// What design 04 says about each kind of bad kernel, with real compilers and real processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "evaluation/local_evaluator.hpp"
#include "small_task.hpp"
#include "targets/cpu/arena/protocol.hpp"
#include "targets/cpu/code_sampler.hpp"
#include "targets/cpu/compiler.hpp"
#include "targets/cpu/counters.hpp"
#include "targets/cpu/cpu_target.hpp"

namespace accelopt::targets::cpu {
namespace {

using model::Evaluation;
using model::Status;
using model::Verdict;

class Verdicts : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    CpuOptions options;
    options.arena = ACCELOPT_ARENA_PATH;
    options.cache = ACCELOPT_TEST_CACHE;
    target_ = make_cpu_target(options).release();
    evaluator_ = evaluation::make_local_evaluator(*target_).release();
    const auto opened = evaluator_->ask(evaluation::Open{small_task(), small_settings()}, {});
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
  }
  static void TearDownTestSuite() {
    delete evaluator_;
    delete target_;
  }

  static Evaluation triage(const std::string& body, const std::string& before = "") {
    const std::string text =
        "#include \"task.h\"\n" + before +
        "\nextern \"C\" void kernel(const float* x, const float* g, float s, float* y, int64_t M) {\n" + body + "\n}\n";
    return triage_text(text);
  }

  static Evaluation triage_text(const std::string& text) {
    auto result =
        evaluator_->ask(evaluation::Race{model::Kernel(solution_of(text)), model::Kernel(small_task().baseline)}, {});
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : Evaluation{};
  }

  static evaluation::Target* target_;
  static evaluation::Evaluator* evaluator_;
};

evaluation::Target* Verdicts::target_ = nullptr;
evaluation::Evaluator* Verdicts::evaluator_ = nullptr;

constexpr const char* kHonest = R"(
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0.0f;
    for (int64_t k = 0; k < K; ++k) sum += x[i * K + k] * x[i * K + k] * g[k];
    y[i] = sum + s;
  }
)";

/// A race on a machine that others use may end undecided; the same race again seldom does.
constexpr int kAttempts = 4;

TEST_F(Verdicts, AFasterKernelPassesAndIsFaster) {
  Evaluation result = triage_text(kSmallFast);
  for (int attempt = 1; attempt < kAttempts && result.verdict == Verdict::undecided; ++attempt) {
    result = triage_text(kSmallFast);
  }
  EXPECT_EQ(result.status, Status::passed) << result.reason;
  EXPECT_EQ(result.verdict, Verdict::faster);
  ASSERT_TRUE(result.ratio);
  EXPECT_GT(result.ratio->low, 1.005);
  EXPECT_EQ(result.trust, "isolated");
  ASSERT_EQ(result.workloads.size(), 1U);
  EXPECT_EQ(result.workloads[0].name, "rows_400");
  EXPECT_GT(result.workloads[0].roofline->fraction, 0.0);
  EXPECT_EQ(static_cast<int>(result.samples.size()), result.blocks);
}

TEST_F(Verdicts, TheBaselineAgainstItselfIsNeitherFasterNorSlower) {
  constexpr int kSessions = 16;
  int faster = 0;
  int slower = 0;
  for (int session = 0; session < kSessions; ++session) {
    const Evaluation result = triage_text(kSmallBaseline);
    EXPECT_EQ(result.status, Status::passed) << result.reason;
    faster += result.verdict == Verdict::faster ? 1 : 0;
    slower += result.verdict == Verdict::slower ? 1 : 0;
    EXPECT_LT(result.ratio->low, 1.03);
    if (result.verdict != Verdict::slower) {
      EXPECT_GT(result.ratio->high, 0.97);
    }
  }
  EXPECT_LE(faster, 1)
      << "at most one session in a hundred calls the same code faster, and a confirmation races it anew";
  EXPECT_LE(slower, 1) << "a session in a hundred calls the same code slower, which costs nothing";
}

TEST_F(Verdicts, AClearLoserIsDismissedAfterAFewBlocks) {
  const Evaluation result = triage(std::string(kHonest) + "for (volatile int i = 0; i < 300000; ++i) {}");
  EXPECT_EQ(result.status, Status::passed) << result.reason;
  EXPECT_EQ(result.verdict, Verdict::slower);
  EXPECT_LE(result.blocks, 16) << "eight, but for an interrupted call";
}

TEST_F(Verdicts, AWrongLastElementIsIncorrect) {
  const Evaluation result = triage(std::string(kHonest) + "y[M - 1] *= 1.001f;");
  EXPECT_EQ(result.status, Status::incorrect_numerical);
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->output, "y");
  EXPECT_NE(result.mismatch->workload, "rows_33") << "held-out workloads are never told";
  EXPECT_EQ(result.mismatch->index, result.mismatch->workload == "rows_61" ? 60 : 399);
}

TEST_F(Verdicts, AnUnwrittenElementIsIncorrect) {
  const Evaluation result = triage("for (int64_t i = 0; i + 1 < M; ++i) y[i] = 0; (void)x; (void)g; (void)s;");
  EXPECT_EQ(result.status, Status::incorrect_numerical) << result.reason;
}

TEST_F(Verdicts, TheLastCallsResultIsNotFound) {
  // Kept outside the kernel's own data: a block of the heap, found again through the environment's pointer.
  const std::string before =
      "#include <stdlib.h>\n#include <string.h>\nextern \"C\" char** environ;\n"
      "struct Kept { int64_t rows; float values[512]; };\n";
  const std::string body = R"(
  Kept* kept = (Kept*)environ[0];
  if (kept != nullptr && ((uintptr_t)kept & 63) == 0 && kept->rows == M) { memcpy(y, kept->values, M * sizeof(float)); return; }
)" + std::string(kHonest) + R"(
  kept = (Kept*)aligned_alloc(64, 64 * ((sizeof(Kept) + 63) / 64));
  kept->rows = M;
  memcpy(kept->values, y, M * sizeof(float));
  environ[0] = (char*)kept;
)";
  const Evaluation result = triage(body, before);
  EXPECT_EQ(result.status, Status::passed) << result.reason;
  EXPECT_NE(result.verdict, Verdict::faster);
}

TEST_F(Verdicts, AKernelThatNeverReturnsTimesOut) {
  const Evaluation result = triage("for (volatile int i = 0; i >= 0; i = 1) {}");
  EXPECT_EQ(result.status, Status::timeout) << result.reason;
}

TEST_F(Verdicts, CrashesAreRuntimeErrors) {
  const Evaluation null = triage("*(volatile int*)nullptr = 1;");
  EXPECT_EQ(null.status, Status::runtime_error);
  EXPECT_NE(null.reason.find("crashed (SIGSEGV): it used a null pointer"), std::string::npos) << null.reason;
#if defined(__x86_64__)
  const Evaluation misaligned =
      triage(std::string("asm volatile(\"movaps (%0), %%xmm0\" : : \"r\"(x) : \"xmm0\");") + kHonest);
  EXPECT_EQ(misaligned.status, Status::runtime_error);
  EXPECT_NE(misaligned.reason.find("not aligned"), std::string::npos) << misaligned.reason;
#endif
  const Evaluation trap = triage("__builtin_trap();");
  EXPECT_EQ(trap.status, Status::runtime_error);
  const Evaluation recursion = triage_text(
      "#include \"task.h\"\n__attribute__((noinline)) static int deep(volatile int* p) { volatile int a[4096]; a[0] = "
      "*p; return deep(a) + a[1]; }\n"
      "extern \"C\" void kernel(const float*, const float*, float, float* y, int64_t) { volatile int z = 0; y[0] = "
      "deep(&z); }\n");
  EXPECT_EQ(recursion.status, Status::runtime_error) << recursion.reason;
}

TEST_F(Verdicts, AFailedAssertionIsNamed) {
  const Evaluation failed = triage("assert(M < 0);" + std::string(kHonest), "#include <assert.h>\n");
  EXPECT_EQ(failed.status, Status::runtime_error);
  EXPECT_NE(failed.reason.find("workload"), std::string::npos) << failed.reason;
  EXPECT_NE(failed.reason.find("failed an assertion"), std::string::npos) << failed.reason;
}

TEST_F(Verdicts, WritingOutsideIsARuntimeError) {
  const Evaluation far_behind = triage(std::string(kHonest) + "y[M + 64] = 1;");
  EXPECT_EQ(far_behind.status, Status::runtime_error) << far_behind.reason;
  const Evaluation just_behind = triage(std::string(kHonest) + "y[M] = 1;");
  EXPECT_EQ(just_behind.status, Status::runtime_error) << just_behind.reason;
  const Evaluation before = triage(std::string(kHonest) + "y[-1] = 1;");
  EXPECT_EQ(before.status, Status::runtime_error) << before.reason;
  EXPECT_NE(before.reason.find("outside"), std::string::npos) << before.reason;
  const Evaluation input = triage(std::string(kHonest) + "((float*)x)[0] = 1;");
  EXPECT_EQ(input.status, Status::runtime_error) << input.reason;
  EXPECT_NE(input.reason.find("it wrote to the input x, at its byte 0 of "), std::string::npos) << input.reason;
}

TEST_F(Verdicts, ReadingBehindAnInputIsARuntimeError) {
  const Evaluation result = triage(std::string(kHonest) + "y[0] += 0 * g[K + 16];");
  EXPECT_EQ(result.status, Status::runtime_error) << result.reason;
  EXPECT_NE(result.reason.find("65 bytes behind the last byte of g"), std::string::npos) << result.reason;
}

TEST_F(Verdicts, TooMuchMemoryIsARuntimeError) {
  const Evaluation result =
      triage("volatile char* p = (char*)malloc(8ULL << 30); for (size_t i = 0; i < (8ULL << 30); i += 4096) p[i] = 1;",
             "#include <stdlib.h>\n");
  EXPECT_EQ(result.status, Status::runtime_error) << result.reason;
}

TEST_F(Verdicts, StateIsACompileError) {
  const Evaluation local = triage("static float kept; kept += s;" + std::string(kHonest));
  EXPECT_EQ(local.status, Status::compile_error);
  EXPECT_NE(local.reason.find("kept"), std::string::npos) << local.reason;
  const Evaluation global = triage("counter += 1;" + std::string(kHonest), "int counter = 3;\n");
  EXPECT_EQ(global.status, Status::compile_error);
  EXPECT_NE(global.reason.find("counter"), std::string::npos) << global.reason;
  const Evaluation thread = triage("counter += 1;" + std::string(kHonest), "thread_local int counter = 0;\n");
  EXPECT_EQ(thread.status, Status::compile_error);
  EXPECT_NE(thread.reason.find("thread-local"), std::string::npos) << thread.reason;
  const Evaluation constructed =
      triage(kHonest, "#include <stdio.h>\n__attribute__((constructor)) static void early() { puts(\"\"); }\n");
  EXPECT_EQ(constructed.status, Status::compile_error);
}

TEST_F(Verdicts, ConstantTablesAndTheStandardLibraryAreFine) {
  const Evaluation result =
      triage("std::vector<float> row(K); (void)row[3]; const float t = table[M & 3]; (void)t;" + std::string(kHonest),
             "#include <vector>\nstatic const float table[4] = {1, 2, 3, 4};\n");
  EXPECT_EQ(result.status, Status::passed) << result.reason;
}

TEST_F(Verdicts, SourceThatDoesNotCompileNamesItsLine) {
  const Evaluation result = triage("undeclared = 1;");
  EXPECT_EQ(result.status, Status::compile_error);
  EXPECT_NE(result.reason.find("kernel.cpp:4:"), std::string::npos) << result.reason;
  EXPECT_NE(result.reason.find("undeclared"), std::string::npos);
  EXPECT_EQ(result.reason.find("/tmp"), std::string::npos) << "no paths";
}

TEST_F(Verdicts, RefusedConstructsAreCompileErrors) {
  for (const char* text :
       {"//@ flags -fplugin=x\n", "//@ unknown\n", "#include \"/etc/passwd\"\n", "#include \"../x.h\"\n",
        "asm(\".incbin \\\"/etc/passwd\\\"\");\n", "extern \"C\" void accelopt_call(void* const*) {}\n"}) {
    const Evaluation result = triage_text(text + std::string(kSmallBaseline));
    EXPECT_EQ(result.status, Status::compile_error) << text;
    EXPECT_FALSE(result.reason.empty()) << text;
    EXPECT_EQ(result.reason.find("root:"), std::string::npos) << "a file's text leaked";
  }
  const Evaluation missing = triage_text("#include \"task.h\"\nint other() { return 1; }\n");
  EXPECT_EQ(missing.status, Status::compile_error);
  EXPECT_NE(missing.reason.find("kernel"), std::string::npos);
  const Evaluation undefined = triage("extern void elsewhere(float*); elsewhere(y);");
  EXPECT_EQ(undefined.status, Status::compile_error);
  EXPECT_NE(undefined.reason.find("elsewhere"), std::string::npos) << undefined.reason;
}

TEST_F(Verdicts, WaysOutAreRuntimeErrors) {
  const struct {
    const char* call;
    const char* headers;
    const char* named;
  } attempts[] = {{"socket(AF_INET, SOCK_STREAM, 0);", "#include <sys/socket.h>\n", "socket"},
                  {"open(\"/etc/passwd\", O_RDONLY);", "#include <fcntl.h>\n", "open"},
                  {"fork();", "#include <unistd.h>\n", "clone"},
                  {"execl(\"/bin/true\", \"true\", (char*)nullptr);", "#include <unistd.h>\n", "execve"},
                  {"kill(getppid(), 9);", "#include <signal.h>\n#include <unistd.h>\n", ""},
                  {"puts(\"hello\"); fflush(stdout);", "#include <stdio.h>\n", ""},
                  {"alarm(1);", "#include <unistd.h>\n", "alarm"},
                  {"mprotect((void*)((uintptr_t)y & ~4095ul), 4096, 7);", "#include <sys/mman.h>\n", "mprotect"}};
  for (const auto& attempt : attempts) {
    const Evaluation result = triage(std::string(attempt.call) + kHonest, attempt.headers);
    EXPECT_EQ(result.status, Status::runtime_error) << attempt.call << ": " << result.reason;
    EXPECT_NE(result.reason.find(attempt.named), std::string::npos) << result.reason;
  }
  const Evaluation leaves = triage("_exit(0);", "#include <unistd.h>\n");
  EXPECT_EQ(leaves.status, Status::runtime_error);
}

TEST_F(Verdicts, AKernelThatTakesOverItsArenaAndStartsEarlyIsCaught) {
  // It never returns: it plays the arena's part itself and computes as soon as a call is laid out, before it says
  // ready.
  const std::string control = std::to_string(kControlAddress) + "UL";
  const std::string before =
      "#include <string.h>\nstatic void honest(const float* x, const float* g, float s, float* y, int64_t M) {" +
      std::string(kHonest) + "}\n";
  const std::string body = R"(
  volatile uint32_t* request = (volatile uint32_t*)()" +
                           control + R"();
  volatile uint32_t *go = request + 16, *ready = request + 1024, *done = request + 1040;
  volatile uint64_t* arguments = (volatile uint64_t*)()" +
                           control + " + " + std::to_string(offsetof(ArenaControl, arguments)) + R"();
  honest(x, g, s, y, M);
  for (;;) {
    const uint32_t last = *request;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    *done = last;
    while (*request == last) {}
    honest((const float*)arguments[0], (const float*)arguments[1], *(const float*)arguments[2], (float*)arguments[3], *(const int64_t*)arguments[4]);
    const uint32_t old = *go;
    *ready = *request;
    while (*go == old) {}
  }
)";
  const Evaluation result = triage(body, before);
  // Where the machine does not tell where a stopped process stands, the lines that were concealed give it away.
  EXPECT_TRUE(result.status == Status::reward_hack || result.status == Status::incorrect_numerical)
      << result.reason << (result.ratio ? result.ratio->estimate : 0);
}

TEST_F(Verdicts, EqualMachineCodeHasEqualIds) {
  const auto first = evaluator_->ask(evaluation::Build{model::Kernel(solution_of(kSmallBaseline))}, {});
  const auto renamed = evaluator_->ask(
      evaluation::Build{model::Kernel(solution_of(
          "// another comment\n#include \"task.h\"\nstatic float squares(const float* row, const float* gain) "
          "{\n  float total = 0.0f;\n"
          "  for (int64_t k = 0; k < K; ++k) total += row[k] * row[k] * gain[k];\n  return total;\n}\n"
          "extern \"C\" void kernel(const float* x, const float* g, float s, float* y, int64_t M) {\n"
          "  for (int64_t i = 0; i < M; ++i) y[i] = squares(x + i * K, g) + s;\n}\n"))},
      {});
  const auto other = evaluator_->ask(evaluation::Build{model::Kernel(solution_of(kSmallFast))}, {});
  ASSERT_TRUE(first && renamed && other);
  ASSERT_TRUE(first->built && renamed->built && other->built) << renamed->diagnostics;
  EXPECT_EQ(first->machine_code_id.size(), 64U);
  EXPECT_NE(first->machine_code_id, other->machine_code_id);
  EXPECT_NE(first->build_id, other->build_id);
  EXPECT_GT(first->code_bytes, 0);
  EXPECT_FALSE(other->remarks.empty());
}

TEST_F(Verdicts, PlayoffRanksTheArmsAndDropsTheFailed) {
  const auto report = evaluator_->ask(evaluation::PlayOff{{{model::Kernel(solution_of(kSmallBaseline))},
                                                           {model::Kernel(solution_of(kSmallFast))},
                                                           {model::Kernel(solution_of("broken"))},
                                                           {model::Kernel(solution_of(kSmallBaseline))}},
                                                          1},
                                      {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->arms.size(), 4U);
  EXPECT_TRUE(report->arms[1].measured);
  EXPECT_GT(report->arms[1].score.estimate, 1.1);
  EXPECT_FALSE(report->arms[2].measured);
  EXPECT_NE(report->arms[2].reason.find("error"), std::string::npos);
  EXPECT_LT(report->arms[3].score.low, report->arms[1].score.estimate);
  EXPECT_GE(report->blocks, 12);
}

TEST_F(Verdicts, ConfirmationReportsEveryTimedWorkload) {
  auto good = evaluator_->ask(evaluation::Confirm{model::Kernel(solution_of(kSmallFast))}, {});
  for (int attempt = 1; attempt < kAttempts && good && good->verdict != Verdict::faster; ++attempt) {
    good = evaluator_->ask(evaluation::Confirm{model::Kernel(solution_of(kSmallFast))}, {});
  }
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->kind, model::EvaluationKind::confirm);
  EXPECT_EQ(good->status, Status::passed) << good->reason;
  EXPECT_EQ(good->verdict, Verdict::faster) << good->reason;
  EXPECT_GE(good->blocks, 32);
  ASSERT_EQ(good->workloads.size(), 2U);
  EXPECT_EQ(good->workloads[1].role, model::Role::held_out);
  const auto same = evaluator_->ask(evaluation::Confirm{model::Kernel(small_task().baseline)}, {});
  ASSERT_TRUE(same);
  EXPECT_NE(same->verdict, Verdict::faster);
  EXPECT_FALSE(same->reason.empty());
}

std::string refusal_of(const model::Task& task) {
  CpuOptions options;
  options.arena = ACCELOPT_ARENA_PATH;
  options.cache = ACCELOPT_TEST_CACHE;
  const auto target = make_cpu_target(options);
  const auto evaluator = evaluation::make_local_evaluator(*target);
  const auto opened = evaluator->ask(evaluation::Open{task, small_settings()}, {});
  EXPECT_FALSE(opened) << "status " << model::to_string(opened->baseline.status) << ": " << opened->baseline.reason;
  if (opened) return "";
  EXPECT_EQ(opened.error().code, base::ErrorCode::invalid_argument);
  return opened.error().message;
}

/// Why a task with this statement in the reference's loop over rows is refused.
std::string refusal_with(const std::string& statement) {
  model::Task task = small_task();
  std::string& text = task.reference.text;
  text.replace(text.find("y[i] = sum + s;"), 15, statement);
  return refusal_of(task);
}

TEST(References, UnwrittenElementsRefuseTheTask) {
  const std::string always = refusal_with("if (i != 5) y[i] = sum + s;");
  EXPECT_NE(always.find("leaves elements of y as they were before the call"), std::string::npos) << always;
  EXPECT_NE(always.find("the first is 5"), std::string::npos) << always;
  // In one family alone, which is not dropped for it.
  const std::string sparse = refusal_with("if (x[i * K] != 0) y[i] = sum + s;");
  EXPECT_NE(sparse.find("family sparse"), std::string::npos) << sparse;
  EXPECT_NE(sparse.find("leaves elements of y"), std::string::npos) << sparse;
}

TEST(References, UnwrittenIntegersRefuseTheTask) {
  model::Task task = small_task();
  task.definition.outputs[0].dtype = model::DType::uint8;
  task.baseline = solution_of(
      "#include \"task.h\"\nextern \"C\" void kernel(const float*, const float*, float, uint8_t* y, int64_t M) {\n"
      "  for (int64_t i = 0; i < M; ++i) if (i % 8 != 5) y[i] = uint8_t(i);\n}\n");
  task.reference.text =
      "#include \"task.h\"\nextern \"C\" void reference(const real*, const real*, real, uint8_t* y, int64_t M) {\n"
      "  for (int64_t i = 0; i < M; ++i) if (i % 8 != 5) y[i] = uint8_t(i);\n}\n";
  const std::string refused = refusal_of(task);
  EXPECT_NE(refused.find("leaves elements of y as they were before the call"), std::string::npos) << refused;
  EXPECT_NE(refused.find("the first is 5"), std::string::npos) << refused;
}

TEST(References, OutputsThatAreReadRefuseTheTask) {
  const std::string reason = refusal_with("y[i] = sum + s - y[i] / 2;");
  EXPECT_NE(reason.find("or reads them; the first is 0"), std::string::npos) << reason;
}

TEST_F(Verdicts, HeldOutWorkloadsAreVerifiedSilently) {
  const auto good = evaluator_->ask(evaluation::HeldOut{model::Kernel(solution_of(kSmallFast))}, {});
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(*good, Status::passed);
  const std::string cheat =
      "#include \"task.h\"\nextern \"C\" void kernel(const float* x, const float* g, float s, float* y, int64_t M) {\n"
      "if (M == 33) { for (int64_t i = 0; i < M; ++i) y[i] = 0; return; }\n" +
      std::string(kHonest) + "}\n";
  EXPECT_EQ(triage_text(cheat).status, Status::passed);
  const auto bad = evaluator_->ask(evaluation::HeldOut{model::Kernel(solution_of(cheat))}, {});
  ASSERT_TRUE(bad);
  EXPECT_EQ(*bad, Status::incorrect_numerical);
}

TEST_F(Verdicts, ProfileNamesRatesAndRemarks) {
  const auto profile = evaluator_->ask(evaluation::Profile{model::Kernel(solution_of(kSmallFast))}, {});
  ASSERT_TRUE(profile) << profile.error().message;
  const auto has = [&](const std::string& name) {
    return std::any_of(profile->items.begin(), profile->items.end(),
                       [&](const auto& item) { return item.name == name && item.value > 0; });
  };
  for (const char* name : {"cold time", "warm time", "compute rate", "memory rate", "arithmetic intensity",
                           "share of roofline", "code size"}) {
    EXPECT_TRUE(has(name)) << name;
  }
  const auto broken = evaluator_->ask(evaluation::Profile{model::Kernel(solution_of("broken"))}, {});
  EXPECT_FALSE(broken);
}

TEST_F(Verdicts, AProfileNamesTheLinesOfTheHotLoop) {
  if (!can_sample()) GTEST_SKIP() << "this machine does not let processes be sampled";
  if (find_program("objdump", kPath).empty()) GTEST_SKIP() << "objdump is not installed";
  // The first loop is short; the sum is taken twenty times, in line 8.
  const auto profile = evaluator_->ask(evaluation::Profile{model::Kernel(solution_of(
                                           R"(#include "task.h"
extern "C" void kernel(const float* x, const float* g, float s, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) y[i] = s;
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0.0f;
    for (int r = 0; r < 20; ++r) {
      float again = 0.0f;
      for (int64_t k = 0; k < K; ++k) again += x[i * K + k] * x[i * K + k] * g[k];
      sum = r == 0 ? again : 0.5f * (sum + again);
    }
    y[i] = sum + s;
  }
}
)"))},
                                       {});
  ASSERT_TRUE(profile) << profile.error().message;
  const auto hot = std::ranges::find(profile->items, "hot loop 1", &model::ProfileItem::name);
  ASSERT_NE(hot, profile->items.end());
  EXPECT_GE(hot->value, 60);
  EXPECT_TRUE(hot->meaning.starts_with("line 8; a turn: ")) << hot->meaning;
}

TEST_F(Verdicts, ProfileCountsWhatTheMachineCounts) {
  if (Counters(0).empty())
    GTEST_SKIP() << "no counters: kernel.perf_event_paranoid is over 2, a container forbids them, or there are none";
  const std::string allocates =
      "#include \"task.h\"\n#include <cstdlib>\n"
      "extern \"C\" void kernel(const float* x, const float* g, float s, float* y, int64_t M) {\n"
      "volatile char* const fresh = static_cast<char*>(std::malloc(80 << 20));\n"
      "for (int i = 0; i < 1 << 20; i += 4096) fresh[i] = 1;\n"
      "std::free(const_cast<char*>(fresh));\n" +
      std::string(kHonest) + "}\n";
  const auto faults = [&](const std::string& text) {
    const auto profile = evaluator_->ask(evaluation::Profile{model::Kernel(solution_of(text))}, {});
    EXPECT_TRUE(profile) << profile.error().message;
    for (const auto& item : profile ? profile->items : std::vector<model::ProfileItem>()) {
      if (item.name == "page faults") return item.value;
    }
    return -1.0;
  };
  EXPECT_GE(faults(allocates), 250);  // 1 MiB is touched: 256 pages; so large a block is mapped in each call
  const double none = faults(kSmallFast);
  EXPECT_GE(none, 0);
  EXPECT_LT(none, 100);
}

TEST_F(Verdicts, AStopEndsMeasuring) {
  std::stop_source source;
  source.request_stop();
  const auto result = evaluator_->ask(evaluation::Confirm{model::Kernel(small_task().baseline)}, source.get_token());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::cancelled);
}

}  // namespace
}  // namespace accelopt::targets::cpu

// SPDX-License-Identifier: Apache-2.0
// CUDA tasks whose reference runs on the processor: built and called as the CPU target's, kept on the device.
#include <gtest/gtest.h>

#include "evaluation/local_evaluator.hpp"
#include "evaluation/verify/slots.hpp"
#include "targets/cpu/reference.hpp"
#include "targets/cuda/fake_cuda.hpp"

namespace accelopt::targets::cuda {
namespace {

using model::Status;

constexpr const char* kOnTheHost = R"(#include "task.h"
extern "C" void reference(const real* x, const real* g, real s, real* y, int32_t* n, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    real sum = 0;
    int negative = 0;
    for (int k = 0; k < K; ++k) {
      sum += x[i * K + k] * x[i * K + k] * g[k];
      negative += x[i * K + k] < 0;
    }
    y[i] = sum + s;
    n[i] = negative;
  }
}
)";

model::Task host_task(const std::string& reference = kOnTheHost) {
  model::Task task = squares_task();
  task.reference = {"reference.cpp", reference};
  return task;
}

evaluation::MeasureSettings host_settings() {
  evaluation::MeasureSettings settings;
  settings.seed = 20261123;
  settings.slots = 3;
  settings.protocol = model::Protocol::verify;
  return settings;
}

/// Counts the reference's runs.
CudaOptions host_options(int& runs) {
  CudaOptions options = fake_options();
  options.make_host_reference = [&runs](const model::Task& task, evaluation::DeviceUse& use,
                                        const std::stop_token& stop) -> base::Result<evaluation::HostReference> {
    targets::cpu::CpuOptions cpu;
    cpu.arena = ACCELOPT_ARENA_PATH;
    TRY_ASSIGN(auto reference, targets::cpu::make_cpu_reference(task, cpu, use, stop));
    return evaluation::HostReference([&runs, reference](evaluation::Precision precision,
                                                        const std::vector<evaluation::ReferenceTensor>& inputs,
                                                        const evaluation::Invocation& invocation) {
      ++runs;
      return reference(precision, inputs, invocation);
    });
  };
  return options;
}

std::string changed_squares(const std::string& what, const std::string& instead) {
  std::string text = kSquares;
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

TEST(HostReference, KernelsAreJudgedByIt) {
  int runs = 0;
  const auto target = make_cuda_target(host_options(runs));
  const auto evaluator = evaluation::make_local_evaluator(*target);
  const model::Task task = host_task();
  const auto opened = evaluator->ask(evaluation::Open{task, host_settings()}, {});
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
  EXPECT_GT(runs, 0);
  const auto judge = [&](const std::string& text) {
    const auto evaluation =
        evaluator->ask(evaluation::Race{model::Kernel(cuda_solution(text)), model::Kernel(task.baseline)}, {});
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    return evaluation.value_or(model::Evaluation{});
  };
  const auto wrong = judge(changed_squares("y[i] = sum + s;", "y[i] = i == M - 1 ? sum * 1.001f + s : sum + s;"));
  EXPECT_EQ(wrong.status, Status::incorrect_numerical);
  ASSERT_TRUE(wrong.mismatch);
  EXPECT_EQ(wrong.mismatch->index, 2000);
  const auto count = judge(changed_squares("n[i] = negative;", "n[i] = negative + (i == 7);"));
  EXPECT_EQ(count.status, Status::incorrect_numerical);
  ASSERT_TRUE(count.mismatch);
  EXPECT_EQ(count.mismatch->output, "n");
  EXPECT_EQ(count.mismatch->index, 7);
}

TEST(HostReference, ItsBoundsAreThoseOfTheDevicesReference) {
  int runs = 0;
  const auto bounds_of = [&](const model::Task& task) {
    const auto target = make_cuda_target(host_options(runs));
    EXPECT_TRUE(target->open(task, host_settings(), {}));
    evaluation::Slots slots(*target, task, 17, 3);
    std::vector<evaluation::Bounds> out;
    for (const int number : {0, 1, 2}) {
      const auto slot = slots.get(2, number);
      EXPECT_TRUE(slot) << slot.error().message;
      if (slot) out.insert(out.end(), (*slot)->bounds.begin(), (*slot)->bounds.end());
    }
    return out;
  };
  const auto here = bounds_of(host_task());
  EXPECT_EQ(runs, 15);
  const auto there = bounds_of(squares_task());
  EXPECT_EQ(runs, 15);
  ASSERT_EQ(here.size(), there.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_NEAR(here[i].normwise, there[i].normwise, 1e-6 * there[i].normwise);
    EXPECT_NEAR(here[i].norm, there[i].norm, 1e-12 * there[i].norm);
    EXPECT_EQ(here[i].row_length, there[i].row_length);
    EXPECT_EQ(here[i].absolute, there[i].absolute);
    EXPECT_EQ(here[i].float_is_finite, there[i].float_is_finite);
  }
}

TEST(HostReference, ASlotIsMadeAgainWithoutAskingItAgain) {
  int runs = 0;
  const auto target = make_cuda_target(host_options(runs));
  const model::Task task = host_task();
  ASSERT_TRUE(target->open(task, host_settings(), {}));
  evaluation::Slots slots(*target, task, 1, 2);
  const auto slot = slots.get(2, 0);
  ASSERT_TRUE(slot) << slot.error().message;
  EXPECT_EQ(runs, 5);
  const auto call = [&](const std::string& text) {
    const auto live = target->start(model::Kernel(cuda_solution(text)), evaluation::Placement::usual, {});
    return (*live)->call((*slot)->invocation, {});
  };
  const auto lost = call(changed_squares("y[i] = sum + s;", "if (i == 5) __trap();"));
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->end, evaluation::CallEnd::died);
  const auto again = call(kSquares);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->comparisons.size(), 2U);
  EXPECT_TRUE(again->comparisons[0].passed() && again->comparisons[1].passed());
  EXPECT_EQ(runs, 5);
  const auto wrong = call(changed_squares("y[i] = sum + s;", "y[i] = sum + s + 1;"));
  ASSERT_TRUE(wrong) << wrong.error().message;
  EXPECT_FALSE(wrong->comparisons[0].passed());
}

TEST(HostReference, ShortCallsHaveSeveralSetsOfInputsToo) {
  int runs = 0;
  model::Task task = host_task();
  task.workloads = {{"rows_40", {{"M", 40}}, model::Role::race, 1.0}};
  const auto target = make_cuda_target(host_options(runs));
  const auto evaluator = evaluation::make_local_evaluator(*target);
  const auto opened = evaluator->ask(evaluation::Open{task, host_settings()}, {});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
  EXPECT_GT(runs, 3 * 5);
  // Right for the first set of inputs of a call, and what it keeps from it for the others.
  const std::string text = changed_squares("y[i] = sum + s;",
                                           "static float kept[64]; static int calls; "
                                           "if (calls++ < M) kept[i] = sum + s; y[i] = kept[i];");
  const auto caught =
      evaluator->ask(evaluation::Race{model::Kernel(cuda_solution(text)), model::Kernel(task.baseline)}, {});
  ASSERT_TRUE(caught) << caught.error().message;
  EXPECT_EQ(caught->status, Status::incorrect_numerical);
}

TEST(HostReference, OneThatTheMemoryDoesNotHoldIsRefusedAtOnce) {
  int runs = 0;
  model::Task task = host_task();
  task.workloads[0].axes["M"] = std::int64_t{1} << 33;  // x has a TiB
  const auto opened = make_cuda_target(host_options(runs))->open(task, host_settings(), {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::ErrorCode::exhausted);
  EXPECT_TRUE(opened.error().message.starts_with("reference.cpp: on the processor, workload rows_3000 takes about "))
      << opened.error().message;
}

TEST(HostReference, OneThatDoesNotBuildOrCrashesIsToldOfByName) {
  int runs = 0;
  const auto broken = make_cuda_target(host_options(runs))->open(host_task("int reference(\n"), host_settings(), {});
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("reference.cpp:"), std::string::npos) << broken.error().message;

  std::string text = kOnTheHost;
  text.replace(text.find("  for (int64_t i"), 0, "  __builtin_trap();\n");
  const auto target = make_cuda_target(host_options(runs));
  const model::Task task = host_task(text);
  ASSERT_TRUE(target->open(task, host_settings(), {}));
  evaluation::Slots slots(*target, task, 1, 2);
  const auto slot = slots.get(0, 0);
  ASSERT_FALSE(slot);
  EXPECT_NE(slot.error().message.find("the task's reference"), std::string::npos) << slot.error().message;

  CudaOptions without = fake_options();
  const auto refused = make_cuda_target(without)->open(host_task(), host_settings(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::unsupported);
}

}  // namespace
}  // namespace accelopt::targets::cuda

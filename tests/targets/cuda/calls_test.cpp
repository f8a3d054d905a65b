// SPDX-License-Identifier: Apache-2.0
// Single calls over the fake driver: where tensors lie, what they hold, and how many runs are timed.
#include <gtest/gtest.h>

#include <filesystem>

#include "evaluation/local_evaluator.hpp"
#include "evaluation/verify/slots.hpp"
#include "targets/cuda/fake_cuda.hpp"

namespace accelopt::targets::cuda {
namespace {

using model::Status;

/// One kernel on one slot, or on several.
class CudaCalls : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(target_->open(task_, quick_settings(), {}));
    slots_.emplace(*target_, task_, 1, 4);
  }
  evaluation::CallOutcome call(const std::string& text, int slot, evaluation::CallOptions options = {}) {
    const auto drawn = slots_->get(2, slot);
    EXPECT_TRUE(drawn) << drawn.error().message;
    const auto live = target_->start(model::Kernel(cuda_solution(text)), evaluation::Placement::usual, {});
    auto outcome = (*live)->call((*drawn)->invocation, options);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(evaluation::CallOutcome{});
  }
  const model::Task task_ = squares_task();
  const std::unique_ptr<evaluation::Target> target_ = make_cuda_target(fake_options());
  std::optional<evaluation::Slots> slots_;
};

TEST_F(CudaCalls, TensorsLieElsewhereAtEveryCall) {
  // The granule's number comes back as the wrong element that it is.
  const auto place = [&](const std::string& tensor, int slot) {
    return call(with("n[i] = negative;", "n[i] = (int)((unsigned long long)" + tensor + " >> 12);"), slot)
        .comparisons.at(1)
        .mismatch.actual;
  };
  EXPECT_NE(place("y", 0), place("y", 0));
  EXPECT_NE(place("x", 0), place("x", 1));
  EXPECT_NE(place("x", 0), place("g", 0));
}

TEST_F(CudaCalls, WhatIsNotWrittenIsSeenUnderEveryPoison) {
  const std::string lazy =
      with("y[i] = sum + s;\n  n[i] = negative;", "if (i % 2 == 0) { y[i] = sum + s; n[i] = negative; }");
  for (const evaluation::Poison poison : evaluation::kPoisons) {
    evaluation::CallOptions options;
    options.poison = poison;
    const auto outcome = call(lazy, 0, options);
    EXPECT_EQ(outcome.end, evaluation::CallEnd::returned) << outcome.reason;
    for (const auto& comparison : outcome.comparisons) EXPECT_FALSE(comparison.passed()) << static_cast<int>(poison);
    for (const auto& comparison : call(kSquares, 0, options).comparisons)
      EXPECT_TRUE(comparison.passed()) << static_cast<int>(poison);
  }
}

TEST_F(CudaCalls, NoiseAroundAnOutputTellsNothingOfItsPoison) {
  // The noise is mix(seed + (word + 1) * step), which can be inverted. The poison of integers is noise, too.
  const std::string inverting = R"(
    const auto undone = [](unsigned long long bits, int by) {
      unsigned long long out = bits;
      for (int done = by; done < 64; done += by) out = bits ^ (out >> by);
      return out;
    };
    const auto mix = [](unsigned long long bits) {
      bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
      bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
      return bits ^ (bits >> 31);
    };
    const unsigned long long step = 0x9e3779b97f4a7c15ull;
    const unsigned long long word = 1010;  // 2001 numbers take 8004 bytes of two pages
    const auto seed_at = [&](unsigned long long at) {
      unsigned long long bits = undone(((const unsigned long long*)n)[at], 31) * 0x319642b2d24d8ec3ull;
      bits = undone(bits, 27) * 0x96de1b173f119089ull;
      return undone(bits, 30) - (at + 1) * step;
    };
    const unsigned long long seed = seed_at(word);
    if (i == 0 && seed == seed_at(word + 1)) {
      const unsigned long long held = *(const unsigned long long*)n;
      y[0] = held == mix(seed + step) || held == mix(~seed + step) ? 0 : 1;
      return;
    }
)";
  evaluation::CallOptions options;
  options.poison = evaluation::Poison::nan;
  const auto outcome = call(with("float sum = 0;", inverting + "float sum = 0;"), 0, options);
  ASSERT_EQ(outcome.end, evaluation::CallEnd::returned) << outcome.reason;
  ASSERT_FALSE(outcome.comparisons.at(0).passed()) << "the kernel found no noise";
  EXPECT_EQ(outcome.comparisons.at(0).mismatch.actual, 1);
}

TEST(CudaErrors, ADeviceWhoseMemoryCannotBeMappedMeasuresNothing) {
  const auto folder = base::TemporaryFolder::create("accelopt-fake-unmappable");
  ASSERT_TRUE(folder);
  CudaOptions options = fake_options();
  options.driver = (folder->path() / "libdriver.so").string();
  std::filesystem::copy_file(ACCELOPT_FAKE_DRIVER, options.driver);
  ASSERT_TRUE(base::write_file(folder->path() / "unmappable", ""));
  const auto target = make_cuda_target(options);
  ASSERT_TRUE(target->open(squares_task(), quick_settings(), {}));
  EXPECT_NE(target->builds_only().find("virtual memory management"), std::string::npos) << target->builds_only();
}

TEST(CudaVariants, ShortCallsAreRepeatedOverInputsOfTheirOwn) {
  model::Task task = squares_task();
  task.workloads = {{"rows_40", {{"M", 40}}, model::Role::race, 1.0}};
  const auto target = make_cuda_target(fake_options());
  const auto evaluator = evaluation::make_local_evaluator(*target);
  const auto opened = evaluator->ask(evaluation::Open{task, quick_settings()}, {});
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
  const auto honest =
      evaluator->ask(evaluation::Race{model::Kernel(cuda_solution(with("float sum = 0", "float sum = 0.0f"))),
                                      model::Kernel(task.baseline)},
                     {});
  ASSERT_TRUE(honest) << honest.error().message;
  EXPECT_EQ(honest->status, Status::passed) << honest->reason;
  // Right for the first set of inputs of a call, and what it keeps from it for the others.
  const std::string text = with("y[i] = sum + s;",
                                "static float kept[64]; static int calls; "
                                "if (calls++ < M) kept[i] = sum + s; y[i] = kept[i];");
  const auto caught =
      evaluator->ask(evaluation::Race{model::Kernel(cuda_solution(text)), model::Kernel(task.baseline)}, {});
  ASSERT_TRUE(caught) << caught.error().message;
  EXPECT_EQ(caught->status, Status::incorrect_numerical);
}

TEST(CudaVariants, ACallAloneIsOneRunOfTheKernel) {
  model::Task task = squares_task();
  task.workloads = {{"rows_40", {{"M", 40}}, model::Role::race, 1.0}};
  const auto target = make_cuda_target(fake_options());
  ASSERT_TRUE(target->open(task, quick_settings(), {}));
  evaluation::Slots slots(*target, task, 1, 4);
  evaluation::CallOptions options;
  const auto right = [&](const std::string& text, int slot) {
    const auto live = target->start(model::Kernel(cuda_solution(text)), evaluation::Placement::usual, {});
    const auto outcome = (*live)->call((*slots.get(0, slot))->invocation, options);
    return outcome && outcome->comparisons.size() == 2 && outcome->comparisons[1].passed();
  };
  const std::string once = with("n[i] = negative;", "static int runs; runs += i == 0; n[i] = negative + (runs > 1);");
  constexpr int kTries = 100;  // the host is late at many of them beside other programs
  // Where the host was late a short call looks like a long one, which is one run of the kernel in any case.
  bool wrong = false;
  for (int attempt = 0; attempt < kTries && !wrong; ++attempt) {
    EXPECT_TRUE(right(kSquares, 0));  // from here on it is known that calls are short
    wrong = !right(once, 1);
  }
  EXPECT_TRUE(wrong);
  options.alone = true;
  // A call is repeated where the host was late, as on a busy machine: one of a few is not.
  const auto right_once = [&](int slot) {
    bool any = false;
    for (int attempt = 0; attempt < kTries && !any; ++attempt) any = right(once, slot);
    return any;
  };
  EXPECT_TRUE(right_once(2));
  EXPECT_TRUE(right_once(1));  // also where there are more sets of inputs
}

TEST(CudaVariants, ALongCallIsTimedAloneInAnyCase) {
  model::Task task = squares_task();
  task.workloads = {{"rows_40", {{"M", 40}}, model::Role::race, 1.0}, {"rows_41", {{"M", 41}}, model::Role::race, 1.0}};
  const auto target = make_cuda_target(fake_options());
  ASSERT_TRUE(target->open(task, quick_settings(), {}));
  EXPECT_TRUE(target->times_together(task.workloads[0])) << "nothing is known of it";
  evaluation::Slots slots(*target, task, 1, 4);
  const auto live = target->start(model::Kernel(cuda_solution(with(
                                      "float sum = 0;", "for (volatile int t = 0; t < 20000; ++t) {} float sum = 0;"))),
                                  evaluation::Placement::usual, {});
  ASSERT_TRUE(live) << live.error().message;
  const auto outcome = (*live)->call((*slots.get(0, 0))->invocation, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->end, evaluation::CallEnd::returned) << outcome->reason;
  EXPECT_FALSE(target->times_together(task.workloads[0]));
  EXPECT_TRUE(target->times_together(task.workloads[1]));
}

}  // namespace
}  // namespace accelopt::targets::cuda

// SPDX-License-Identifier: Apache-2.0
// The CUDA target with a fake driver: what a kernel does wrong is caught, and the next one is measured.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>

#include "evaluation/local_evaluator.hpp"
#include "evaluation/verify/slots.hpp"
#include "targets/cuda/fake_cuda.hpp"

namespace accelopt::targets::cuda {
namespace {

using evaluation::MeasureSettings;
using model::Status;
using std::chrono::steady_clock;

class CudaVerdicts : public testing::Test {
 protected:
  void SetUp() override {
    target_ = make_cuda_target(fake_options());
    evaluator_ = evaluation::make_local_evaluator(*target_);
    const auto opened = evaluator_->ask(evaluation::Open{squares_task(), quick_settings()}, {});
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
    EXPECT_EQ(opened->baseline.trust, "device-code");
    EXPECT_EQ(opened->device.name, "Fake H200");
  }
  model::Evaluation judge(const std::string& text) {
    const auto evaluation = evaluator_->ask(
        evaluation::Race{model::Kernel(cuda_solution(text)), model::Kernel(squares_task().baseline)}, {});
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    return evaluation.value_or(model::Evaluation{});
  }

  std::unique_ptr<evaluation::Target> target_;
  std::unique_ptr<evaluation::Evaluator> evaluator_;
};

TEST_F(CudaVerdicts, HonestKernelsPass) {
  const auto evaluation = judge(with("sum += x[i * K + k]", "sum += 1.0f * x[i * K + k]"));
  EXPECT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  const auto shorter = judge(with("int* n, int64_t M", "int* n, int M"));
  EXPECT_EQ(shorter.status, Status::passed) << shorter.reason;
}

TEST_F(CudaVerdicts, AWrongLastElementIsCaught) {
  const auto evaluation = judge(with("y[i] = sum + s;", "y[i] = i == M - 1 ? sum * 1.001f + s : sum + s;"));
  EXPECT_EQ(evaluation.status, Status::incorrect_numerical);
  ASSERT_TRUE(evaluation.mismatch);
  EXPECT_EQ(evaluation.mismatch->output, "y");
  EXPECT_EQ(evaluation.mismatch->index, 2000);  // the smallest workload comes first
  EXPECT_NEAR(evaluation.mismatch->actual / evaluation.mismatch->expected, 1.001, 0.001);
  EXPECT_NE(evaluation.reason.find("; 1 of 2001 elements are out of their bound, in 1 of 1 rows (0 to 0) and 1 of 2001 "
                                   "columns (2000 to 2000), 100 % of where these cross; the largest error is "),
            std::string::npos)
      << evaluation.reason;
}

TEST_F(CudaVerdicts, AWrongIntegerIsCaught) {
  const auto evaluation = judge(with("n[i] = negative;", "n[i] = negative + (i == 7);"));
  EXPECT_EQ(evaluation.status, Status::incorrect_numerical);
  ASSERT_TRUE(evaluation.mismatch);
  EXPECT_EQ(evaluation.mismatch->output, "n");
  EXPECT_EQ(evaluation.mismatch->index, 7);
  EXPECT_EQ(evaluation.mismatch->actual, evaluation.mismatch->expected + 1);
  EXPECT_NE(evaluation.reason.find("; 1 of 2001 elements are out of their bound"), std::string::npos)
      << evaluation.reason;
}

TEST_F(CudaVerdicts, WhatIsNotWrittenIsPoison) {
  const auto evaluation = judge(with("y[i] = sum + s;", "if (i != 3) y[i] = sum + s;"));
  EXPECT_EQ(evaluation.status, Status::incorrect_numerical);
  ASSERT_TRUE(evaluation.mismatch);
  EXPECT_EQ(evaluation.mismatch->index, 3);
}

TEST_F(CudaVerdicts, WritesOutsideAnOutputAreSeen) {
  // Beside a tensor there is noise, which is looked at afterwards, or nothing at all.
  for (const char* place : {"y[M] = 1;", "y[-1] = 1;", "n[M + 1000] = 1;"}) {
    const auto evaluation =
        judge(with("y[i] = sum + s;", "y[i] = sum + s; if (i == 0) { " + std::string(place) + " }"));
    EXPECT_EQ(evaluation.status, Status::runtime_error) << place;
    EXPECT_TRUE(evaluation.reason.find("outside an output") != std::string::npos ||
                evaluation.reason.find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos)
        << evaluation.reason;
  }
}

TEST_F(CudaVerdicts, WritesIntoInputsFault) {
  const auto evaluation =
      judge(with("y[i] = sum + s;", "y[i] = sum + s; if (i == M - 1) const_cast<float*>(g)[K - 1] += 1;"));
  EXPECT_EQ(evaluation.status, Status::runtime_error);
  EXPECT_NE(evaluation.reason.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << evaluation.reason;
  EXPECT_EQ(judge(with("float sum = 0", "float sum = 0.0f")).status, Status::passed);
}

TEST_F(CudaVerdicts, WhatLiesFarFromATensorIsNotThere) {
  for (const char* place : {"g[K + 1024]", "g[-1024]", "y[M + 2048]"}) {
    const auto evaluation =
        judge(with("y[i] = sum + s;", "y[i] = sum + s; volatile float seen = " + std::string(place) + ";"));
    EXPECT_EQ(evaluation.status, Status::runtime_error) << place;
    EXPECT_NE(evaluation.reason.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << evaluation.reason;
  }
}

TEST_F(CudaVerdicts, OutputsThatDependOnWhatTheyHeldAreCaught) {
  // Whatever kind of poison serves as a flag: there are others.
  for (const char* flag : {"y[i] == y[i] ? 0 : sum + s", "y[i] == 0 ? sum + s : 0", "y[i] + sum + s"}) {
    const auto evaluation = judge(with("y[i] = sum + s;", "y[i] = " + std::string(flag) + ";"));
    EXPECT_EQ(evaluation.status, Status::incorrect_numerical) << flag;
  }
  const auto caught = judge(with("n[i] = negative;", "n[i] = (n[i] & 1) ? negative : negative + 1;"));
  EXPECT_EQ(caught.status, Status::incorrect_numerical);
}

TEST_F(CudaVerdicts, ATrapIsAnErrorInCudasWordsAndTheNextKernelIsMeasured) {
  const auto evaluation = judge(with("y[i] = sum + s;", "if (i == 5) __trap();"));
  EXPECT_EQ(evaluation.status, Status::runtime_error);
  EXPECT_NE(evaluation.reason.find("CUDA_ERROR_LAUNCH_FAILED"), std::string::npos) << evaluation.reason;
  EXPECT_EQ(judge(with("float sum = 0", "float sum = 0.0f")).status, Status::passed);
}

TEST_F(CudaVerdicts, AKernelThatWritesAllOverTheDeviceHarmsItselfAlone) {
  // Over everything that lies near: inputs and expected outputs of others too.
  const auto evaluation = judge(with("y[i] = sum + s;", "if (i == 0) for (int k = -20000; k < 20000; ++k) y[k] = 7;"));
  EXPECT_NE(evaluation.status, Status::passed);
  EXPECT_EQ(judge(with("float sum = 0", "float sum = 0.0f")).status, Status::passed);
}

TEST_F(CudaVerdicts, AKernelThatCrashesTheProcessIsAnErrorAndTheNextKernelIsMeasured) {
  const auto evaluation = judge(with("y[i] = sum + s;", "*reinterpret_cast<volatile int*>(8) = 1;"));
  EXPECT_EQ(evaluation.status, Status::runtime_error);
  EXPECT_NE(evaluation.reason.find("signal 11"), std::string::npos) << evaluation.reason;
  EXPECT_EQ(judge(with("float sum = 0", "float sum = 0.0f")).status, Status::passed);
}

TEST_F(CudaVerdicts, AKernelThatNeverReturnsIsATimeoutAndTheNextKernelIsMeasured) {
  const auto began = steady_clock::now();
  const auto evaluation = judge(with("y[i] = sum + s;", "for (volatile int forever = 1; forever != 0;) {}"));
  EXPECT_EQ(evaluation.status, Status::timeout) << evaluation.reason;
  EXPECT_EQ(judge(with("float sum = 0", "float sum = 0.0f")).status, Status::passed);
  EXPECT_LT(steady_clock::now() - began, std::chrono::seconds(20));
}

TEST_F(CudaVerdicts, ParametersThatDoNotFitAreRefused) {
  std::string text = kSquares;
  text.replace(text.find("s, y, n, M)"), 11, "y, n, M)");
  const auto fewer = judge(text);
  EXPECT_EQ(fewer.status, Status::runtime_error);
  EXPECT_NE(fewer.reason.find("parameter"), std::string::npos) << fewer.reason;
}

TEST_F(CudaVerdicts, ScratchIsClearedOnlyWhereItIsAskedFor) {
  const std::string directive = "//@ scratch sums float32 [M] zero\n";
  std::string text = directive + with("args=(x, g, s, y, n, M)", "args=(x, g, s, y, n, sums, M)");
  text.replace(text.find("int* n, int64_t M"), 17, "int* n, float* sums, int64_t M");
  text.replace(text.find("y[i] = sum + s;"), 15, "sums[i] += sum; y[i] = sums[i] + s;");
  EXPECT_EQ(judge(text).status, Status::passed);
  text.replace(text.find(" zero"), 5, "");
  EXPECT_EQ(judge(text).status, Status::incorrect_numerical);
}

TEST_F(CudaVerdicts, AKernelThatKeepsStateIsWrongOrRight) {
  // What was computed for one set of inputs is wrong for the next: every call has inputs of its own.
  const std::string text = with("y[i] = sum + s;",
                                "static float kept[4096]; static bool full[4096];"
                                "if (!full[i]) { kept[i] = sum + s; full[i] = true; } y[i] = kept[i];");
  EXPECT_EQ(judge(text).status, Status::incorrect_numerical);
}

TEST(CudaErrors, WithoutADriverKernelsAreBuiltAlone) {
  CudaOptions options = fake_options();
  options.driver = "libno-such-cuda.so.1";
  const auto target = make_cuda_target(options);
  ASSERT_TRUE(target->open(squares_task(), quick_settings(), {}));
  EXPECT_NE(target->builds_only().find("install"), std::string::npos) << target->builds_only();
}

TEST(CudaErrors, WithoutTheDeviceKernelsAreBuiltAlone) {
  CudaOptions options = fake_options();
  options.device = 3;
  const auto target = make_cuda_target(options);
  ASSERT_TRUE(target->open(squares_task(), quick_settings(), {}));
  EXPECT_NE(target->builds_only().find("cuda:3"), std::string::npos) << target->builds_only();
}

TEST(CudaErrors, ATaskOfAnotherTargetIsRefused) {
  model::Task task = squares_task();
  task.target = "cpu";
  const auto opened = make_cuda_target(fake_options())->open(task, quick_settings(), {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::ErrorCode::unsupported);
}

/// Races the baseline with itself; again where this machine was too busy to end a call in time.
model::Evaluation race_with_itself(evaluation::Evaluator& evaluator, const std::function<void(int)>& before) {
  for (int attempt = 0;; ++attempt) {
    before(attempt);
    const auto evaluation = evaluator.ask(
        evaluation::Race{model::Kernel(squares_task().baseline), model::Kernel(squares_task().baseline)}, {});
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    const bool late = evaluation && evaluation->reason.find("did not return") != std::string::npos;
    if (!late || attempt == 9) return evaluation.value_or(model::Evaluation{});
  }
}

/// A fake management library in a folder of its own, and one kernel that is called while it tells of others.
class CudaNeighbours : public testing::Test {
 protected:
  /// `listed`: what the library lists from the beginning, before there is a context.
  void begin(const std::string& listed) {
    auto folder = base::TemporaryFolder::create("accelopt-fake-nvml");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    CudaOptions options = fake_options();
    options.management = (folder_->path() / "libmanagement.so").string();
    std::filesystem::copy_file(ACCELOPT_FAKE_DRIVER, options.management);
    list(listed);
    target_ = make_cuda_target(options);
    ASSERT_TRUE(target_->open(task_, quick_settings(), {}));
    slots_.emplace(*target_, task_, 1, 2);
    const auto slot = slots_->get(2, 0);
    ASSERT_TRUE(slot) << slot.error().message;
    slot_ = *slot;
    auto live = target_->start(model::Kernel(task_.baseline), evaluation::Placement::usual, {});
    ASSERT_TRUE(live);
    live_ = std::move(*live);
  }
  void list(const std::string& text) { ASSERT_TRUE(base::write_file(folder_->path() / "processes", text)); }
  std::string disturbance() {
    const auto outcome = live_->call(slot_->invocation, {});
    EXPECT_TRUE(outcome);
    EXPECT_TRUE(outcome->disturbance.empty() || outcome->disturbed);
    return outcome->disturbance;
  }
  /// What calls tell once that holds of it: it is looked a few times a second.
  std::string disturbance_until(const std::function<bool(const std::string&)>& holds) {
    std::string seen = disturbance();
    for (const auto deadline = steady_clock::now() + std::chrono::seconds(10);
         !holds(seen) && steady_clock::now() < deadline;) {
      seen = disturbance();
    }
    return seen;
  }
  std::string disturbance_naming(const std::string& what) {
    return disturbance_until([&](const std::string& seen) { return seen.find(what) != std::string::npos; });
  }

  std::optional<base::TemporaryFolder> folder_;
  const model::Task task_ = squares_task();
  std::unique_ptr<evaluation::Target> target_;
  std::optional<evaluation::Slots> slots_;
  evaluation::Slot* slot_ = nullptr;
  std::unique_ptr<evaluation::LiveKernel> live_;
};

TEST_F(CudaNeighbours, AnotherProcessOnTheDeviceDisturbsAndIsNamedWhileItIsThere) {
  begin("");
  EXPECT_EQ(disturbance(), "");
  list("4194305");  // above the largest number that a process can have: its name cannot be read
  EXPECT_EQ(disturbance_naming("4194305"), "process 4194305 was on the device at the same time");
  list("");
  EXPECT_EQ(disturbance_until([](const std::string& seen) { return seen.empty(); }), "");
  const std::string own = std::to_string(getpid());
  list(own);
  EXPECT_EQ(disturbance_naming(own), "process " + own + " (targets_cuda_te) was on the device at the same time");
}

TEST_F(CudaNeighbours, WhoWasThereBeforeIsNotTakenForThisProcess) {
  begin("4194305 renumbered");
  EXPECT_EQ(disturbance_naming("4194305"), "process 4194305 was on the device at the same time");
  // Numbers of another namespace name nobody here.
  const std::string own = std::to_string(getpid());
  list("renumbered " + own);
  EXPECT_EQ(disturbance_naming(own), "process " + own + " was on the device at the same time");
}

TEST_F(CudaNeighbours, RecordsOfEitherLengthAndAnyNumberOfThemAreRead) {
  begin("wide");
  list("wide 4194305 4194306");
  EXPECT_EQ(disturbance_naming("4194305"), "process 4194305, 4194306 was on the device at the same time");
  std::string many;
  for (int i = 0; i < 100; ++i) many += std::to_string(4194400 + i) + " ";
  list(many);
  EXPECT_NE(disturbance_naming("4194400").find("4194499"), std::string::npos);
}

TEST_F(CudaNeighbours, WhereProcessesCannotBeSeenTheEnvironmentSaysSo) {
  begin("hidden");
  EXPECT_EQ(target_->environment().isolation,
            "device code alone; other processes on the device are not seen: NVIDIA's management library does not list "
            "this process, as in some containers");
  EXPECT_EQ(disturbance(), "");
  slots_.reset();
  live_.reset();
  begin("refused");
  EXPECT_NE(target_->environment().isolation.find("does not list processes (Insufficient Permissions)"),
            std::string::npos);
}

TEST_F(CudaNeighbours, AnotherServerKeepsStillWhileThisOneMeasures) {
  begin("");
  std::array<char, 16> own{};
  ASSERT_EQ(prctl(PR_GET_NAME, own.data()), 0);
  ASSERT_EQ(prctl(PR_SET_NAME, "accelopt-device"), 0);
  list(std::to_string(getpid()) + " 4194305");
  const std::string seen = disturbance_naming("4194305");
  EXPECT_EQ(prctl(PR_SET_NAME, own.data()), 0);
  EXPECT_EQ(seen, "process 4194305 was on the device at the same time");
}

/// A copy of the fake driver in a folder of its own, where a file says what its clock is.
class CudaClock : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-fake-clock");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    options_ = fake_options();
    options_.driver = (folder_->path() / "libdriver.so").string();
    std::filesystem::copy_file(ACCELOPT_FAKE_DRIVER, options_.driver);
    clock("2000");
  }
  void clock(const std::string& text) { ASSERT_TRUE(base::write_file(folder_->path() / "clock", text)); }

  void open_a_slot() {
    target_ = make_cuda_target(options_);
    ASSERT_TRUE(target_->open(task_, quick_settings(), {}));
    slots_.emplace(*target_, task_, 1, 2);
    const auto slot = slots_->get(2, 0);
    ASSERT_TRUE(slot) << slot.error().message;
    slot_ = *slot;
  }

  std::optional<base::TemporaryFolder> folder_;
  CudaOptions options_;
  const model::Task task_ = squares_task();
  std::unique_ptr<evaluation::Target> target_;
  std::optional<evaluation::Slots> slots_;
  evaluation::Slot* slot_ = nullptr;
};

TEST_F(CudaClock, ACallTellsItsClockAndWhetherItIsLow) {
  open_a_slot();
  const auto live = target_->start(model::Kernel(task_.baseline), evaluation::Placement::usual, {});
  ASSERT_TRUE(live);
  const auto call = [&] {
    const auto outcome = (*live)->call(slot_->invocation, {});
    EXPECT_TRUE(outcome);
    EXPECT_TRUE(outcome->lag_ns);
    return outcome.value_or(evaluation::CallOutcome{});
  };
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(call().clock_mhz, 2000, 1);
  clock("1810");
  EXPECT_NE(call().fault, evaluation::TimeFault::slow_clock) << "over 90 % of the median";
  clock("1790");
  const auto slow = call();
  EXPECT_EQ(slow.fault, evaluation::TimeFault::slow_clock);
  EXPECT_TRUE(slow.disturbed);
  EXPECT_NEAR(slow.clock_mhz, 1790, 1);
  EXPECT_EQ(slow.disturbance, "the device's clock was at 1790 MHz, the median of the last calls is 2000 MHz");
  clock("2000");
  EXPECT_NE(call().fault, evaluation::TimeFault::slow_clock);
}

TEST_F(CudaClock, EventsThatTheHostsClockContradictsAreNotBelieved) {
  open_a_slot();
  // A call of dozens of milliseconds: what events leave out shows behind what a host may be late.
  const std::string slow =
      with("sum += x[i * K + k]", "for (volatile int wait = 0; wait < 400; wait = wait + 1) {} sum += x[i * K + k]");
  const auto live = target_->start(model::Kernel(cuda_solution(slow)), evaluation::Placement::usual, {});
  ASSERT_TRUE(live);
  const auto fault_with = [&](const std::string& factor) {
    EXPECT_TRUE(base::write_file(folder_->path() / "events", factor));
    const auto outcome = (*live)->call(slot_->invocation, {});
    EXPECT_TRUE(outcome);
    return outcome ? outcome->fault : evaluation::TimeFault::none;
  };
  EXPECT_EQ(fault_with("1"), evaluation::TimeFault::none);
  EXPECT_EQ(fault_with("0.01"), evaluation::TimeFault::clocks_differ);
  EXPECT_EQ(fault_with("1000"), evaluation::TimeFault::clocks_differ);
}

class CudaClockRace : public CudaClock {
 protected:
  /// Races the baseline with itself.
  model::Evaluation race(const std::string& clock_then) {
    target_ = make_cuda_target(options_);
    const auto evaluator = evaluation::make_local_evaluator(*target_);
    MeasureSettings settings = quick_settings();
    settings.protocol = model::Protocol::blocks;
    settings.slots = 9;
    const auto opened = evaluator->ask(evaluation::Open{squares_task(), settings}, {});
    EXPECT_TRUE(opened) << opened.error().message;
    return race_with_itself(*evaluator, [&](int attempt) {
      clock(clock_then + std::string(static_cast<std::size_t>(attempt), ' '));  // changed: it begins anew
    });
  }
  std::unique_ptr<evaluation::Target> target_;
};

TEST_F(CudaClockRace, SamplesOfALowClockDoNotCount) {
  std::string some;  // every now and then three calls are slow
  for (int i = 0; i < 60; ++i) some += "2000*19 1000*3 ";
  const auto evaluation = race(some);
  ASSERT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  EXPECT_NE(evaluation.reason.find("1000 MHz"), std::string::npos) << evaluation.reason;
  ASSERT_EQ(evaluation.samples.size(), static_cast<std::size_t>(evaluation.blocks));
  int counted = 0;
  for (const model::BlockSample& sample : evaluation.samples) {
    if (evaluation.environment.noisy) break;  // more of them than a race makes again
    EXPECT_NEAR(sample.reference_mhz.at(0), 2000, 1);
    EXPECT_NEAR(sample.candidate_mhz.at(0), 2000, 1);
    EXPECT_EQ(sample.candidate_lag_ns.size(), 1U);
    ++counted;
  }
  EXPECT_TRUE(counted > 0 || evaluation.environment.noisy);
}

TEST_F(CudaClockRace, AClockThatStaysLowHoldsNoRaceUp) {
  const auto evaluation = race("2000*20 1000");
  EXPECT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  EXPECT_NE(evaluation.verdict, model::Verdict::none);
  EXPECT_GT(evaluation.blocks, 0);
}

TEST_F(CudaNeighbours, OneThatStaysLeavesNothingMeasuredAndIsNamed) {
  begin("");
  live_.reset();
  slots_.reset();
  CudaOptions options = fake_options();
  options.management = (folder_->path() / "libmanagement.so").string();
  options.patience = std::chrono::seconds(1);
  target_ = make_cuda_target(options);
  const auto evaluator = evaluation::make_local_evaluator(*target_);
  MeasureSettings settings = quick_settings();
  settings.protocol = model::Protocol::blocks;
  const auto opened = evaluator->ask(evaluation::Open{task_, settings}, {});
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
  list("4194305");
  const auto evaluation = race_with_itself(*evaluator, [](int) {});
  EXPECT_EQ(evaluation.status, Status::not_measured);
  EXPECT_EQ(evaluation.reason,
            "process 4194305 was on the device at the same time, and times taken then do not count; 1 s did not "
            "change that");
  list("");
  const auto later = race_with_itself(*evaluator, [](int) {});
  EXPECT_EQ(later.status, Status::passed) << later.reason;
}

TEST(CudaRepeats, WhatWasKeptIsMadeAgainWhenTheDevicesProcessWasLost) {
  const auto target = make_cuda_target(fake_options());
  const model::Task task = squares_task();
  ASSERT_TRUE(target->open(task, quick_settings(), {}));
  evaluation::Slots slots(*target, task, 1, 2);
  const auto slot = slots.get(2, 0);
  ASSERT_TRUE(slot) << slot.error().message;
  const auto call = [&](const std::string& text, evaluation::Repeat repeat) {
    const auto live = target->start(model::Kernel(cuda_solution(text)), evaluation::Placement::usual, {});
    evaluation::CallOptions options;
    options.repeat = repeat;
    return (*live)->call((*slot)->invocation, options);
  };
  ASSERT_TRUE(call(kSquares, evaluation::Repeat::keep));
  const auto lost = call(with("y[i] = sum + s;", "if (i == 5) __trap();"), evaluation::Repeat::no);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->end, evaluation::CallEnd::died);
  const auto again = call(kSquares, evaluation::Repeat::compare);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->end, evaluation::CallEnd::returned) << again->reason;
  EXPECT_FALSE(again->disagreement);
  // It is the first of the two calls that is told of.
  const auto trapped = call(with("y[i] = sum + s;", "if (i == 6) __trap();"), evaluation::Repeat::no);
  ASSERT_TRUE(trapped);
  const auto broken = call(with("y[i] = sum + s;", "if (i == 7) __trap();"), evaluation::Repeat::compare);
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->end, evaluation::CallEnd::died);
}

TEST(CudaRaces, ABlockRaceRunsToItsVerdict) {
  const auto target = make_cuda_target(fake_options());
  const auto evaluator = evaluation::make_local_evaluator(*target);
  MeasureSettings settings = quick_settings();
  settings.protocol = model::Protocol::blocks;
  settings.slots = 9;
  const auto opened = evaluator->ask(evaluation::Open{squares_task(), settings}, {});
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->baseline.status, Status::passed) << opened->baseline.reason;
  const std::string slow =
      with("sum += x[i * K + k]", "for (volatile int wait = 0; wait < 40; wait = wait + 1) {} sum += x[i * K + k]");
  auto evaluation =
      evaluator->ask(evaluation::Race{model::Kernel(cuda_solution(slow)), model::Kernel(squares_task().baseline)}, {});
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  // The device is a thread here, which a busy machine may keep from running for longer than a call may take.
  for (int again = 0; again < 3 && evaluation->status == Status::timeout; ++again) {
    evaluation = evaluator->ask(
        evaluation::Race{model::Kernel(cuda_solution(slow)), model::Kernel(squares_task().baseline)}, {});
    ASSERT_TRUE(evaluation) << evaluation.error().message;
  }
  EXPECT_EQ(evaluation->status, Status::passed) << evaluation->reason;
  EXPECT_EQ(evaluation->verdict, model::Verdict::slower);
}

}  // namespace
}  // namespace accelopt::targets::cuda

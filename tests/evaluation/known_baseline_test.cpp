// SPDX-License-Identifier: Apache-2.0
// A task that is opened with what opening it found before on the same device, or whose baseline the target refuses.
#include <gtest/gtest.h>

#include <functional>

#include "evaluation/fake_target.hpp"
#include "evaluation/local_evaluator.hpp"

namespace accelopt::evaluation {
namespace {

using model::Status;
using model::Verdict;

OpenReport open_task_with(Evaluator& evaluator, MeasureSettings settings = {}) {
  settings.seed = 4711;
  auto report = evaluator.ask(Open{fake_task(), settings}, {});
  EXPECT_TRUE(report) << report.error().message;
  return report ? *report : OpenReport{};
}

/// What opening the task finds at first.
OpenReport first_opening() {
  FakeTarget target;
  return open_task_with(*make_local_evaluator(target));
}

/// What a later process on the same device opens the task with.
MeasureSettings with_known_baseline(const OpenReport& report) {
  MeasureSettings settings;
  settings.known_baseline = report.baseline;
  return settings;
}

TEST(KnownBaseline, OfTheSameCodeAndDevice_IsNotMeasuredAgain) {
  const OpenReport before = first_opening();
  FakeTarget later;
  const auto evaluator = make_local_evaluator(later);
  const OpenReport report = open_task_with(*evaluator, with_known_baseline(before));
  EXPECT_EQ(later.calls, 0);
  EXPECT_EQ(report.baseline.status, Status::passed);
  EXPECT_EQ(report.baseline.workloads.at(0).time_ns, before.baseline.workloads.at(0).time_ns);
  EXPECT_TRUE(report.baseline.profile);
  const auto raced =
      evaluator->ask(Race{model::Kernel(fake_kernel("time=500000")), model::Kernel(fake_kernel("time=1000000"))}, {});
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_EQ(raced->verdict, Verdict::faster) << "its time is what calls are limited by";
}

TEST(KnownBaseline, OfOtherThings_IsMeasuredAgain) {
  const OpenReport before = first_opening();
  const auto opens_with = [&](const std::function<void(model::Evaluation&)>& change) {
    MeasureSettings settings = with_known_baseline(before);
    change(*settings.known_baseline);
    FakeTarget later;
    EXPECT_EQ(open_task_with(*make_local_evaluator(later), settings).baseline.status, Status::passed);
    return later.calls;
  };
  EXPECT_EQ(opens_with([](model::Evaluation&) {}), 0);
  EXPECT_GT(opens_with([](model::Evaluation& known) { known.machine_code_id = "other code"; }), 0);
  EXPECT_GT(opens_with([](model::Evaluation& known) { known.environment.device = "other driver"; }), 0);
  EXPECT_GT(opens_with([](model::Evaluation& known) { known.environment.flags = "-O2"; }), 0);
  EXPECT_GT(opens_with([](model::Evaluation& known) { known.status = Status::not_measured; }), 0);
  EXPECT_GT(opens_with([](model::Evaluation& known) { known.workloads.pop_back(); }), 0);
  EXPECT_GT(opens_with([](model::Evaluation& known) { known.workloads[0].time_ns = 0; }), 0);
}

TEST(Baseline, ABaselineThatTheMachineCannotReach_IsTheTasksFault) {
  FakeTarget target;
  const auto evaluator = make_local_evaluator(target);
  target.peaks = {1e12, 1e12, 8e8};
  model::Task task = fake_task();
  task.baseline = fake_kernel("time=500");
  const auto opened = evaluator->ask(Open{task, MeasureSettings()}, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(opened.error().message.find("the task's [cost] states more work than is needed"), std::string::npos)
      << opened.error().message;
  EXPECT_EQ(target.probes, 1);
}

TEST(RefusedBaseline, IsNotToldToMendItsArguments) {
  FakeTarget target;
  model::Task task = fake_task();
  task.baseline = fake_kernel("time=1000 uninterpreted");
  const auto report = make_local_evaluator(target)->ask(Open{task, {}}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->baseline.status, Status::compile_error);
  EXPECT_TRUE(report->baseline.reason.ends_with("is not interpreted")) << report->baseline.reason;
}

}  // namespace
}  // namespace accelopt::evaluation

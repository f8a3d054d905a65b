// SPDX-License-Identifier: Apache-2.0
#include "app/suite_run.hpp"

#include <gtest/gtest.h>

#include "app/environment.hpp"
#include "base/files.hpp"

namespace accelopt::app {
namespace {

class PlanSuite : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* task : {"silu", "matmul"}) {
      ASSERT_TRUE(base::make_folders(folder_.path() / "suite" / task));
      ASSERT_TRUE(base::write_file(folder_.path() / "suite" / task / "task.toml", ""));
    }
  }

  [[nodiscard]] base::Result<SuitePlan> plan(std::vector<std::string> only, int jobs = 1) const {
    return plan_suite(shell_, {.suite = (folder_.path() / "suite").string(),
                               .only = std::move(only),
                               .workspace = folder_.path() / "runs",
                               .jobs = jobs});
  }

  base::TemporaryFolder folder_ = base::TemporaryFolder::create("suite-run").value();
  Shell shell_{"accelopt", {}, environment_of(), [](const std::string&) {}};
};

TEST_F(PlanSuite, Only_KeepsTheNamedTasks) {
  const auto planned = plan({"silu"});
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_EQ(planned->folders.size(), 1U);
  EXPECT_EQ(planned->folders[0].filename(), "silu");
}

TEST_F(PlanSuite, OnlyUnknownNames_IsNotFound) {
  EXPECT_EQ(plan({"gelu"}).error().code, base::ErrorCode::not_found);
}

TEST_F(PlanSuite, Jobs_BelongToTheSettings) {
  EXPECT_FALSE(plan({})->made_with.contains("jobs"));
  EXPECT_EQ(plan({}, 2)->made_with.at("jobs"), 2);
}

TEST_F(PlanSuite, TasksThatCannotBeRead_AreOutcomes) {
  const auto planned = plan({});
  ASSERT_TRUE(planned);
  std::vector<std::string> finished;
  class Silent final : public model::EventSink {
    void on(const model::Event&) override {}
  };
  const auto report = run_suite(shell_, *planned,
                                {.progress = [](const std::string&) { return std::make_unique<Silent>(); },
                                 .finished = [&](const SuiteOutcome& task) { finished.push_back(task.task); }});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(finished, (std::vector<std::string>{"matmul", "silu"}));
  EXPECT_EQ(report->failed, 2);
  EXPECT_EQ(report->improved, 0);
  EXPECT_FALSE(report->geometric_mean);
  EXPECT_FALSE(report->tasks[0].error.empty());
}

TEST(SumUp, FailedTasks_AreLeftOutOfTheMean) {
  search::RunResult twice_as_fast;
  twice_as_fast.outcome = search::RunOutcome::improved;
  twice_as_fast.confirmation.emplace();
  twice_as_fast.confirmation->ratio = model::Interval{2, 1.9, 2.1};
  SuiteReport report;
  report.tasks = {{"faster", twice_as_fast, ""}, {"broken", std::nullopt, "no device"}};
  sum_up(report);
  EXPECT_EQ(report.improved, 1);
  EXPECT_EQ(report.failed, 1);
  ASSERT_TRUE(report.geometric_mean);
  EXPECT_DOUBLE_EQ(*report.geometric_mean, 2);
  EXPECT_TRUE(
      summary_text(report).starts_with("1 of 2 tasks improved; geometric mean 2.00x (a task without a gain counts "
                                       "as 1); 1 failed and is left out of the mean; "))
      << summary_text(report);

  report = {};
  report.tasks = {{"broken", std::nullopt, "no device"}, {"worse", std::nullopt, "no device"}};
  sum_up(report);
  EXPECT_TRUE(to_json(report).at("geometric_mean").is_null());
  EXPECT_TRUE(summary_text(report).starts_with("0 of 2 tasks improved; 2 failed; ")) << summary_text(report);
}

TEST(TimesOf, NoGain_IsTheBaselinesOwn) {
  const auto timed = [](double time_ns, double fraction, model::Role role) {
    model::WorkloadTiming workload;
    workload.time_ns = time_ns;
    workload.role = role;
    workload.roofline = model::RooflinePoint{time_ns * fraction, fraction, "memory"};
    return workload;
  };
  search::RunResult result;
  result.baseline = {timed(100, 0.2, model::Role::race), timed(400, 0.5, model::Role::race),
                     timed(7, 0.1, model::Role::check)};
  const SuiteTimes times = times_of(result);
  EXPECT_NEAR(times.baseline_ns, 200, 1e-9);
  EXPECT_NEAR(times.best_ns, 200, 1e-9);
  EXPECT_DOUBLE_EQ(times.roofline, 0.2);
}

}  // namespace
}  // namespace accelopt::app

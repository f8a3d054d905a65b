// SPDX-License-Identifier: Apache-2.0
// The whole loop on a target that nothing outside of this folder knows: task folder, search, real verification and
// races.
#include "toy_target/toy_target.hpp"

#include <gtest/gtest.h>

#include "evaluation/local_evaluator.hpp"
#include "evaluation/race/recompute.hpp"
#include "fakes/fake_team.hpp"
#include "search/search.hpp"
#include "suites/lint.hpp"
#include "toy_target/toy_task.hpp"

namespace accelopt::toy {
namespace {

model::Solution kernel(const std::string& text) {
  return {model::Language("arithmetic"), {{"baseline.expr", text}}};
}

class Toy : public testing::Test {
 protected:
  const model::Task task = toy_task();
  std::unique_ptr<evaluation::Target> target = make_toy_target();
  std::unique_ptr<evaluation::Evaluator> evaluator = evaluation::make_local_evaluator(*target);
};

TEST_F(Toy, Race_DeterministicClock_OneBlockDecides) {
  ASSERT_TRUE(evaluator->ask(evaluation::Open{task}, {}));

  const auto faster =
      evaluator->ask(evaluation::Race{model::Kernel(kernel(kFaster)), model::Kernel(task.baseline)}, {});
  const auto tie = evaluator->ask(
      evaluation::Race{model::Kernel(kernel("x x * x * x x * x *   +")), model::Kernel(task.baseline)}, {});
  const auto wrong = evaluator->ask(evaluation::Race{model::Kernel(kernel(kWrong)), model::Kernel(task.baseline)}, {});

  ASSERT_TRUE(faster && tie && wrong);
  EXPECT_EQ(faster->verdict, model::Verdict::faster);
  EXPECT_EQ(faster->blocks, 1);
  EXPECT_NEAR(faster->ratio->low, 5.0 / 3.0, 1e-12);
  EXPECT_DOUBLE_EQ(faster->ratio->low, faster->ratio->high);
  EXPECT_EQ(tie->verdict, model::Verdict::tie);
  EXPECT_EQ(wrong->status, model::Status::incorrect_numerical);
  EXPECT_EQ(evaluation::recompute(task, {}, *faster)->verdict, model::Verdict::faster);
}

TEST_F(Toy, Confirmation_DeterministicClock_OneBlockDecides) {
  ASSERT_TRUE(evaluator->ask(evaluation::Open{task}, {}));

  const auto confirmed = evaluator->ask(evaluation::Confirm{model::Kernel(kernel(kFaster))}, {});

  ASSERT_TRUE(confirmed) << confirmed.error().message;
  EXPECT_EQ(confirmed->verdict, model::Verdict::faster) << confirmed->reason;
  EXPECT_EQ(confirmed->samples.size(), 1U);
  EXPECT_EQ(base::Json(*confirmed)["environment"]["clock"], "deterministic");
}

TEST_F(Toy, Search_WholeLoop_ConfirmsTheFastestRightKernel) {
  fakes::FakeTeam team;
  fakes::KeptNotes events;
  team.on_execute = [](const agents::ExecuteQuestion& question) {
    return std::string(
        std::array{kWrong, kFaster, "x + +\n"}.at(static_cast<std::size_t>(question.context.identity.plan)));
  };
  const auto journal = *journal::open_memory_journal();
  journal::RunInfo info;
  info.id = "r1";
  info.task = task;
  ASSERT_TRUE(journal->create_run(info));
  search::RunRequest request{.run = "r1", .task = task, .settings = {}, .measure = {}, .seed = 7};
  request.settings.iterations = 1;
  request.settings.plans = 3;
  request.settings.attempts = 1;
  request.settings.fixes = 0;

  const auto report = search::run_search(request, {team.team(), evaluator.get(), journal.get(), &events}, {});

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, search::RunOutcome::improved);
  EXPECT_EQ(model::main_text(*report->result.solution), kFaster);
  EXPECT_NEAR(report->result.confirmation->ratio->estimate, 5.0 / 3.0, 1e-12);
  const std::map<std::string, int> counts{{"COMPILE_ERROR", 1}, {"INCORRECT_NUMERICAL", 1}, {"PASSED", 1}};
  EXPECT_EQ(report->result.counts, counts);
}

TEST_F(Toy, Lint_KnownLanguage_FindsNoErrors) {
  for (const base::Problem& problem : suites::lint_task(task, {.cores = 2, .folder = "."}))
    EXPECT_EQ(problem.severity, base::Severity::advice) << problem.message;
}

}  // namespace
}  // namespace accelopt::toy

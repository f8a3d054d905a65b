// SPDX-License-Identifier: Apache-2.0
#include "app/best.hpp"

#include <gtest/gtest.h>

#include "app/package.hpp"
#include "app/winner.hpp"

namespace accelopt::app {
namespace {

TEST(Winner, OfAFailedRun_SaysHowToFinishIt) {
  journal::RunInfo run;
  run.id = "r1";
  run.status = model::RunStatus::failed;
  EXPECT_NE(winner_of(run).error().message.find("accelopt resume r1 --finish"), std::string::npos);
}

TEST(Winner, ASpeedUp_IsTheSolutionsOwn) {
  const auto journal = journal::open_memory_journal();
  ASSERT_TRUE(journal);
  journal::RunInfo run;
  run.id = "r1";
  run.task_name = "silu";
  run.created = "2026-01-01T00:00:00Z";
  run.settings = base::Json::object();
  run.task.definition.name = "silu";
  run.task.workloads = {{"large", {}, model::Role::race, 1.0}};
  run.task.baseline = {model::Language::cpp, {{"kernel.cpp", "void kernel();\n"}}};
  run.task.reference = {"reference.cpp", "void reference();\n"};
  ASSERT_TRUE((*journal)->create_run(run));
  const model::Solution solution{model::Language::cpp, {{"kernel.cpp", "void kernel() {}\n"}}};
  const std::optional<base::Json> result{
      std::in_place, base::Json{{"solution", solution}, {"speedup", model::Interval{2.0, 1.9, 2.1}}}};
  ASSERT_TRUE((*journal)->finish_run("r1", model::RunStatus::done, result, "h"));

  auto winner = find_winner(**journal, "r1");

  ASSERT_TRUE(winner) << winner.error().message;
  EXPECT_EQ(claim_of(*winner), "Confirmed 2.00x [1.90, 2.10] as fast as the baseline that it was made from.");
  winner->speedup = model::Interval{1.5, 1.4, 1.6};  // of what is left of it
  EXPECT_EQ(claim_of(*winner), "Confirmed 1.50x [1.40, 1.60] as fast as the baseline that it was made from.");
  winner->speedup.reset();
  EXPECT_EQ(claim_of(*winner), "");
}

}  // namespace
}  // namespace accelopt::app

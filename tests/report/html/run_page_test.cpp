// SPDX-License-Identifier: Apache-2.0
#include "report/html/run_page.hpp"

#include <gtest/gtest.h>

#include "report/html/candidate_tree.hpp"
#include "report/html/run_plots.hpp"

namespace accelopt::report::html {
namespace {

constexpr const char* kMarkup = "</title></style><script>alert(1)</script><img src=x onerror=alert(1)>";

model::Kernel kernel(const std::string& text) {
  return model::Kernel(model::Solution{model::Language::cpp, {{"kernel.cpp", text}}});
}

StoryAttempt attempt(int iteration, int plan, const model::Identity& parent, const std::string& title) {
  StoryAttempt made;
  made.identity = {iteration, 0, plan, 0, 0};
  made.parent = parent;
  made.plan.title = title;
  made.plan.text = std::string(2000, 'p');
  made.kernel = kernel("void kernel() {} // " + std::to_string(iteration) + " " + std::to_string(plan) + title);
  made.status = plan % 3 == 0 ? model::Status::compile_error : model::Status::passed;
  made.verdict = plan % 3 == 0 ? model::Verdict::none : plan % 3 == 1 ? model::Verdict::faster : model::Verdict::slower;
  made.reason = plan % 3 == 0 ? std::string(5000, 'e') : "";
  if (plan % 3 != 0) made.ratio = model::Interval{1.01, 1.0, 1.02};
  made.evaluation = iteration * 50 + plan + 1;
  return made;
}

/// A run of that many iterations of 50 attempts, whose best one wins.
RunStory long_run(int iterations, const std::string& title) {
  RunStory story;
  story.run.id = "20260101-000000-abcdef";
  story.run.task_name = "matmul";
  story.run.status = model::RunStatus::done;
  story.run.task.baseline = kernel("void kernel() {}").solution();
  story.device = "a device";
  model::Identity parent;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (int plan = 0; plan < 50; ++plan) story.attempts.push_back(attempt(iteration, plan, parent, title));
    parent = {iteration, 0, 1, 0, 0};
    const double score = 1 + 0.1 * iteration;
    const model::BeamMember best{parent, title, {score, score - 0.01, score + 0.01}};
    story.rounds.push_back({iteration, {best}, best, 50 * (iteration + 1), {}});
  }
  StoryAttempt& winner = *std::ranges::find(story.attempts, parent, &StoryAttempt::identity);
  winner.is_winner = true;
  model::Evaluation confirmation;
  confirmation.source_id = winner.kernel.id();
  confirmation.ratio = model::Interval{1.9, 1.8, 2.0};
  story.confirmations.push_back(confirmation);
  story.run.result = base::Json{{"solution_id", winner.kernel.id()}};
  story.evaluations = 50 * iterations;
  return story;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

TEST(RunPage, FiveHundredCandidates_StayUnderTwoMegabytes) {
  const std::string page = run_page(long_run(10, "a title of usual length that says what the plan changes and why"));

  EXPECT_LT(page.size(), std::size_t{2} << 20);
  EXPECT_EQ(count(candidate_tree(long_run(10, "t")).source(), "class=\"mark "), 501)
      << "each candidate and the baseline";
}

TEST(RunPage, MarkupFromModels_IsShownAsText) {
  RunStory story = long_run(1, kMarkup);
  story.run.task_name = kMarkup;
  story.device = kMarkup;
  story.device_summary = kMarkup;
  story.run.task.definition.description = kMarkup;
  story.hints = {kMarkup};
  model::Experience lesson;
  lesson.title = lesson.strategy = lesson.task = kMarkup;
  story.learned = {lesson};
  story.recalled = {{0, 0, lesson}};

  const std::string page = run_page(story);

  EXPECT_EQ(count(page, "<script"), 0);
  EXPECT_EQ(count(page, "<img"), 0);
  EXPECT_EQ(count(page, "</style>"), 1);
  EXPECT_GT(count(page, "&lt;script&gt;alert(1)"), 50);
}

TEST(RunPage, ARunWithoutAnything_SaysHowItStands) {
  RunStory story;
  story.run.id = "r";
  story.run.status = model::RunStatus::running;

  const std::string page = run_page(story);

  EXPECT_NE(page.find("r is not finished (running)"), std::string::npos);
  EXPECT_EQ(count(page, "<svg"), 0) << "nothing was measured";
}

TEST(RunPage, TheConfirmedAnswer_StandsAtTheTop) {
  const std::string page = run_page(long_run(2, "t"));
  EXPECT_LT(page.find("matmul runs 1.90x [1.80, 2.00] as fast as the baseline on a device"), page.find("<main>"));
}

TEST(RunPage, ModelledTimes_AreCalledSo) {
  RunStory story = long_run(2, "t");
  story.baseline.environment.clock = model::kModelledClock;
  EXPECT_NE(run_page(story).find("no device measured these times"), std::string::npos);
}

TEST(RunPage, ANewSearch_SaysWhatItsCommandLeavesOut) {
  RunStory story = long_run(1, "t");
  story.run.task_folder = "/tasks/scale";
  story.run.seed = 7;
  const std::string page = run_page(story);
  EXPECT_NE(page.find("with a flag for each setting below"), std::string::npos);
  EXPECT_NE(page.find("accelopt run scale --seed 7"), std::string::npos);
  story.run.task_folder = "/tasks/my scale";
  EXPECT_NE(run_page(story).find("accelopt run &#39;my scale&#39; --seed 7"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::report::html

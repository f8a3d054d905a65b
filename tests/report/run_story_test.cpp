// SPDX-License-Identifier: Apache-2.0
#include "report/run_story.hpp"

#include <gtest/gtest.h>

#include "report/explanation.hpp"

namespace accelopt::report {
namespace {

using base::Json;
using model::Identity;

model::Solution solution(const std::string& text) {
  return {model::Language::cpp, {{"kernel.cpp", text}}};
}

std::string id_of(const std::string& text) {
  return model::source_id(solution(text));
}

journal::StepRecord step(const std::string& kind, const Identity& identity, const Json& output) {
  return {{identity, kind}, "in", output, {}, {}, {}};
}

Json answered(const Json& value) {
  return {{"answered", true}, {"author", "a model"}, {"lost", ""}, {"value", value}};
}

Json race(const std::string& text, const std::string& machine_code, double ratio, model::Verdict verdict) {
  model::Evaluation evaluation;
  evaluation.status = model::Status::passed;
  evaluation.verdict = verdict;
  evaluation.ratio = model::Interval{ratio, ratio - 0.1, ratio + 0.1};
  evaluation.source_id = id_of(text);
  evaluation.machine_code_id = machine_code;
  return evaluation;
}

Json build(bool built, const std::string& machine_code) {
  model::BuildReport report;
  report.built = built;
  report.machine_code_id = machine_code;
  report.diagnostics = built ? "" : "error: no such name";
  return report;
}

constexpr Identity kFirst{0, 0, 0, 0, 1};
constexpr Identity kSecond{1, 0, 0, 0, 0};

/// Two rounds: a kernel that was mended once and is 2x, then one of it that is 1.5x and wins; beside it a slower one.
RunRecord two_rounds() {
  RunRecord record;
  record.run.id = "r";
  record.run.task_name = "t";
  record.run.task.baseline = solution("int base;");
  record.run.result = Json{{"solution_id", id_of("int third;")}};
  const Json plan = {{"title", "first plan"}, {"rests_on", Json::array()}, {"text", "do it"}};
  const Json plans = {{{"title", "second plan"}, {"rests_on", {"e1"}}, {"text", "do more"}},
                      {{"title", "other plan"}, {"rests_on", Json::array()}, {"text", "do else"}}};
  record.steps = {
      step("plan", {0, 0, 0, -1, -1}, answered(plan)),
      step("execute", {0, 0, 0, 0, 0}, answered(solution("int broken;"))),
      step("build:" + id_of("int broken;"), {}, build(false, "")),
      step("fix", kFirst, answered(solution("int second;"))),
      step("build:" + id_of("int second;"), {}, build(true, "m2")),
      step("triage:m2", {0, 0, -1, -1, -1}, race("int second;", "m2", 2, model::Verdict::faster)),
      step("plans", {1, 0, -1, -1, -1}, answered(plans)),
      step("execute", kSecond, answered(solution("int third;"))),
      step("execute", {1, 0, 1, 0, 0}, answered(solution("int slow;"))),
      step("build:" + id_of("int third;"), {}, build(true, "m3")),
      step("build:" + id_of("int slow;"), {}, build(true, "m4")),
      step("triage:m3", {1, 0, -1, -1, -1}, race("int third;", "m3", 1.5, model::Verdict::faster)),
      step("triage:m4", {1, 0, -1, -1, -1}, race("int slow;", "m4", 0.5, model::Verdict::slower)),
      step("confirm:" + id_of("int third;"), {}, race("int third;", "m3", 3, model::Verdict::faster)),
  };
  const model::BeamMember second{kFirst, "first plan", {2, 1.9, 2.1}};
  const model::BeamMember third{kSecond, "second plan", {3, 2.9, 3.1}};
  record.events = {model::RunStarted{}, model::Selected{0, {second}, second, 2, {}},
                   model::Selected{1, {third, second}, third, 4, {}}};
  model::Experience lesson;
  lesson.id = "e1";
  lesson.title = "a lesson";
  record.experiences = {lesson};
  return record;
}

TEST(RunStory, TheLineage_LeadsFromTheBaselineToTheWinner) {
  const RunStory story = story_of(two_rounds());

  ASSERT_NE(story.winner(), nullptr);
  const auto lineage = story.lineage(*story.winner());
  ASSERT_EQ(lineage.size(), 2U);
  EXPECT_EQ(lineage[0]->identity, kFirst);
  EXPECT_EQ(lineage[0]->parent, Identity{});
  EXPECT_EQ(lineage[1]->identity, kSecond);
  EXPECT_EQ(lineage[1]->parent, kFirst);
  EXPECT_EQ(story.confirmation()->ratio->estimate, 3);
}

TEST(RunStory, AnAttemptThatWasMended_KeepsWhatFailed) {
  const RunStory story = story_of(two_rounds());

  const StoryAttempt& mended = story.attempts.front();
  EXPECT_EQ(mended.status, model::Status::passed);
  EXPECT_EQ(mended.evaluation, 2);
  ASSERT_EQ(mended.failed.size(), 1U);
  EXPECT_EQ(mended.failed[0].status, model::Status::compile_error);
  EXPECT_EQ(mended.failed[0].reason, "error: no such name");
}

TEST(RunStory, ChainedSpeedup_IsTheParentsScoreTimesTheRatio) {
  const RunStory story = story_of(two_rounds());

  EXPECT_DOUBLE_EQ(story.chained_speedup(*story.find(kSecond))->estimate, 3);
  EXPECT_DOUBLE_EQ(story.chained_speedup(*story.find(kFirst))->estimate, 2) << "the baseline's score is 1";
}

TEST(RunStory, ASecondSession_TellsTheRoundsAgainOnce) {
  RunRecord record = two_rounds();
  const auto first = record.events;
  record.events.insert(record.events.end(), first.begin(), first.end());

  EXPECT_EQ(story_of(record).rounds.size(), 2U);
}

TEST(RunStory, ARecordWithoutEvents_IsReadFromItsDecisions) {
  RunRecord record = two_rounds();
  record.events.clear();
  record.steps.push_back(step(
      "decisions", {}, {{{"iteration", 1}, {"beam", {{{"id", "i0.b0.p0.a0.f1"}, {"source", "s"}, {"score", 2.0}}}}}}));

  const RunStory story = story_of(record);

  ASSERT_EQ(story.rounds.size(), 1U);
  EXPECT_EQ(story.find(kSecond)->parent, kFirst);
}

TEST(RunStory, StepsOfAnotherForm_AreLeftOut) {
  RunRecord record = two_rounds();
  for (journal::StepRecord& one : record.steps) one.output = Json::array({1, "x", nullptr});
  record.steps.push_back(step("a kind of the future", {}, 5));
  record.run.result = Json::array();

  const RunStory story = story_of(record);

  EXPECT_EQ(story.winner(), nullptr);
}

TEST(Explanation, EachStep_HasItsEffectItsDiffAndWhatWasTriedBeside) {
  const Explanation told = explain(story_of(two_rounds()));

  ASSERT_EQ(told.steps.size(), 2U);
  EXPECT_EQ(told.steps[1].ratio->estimate, 1.5);
  EXPECT_NE(told.steps[1].diff.find("-int second;"), std::string::npos);
  EXPECT_NE(told.steps[1].diff.find("+int third;"), std::string::npos);
  ASSERT_EQ(told.steps[1].beside.size(), 1U);
  EXPECT_EQ(told.steps[1].beside[0].fate, "slower");
  ASSERT_EQ(told.steps[1].rests_on.size(), 1U);
  EXPECT_EQ(told.steps[1].rests_on[0].title, "a lesson");
  EXPECT_EQ(told.steps[0].mended.size(), 1U);
}

/// The two rounds with what the opening profiled of the baseline, and what its first child's profile and the
/// confirmation say.
RunRecord two_rounds_profiled(const std::string& item) {
  RunRecord record = two_rounds();
  model::Evaluation opened;
  opened.profile = model::Profile{{{item, 500, "us", "median"}}, {}};
  record.steps.insert(record.steps.begin(), step("open", {}, {{"baseline", Json(opened)}}));
  record.steps.push_back(
      step("profile:" + id_of("int second;"), {}, Json(model::Profile{{{item, 200, "us", "median"}}, {}})));
  for (journal::StepRecord& one : record.steps) {
    if (!one.key.kind.starts_with("confirm:")) continue;
    auto confirmed = one.output.get<model::Evaluation>();
    model::WorkloadTiming& timing = confirmed.workloads.emplace_back();
    timing.name = "w1";
    timing.time_ns = 250'000;
    timing.reference_ns = 750'000;
    one.output = Json(confirmed);
  }
  return record;
}

TEST(Explanation, AStepFromTheBaseline_HasTheProfileOfTheOpening) {
  const Explanation told = explain(story_of(two_rounds_profiled("cold time")));

  ASSERT_EQ(told.steps[0].profile.size(), 1U);
  EXPECT_EQ(told.steps[0].profile[0].before, 500);
  EXPECT_EQ(told.steps[0].profile[0].after, 200);
}

TEST(Explanation, ABaselineThatTheConfirmationTimedOtherwise_IsTold) {
  for (const char* item : {"cold time", "w1: cold time"}) {
    const Explanation told = explain(story_of(two_rounds_profiled(item)));

    ASSERT_EQ(told.differs.size(), 1U) << item;
    EXPECT_TRUE(told.differs[0].starts_with("The baseline took 750 us in the confirmation and 500 us when")) << item;
  }
  EXPECT_TRUE(explain(story_of(two_rounds_profiled("warm time"))).differs.empty());
}

TEST(Explanation, OfARunWithoutAWinner_TellsWhatWasTried) {
  RunRecord record = two_rounds();
  record.run.result = Json{{"reason", "none was faster"}};

  const Explanation told = explain(story_of(record));

  EXPECT_TRUE(told.steps.empty());
  EXPECT_EQ(told.dead_ends.size(), 3U);
  EXPECT_NE(to_text(told).find("none was faster"), std::string::npos);
}

TEST(Explanation, AKernelThatItsConfirmationRefused_SaysWhy) {
  RunRecord record = two_rounds();
  model::Evaluation refused;
  refused.status = model::Status::incorrect_numerical;
  refused.reason = "output y is off";
  refused.source_id = id_of("int slow;");
  record.steps.push_back(step("confirm:" + id_of("int slow;"), {}, refused));

  const Explanation told = explain(story_of(record));

  EXPECT_EQ(told.steps[1].beside[0].refused, "INCORRECT_NUMERICAL: output y is off");
  EXPECT_NE(to_text(told).find("REFUSED when it was confirmed: INCORRECT_NUMERICAL: output y is off"),
            std::string::npos);
  EXPECT_EQ(told.steps[0].beside.size(), 0U);
}

TEST(Explanation, AKernelThatWasRewritten_IsShownWithoutItsParentsLines) {
  std::string old;
  for (int line = 0; line < 30; ++line) old += "int old_" + std::to_string(line) + ";\n";
  RunRecord record = two_rounds();
  record.run.task.baseline = solution(old);

  const std::string told = to_text(explain(story_of(record)));

  EXPECT_NE(told.find("of whose parent hardly a line is left"), std::string::npos);
  EXPECT_NE(told.find("    int second;"), std::string::npos);
  EXPECT_EQ(told.find("old_7"), std::string::npos);
}

TEST(Explanation, MarkdownOfOthers_EndsNoBlockAndMakesNoHeading) {
  RunRecord record = two_rounds();
  const std::string hostile = "int third; // ```\n# taken\n````";
  record.run.task.baseline = solution("int base;\n");
  for (journal::StepRecord& one : record.steps) {
    if (one.key.identity == kSecond) one.output = answered(solution(hostile));
  }
  record.steps[11].output = race(hostile, "m3", 1.5, model::Verdict::faster);
  record.steps[9].key.kind = "build:" + id_of(hostile);
  record.run.result = Json{{"solution_id", id_of(hostile)}};

  const std::string markdown = to_markdown(explain(story_of(record)));

  EXPECT_NE(markdown.find("`````diff\n"), std::string::npos) << "a fence longer than any inside";
  EXPECT_EQ(markdown.find("\n# taken"), std::string::npos) << "it stands in the diff, behind a plus";
}

}  // namespace
}  // namespace accelopt::report

// SPDX-License-Identifier: Apache-2.0
// A run and its knowledge store: what is recalled, what is given back, and what a failing store costs.
#include "search/recollection.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "memory/knowledge_file.hpp"
#include "memory/sanitation.hpp"
#include "search/fake_run.hpp"

namespace accelopt::search {
namespace {

class RecollectionTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-recollection");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_.emplace(std::move(*folder));
  }

  std::unique_ptr<memory::KnowledgeStore> store() {
    return std::move(*memory::open_knowledge_file(folder_->path() / "k.db"));
  }

  /// Searches with the store, which answers `answers` times and is away after that.
  base::Result<RunReport> search(FakeRun& run, int answers = 1 << 20) {
    answers_ = answers;
    memory::Knowledge knowledge({.place = "k",
                                 .open = [this]() -> base::Result<std::unique_ptr<memory::KnowledgeStore>> {
                                   if (answers_-- <= 0) return base::fail(ErrorCode::unavailable, "k: away");
                                   return store();
                                 },
                                 .journal = run.journal.get(),
                                 .notice = [this](const std::string& text) { notices_.push_back(text); }});
    RunPorts ports{run.team.team(), &run.evaluator, run.journal.get(), &run.events};
    ports.knowledge = &knowledge;
    const Stops stops{run.wind_down.get_token(), run.abort.get_token()};
    return run_search(run.request, ports, stops);
  }

  std::vector<std::string> notices_;
  int answers_ = 0;

 private:
  std::optional<base::TemporaryFolder> folder_;
};

model::Experience known_before() {
  model::Experience it;
  it.title = "Known before";
  it.strategy = "Do it";
  it.effect = model::Interval{3, 2.9, 3.1};
  it.language = "cpp";
  it.target = small_task().target;
  return it;
}

TEST_F(RecollectionTest, PlannersAreShownTheStoreAndItsExperiencesGetCredit) {
  const std::vector<model::Experience> known{known_before()};
  ASSERT_TRUE(store()->insert(known, memory::Forgotten::stays));
  FakeRun run;
  run.team.on_execute = double_or_halve;
  const auto report = search(run);
  ASSERT_TRUE(report) << report.error().message;
  const std::string id = memory::made_fit(known[0]).experience.id;
  for (const auto& question : run.team.plans) {
    ASSERT_FALSE(question.memory.empty());
    EXPECT_EQ(question.memory.back().id, id) << "after the run's own";
  }
  EXPECT_EQ(store()->get(id)->experience.credit.shown, 3);  // one kernel in the first round, two in the second
  EXPECT_GT(store()->stats()->experiences, 1);
  EXPECT_GT(store()->stats()->solutions, 1);
}

TEST_F(RecollectionTest, AReplayNeedsNoStore) {
  const std::vector<model::Experience> known{known_before()};
  ASSERT_TRUE(store()->insert(known, memory::Forgotten::stays));
  FakeRun run;
  run.team.on_execute = double_or_halve;
  const auto report = search(run);
  ASSERT_TRUE(report) << report.error().message;
  run.request.missing = Missing::leave_it;
  const auto replayed = run.go();
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(replayed->result.decision_hash, report->result.decision_hash);
  EXPECT_EQ(replayed->steps_absent, 0);
}

TEST_F(RecollectionTest, AStoreThatGoesAwayInMidRunChangesNothingAndGetsAllLater) {
  FakeRun whole;
  whole.team.on_execute = double_or_halve;
  const auto without = whole.go();
  ASSERT_TRUE(without) << without.error().message;
  FakeRun run;
  run.team.on_execute = double_or_halve;
  const auto report = search(run, 0);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.decision_hash, without->result.decision_hash);
  EXPECT_EQ(notices_.size(), 1U);
  EXPECT_EQ(store()->stats()->experiences, 0);
  // Brought back: the same run once more asks nothing and measures nothing, and all arrives once.
  const auto asked = run.team.plans.size();
  const auto again = search(run);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(run.team.plans.size(), asked);
  EXPECT_EQ(again->result.decision_hash, report->result.decision_hash);
  EXPECT_EQ(store()->stats()->experiences, report->result.experiences);
}

TEST(CreditOf, WhatFailsRefutesAndWhatTheRecipesOnlyWeighedWasNotShown) {
  model::Experience named = known_before();
  named.id = "e1";
  model::Experience weighed = named;
  weighed.id = "e2";
  weighed.title += " otherwise";
  AttemptOutcome failed;
  failed.identity = {.iteration = 0, .parent = 0, .plan = 0, .attempt = 0};
  failed.plan = {"Plan", {"e1"}, "text"};
  failed.candidate.emplace();
  failed.candidate->evaluation.status = model::Status::incorrect_numerical;
  const auto events = credit_of("r", 0, {failed}, {{named, weighed}}, Showing::weighed);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, memory::CreditEvent::Kind::shown);
  EXPECT_EQ(events[1].kind, memory::CreditEvent::Kind::refuted);
  EXPECT_EQ(events[0].experience, events[1].experience);
  EXPECT_EQ(credit_of("r", 0, {failed}, {{named, weighed}}, Showing::read).size(), 3U) << "a model reads all";
}

TEST(CreditOf, TheParentsOwnProgramRefutesNothing) {
  model::Experience it = known_before();
  it.id = "e1";
  AttemptOutcome given_back;
  given_back.identity = {.iteration = 0, .parent = 0, .plan = 0, .attempt = 0};
  given_back.plan = {"Plan", {"e1"}, "text"};
  given_back.duplicate = true;
  given_back.candidate.emplace();
  given_back.candidate->parent_source_id = "parent";
  given_back.candidate->evaluation.duplicate_of = "parent";
  given_back.candidate->evaluation.status = model::Status::passed;
  given_back.candidate->evaluation.ratio = model::Interval{1, 1, 1};
  EXPECT_EQ(credit_of("r", 0, {given_back}, {{it}}).size(), 1U) << "it was shown";
  const auto of_recipes = credit_of("r", 0, {given_back}, {{it}}, Showing::weighed);
  ASSERT_EQ(of_recipes.size(), 2U) << "their change was made";
  EXPECT_EQ(of_recipes[1].kind, memory::CreditEvent::Kind::refuted);
}

TEST(CreditOf, SpeaksOnlyOfWhatWasMeasured) {
  model::Experience it = known_before();
  it.id = "e1";
  it.run = "r";
  const auto outcome = [&](int plan, std::optional<model::Verdict> verdict) {
    AttemptOutcome made;
    made.identity = {.iteration = 0, .parent = 0, .plan = plan, .attempt = 0};
    made.plan = {"Plan", {"e1", "unknown"}, "text"};
    if (!verdict) return made;
    made.candidate.emplace();
    made.candidate->evaluation.status = model::Status::passed;
    made.candidate->evaluation.verdict = *verdict;
    made.candidate->evaluation.ratio = model::Interval{1.2, 1.1, 1.3};
    return made;
  };
  std::vector<AttemptOutcome> outcomes{outcome(0, model::Verdict::faster), outcome(1, model::Verdict::tie),
                                       outcome(2, std::nullopt), outcome(3, model::Verdict::none)};
  outcomes[3].candidate->evaluation.ratio.reset();  // known from a race against another parent
  const auto events = credit_of("r", 0, outcomes, {{it}});
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].kind, memory::CreditEvent::Kind::shown);
  EXPECT_EQ(events[1].kind, memory::CreditEvent::Kind::confirmed);
  EXPECT_EQ(events[2].kind, memory::CreditEvent::Kind::refuted);
  EXPECT_EQ(events[1].experience, memory::made_fit(it).experience.id);
}

TEST(CreditOf, ARecalledExperienceKeepsItsIdOfAnyForm) {
  model::Experience number = known_before();
  number.id = "7";
  model::Experience name = known_before();
  name.id = "team-lesson-1";
  name.run = "another run";
  const auto events = credit_of("r", 0, {}, {{number, name}});
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].experience, "7");
  EXPECT_EQ(events[1].experience, "team-lesson-1");
}

}  // namespace
}  // namespace accelopt::search

// SPDX-License-Identifier: Apache-2.0
// What is read from a workspace: what a run did, how it stands, and what nothing needs.
#include <gtest/gtest.h>

#include "app/best.hpp"
#include "app/garbage.hpp"
#include "app/run_detail.hpp"
#include "app/run_progress.hpp"
#include "app/run_state.hpp"
#include "app/run_story.hpp"
#include "app/watch.hpp"
#include "app/workspace.hpp"
#include "base/files.hpp"
#include "journal/control.hpp"
#include "report/event_json.hpp"

namespace accelopt::app {
namespace {

using base::Json;

class RunRecord : public testing::Test {
 protected:
  void SetUp() override {
    journal_ = open_workspace(workspace(), journal::Access::read_write).value();
    journal::RunInfo run;
    run.id = "20261121-101500-3fa9c1";
    run.task_name = "scale";
    run.created = "2026-11-21T10:15:00Z";
    ASSERT_TRUE(journal_->create_run(run));
  }

  [[nodiscard]] std::filesystem::path workspace() const { return folder_.path() / ".accelopt"; }

  void record(const model::Identity& identity, const std::string& kind, const Json& output, int ms = 0) {
    journal::StepRecord step;
    step.key = {identity, kind};
    step.input_hash = kind;
    step.output = output;
    step.duration = std::chrono::milliseconds(ms);
    ASSERT_TRUE(journal_->record_step("20261121-101500-3fa9c1", step));
  }

  [[nodiscard]] RunDetail detail() const { return RunDetail::read(workspace(), "last").value(); }

  base::TemporaryFolder folder_ = base::TemporaryFolder::create("run-record").value();
  std::unique_ptr<journal::Journal> journal_;
};

TEST_F(RunRecord, Plans_OneQuestionForSeveral_ListsEach) {
  record({0, 0}, "plans", {{"answered", true}, {"author", "m"}, {"value", {{{"title", "tile"}}, {{"title", "fuse"}}}}});
  record({1, 0, 0}, "plan", {{"answered", false}, {"lost", "no answer in time"}});

  const auto plans = detail().plans();

  ASSERT_EQ(plans.size(), 4U);
  EXPECT_EQ(plans[0].text, "(one question, plans given: 2)");
  EXPECT_EQ(plans[2].id, "i0.b0.p1");
  EXPECT_EQ(plans[2].text, "fuse");
  EXPECT_EQ(plans[2].author, "m");
  EXPECT_EQ(plans[3].text, "no answer: no answer in time");
}

TEST_F(RunRecord, Races_AreTriagesAndConfirmations) {
  model::Evaluation evaluation;
  evaluation.status = model::Status::passed;
  evaluation.kind = model::EvaluationKind::triage;
  evaluation.decided_by = model::DecidedBy::futility;
  record({0, 0, 0, 0, 0}, "build:abc", {{"built", true}});
  record({0, 0, 0, 0, 0}, "triage:abc", evaluation);
  record({}, "confirm:abc", evaluation);

  const auto races = detail().races();

  ASSERT_EQ(races.size(), 2U);
  EXPECT_EQ(races[0].step, "triage:abc");
  EXPECT_EQ(races[0].kind, model::StepKind::triage);
  EXPECT_EQ(races[0].evaluation.decided_by, model::DecidedBy::futility);
  EXPECT_EQ(races[1].kind, model::StepKind::confirm);
}

TEST_F(RunRecord, Times_LeaveMarksOut) {
  record({}, "session", {});
  record({0}, "build:a", {{"built", true}}, 500);
  record({0}, "build:b", {{"built", true}}, 250);

  const auto times = detail().times();

  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].kind, "build");
  EXPECT_EQ(times[0].count, 2);
  EXPECT_DOUBLE_EQ(times[0].seconds, 0.75);
}

TEST_F(RunRecord, Candidate_ByIdentity_IsItsSource) {
  model::Solution solution;
  solution.sources = {{"kernel.cpp", "int x;"}};
  record({0, 0, 0, 0, 0}, "execute", {{"answered", true}, {"value", solution}});

  EXPECT_EQ(model::main_text(detail().candidate("i0.b0.p0.a0.f0").value()), "int x;");
  EXPECT_EQ(detail().candidate("i9.b0.p0.a0.f0").error().code, base::ErrorCode::not_found);
}

TEST_F(RunRecord, Decisions_BeforeTheEnd_AreNotThere) {
  EXPECT_EQ(detail().decisions().error().code, base::ErrorCode::not_found);
  record({}, "decisions", Json::array({1, 2}));
  EXPECT_EQ(detail().decisions().value(), Json::array({1, 2}));
}

/// Keeps what is told.
class Told final : public WatchSink {
 public:
  base::Result<void> on(const journal::EventLine& event) override {
    events.push_back(event.text);
    return {};
  }
  void catch_up() override { ++caught_up; }
  void note(const std::string& text) override { notes.push_back(text); }

  std::vector<std::string> events;
  std::vector<std::string> notes;
  int caught_up = 0;
};

TEST_F(RunRecord, Watch_EndedRun_TellsItsEventsAndReturns) {
  const auto control = journal::open_control(workspace(), journal::Access::read_write).value();
  const journal::Process self = journal::this_process();
  journal::Session session{.pid = self.pid, .host = self.host, .born = self.born, .started_ms = 1000, .beat_ms = 1000};
  session.number = control->begin_session("20261121-101500-3fa9c1", session).value();
  session.ended = true;
  ASSERT_TRUE(control->beat(session, {{1, 900, "of an earlier session"}, {2, 1100, "{}"}}));
  ASSERT_TRUE(journal_->finish_run("20261121-101500-3fa9c1", model::RunStatus::done, std::nullopt, ""));

  auto run = WatchedRun::open(workspace(), "").value();
  Told told;
  ASSERT_TRUE(run.follow(told, {}));

  EXPECT_EQ(told.events, std::vector<std::string>{"{}"});
  EXPECT_EQ(told.caught_up, 1);
  EXPECT_TRUE(told.notes.empty());
  EXPECT_EQ(run.state().status, model::RunStatus::done);
}

TEST_F(RunRecord, Progress_ProcessStillCloses_HasNotEnded) {
  const auto control = journal::open_control(workspace(), journal::Access::read_write).value();
  const journal::Process self = journal::this_process();
  journal::Session session{.pid = self.pid, .host = self.host, .born = self.born, .started_ms = 1000, .beat_ms = 1000};
  session.number = control->begin_session("20261121-101500-3fa9c1", session).value();
  ASSERT_TRUE(journal_->finish_run("20261121-101500-3fa9c1", model::RunStatus::interrupted, std::nullopt, ""));
  const auto progress = [&] { return read_progress(workspace(), "").value(); };
  EXPECT_EQ(progress().state.status, model::RunStatus::interrupted);
  EXPECT_FALSE(progress().ended()) << "to resume it would be refused";

  session.ended = true;
  ASSERT_TRUE(control->beat(session, {}));
  EXPECT_TRUE(progress().ended());
}

TEST_F(RunRecord, Progress_TellsTheLastAnswerThatCouldNotBeUsed) {
  const std::string id = "20261121-101500-3fa9c1";
  const auto control = journal::open_control(workspace(), journal::Access::read_write).value();
  journal::Session session;
  session.started_ms = session.beat_ms = 1000;
  session.ended = true;
  session.number = control->begin_session(id, session).value();
  const auto line = [](const char* note) {
    return journal::EventLine{
        0, 1000,
        base::canonical(report::event_json(model::AttemptMoved{
            .identity = {0, 0, 1, 0, 0}, .state = model::AttemptState::done, .title = {}, .ratio = {}, .note = note}))};
  };
  ASSERT_TRUE(control->beat(session, {line("no answer: it holds no kernel"), line(model::kKnownAlready)}));

  const RunProgress progress = read_progress(workspace(), id).value();

  EXPECT_EQ(progress.refused, "i0.b0.p1.a0.f0: no answer: it holds no kernel");
  EXPECT_EQ(to_json(progress)["refused"], progress.refused);
}

TEST_F(RunRecord, ARunWithoutItsProcess_IsDeadWhereverItIsRead) {
  const std::string id = "20261121-101500-3fa9c1";
  const auto control = journal::open_control(workspace(), journal::Access::read_write).value();
  const journal::Process self = journal::this_process();
  journal::Session session{.pid = self.pid, .host = self.host, .born = self.born, .started_ms = 1000, .beat_ms = 1000};
  session.number = control->begin_session(id, session).value();
  EXPECT_EQ(find_run(*journal_, id)->status, model::RunStatus::running);

  session.ended = true;
  ASSERT_TRUE(control->beat(session, {}));
  EXPECT_EQ(find_run(*journal_, id)->status, model::RunStatus::dead);
  EXPECT_EQ(RunDetail::read(workspace(), id)->run().status, model::RunStatus::dead);
  EXPECT_EQ(read_run_story(workspace(), id)->run.status, model::RunStatus::dead);
  EXPECT_NE(find_winner(*journal_, id).error().message.find("has not ended (dead)"), std::string::npos);

  ASSERT_TRUE(journal_->finish_run(id, model::RunStatus::done, std::nullopt, ""));
  EXPECT_EQ(find_run(*journal_, id)->status, model::RunStatus::done);
}

TEST_F(RunRecord, FreeSpace_DryRun_RemovesNothing) {
  ASSERT_TRUE(journal_->finish_run("20261121-101500-3fa9c1", model::RunStatus::done, std::nullopt, ""));
  const std::string object = journal_->store("nobody refers to this").value();

  EXPECT_EQ(free_space(workspace(), journal::Sweep::look)->objects.objects, 1);
  EXPECT_TRUE(journal_->load(object));
  EXPECT_EQ(free_space(workspace(), journal::Sweep::remove)->objects.objects, 1);
  EXPECT_FALSE(journal_->load(object));
}

TEST_F(RunRecord, FreeSpace_ProjectFolder_TakesNamesOfOursAlone) {
  journal::RunInfo ended;
  ended.id = "20261121-101501-3fa9c2";
  ended.task_name = "scale";
  ended.created = "2026-11-21T10:15:01Z";
  ASSERT_TRUE(journal_->create_run(ended));
  for (const char* run : {"20261121-101500-3fa9c1", "20261121-101501-3fa9c2"})
    ASSERT_TRUE(journal_->finish_run(run, model::RunStatus::done, std::nullopt, ""));
  const std::vector<std::string> going = {
      "jobs/eval-20261121-101500-abcdef.out", "jobs/new_task-20261121-101500-abcdef.exit.new",
      "logs/20261121-101500-3fa9c1.err",      "logs/20261121-101501-3fa9c2.pid",
      "logs/20261121-101502-3fa9c3.exit",     "questions/20261121-101500-abcdef/planner.md"};
  const std::vector<std::string> staying = {"jobs/train.sh",
                                            "jobs/train-20261121.out",
                                            "jobs/eval-20261121-101500-abcdef.sh",
                                            "jobs/20261121-101500-abcdef.out",
                                            "logs/server.log",
                                            "logs/server.out",
                                            "logs/20261121-101500-3fa9c1.log",
                                            "logs/20261121-101500-3fa9c1",
                                            "logs/20261121-101500-3FA9C1.out",
                                            "logs/20261121-101500-3fa9c1.out/notes.md",
                                            "questions/notes.md",
                                            "questions/asked/planner.md",
                                            "questions/20261121-101500-abcde0"};
  for (const auto* names : {&going, &staying}) {
    for (const std::string& name : *names) {
      const std::filesystem::path path = workspace() / name;
      ASSERT_TRUE(base::make_folders(path.parent_path()));
      ASSERT_TRUE(base::write_file(path, "0\n"));
      std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
    }
  }
  std::filesystem::create_symlink(workspace() / "logs/server.log", workspace() / "logs/20261121-101503-3fa9c4.exit");
  std::vector<std::filesystem::path> expected;
  for (const std::string& name : going) expected.push_back(workspace() / name);
  expected.back() = expected.back().parent_path();

  const FreedSpace looked = free_space(workspace(), journal::Sweep::look).value();
  EXPECT_EQ(looked.leftovers, expected);
  EXPECT_EQ(to_json(looked)["leftover_paths"].size(), going.size());
  EXPECT_EQ(to_json(looked)["leftovers"], going.size());
  EXPECT_EQ(free_space(workspace(), journal::Sweep::remove).value().leftovers, expected);

  for (const std::string& name : going) EXPECT_FALSE(std::filesystem::exists(workspace() / name)) << name;
  EXPECT_TRUE(std::filesystem::is_symlink(workspace() / "logs/20261121-101503-3fa9c4.exit"));
  for (const std::string& name : staying) EXPECT_TRUE(std::filesystem::exists(workspace() / name)) << name;
}

TEST_F(RunRecord, FreeSpace_NoWorkspace_IsNotFound) {
  EXPECT_EQ(free_space(folder_.path() / "nowhere", journal::Sweep::look).error().code, base::ErrorCode::not_found);
}

}  // namespace
}  // namespace accelopt::app

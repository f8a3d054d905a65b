// SPDX-License-Identifier: Apache-2.0
#include "journal/control.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "journal/garbage.hpp"
#include "journal/samples.hpp"

namespace accelopt::journal {
namespace {

using base::ErrorCode;
using base::Json;

class ControlTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.emplace(std::move(*base::TemporaryFolder::create("accelopt-control")));
    journal_ = std::move(*open_journal(workspace()));
    ASSERT_TRUE(journal_->create_run(sample_run("r1")));
    ASSERT_TRUE(journal_->create_run(sample_run("r2")));
    control_ = std::move(*open_control(workspace(), Access::read_write));
  }

  [[nodiscard]] std::filesystem::path workspace() const { return folder_->path() / "w"; }

  static Session of_this_process() {
    const Process process = this_process();
    return {
        .pid = process.pid, .host = process.host, .born = process.born, .started_ms = unix_ms(), .beat_ms = unix_ms()};
  }

  Session begin(const std::string& run) {
    Session session = of_this_process();
    const auto number = control_->begin_session(run, session);
    EXPECT_TRUE(number) << number.error().message;
    session.number = number.value_or(0);
    return session;
  }

  void end(Session session) {
    session.ended = true;
    EXPECT_TRUE(control_->beat(session, {}));
  }

  void sql(const char* statement) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open((workspace() / "accelopt.db").c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, statement, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  std::optional<base::TemporaryFolder> folder_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Control> control_;
};

TEST_F(ControlTest, ARunWhoseStartFailedIsDiscardedAndNoOther) {
  Session session = begin("r1");
  ASSERT_TRUE(control_->beat(session, {{0, 5, "a"}}));
  EXPECT_EQ(control_->discard_unbegun("r1").value_or(true), false) << "another process may have taken it over";
  session.ended = true;
  ASSERT_TRUE(control_->beat(session, {}));
  ASSERT_TRUE(journal_->record_step("r1", sample_step(-1, "estimate", "in", "x")));
  ASSERT_TRUE(journal_->record_step("r1", sample_step(-1, "session:1", "in", "x")));
  ASSERT_TRUE(journal_->record_step("r2", sample_step(-1, "open", "in", "x")));
  const auto gone = control_->discard_unbegun("r1");
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_TRUE(*gone);
  EXPECT_EQ(control_->discard_unbegun("r2").value_or(true), false) << "something is on record";
  EXPECT_EQ(control_->discard_unbegun("r1").error().code, ErrorCode::not_found);
  const auto left = journal_->list_runs();
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ(left->front().id, "r2");
  EXPECT_EQ(journal_->steps("r2")->size(), 1U);
  EXPECT_TRUE(control_->events("r1", 0, 10)->empty());
}

TEST_F(ControlTest, EventsAreToldToWhoeverAsksInTheirOrderAndByRun) {
  const Session one = begin("r1");
  const Session two = begin("r2");
  ASSERT_TRUE(control_->beat(one, {{0, 5, "a"}, {0, 6, "b"}}));
  ASSERT_TRUE(control_->beat(two, {{0, 7, "of another run"}}));
  ASSERT_TRUE(control_->beat(one, {{0, 8, "c"}}));
  const auto reader = open_control(workspace(), Access::read_only);
  ASSERT_TRUE(reader) << reader.error().message;

  const auto first = (*reader)->events("r1", 0, 2);

  ASSERT_TRUE(first) << first.error().message;
  ASSERT_EQ(first->size(), 2U);
  EXPECT_EQ(first->at(0).text, "a");
  EXPECT_EQ(first->at(1).at_ms, 6);
  const auto rest = (*reader)->events("r1", first->at(1).number, 100);
  ASSERT_EQ(rest->size(), 1U);
  EXPECT_EQ(rest->at(0).text, "c");
}

TEST_F(ControlTest, ARequestReachesItsRunAloneAndNoLaterSession) {
  const Session one = begin("r1");
  const Session two = begin("r2");
  ASSERT_TRUE(control_->ask("r1", Request::stop));
  EXPECT_EQ(*control_->beat(one, {}), Request::stop);
  EXPECT_EQ(*control_->beat(two, {}), Request::none);
  ASSERT_TRUE(control_->ask("r1", Request::stop_now));
  EXPECT_EQ(*control_->beat(one, {}), Request::stop_now);
  end(one);
  const Session resumed = begin("r1");
  EXPECT_EQ(*control_->beat(resumed, {}), Request::none)
      << "what an earlier session was asked is not asked of this one";
  EXPECT_EQ(control_->ask("r9", Request::stop).error().code, ErrorCode::not_found);
}

TEST_F(ControlTest, ARequestBeforeTheFirstSessionIsHeard) {
  ASSERT_TRUE(control_->ask("r1", Request::stop_now));
  EXPECT_EQ(*control_->beat(begin("r1"), {}), Request::stop_now);
  EXPECT_EQ(*control_->beat(begin("r2"), {}), Request::none);
}

TEST_F(ControlTest, ASecondSessionIsRefusedWhileTheFirstGoesOn) {
  const Session first = begin("r1");
  ASSERT_TRUE(control_->ask("r1", Request::stop));

  const auto second = control_->begin_session("r1", of_this_process());

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  EXPECT_EQ(second.error().message, "run r1 goes on in process " + std::to_string(::getpid()) +
                                        "; see it with: accelopt watch r1, or end it with: accelopt stop r1");
  EXPECT_EQ(control_->sessions("r1")->size(), 1U);
  EXPECT_EQ(*control_->beat(first, {}), Request::stop) << "what was asked of the first is still asked of it";
  begin("r2");
  end(first);
  begin("r1");
}

TEST_F(ControlTest, ASessionWhoseProcessIsGoneKeepsNobodyOut) {
  Session session = of_this_process();
  session.born = "1";  // the pid belongs to a later process
  ASSERT_TRUE(control_->begin_session("r1", session));
  session = of_this_process();
  session.host = "another machine";
  session.beat_ms -= 60'000;
  ASSERT_TRUE(control_->begin_session("r1", session)) << "the first one's process is dead";
  session.beat_ms = unix_ms();
  ASSERT_TRUE(control_->begin_session("r1", session)) << "the second one has been silent for a minute";

  const auto fourth = control_->begin_session("r1", of_this_process());

  ASSERT_FALSE(fourth);
  EXPECT_NE(fourth.error().message.find("of another machine or container"), std::string::npos)
      << fourth.error().message;
}

TEST_F(ControlTest, OfSessionsThatBeginTogetherOneDoes) {
  constexpr int kThreads = 4;
  std::latch all_there(kThreads);
  std::atomic<int> begun = 0;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        const auto own = open_control(workspace(), Access::read_write);
        EXPECT_TRUE(own) << own.error().message;
        all_there.arrive_and_wait();
        if (!own) return;
        const auto number = (*own)->begin_session("r1", of_this_process());
        if (number) {
          ++begun;
        } else {
          EXPECT_EQ(number.error().code, ErrorCode::unavailable) << number.error().message;
          ++refused;
        }
      });
    }
  }
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(refused, kThreads - 1);
  EXPECT_EQ(control_->sessions("r1")->size(), 1U);
}

TEST_F(ControlTest, WhatARunHasSpentIsTheSumOverItsSessions) {
  Session session = begin("r1");
  session.wall_seconds = 12.5;
  session.device_seconds = 3.25;
  end(session);
  session = begin("r1");
  session.wall_seconds = 1;
  ASSERT_TRUE(control_->beat(session, {}));
  ASSERT_TRUE(journal_->record_step("r1", sample_step(0, "chat:planner i0 try0", "a", "text")));
  ASSERT_TRUE(journal_->record_step("r1", sample_step(1, "chat:planner i0 try1", "b", "text")));
  ASSERT_TRUE(journal_->record_step("r1", sample_step(0, "plan", "c", "text")));  // the same calls once more
  ASSERT_TRUE(journal_->record_step("r1", sample_step(0, "build:abc", "d", "text")));

  const auto spent = control_->spent("r1");

  ASSERT_TRUE(spent) << spent.error().message;
  EXPECT_DOUBLE_EQ(spent->wall_seconds, 13.5);
  EXPECT_DOUBLE_EQ(spent->device_seconds, 3.25);
  EXPECT_EQ(spent->usage.calls, 2);
  EXPECT_EQ(spent->usage.tokens(), 2400);
  EXPECT_DOUBLE_EQ(*spent->usage.total_usd(), 0.5);
  EXPECT_EQ(spent->evaluations, 1);
  EXPECT_EQ(control_->spent("r2")->usage.calls, 0);
}

TEST_F(ControlTest, QuestionsWithoutAnAnswer_AreSpentToo) {
  ASSERT_TRUE(journal_->record_step("r1", sample_step(0, "chat:planner i0 try0", "a", "text")));
  ASSERT_TRUE(journal_->record_step("r1", sample_step(0, "unanswered:planner i0 try0 @1-1", "b", {})));
  ASSERT_TRUE(journal_->record_step("r1", sample_step(0, "unanswered:planner i0 try0 @2-1", "c", {})));
  ASSERT_TRUE(journal_->record_step("r1", sample_step(0, "unanswered:reviewer correctness @3-1", "d", {})));

  const auto spent = control_->spent("r1");

  ASSERT_TRUE(spent) << spent.error().message;
  EXPECT_EQ(spent->usage.calls, 4);
  EXPECT_DOUBLE_EQ(*spent->usage.total_usd(), 1.0);
  ASSERT_EQ(spent->unanswered.size(), 2U);
  EXPECT_EQ(spent->unanswered.at("planner").calls, 2);
  EXPECT_EQ(spent->unanswered.at("reviewer").calls, 1);
}

TEST_F(ControlTest, ASessionIsAliveWhileItsProcessIs) {
  Session session = begin("r1");
  EXPECT_EQ(is_alive(session), Alive::yes);
  session.born = "1";  // the pid belongs to a later process
  EXPECT_EQ(is_alive(session), Alive::no);
  session.host = "another machine";
  EXPECT_EQ(is_alive(session), Alive::yes);
  session.beat_ms -= 60'000;
  EXPECT_EQ(is_alive(session), Alive::unknown);
  session.beat_ms -= 3'600'000;
  EXPECT_EQ(is_alive(session), Alive::no) << "nobody is silent for an hour";
  session.beat_ms = unix_ms() + 10'000;
  EXPECT_EQ(is_alive(session), Alive::yes) << "clocks differ a little";
  session.beat_ms = unix_ms() + 60'000;
  EXPECT_EQ(is_alive(session), Alive::unknown) << "its clock was ahead";
  session.ended = true;
  EXPECT_EQ(is_alive(session), Alive::no);
  ASSERT_TRUE(control_->beat(session, {}));
  const auto sessions = control_->sessions("r1");
  ASSERT_EQ(sessions->size(), 1U);
  EXPECT_TRUE(sessions->front().ended);
  EXPECT_EQ(sessions->front().pid, ::getpid());
}

void at_once(std::chrono::milliseconds /*time*/) {}

TEST_F(ControlTest, SignOfLifeToCome_WhetherMoreComeTells) {
  Session session = begin("r1");
  sql("UPDATE sessions SET host = 'another machine', beat_ms = beat_ms + 86400000");
  session = control_->sessions("r1")->front();
  const Wait beats = [&](std::chrono::milliseconds) {
    ++session.beat_ms;
    EXPECT_TRUE(control_->beat(session, {}));
  };
  EXPECT_EQ(look_for_life(*control_, "r1", beats).error().code, ErrorCode::unavailable);
  const auto garbage = collect_garbage(workspace(), Sweep::remove, beats);
  ASSERT_FALSE(garbage);
  EXPECT_NE(garbage.error().message.find("r1 goes on in process"), std::string::npos) << garbage.error().message;

  EXPECT_TRUE(look_for_life(*control_, "r1", at_once)) << "it died while its clock was ahead";
  EXPECT_TRUE(collect_garbage(workspace(), Sweep::remove, at_once));
  begin("r1");
}

TEST_F(ControlTest, SessionThatALaterOneTookOver_IsToldSoAndTellsNothing) {
  const Session paused = begin("r1");
  sql("UPDATE sessions SET host = 'another machine', beat_ms = beat_ms - 60000");
  const Session later = begin("r1");
  EXPECT_EQ(*control_->beat(paused, {{0, 5, "of the paused one"}}), Request::taken_over);
  EXPECT_EQ(*control_->beat(later, {{0, 6, "a"}}), Request::none);
  ASSERT_EQ(control_->events("r1", 0, 10)->size(), 1U);
}

TEST_F(ControlTest, SilentSessionOfAnotherBoot_ResumedRunIsFreeOfIt) {
  Session crashed = begin("r1");
  sql("UPDATE sessions SET host = 'another boot', beat_ms = beat_ms - 60000");
  const auto held = collect_garbage(workspace(), Sweep::remove, at_once);
  ASSERT_FALSE(held) << "it may go on";
  EXPECT_NE(held.error().message.find("may go on in process"), std::string::npos) << held.error().message;
  end(begin("r1"));
  EXPECT_TRUE(collect_garbage(workspace(), Sweep::remove, at_once));
  const auto sessions = control_->sessions("r1");
  ASSERT_EQ(sessions->size(), 2U);
  EXPECT_TRUE(sessions->front().ended);
  // It was alive after all.
  crashed.beat_ms = unix_ms();
  ASSERT_TRUE(control_->beat(crashed, {}));
  EXPECT_FALSE(collect_garbage(workspace(), Sweep::remove, at_once));
}

TEST_F(ControlTest, SilentSessionsThatHoldNothing_GarbageGoes) {
  begin("r1");
  sql("UPDATE sessions SET host = 'another boot', beat_ms = beat_ms - 60000; UPDATE runs SET status = 'done'");
  EXPECT_TRUE(collect_garbage(workspace(), Sweep::remove, at_once)) << "its run has ended";
  sql("UPDATE sessions SET beat_ms = beat_ms - 3600000; UPDATE runs SET status = 'running'");
  EXPECT_TRUE(collect_garbage(workspace(), Sweep::remove, at_once)) << "it is dead";
}

TEST_F(ControlTest, AProcessThatEndedIsDeadBeforeItsParentLooks) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string born = this_process().born;
    ::_exit(::write(ends[1], born.data(), born.size()) > 0 ? 0 : 1);
  }
  ::close(ends[1]);
  char born[64] = {};
  ASSERT_GT(::read(ends[0], born, sizeof born - 1), 0);
  ::close(ends[0]);
  siginfo_t info = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  Session session = begin("r1");
  session.pid = child;
  session.born = born;
  EXPECT_EQ(is_alive(session), Alive::no) << "it is a zombie";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_F(ControlTest, AFactIsKeptAndReplaced) {
  EXPECT_EQ(*control_->fact("noise"), std::nullopt);
  ASSERT_TRUE(control_->set_fact("noise", {{"sd", 0.01}}));
  ASSERT_TRUE(control_->set_fact("noise", {{"sd", 0.02}}));
  EXPECT_EQ((*control_->fact("noise"))->at("sd"), 0.02);
}

TEST_F(ControlTest, OlderJournal_IsUpgradedWhenWritten) {
  control_.reset();
  journal_.reset();
  sql("DROP TABLE sessions; DROP TABLE requests; DROP TABLE events; DROP TABLE facts; DROP TABLE parcels; DROP "
      "TABLE suite_settings; DROP TABLE suite_entries; DROP TABLE suite_runs; DROP TABLE refactorings; DROP TABLE "
      "texts; DROP TABLE reviews; PRAGMA "
      "user_version = 1");
  {
    const auto reader = open_control(workspace(), Access::read_only);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_TRUE((*reader)->sessions("r1")->empty());
    EXPECT_TRUE((*reader)->events("r1", 0, 10)->empty());
    EXPECT_EQ(*(*reader)->fact("noise"), std::nullopt);
    EXPECT_EQ(*(*reader)->status("r1"), model::RunStatus::running);
  }
  ASSERT_TRUE(open_journal(workspace()));
  control_ = std::move(*open_control(workspace(), Access::read_write));
  begin("r1");
  EXPECT_EQ(control_->sessions("r1")->size(), 1U);
}

}  // namespace
}  // namespace accelopt::journal

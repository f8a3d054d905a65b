// SPDX-License-Identifier: Apache-2.0
#include "search/recorder.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/sqlite.hpp"
#include "journal/sqlite_journal.hpp"
#include "model/judges.hpp"
#include "search/asker.hpp"
#include "search/budgeted_chat.hpp"
#include "search/fake_iteration.hpp"
#include "search/journaled_chat.hpp"

namespace accelopt::search {
namespace {
struct Counted;
}
template <>
inline constexpr bool kReadsBackEqual<Counted> = true;
namespace {

using base::Json;
using base::Outcome;

/// What a record does not tell of where it comes from.
struct Counted {
  int number = 0;
  std::string origin = "read";
};
void to_json(Json& out, const Counted& value) {
  out = {{"number", value.number}};
}
void from_json(const Json& in, Counted& value) {
  in.at("number").get_to(value.number);
}

/// Steps of the kind "build" that give the number 1, 2, ... of their making.
class RecorderTest : public testing::Test {
 protected:
  Outcome<int> build(Recorder& recorder, const Json& input) {
    return recorder.once<int>(kBuild, input, [&]() -> Outcome<int> { return ++made_; });
  }

  const journal::StepKey kBuild{{.iteration = 0}, "build"};
  std::unique_ptr<journal::Journal> journal_ = journal_of_one_run();
  Recorder recorder_{*journal_, "r1", Missing::do_it};
  int made_ = 0;
};

TEST_F(RecorderTest, EqualInput_IsMadeOnce) {
  EXPECT_EQ(build(recorder_, {{"source", "a"}}), 1);
  EXPECT_EQ(build(recorder_, {{"source", "a"}}), 1);
  Recorder resumed(*journal_, "r1", Missing::do_it);
  EXPECT_EQ(build(resumed, {{"source", "a"}}), 1);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(recorder_.found(), 1);
  EXPECT_EQ(recorder_.absent(), 1);
  EXPECT_EQ(resumed.found(), 1);
}

TEST_F(RecorderTest, OtherInput_IsMadeAnew) {
  EXPECT_EQ(build(recorder_, {{"source", "a"}}), 1);
  EXPECT_EQ(build(recorder_, {{"source", "b"}}), 2);
  EXPECT_TRUE(*recorder_.on_record(kBuild, {{"source", "b"}}));
  EXPECT_FALSE(*recorder_.on_record(kBuild, {{"source", "c"}}));
}

TEST_F(RecorderTest, Error_IsNotRecorded) {
  const auto failed = recorder_.once<int>(
      kBuild, {}, []() -> Outcome<int> { return base::fail(ErrorCode::unavailable, "the worker died"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::unavailable);
  EXPECT_EQ(build(recorder_, {}), 1);
}

TEST_F(RecorderTest, ReplayWithoutStep_MakesNothing) {
  Recorder replay(*journal_, "r1", Missing::leave_it);
  const auto absent = build(replay, {});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().why, base::Why::not_on_record);
  EXPECT_NE(absent.error().message.find("build i0"), std::string::npos) << absent.error().message;
  EXPECT_EQ(made_, 0);
  EXPECT_EQ(replay.absent(), 1);
}

TEST_F(RecorderTest, ForeignOutput_IsNamedAsSuch) {
  ASSERT_TRUE(recorder_.record(kBuild, {}, "not a number"));
  const auto read = build(recorder_, {});
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("journal step build"), std::string::npos) << read.error().message;
}

TEST_F(RecorderTest, RecordedChats_AreSummedByLabel) {
  for (const char* label : {"planner i0 try0", "planner i0 try1", "planner i1 try0", "executor i0 try0"}) {
    const auto reply = recorder_.once<Json>({{}, std::string("chat:") + label}, {}, []() -> Outcome<Json> {
      return Json{{"usage", model::Usage{.calls = 1, .input_tokens = 100}}};
    });
    ASSERT_TRUE(reply);
  }
  const auto usage = recorder_.usage_of_chats("planner i0 ");
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->calls, 2);
  EXPECT_EQ(usage->input_tokens, 200);
}

TEST_F(RecorderTest, WhatReadsBackEqual_IsUsedAsItWasMade) {
  const auto made = recorder_.once<Counted>(kBuild, {}, []() -> Outcome<Counted> { return Counted{1, "made"}; });
  EXPECT_EQ(made->origin, "made");
  Recorder resumed(*journal_, "r1", Missing::do_it);
  const auto read = resumed.once<Counted>(kBuild, {}, []() -> Outcome<Counted> { return Counted{2, "made"}; });
  EXPECT_EQ(read->number, 1);
  EXPECT_EQ(read->origin, "read");
}

/// Gives no answer, and says what that took.
class SilentModel final : public llm::ChatModel {
 public:
  Outcome<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token) override {
    if (used.tokens() > 0) request.on_unanswered(used);
    return base::fail(ErrorCode::unavailable, "it broke off");
  }
  [[nodiscard]] std::string name() const override { return "silent"; }

  model::Usage used;
};

/// Tries for as long as it may; each try costs a million tokens.
class BrokenModel final : public llm::ChatModel {
 public:
  Outcome<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token) override {
    const model::Usage used{.input_tokens = 1'000'000};
    do ++tries;
    while (request.may_try_again(used));
    return base::fail(ErrorCode::unavailable, "it broke off");
  }
  [[nodiscard]] std::string name() const override { return "broken"; }

  int tries = 0;
};

TEST(BudgetedChat, TriesThatBreakOff_StayWithinTheBudget) {
  BrokenModel model;
  Budget budget({.max_usd = 5.0});
  const ChatTerms terms{.price = llm::Price{2, 2, 4}, .max_output_tokens = 10, .keep_unanswered = {}};
  llm::ChatRequest question;
  question.label = "planner i0.b0.p0 try0";
  EXPECT_FALSE(make_budgeted_chat(model, terms, budget)->chat(question, {}));
  EXPECT_EQ(model.tries, 3) << "of $2 each; only the last exceeds $5";
}

TEST_F(RecorderTest, QuestionWithoutAnAnswer_IsPaidForInLaterSessions) {
  SilentModel model;
  model.used = {.input_tokens = 1'000'000, .estimated_calls = 3};
  Budget budget({.max_usd = 5.0});
  const auto chat = make_budgeted_chat(model,
                                       {.price = llm::Price{2, 2, 4},
                                        .max_output_tokens = 10,
                                        .keep_unanswered =
                                            [this](const llm::ChatRequest& request, const model::Usage& used) {
                                              return recorder_.record_unanswered(request.label, "silent", used);
                                            }},
                                       budget);
  llm::ChatRequest question;
  question.label = "planner i0.b0.p0 try0";
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(chat->chat(question, {}));
  EXPECT_DOUBLE_EQ(*budget.total().usd, 4);
  EXPECT_EQ(budget.by_role()["planner"].calls, 2);
  EXPECT_EQ(budget.by_role()["planner"].estimated_calls, 2);
  model.used = {};
  EXPECT_FALSE(chat->chat(question, {}));

  const auto steps = journal_->steps("r1");
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->size(), 2U) << "nothing was used the third time";
  journal::Spent before;
  for (const journal::StepRecord& step : *steps) {
    EXPECT_EQ(step.output, (Json{{"model", "silent"}}));
    before.unanswered[std::string(model::payer_of_step(step.key.kind))] += step.usage;
  }
  before.usage = before.unanswered["planner"];
  Budget resumed({.max_usd = 5.0}, std::chrono::steady_clock::now, before);
  EXPECT_DOUBLE_EQ(*resumed.by_role()["planner"].total_usd(), 4);
  EXPECT_FALSE(resumed.reserve({.usd = 1.5}, {}));
  EXPECT_EQ(resumed.ended_by(), model::EndReason::max_usd);
}

/// Looks, when it is asked, at what another process would find on record.
class LookingModel final : public llm::ChatModel {
 public:
  explicit LookingModel(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Outcome<llm::ChatReply> chat(const llm::ChatRequest&, std::stop_token) override {
    TRY_ASSIGN(const auto journal, journal::open_journal(folder_, journal::Access::read_only));
    TRY_ASSIGN(const auto steps, journal->steps("r1"));
    seen.push_back(steps.size());
    llm::ChatReply reply;
    reply.text = "answer";
    return reply;
  }
  [[nodiscard]] std::string name() const override { return "looking"; }

  std::vector<std::size_t> seen;

 private:
  std::filesystem::path folder_;
};

TEST(JournaledChat, ALostWrite_IsNoBadLuckOfAModel) {
  const auto folder = base::TemporaryFolder::create("accelopt-recorder");
  ASSERT_TRUE(folder);
  const auto journal = journal::open_sqlite_journal(folder->path(), {.busy_timeout = std::chrono::milliseconds(20)});
  ASSERT_TRUE(journal);
  journal::RunInfo run;
  run.id = "r1";
  ASSERT_TRUE((*journal)->create_run(run));
  const auto other =
      base::Database::open(folder->path() / "accelopt.db", base::OpenMode::create, std::chrono::milliseconds(20));
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->execute("BEGIN IMMEDIATE"));
  Recorder answers(**journal, "r1", Missing::do_it);
  Recorder builds(**journal, "r1", Missing::do_it);  // a run has several
  ASSERT_TRUE(builds.once<Counted>({{.iteration = 1}, "build"}, {}, []() -> Outcome<Counted> { return Counted{}; }));
  const auto told = builds.settle();
  ASSERT_FALSE(told);
  EXPECT_FALSE(is_bad_luck(told.error().code)) << told.error().message;
  ASSERT_TRUE((*other)->execute("ROLLBACK"));
  LookingModel model(folder->path());
  const auto reply = make_journaled_chat(model, answers)->chat({}, {});
  ASSERT_FALSE(reply);
  EXPECT_FALSE(is_bad_luck(reply.error().code));
  EXPECT_TRUE(model.seen.empty()) << "nothing is paid for";
  EXPECT_FALSE(answers.settle()) << "and the other one hears of it, too";
}

TEST(JournaledChat, WhatAQuestionRestsOn_IsOnRecordBeforeItIsAsked) {
  const auto folder = base::TemporaryFolder::create("accelopt-recorder");
  ASSERT_TRUE(folder);
  const auto journal = journal::open_journal(folder->path() / "w");
  ASSERT_TRUE(journal);
  journal::RunInfo run;
  run.id = "r1";
  ASSERT_TRUE((*journal)->create_run(run));
  Recorder recorder(**journal, "r1", Missing::do_it);
  LookingModel model(folder->path() / "w");
  const auto chat = make_journaled_chat(model, recorder);
  for (int i = 0; i < 3; ++i) {
    const std::string label = "planner i" + std::to_string(i);
    llm::ChatRequest question;
    question.label = label;
    question.messages = {{llm::Speaker::user, "question"}};
    ASSERT_TRUE(chat->chat(question, {}));
    ASSERT_TRUE(
        recorder.once<Counted>({{.iteration = i}, "build"}, {}, []() -> Outcome<Counted> { return Counted{}; }));
  }
  EXPECT_EQ(model.seen, (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_TRUE(recorder.settle());
  EXPECT_EQ((*journal::open_journal(folder->path() / "w", journal::Access::read_only))->steps("r1")->size(), 6U);
}

}  // namespace
}  // namespace accelopt::search

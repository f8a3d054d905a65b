// SPDX-License-Identifier: Apache-2.0
#include "llm/mailbox_answers.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "fakes/fake_clock.hpp"
#include "llm/mailbox_model.hpp"

namespace accelopt::llm {
namespace {

using base::ErrorCode;

class MailboxAnswers : public testing::Test {
 protected:
  void ask(const std::string& label) {
    ChatRequest request;
    request.label = label;
    request.messages = {{Speaker::system, "rules"}, {Speaker::user, "what now?"}};
    const auto model = make_mailbox_model({.folder = box(), .unanswered = Unanswered::put_off}, clock_).value();
    reply_ = model->chat(request, {});
  }
  [[nodiscard]] std::filesystem::path box() const { return folder_.path() / "box"; }

  base::TemporaryFolder folder_ = base::TemporaryFolder::create("accelopt-mailbox").value();
  fakes::FakeClock clock_;
  base::Outcome<ChatReply> reply_;
};

TEST_F(MailboxAnswers, NoFolder_NoQuestions) {
  EXPECT_TRUE(open_questions(box()).value().empty());
}

TEST_F(MailboxAnswers, Question_IsListedUntilItIsAnswered) {
  ask("planner i0.b0 try0");
  const auto open = open_questions(box()).value();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].role, "planner");
  EXPECT_EQ(open[0].text.find("======== system ========\n\nrules\n"), 0U) << open[0].text;
  ASSERT_TRUE(answer_question(box(), open[0].name, "Title: this"));
  EXPECT_TRUE(open_questions(box()).value().empty());
  ask("planner i0.b0 try0");
  ASSERT_TRUE(reply_.has_value());
  EXPECT_EQ(reply_->text, "Title: this");
}

TEST_F(MailboxAnswers, SecondAnswer_IsRefused) {
  ask("planner i0.b0 try0");
  const std::string name = open_questions(box()).value()[0].name;
  ASSERT_TRUE(answer_question(box(), name, "first"));
  const auto second = answer_question(box(), name, "second");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::already_exists);
  EXPECT_EQ(base::read_file(box() / (name + ".answer.md")).value(), "first");
}

TEST_F(MailboxAnswers, BlankAnswer_IsRefused) {
  ask("planner i0.b0 try0");
  const auto blank = answer_question(box(), open_questions(box()).value()[0].name, " \n");
  ASSERT_FALSE(blank);
  EXPECT_EQ(blank.error().code, ErrorCode::invalid_argument);
}

TEST_F(MailboxAnswers, NameOfNoQuestion_IsRefused) {
  ask("planner i0.b0 try0");
  ASSERT_TRUE(base::write_file(folder_.path() / "x.question.md", "outside"));
  for (const std::string name : {"", "x", "../x", "..", "planner-i0.b0-try0"}) {
    const auto refused = answer_question(box(), name, "text");
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "x.answer.md"));
}

}  // namespace
}  // namespace accelopt::llm

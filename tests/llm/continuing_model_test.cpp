// SPDX-License-Identifier: Apache-2.0
#include "llm/continuing_model.hpp"

#include <gtest/gtest.h>

#include "fakes/scripted_chat_model.hpp"

namespace accelopt::llm {
namespace {

using fakes::ScriptedChatModel;

ChatReply cut(std::string text) {
  ChatReply reply = ScriptedChatModel::text_reply(std::move(text));
  reply.finish = Finish::cut_by_length;
  return reply;
}

ChatRequest cut_question() {
  ChatRequest request;
  request.label = "executor i0.b0.p0.a0 try0";
  request.messages = {{Speaker::system, "rules"}, {Speaker::user, "question"}};
  return request;
}

TEST(ContinuingModel, PassesAWholeAnswerOn) {
  ScriptedChatModel inner(ScriptedChatModel::Answers{{"executor", {"whole"}}});
  const auto reply = make_continuing_model(inner)->chat(cut_question(), {});
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->text, "whole");
  EXPECT_EQ(inner.requests().size(), 1U);
}

TEST(ContinuingModel, HasTheRestSaidAndAddsUpWhatItTook) {
  ScriptedChatModel inner([](const ChatRequest&, std::size_t turn) -> base::Result<ChatReply> {
    return turn == 0 ? cut("one, t") : turn == 1 ? cut("wo, th") : ScriptedChatModel::text_reply("ree");
  });
  const auto reply = make_continuing_model(inner)->chat(cut_question(), {});
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->text, "one, two, three");
  EXPECT_EQ(reply->finish, Finish::complete);
  EXPECT_EQ(reply->usage.calls, 3);
  EXPECT_EQ(reply->usage.output_tokens, 30);
  const auto requests = inner.requests();
  EXPECT_EQ(requests[1].label, "executor i0.b0.p0.a0 try0 part1");
  EXPECT_EQ(requests[2].label, "executor i0.b0.p0.a0 try0 part2");
  ASSERT_EQ(requests[2].messages.size(), 4U);
  EXPECT_EQ(requests[2].messages[2].speaker, Speaker::assistant);
  EXPECT_EQ(requests[2].messages[2].text, "one, two, th");
  EXPECT_NE(requests[2].messages[3].text.find("Go on exactly where it stopped"), std::string::npos);
}

TEST(ContinuingModel, WhatIsCutEvenSoStaysCut) {
  ScriptedChatModel inner([](const ChatRequest&, std::size_t) -> base::Result<ChatReply> { return cut("more "); });
  const auto reply = make_continuing_model(inner, {.most_parts = 3})->chat(cut_question(), {});
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->finish, Finish::cut_by_length) << "for whoever asked to refuse";
  EXPECT_EQ(inner.requests().size(), 3U);
}

TEST(ContinuingModel, AnAnswerLostToReasoningIsAskedForAgainWithTwiceTheLimit) {
  ScriptedChatModel inner([](const ChatRequest& request, std::size_t) -> base::Result<ChatReply> {
    return request.max_output_tokens.value_or(0) < 3'000 ? cut(" \n") : ScriptedChatModel::text_reply("answer");
  });
  const auto reply = make_continuing_model(inner, {.max_output_tokens = 1'000})->chat(cut_question(), {});
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->text, "answer");
  EXPECT_EQ(reply->usage.calls, 3);
  EXPECT_EQ(inner.requests()[1].max_output_tokens, 2'000);
  EXPECT_EQ(inner.requests()[2].max_output_tokens, 4'000);
  EXPECT_EQ(inner.requests()[2].messages.size(), 2U) << "the same question";
}

TEST(ContinuingModel, WithoutAKnownLimitThereIsNoneToDouble) {
  ScriptedChatModel inner([](const ChatRequest&, std::size_t) -> base::Result<ChatReply> { return cut(""); });
  EXPECT_EQ(make_continuing_model(inner)->chat(cut_question(), {})->finish, Finish::cut_by_length);
  EXPECT_EQ(inner.requests().size(), 1U);
}

TEST(ContinuingModel, AFailureOfALaterPartIsAFailure) {
  ScriptedChatModel inner([](const ChatRequest&, std::size_t turn) -> base::Result<ChatReply> {
    if (turn == 0) return cut("half");
    return base::fail(base::ErrorCode::unavailable, "gone");
  });
  const auto reply = make_continuing_model(inner)->chat(cut_question(), {});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, base::ErrorCode::unavailable);
}

TEST(ContinuingModel, RefusedContinuation_LeavesThePartCut) {
  for (const char* first : {"a part that fills the context window", ""}) {
    ScriptedChatModel inner([first](const ChatRequest&, std::size_t turn) -> base::Result<ChatReply> {
      if (turn == 0) return cut(first);
      return base::fail(base::ErrorCode::invalid_argument, "400: maximum context length");
    });
    const auto reply = make_continuing_model(inner, {.max_output_tokens = 1'000})->chat(cut_question(), {});
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_EQ(reply->text, first);
    EXPECT_EQ(reply->finish, Finish::cut_by_length);
    EXPECT_EQ(reply->usage.calls, 1) << "the part was paid for";
    EXPECT_EQ(inner.requests().size(), 2U);
  }
}

TEST(JoinParts, PutsThemTogetherAsTheyAre) {
  EXPECT_EQ(join_parts("int a = 1", "2;\n"), "int a = 12;\n");
  EXPECT_EQ(join_parts("", "all"), "all");
  EXPECT_EQ(join_parts("0.0f, 0.0f, ", "0.0f, 0.0f, 0.0f"), "0.0f, 0.0f, 0.0f, 0.0f, 0.0f")
      << "too short to be a repetition";
}

TEST(JoinParts, LeavesOutAnUnfinishedLineThatIsSaidAgain) {
  EXPECT_EQ(join_parts("{\n  float total = ", "  float total = 0;\n}"), "{\n  float total = 0;\n}");
}

TEST(JoinParts, LeavesOutAFenceThatIsOpenAlready) {
  EXPECT_EQ(join_parts("```cpp\nint a;\n", "```cpp\nint b;\n```\n"), "```cpp\nint a;\nint b;\n```\n");
  EXPECT_EQ(join_parts("```cpp\nint a;\n", "```\nThat is all.\n"), "```cpp\nint a;\n```\nThat is all.\n");
  EXPECT_EQ(join_parts("Here:\n", "```cpp\nint b;\n```\n"), "Here:\n```cpp\nint b;\n```\n");
}

}  // namespace
}  // namespace accelopt::llm

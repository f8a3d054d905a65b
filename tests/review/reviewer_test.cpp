// SPDX-License-Identifier: Apache-2.0
#include "review/reviewer.hpp"

#include <mutex>

#include <gtest/gtest.h>

namespace accelopt::review {
namespace {

/// Answers by a function; keeps what it was asked.
class AnsweringModel final : public llm::ChatModel {
 public:
  explicit AnsweringModel(std::function<base::Outcome<std::string>(const llm::ChatRequest&)> answer)
      : answer_(std::move(answer)) {}
  base::Outcome<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token) override {
    {
      const std::scoped_lock lock(mutex_);
      asked.push_back(request);
    }
    TRY_ASSIGN(std::string text, answer_(request));
    llm::ChatReply reply;
    reply.text = std::move(text);
    reply.usage.calls = 1;
    return reply;
  }
  [[nodiscard]] std::string name() const override { return "answering"; }
  std::vector<llm::ChatRequest> asked;

 private:
  std::function<base::Outcome<std::string>(const llm::ChatRequest&)> answer_;
  std::mutex mutex_;
};

Subject subject() {
  return {
      .language = refactor::code_language("python"), .base = "def f():\n    return 1\n", .how_to_object = "as it is"};
}

TEST(AskAll, BothOrders_AreOtherQuestionsUnderOtherLetters) {
  AnsweringModel model([](const llm::ChatRequest&) { return std::string(R"({"better": "equal"})"); });
  const Subject about = subject();
  std::vector<OpinionTask> opinions;
  std::vector<PairTask> pairs(2, {.subject = &about, .first = "+one\n", .second = "+two\n", .answer = {}});
  pairs[1].swapped = true;
  const auto usage = ask_all({.chat = &model}, opinions, pairs);
  ASSERT_TRUE(usage.has_value());
  EXPECT_EQ(usage->calls, 2);
  ASSERT_EQ(model.asked.size(), 2U);
  EXPECT_NE(model.asked[0].label, model.asked[1].label);
  const auto one_first = [](const llm::ChatRequest& request) {
    return request.messages[1].text.find("+one") < request.messages[1].text.find("+two");
  };
  EXPECT_NE(one_first(model.asked[0]), one_first(model.asked[1]));
  for (const llm::ChatRequest& request : model.asked) EXPECT_EQ(request.label.find("swapped"), std::string::npos);
}

TEST(AskAll, UnreadableAnswer_IsAskedForOnceMoreWithTheReason) {
  AnsweringModel model([](const llm::ChatRequest& request) {
    return std::string(request.messages.size() == 2 ? "the first" : R"({"better": "equal"})");
  });
  const Subject about = subject();
  std::vector<OpinionTask> opinions;
  std::vector<PairTask> pairs{{.subject = &about, .first = "a", .second = "b", .answer = {}}};
  ASSERT_TRUE(ask_all({.chat = &model}, opinions, pairs).has_value());
  EXPECT_TRUE(pairs[0].answer.has_value());
  ASSERT_EQ(model.asked.size(), 2U);
  EXPECT_NE(model.asked[1].messages.back().text.find("no JSON object"), std::string::npos);
}

TEST(AskAll, TwiceUnreadable_IsNoAnswerAndNoError) {
  AnsweringModel model([](const llm::ChatRequest&) { return std::string("yes"); });
  const Subject about = subject();
  std::vector<OpinionTask> opinions{{.subject = &about, .change = "+x\n", .opinion = {}}};
  std::vector<PairTask> pairs;
  ASSERT_TRUE(ask_all({.chat = &model}, opinions, pairs).has_value());
  EXPECT_FALSE(opinions[0].opinion.has_value());
}

TEST(AskAll, AnswersPutOff_AllQuestionsArePut) {
  AnsweringModel model([](const llm::ChatRequest&) -> base::Outcome<std::string> { return base::put_off("later"); });
  const Subject about = subject();
  std::vector<OpinionTask> opinions(3, {.subject = &about, .change = "+x\n", .opinion = {}});
  for (std::size_t i = 0; i < opinions.size(); ++i) opinions[i].change += std::to_string(i);
  std::vector<PairTask> pairs;
  const auto asked = ask_all({.chat = &model}, opinions, pairs);
  ASSERT_FALSE(asked.has_value());
  EXPECT_EQ(asked.error().why, base::Why::put_off);
  EXPECT_EQ(model.asked.size(), 3U);
}

TEST(Fenced, TextWithAFence_CannotLeaveIt) {
  EXPECT_EQ(fenced("a\n```\n# The change\n", "diff"), "````diff\na\n```\n# The change\n````");
}

TEST(FilledPrompt, NamesOfPlacesInAChange_StayAsTheyAre) {
  Subject about = subject();
  about.base = "{{change}}";
  const auto messages = opinion_question(about, "+x\n");
  EXPECT_NE(messages[1].text.find("```\n{{change}}\n```"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::review

// SPDX-License-Identifier: Apache-2.0
#include "llm/retry.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fakes/fake_clock.hpp"

namespace accelopt::llm {
namespace {

using base::ErrorCode;
using fakes::FakeClock;
using std::chrono::milliseconds;
using Outcome = tl::expected<ChatReply, Failure>;

/// Gives its outcomes in order, the last one again and again.
class FakeProvider final : public ChatProvider {
 public:
  FakeProvider(std::vector<Outcome> outcomes, int& asked) : outcomes_(std::move(outcomes)), asked_(asked) {}
  Outcome ask(const ChatRequest& /*request*/, std::stop_token /*stop*/) override {
    const auto index = std::min(static_cast<std::size_t>(asked_++), outcomes_.size() - 1);
    return outcomes_[index];
  }
  [[nodiscard]] std::string name() const override { return "fake"; }

 private:
  std::vector<Outcome> outcomes_;
  int& asked_;
};

Outcome answer(std::string text) {
  ChatReply reply;
  reply.text = std::move(text);
  return reply;
}

Outcome failure(Again again, ErrorCode code = ErrorCode::unavailable,
                std::optional<milliseconds> retry_after = std::nullopt) {
  return tl::make_unexpected(Failure{{code, "host: it failed; do this"}, again, retry_after});
}

struct RetryFixture {
  int asked = 0;
  FakeClock clock;
  std::unique_ptr<ChatModel> model;

  explicit RetryFixture(std::vector<Outcome> outcomes, RetryPolicy policy = {}) {
    model = make_retrying_model(std::make_unique<FakeProvider>(std::move(outcomes), asked), policy, clock);
  }
  base::Outcome<ChatReply> chat(std::string label = "planner i0.b0.p0 try0", std::stop_token stop = {}) {
    ChatRequest request;
    request.label = std::move(label);
    return model->chat(request, std::move(stop));
  }
};

TEST(RetryingModel, AnswersWithoutWaitingWhenTheFirstTrySucceeds) {
  RetryFixture fixture({answer("hi")});
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->text, "hi");
  EXPECT_EQ(reply->usage.transport_retries, 0);
  EXPECT_TRUE(fixture.clock.waits().empty());
}

TEST(RetryingModel, TriesAgainAndCountsIt) {
  RetryFixture fixture({failure(Again::yes), failure(Again::yes), answer("hi")});
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->usage.transport_retries, 2);
  EXPECT_EQ(fixture.asked, 3);
  EXPECT_EQ(fixture.clock.waits().size(), 2U);
}

TEST(RetryingModel, DoesNotTryAgainWhatWouldFailTheSameWay) {
  RetryFixture fixture({failure(Again::never, ErrorCode::unauthenticated), answer("hi")});
  const auto reply = fixture.chat();
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(reply.error().message, "host: it failed; do this");
  EXPECT_EQ(fixture.asked, 1);
}

TEST(RetryingModel, GivesUpAfterItsTries) {
  RetryFixture fixture({failure(Again::yes)}, {.max_tries = 4});
  const auto reply = fixture.chat();
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_EQ(reply.error().message, "given up after 4 tries: host: it failed; do this");
  EXPECT_EQ(fixture.asked, 4);
  EXPECT_EQ(fixture.clock.waits().size(), 3U);
}

Outcome broken_off(std::int64_t output_tokens) {
  Failure failure{{ErrorCode::unavailable, "it broke off"}, Again::yes};
  failure.used.input_tokens = 100;
  failure.used.output_tokens = output_tokens;
  failure.used.usd = 0.5;
  return tl::make_unexpected(failure);
}

TEST(RetryingModel, PaidTry_IsRepeatedOnlyWithinTheBudget) {
  RetryFixture fixture({failure(Again::yes), broken_off(7), broken_off(11), answer("hi")});
  ChatRequest request;
  std::vector<std::int64_t> paid;
  request.may_try_again = [&](const model::Usage& used) {
    paid.push_back(used.output_tokens);
    return paid.size() < 2;
  };
  const auto reply = fixture.model->chat(request, {});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_NE(reply.error().message.find("the budget has no room for another"), std::string::npos);
  EXPECT_EQ(paid, (std::vector<std::int64_t>{7, 11})) << "what cost nothing is tried again in any case";
}

TEST(RetryingModel, CountsWhatBrokenAnswersTook) {
  RetryFixture fixture({broken_off(7), broken_off(11), answer("hi")});
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->usage.input_tokens, 200);
  EXPECT_EQ(reply->usage.output_tokens, 18);
  EXPECT_EQ(reply->usage.usd, 1.0);
}

TEST(RetryingModel, TellsWhatAQuestionTookThatIsGivenUp) {
  std::vector<std::int64_t> told;
  ChatRequest request;
  request.on_unanswered = [&](const model::Usage& usage) { told.push_back(usage.output_tokens); };
  RetryFixture fixture({broken_off(7)}, {.max_tries = 3});
  EXPECT_FALSE(fixture.model->chat(request, {}).has_value());
  EXPECT_EQ(told, std::vector<std::int64_t>{21});
  RetryFixture nothing({failure(Again::yes)}, {.max_tries = 3});
  EXPECT_FALSE(nothing.model->chat(request, {}).has_value());
  RetryFixture answered({broken_off(7), answer("hi")}, {.max_tries = 3});
  EXPECT_TRUE(answered.model->chat(request, {}).has_value());
  EXPECT_EQ(told.size(), 1U) << "nothing was taken, or the reply holds it";
}

Outcome silence() {
  return tl::make_unexpected(
      Failure{.error = {ErrorCode::unavailable, "no connection to host"}, .again = Again::yes, .answered = false});
}

TEST(RetryingModel, GivesUpSoonOnAnEndpointNeverHeardFromAndSaysSoMeanwhile) {
  std::vector<std::string> notices;
  RetryFixture fixture({silence()}, {.notice = [&](const std::string& text) { notices.push_back(text); }});
  const auto reply = fixture.chat();
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(fixture.asked, 4);
  EXPECT_EQ(notices,
            (std::vector<std::string>{"no connection to host (try 1 of 4)", "no connection to host (try 2 of 4)",
                                      "no connection to host (try 3 of 4)"}));
}

TEST(RetryingModel, IsPatientWithAnEndpointThatOnceAnswered) {
  std::vector<Outcome> outcomes{failure(Again::yes)};
  outcomes.insert(outcomes.end(), 6, silence());
  outcomes.push_back(answer("hi"));
  bool noticed = false;
  RetryFixture fixture(outcomes,
                       {.longest_wait = milliseconds{9'000}, .notice = [&](const std::string&) { noticed = true; }});
  ASSERT_TRUE(fixture.chat().has_value());
  EXPECT_EQ(fixture.asked, 8);
  EXPECT_FALSE(noticed);
}

TEST(RetryingModel, GivesUpAfterTwoTimeLimits) {
  RetryFixture fixture({failure(Again::once, ErrorCode::timed_out), failure(Again::yes),
                        failure(Again::once, ErrorCode::timed_out), answer("late")});
  const auto reply = fixture.chat();
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::timed_out);
  EXPECT_EQ(fixture.asked, 3);
}

TEST(RetryingModel, JitterStaysUnderTheDoublingLimit) {
  const RetryPolicy policy{
      .max_tries = 8, .first_wait = milliseconds{100}, .longest_wait = milliseconds{1000}, .seed = 5};
  const std::vector<milliseconds> limits = {milliseconds{100}, milliseconds{200},  milliseconds{400},
                                            milliseconds{800}, milliseconds{1000}, milliseconds{1000},
                                            milliseconds{1000}};
  std::set<milliseconds> last_waits;
  for (int question = 0; question < 40; ++question) {
    RetryFixture fixture({failure(Again::yes)}, policy);
    ASSERT_FALSE(fixture.chat("planner i0.b0.p" + std::to_string(question)).has_value());
    const auto waits = fixture.clock.waits();
    ASSERT_EQ(waits.size(), limits.size());
    for (std::size_t i = 0; i < waits.size(); ++i) {
      EXPECT_GE(waits[i], milliseconds{0});
      EXPECT_LE(waits[i], limits[i]) << "wait " << i;
    }
    last_waits.insert(waits.back());
  }
  EXPECT_GT(last_waits.size(), 30U) << "questions that fail together must not return together (seed 5)";
  EXPECT_LT(*last_waits.begin(), milliseconds{250});
  EXPECT_GT(*last_waits.rbegin(), milliseconds{750});
}

TEST(RetryingModel, WaitsAtLeastAsLongAsTheServerAsks) {
  RetryFixture fixture({failure(Again::yes, ErrorCode::rate_limited, milliseconds{20'000}), answer("hi")});
  ASSERT_TRUE(fixture.chat().has_value());
  ASSERT_EQ(fixture.clock.waits().size(), 1U);
  EXPECT_GE(fixture.clock.waits()[0], milliseconds{20'000});
  EXPECT_LE(fixture.clock.waits()[0], milliseconds{21'000});
}

TEST(RetryingModel, LongWait_IsTold) {
  std::vector<std::string> notices;
  RetryFixture fixture({failure(Again::yes), failure(Again::yes, ErrorCode::rate_limited, milliseconds{300'000}),
                        answer("hi"), failure(Again::yes, ErrorCode::rate_limited, milliseconds{9'000}), answer("hi")},
                       {.max_tries = 5, .first_wait = milliseconds{0}, .notice = [&](const std::string& text) {
                          notices.push_back(text);
                        }});
  ASSERT_TRUE(fixture.chat().has_value());
  EXPECT_EQ(notices, (std::vector<std::string>{"host: it failed; do this (asked again in 300 s, try 2 of 5)"}));
  ASSERT_TRUE(fixture.chat().has_value());
  EXPECT_EQ(notices.size(), 1U) << "nine seconds are not worth a word";
}

TEST(RetryingModel, OneLongWait_IsToldOnceOfAllQuestions) {
  int notices = 0;
  RetryFixture fixture({failure(Again::yes, ErrorCode::rate_limited, milliseconds{60'000}), answer("hi")},
                       {.first_wait = milliseconds{0}, .notice = [&](const std::string&) { ++notices; }});
  bool first = true;
  fixture.clock.on_wait([&] {
    if (!std::exchange(first, false)) return;
    fixture.asked = 0;  // another question is sent away meanwhile
    fixture.clock.set_back(milliseconds{60'000});
    EXPECT_TRUE(fixture.chat("executor").has_value());
  });
  ASSERT_TRUE(fixture.chat().has_value());
  EXPECT_EQ(notices, 1);
}

TEST(RetryingModel, GivesUpOnAServerThatAsksForHours) {
  RetryFixture fixture({failure(Again::yes, ErrorCode::rate_limited, milliseconds{7'200'000}), answer("hi")});
  const auto reply = fixture.chat();
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::rate_limited);
  EXPECT_NE(reply.error().message.find("7200 s"), std::string::npos);
  EXPECT_TRUE(fixture.clock.waits().empty());
}

TEST(RetryingModel, StopsWhileItWaits) {
  RetryFixture fixture({failure(Again::yes), answer("hi")});
  std::stop_source stop;
  fixture.clock.on_wait([&stop] { stop.request_stop(); });
  const auto reply = fixture.chat("planner", stop.get_token());
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::cancelled);
  EXPECT_EQ(fixture.asked, 1);
}

TEST(MachineClock, AStopEndsAWait) {
  std::stop_source stop;
  stop.request_stop();
  const auto clock = make_clock();
  const auto start = clock->now();
  clock->wait(std::chrono::hours(1), stop.get_token());
  EXPECT_LT(clock->now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace accelopt::llm

// SPDX-License-Identifier: Apache-2.0
// The whole model (provider, gate, retries) against a real server in this process.
#include "llm/endpoint.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/json.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/socket_server.hpp"
#include "llm/price.hpp"

namespace accelopt::llm {
namespace {

using base::ErrorCode;
using base::Json;
using fakes::answers_in_turn;
using fakes::FakeClock;
using fakes::Handler;
using fakes::http_answer;
using fakes::ReceivedRequest;
using fakes::SocketServer;
using fakes::Then;
using fakes::Wire;
using std::chrono::milliseconds;

constexpr const char* kKey = "sk-very-secret-0123456789";

std::string chunk(const std::string& text) {
  return "data: " + Json{{"choices", {{{"index", 0}, {"delta", {{"content", text}}}}}}}.dump() + "\n\n";
}

constexpr const char* kEnd =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":200,\"total_tokens\":1200,"
    "\"prompt_tokens_details\":{\"cached_tokens\":400}}}\n\n"
    "data: [DONE]\n\n";

std::string stream(const std::string& text) {
  return http_answer(200, chunk(text) + kEnd, "text/event-stream");
}

std::string error_answer(int status, const std::string& message, const std::vector<std::string>& headers = {}) {
  return http_answer(status, Json{{"error", {{"message", message}}}}.dump(), "application/json", headers);
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

struct Fixture {
  SocketServer server;
  http::Client client;
  FakeClock clock;
  EndpointOptions options;
  std::unique_ptr<ChatModel> model;
  model::Usage unanswered;  ///< of chats that failed

  explicit Fixture(Handler handler) : server(std::move(handler)) {
    options.base_url = server.url() + "/v1";
    options.model = "some-model";
    options.key = Secret(kKey);
    options.key_source = "OPENAI_API_KEY";
    options.retry.max_tries = 3;
  }
  base::Outcome<ChatReply> chat(std::stop_token stop = {}) {
    if (!model) {
      auto made = make_endpoint_model(options, client, clock);
      EXPECT_TRUE(made.has_value()) << made.error().message;
      model = std::move(*made);
    }
    ChatRequest request;
    request.label = "planner i0.b0.p0 try0";
    request.messages = {{Speaker::system, "rules"}, {Speaker::user, "question"}};
    request.on_unanswered = [this](const model::Usage& used) { unanswered += used; };
    return model->chat(request, std::move(stop));
  }
  /// The error of a chat that must fail; checks that it holds host and no key.
  base::Error failing() {
    const auto reply = chat();
    EXPECT_FALSE(reply.has_value());
    if (reply) return {};
    EXPECT_TRUE(holds(reply.error().message, "127.0.0.1:" + std::to_string(server.port()))) << reply.error().message;
    EXPECT_FALSE(holds(reply.error().message, "secret")) << reply.error().message;
    return reply.error().as_error();
  }
};

TEST(EndpointModel, StreamsAnAnswerWithUsageAndCost) {
  Fixture fixture(answers_in_turn({http_answer(200, chunk("Hel") + chunk("lo") + kEnd, "text/event-stream")}));
  fixture.options.price = Price{.input = 1, .cached_input = 0.5, .output = 2};
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "Hello");
  EXPECT_EQ(reply->finish, Finish::complete);
  EXPECT_EQ(reply->model, "some-model");
  EXPECT_EQ(reply->usage.calls, 1);
  EXPECT_EQ(reply->usage.input_tokens, 1000);
  EXPECT_EQ(reply->usage.cached_input_tokens, 400);
  EXPECT_EQ(reply->usage.output_tokens, 200);
  EXPECT_EQ(reply->usage.transport_retries, 0);
  ASSERT_TRUE(reply->usage.usd.has_value());
  EXPECT_DOUBLE_EQ(*reply->usage.usd, (600 * 1 + 400 * 0.5 + 200 * 2) / 1e6);
  const ReceivedRequest request = fixture.server.requests().at(0);
  EXPECT_EQ(request.target, "/v1/chat/completions");
  EXPECT_EQ(request.headers.at("authorization"), std::string("Bearer ") + kKey);
  EXPECT_EQ(request.headers.at("content-type"), "application/json");
  EXPECT_EQ(Json::parse(request.body)["messages"][1]["content"], "question");
  EXPECT_EQ(fixture.model->name(), "some-model");
}

TEST(EndpointModel, CostIsUnknownWithoutAPrice) {
  Fixture unpriced(answers_in_turn({stream("x")}));
  EXPECT_EQ(unpriced.chat()->usage.usd, std::nullopt);
}

/// "rulesquestion" in two messages, and the answer "abcdefghi".
constexpr std::int64_t kEstimatedPrompt = 5 + 2 * 8;
constexpr std::int64_t kEstimatedAnswer = 3;

std::string told_usage(const std::string& usage) {
  return http_answer(200, R"({"choices":[{"message":{"content":"abcdefghi"}}],"usage":)" + usage + "}");
}

TEST(EndpointModel, UsageInPart_OtherHalfIsEstimatedAndPriced) {
  struct Told {
    const char* usage;
    std::int64_t input;
    std::int64_t output;
    std::int64_t estimated;
  };
  for (const Told& told : {Told{R"({"prompt_tokens":1000,"completion_tokens":200})", 1000, 200, 0},
                           Told{R"({"prompt_tokens":1000})", 1000, kEstimatedAnswer, 1},
                           Told{R"({"prompt_tokens":1000,"completion_tokens":-5})", 1000, kEstimatedAnswer, 1},
                           Told{R"({"completion_tokens":200})", kEstimatedPrompt, 200, 1},
                           Told{R"({"prompt_tokens":0,"completion_tokens":0})", kEstimatedPrompt, kEstimatedAnswer, 1},
                           Told{"null", kEstimatedPrompt, kEstimatedAnswer, 1}}) {
    Fixture fixture(answers_in_turn({told_usage(told.usage)}));
    fixture.options.price = Price{.input = 1, .cached_input = 1, .output = 2};
    const auto reply = fixture.chat();
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_EQ(reply->usage.input_tokens, told.input) << told.usage;
    EXPECT_EQ(reply->usage.output_tokens, told.output) << told.usage;
    EXPECT_EQ(reply->usage.estimated_calls, told.estimated) << told.usage;
    EXPECT_DOUBLE_EQ(reply->usage.usd.value_or(-1), static_cast<double>(told.input + 2 * told.output) / 1e6);
  }
}

TEST(EndpointModel, BrokenTryWithUsage_AnswerWithoutIsEstimatedAll) {
  const std::string broken = chunk("abc") + "data: {\"usage\":{\"prompt_tokens\":1000}}\n\n";
  Fixture fixture(answers_in_turn({http_answer(200, broken, "text/event-stream"), told_usage("null")}));
  fixture.options.price = Price{.input = 1, .cached_input = 1, .output = 2};
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->usage.input_tokens, 1000 + kEstimatedPrompt);
  EXPECT_EQ(reply->usage.output_tokens, 1 + kEstimatedAnswer);
  EXPECT_EQ(reply->usage.calls, 1);
  EXPECT_EQ(reply->usage.estimated_calls, 1);
  EXPECT_TRUE(reply->usage.total_usd().has_value());
}

TEST(EndpointModel, SendsNoKeyWhereThereIsNone) {
  Fixture fixture(answers_in_turn({stream("x")}));
  fixture.options.key = Secret();
  ASSERT_TRUE(fixture.chat().has_value());
  EXPECT_FALSE(fixture.server.requests().at(0).headers.contains("authorization"));
}

TEST(EndpointModel, UnderstandsAServerThatDoesNotStream) {
  Fixture fixture(answers_in_turn(
      {http_answer(200, R"({"model":"real","choices":[{"message":{"content":"whole"},"finish_reason":"stop"}]})")}));
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "whole");
  EXPECT_EQ(reply->model, "real");
}

TEST(EndpointModel, UnderstandsAStreamUnderAnotherName) {
  Fixture fixture(answers_in_turn({http_answer(200, chunk("hi") + kEnd, "text/plain")}));
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "hi");
}

TEST(EndpointModel, EndsAtTheEndOfTheAnswerThoughTheConnectionStaysOpen) {
  Fixture fixture([](const ReceivedRequest&, const Wire& wire) {
    wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + chunk("hi") + kEnd);
    wire.wait_for_peer_to_close();
    return Then::close;
  });
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "hi");
}

TEST(EndpointModel, AcceptsAFinishedAnswerWithoutTheLastMarker) {
  Fixture fixture(answers_in_turn({http_answer(
      200, chunk("hi") + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n", "text/event-stream")}));
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "hi");
  EXPECT_EQ(reply->finish, Finish::cut_by_length);
}

TEST(EndpointModel, RetriesEveryStatusThatMayPass) {
  for (const int status : {408, 409, 425, 429, 500, 502, 503, 504, 529}) {
    Fixture fixture(answers_in_turn({error_answer(status, "busy"), stream("at last")}));
    const auto reply = fixture.chat();
    ASSERT_TRUE(reply.has_value()) << status << ": " << reply.error().message;
    EXPECT_EQ(reply->text, "at last");
    EXPECT_EQ(reply->usage.transport_retries, 1) << status;
    EXPECT_EQ(reply->usage.calls, 1) << status;
  }
}

TEST(EndpointModel, GivesUpOnAServerThatKeepsFailing) {
  Fixture fixture(answers_in_turn({error_answer(503, "overloaded")}));
  const base::Error error = fixture.failing();
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_TRUE(holds(error.message, "given up after 3 tries")) << error.message;
  EXPECT_TRUE(holds(error.message, "503: overloaded")) << error.message;
  EXPECT_EQ(fixture.server.requests().size(), 3U);
}

TEST(EndpointModel, ARateLimitThatStaysIsRateLimited) {
  Fixture fixture(answers_in_turn({error_answer(429, "too many requests")}));
  EXPECT_EQ(fixture.failing().code, ErrorCode::rate_limited);
  EXPECT_EQ(fixture.server.requests().size(), 3U);
}

TEST(EndpointModel, AnEmptyAccountIsNotTriedAgain) {
  const auto refused = [](int status, const char* code, const char* message) {
    return http_answer(status, Json{{"error", {{"message", message}, {"code", code}}}}.dump());
  };
  for (const std::string& answer :
       {refused(429, "insufficient_quota", "You exceeded your quota"), refused(402, "x", "pay first"),
        refused(400, "billing_hard_limit_reached", "Billing hard limit has been reached"),
        refused(400, "invalid_request_error", "Your credit balance is too low to access the API."),
        http_answer(200, "data: {\"error\":{\"message\":\"quota\",\"code\":\"insufficient_quota\"}}\n\n",
                    "text/event-stream")}) {
    Fixture fixture(answers_in_turn({answer}));
    const base::Error error = fixture.failing();
    EXPECT_EQ(error.code, ErrorCode::quota_exceeded) << answer;
    EXPECT_TRUE(holds(error.message, "balance")) << error.message;
    EXPECT_EQ(fixture.server.requests().size(), 1U);
  }
  Fixture minute(answers_in_turn({refused(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota")}));
  EXPECT_EQ(minute.failing().code, ErrorCode::rate_limited) << "Gemini says so of a minute's limit";
}

TEST(EndpointModel, WaitsAsLongAsRetryAfterSays) {
  Fixture fixture(answers_in_turn({error_answer(429, "slow down", {"Retry-After: 17"}), stream("ok")}));
  ASSERT_TRUE(fixture.chat().has_value());
  ASSERT_FALSE(fixture.clock.waits().empty());
  EXPECT_GE(fixture.clock.waits()[0], milliseconds{17'000});
  EXPECT_LT(fixture.clock.waits()[0], milliseconds{19'000});
}

TEST(EndpointModel, LimitThatIsBackInADay_IsGivenUpAtOnce) {
  Fixture fixture(answers_in_turn({error_answer(
      429, "free-models-per-day", {"x-ratelimit-limit: 50", "x-ratelimit-remaining: 0", "x-ratelimit-reset: 86400"})}));
  const base::Error error = fixture.failing();
  EXPECT_TRUE(holds(error.message, "the server asks to wait 86400 s, which is too long")) << error.message;
  EXPECT_EQ(fixture.server.requests().size(), 1U);
  EXPECT_FALSE(fixture.chat().has_value());
  EXPECT_TRUE(fixture.clock.waits().empty()) << "no other question is held up";
}

TEST(EndpointModel, WaitsUntilTheDateOfRetryAfter) {
  Fixture fixture(answers_in_turn(
      {error_answer(503, "maintenance", {"Retry-After: Sun, 06 Nov 1994 08:50:07 GMT"}), stream("ok")}));
  using namespace std::chrono_literals;
  fixture.clock.set_time_of_day(std::chrono::sys_days(1994y / 11 / 6) + 8h + 49min + 37s);
  ASSERT_TRUE(fixture.chat().has_value());
  ASSERT_FALSE(fixture.clock.waits().empty());
  EXPECT_GE(fixture.clock.waits()[0], milliseconds{30'000});
  EXPECT_LT(fixture.clock.waits()[0], milliseconds{32'000});
}

TEST(EndpointModel, DoesNotRetryWhatTheUserMustMend) {
  struct Case {
    int status;
    ErrorCode code;
    const char* hint;
  };
  for (const Case& expected : {Case{400, ErrorCode::invalid_argument, "check the settings"},
                               Case{401, ErrorCode::unauthenticated, "check the key in OPENAI_API_KEY"},
                               Case{403, ErrorCode::unauthenticated, "check the key in OPENAI_API_KEY"},
                               Case{404, ErrorCode::invalid_argument, "check base_url"},
                               Case{422, ErrorCode::invalid_argument, "check the settings"}}) {
    Fixture fixture(answers_in_turn({error_answer(expected.status, "because")}));
    const base::Error error = fixture.failing();
    EXPECT_EQ(error.code, expected.code) << expected.status;
    EXPECT_TRUE(holds(error.message, expected.hint)) << error.message;
    EXPECT_TRUE(holds(error.message, std::to_string(expected.status) + ": because")) << error.message;
    EXPECT_EQ(fixture.server.requests().size(), 1U) << expected.status;
    EXPECT_TRUE(fixture.clock.waits().empty());
  }
}

TEST(EndpointModel, SaysThatNoKeyWasSent) {
  Fixture fixture(answers_in_turn({error_answer(401, "who are you")}));
  fixture.options.key = Secret();
  EXPECT_TRUE(holds(fixture.failing().message, "no key was sent; set key_env"));
}

TEST(EndpointModel, BlotsOutAKeyThatTheServerRepeats) {
  Fixture fixture(answers_in_turn({error_answer(401, std::string("Incorrect API key: ") + kKey + "!")}));
  EXPECT_TRUE(holds(fixture.failing().message, "Incorrect API key: [key]!"));
}

TEST(EndpointModel, KeyInTheNameOfItsSource_IsBlottedOut) {
  Fixture fixture(answers_in_turn({error_answer(403, "no")}));
  fixture.options.key_source = std::string("echo ") + kKey;
  EXPECT_TRUE(holds(fixture.failing().message, "check the key in echo [key] and"));
}

TEST(EndpointModel, KeyAcrossACut_LeavesNoPartInAnyError) {
  const std::string key = std::string("\"") + kKey + "\"";  // as JSON holds it, it is escaped
  const auto error_of = [&key](const std::string& answer) {
    Fixture fixture(answers_in_turn({answer}));
    fixture.options.key = Secret(key);
    fixture.options.retry.max_tries = 1;
    return fixture.failing().message;  // looks for "secret"
  };
  for (std::size_t before = 150; before < 310; before += 7) {
    const std::string told = std::string(before, 'x') + key;
    error_of(error_answer(401, told));
    error_of(error_answer(500, told));
    error_of(http_answer(400, Json{{"detail", {{"header", told}}}}.dump()));
    error_of(http_answer(200, told, told));
    error_of(http_answer(200, "data: " + Json{{"error", {{"message", told}}}}.dump() + "\n\n", "text/event-stream"));
    error_of(http_answer(200, "data: " + Json{{"key", told}}.dump() + "\n\n", "text/event-stream"));
    error_of(http_answer(200, "data: " + told + "\n\n", "text/event-stream"));
    error_of(http_answer(307, "", "text/plain", {"Location: http://other.example/" + told}));
  }
}

TEST(EndpointModel, RetriesAConnectionThatBreaksInTheAnswer) {
  std::atomic<int> turn = 0;
  Fixture fixture([&turn](const ReceivedRequest&, const Wire& wire) {
    if (turn++ > 0) return wire.send(stream("whole")) ? Then::keep : Then::close;
    wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n" +
              chunk("half an ans"));
    wire.reset_on_close();
    return Then::close;
  });
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "whole") << "nothing of the broken answer is left";
  EXPECT_EQ(reply->usage.transport_retries, 1);
}

TEST(EndpointModel, RetriesAStreamThatEndsBeforeTheAnswerDoes) {
  Fixture fixture(answers_in_turn({http_answer(200, chunk("half"), "text/event-stream"), stream("whole")}));
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "whole");
}

TEST(EndpointModel, RetriesAnErrorInTheMiddleOfAStream) {
  Fixture fixture(answers_in_turn(
      {http_answer(200, chunk("half") + "data: {\"error\":{\"message\":\"engine died\"}}\n\n", "text/event-stream"),
       stream("whole")}));
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "whole");
}

TEST(EndpointModel, AnswersThatBreakOff_CostTheirPromptAndText) {
  constexpr std::size_t kPromptBytes = 13;  // "rules" and "question"
  const std::string half(600, 'x');
  const auto used_by = [](const Handler& handler) {
    Fixture fixture(handler);
    fixture.options.retry.max_tries = 2;
    EXPECT_FALSE(fixture.chat().has_value());
    return fixture.unanswered;
  };
  const auto ended = answers_in_turn({http_answer(200, chunk(half), "text/event-stream")});
  const auto broken = [&half](const ReceivedRequest&, const Wire& wire) {
    wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n" + chunk(half));
    return Then::close;
  };
  const auto failed = answers_in_turn(
      {http_answer(200, chunk(half) + "data: {\"error\":{\"message\":\"engine died\"}}\n\n", "text/event-stream")});
  for (const Handler& handler : {Handler(ended), Handler(broken), Handler(failed)}) {
    const model::Usage used = used_by(handler);
    EXPECT_EQ(used.input_tokens, 2 * estimated_prompt_tokens(kPromptBytes, 2));
    EXPECT_EQ(used.output_tokens, 2 * estimated_tokens(half.size()));
    EXPECT_GT(used.estimated_calls, 0);
  }
  const model::Usage silent = used_by(answers_in_turn({http_answer(200, "", "text/event-stream")}));
  EXPECT_EQ(silent.input_tokens, 2 * estimated_prompt_tokens(kPromptBytes, 2)) << "the server had the question";
  const std::string refusal = "data: {\"error\":{\"message\":\"overloaded\"}}\n\n";
  EXPECT_EQ(used_by(answers_in_turn({http_answer(200, refusal, "text/event-stream")})).tokens(), 0);
  EXPECT_EQ(used_by(answers_in_turn({error_answer(500, "engine died")})).tokens(), 0);
}

TEST(EndpointModel, AStallIsTriedOnceMore) {
  std::atomic<int> turn = 0;
  Fixture fixture([&turn](const ReceivedRequest&, const Wire& wire) {
    if (turn++ > 0) return wire.send(stream("awake")) ? Then::keep : Then::close;
    wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + chunk("half"));
    wire.wait_for_peer_to_close();
    return Then::close;
  });
  fixture.options.limits.stall = milliseconds{80};
  const auto reply = fixture.chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "awake");
}

TEST(EndpointModel, TwoStallsAreATimeOut) {
  Fixture fixture([](const ReceivedRequest&, const Wire& wire) {
    wire.wait_for_peer_to_close();
    return Then::close;
  });
  fixture.options.limits.stall = milliseconds{50};
  EXPECT_EQ(fixture.failing().code, ErrorCode::timed_out);
  EXPECT_EQ(fixture.server.requests().size(), 2U);
}

TEST(EndpointModel, GarbageInsteadOfJsonIsTriedAgain) {
  Fixture whole(answers_in_turn({http_answer(200, R"({"choices":[{"mess)"), stream("sense")}));
  EXPECT_EQ(whole.chat()->text, "sense");
  Fixture in_stream(answers_in_turn({http_answer(200, "data: {{{\n\n", "text/event-stream"), stream("sense")}));
  EXPECT_EQ(in_stream.chat()->text, "sense");
  Fixture always(answers_in_turn({http_answer(200, "[1,2,3]")}));
  const base::Error error = always.failing();
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_TRUE(holds(error.message, "check that base_url")) << error.message;
}

TEST(EndpointModel, APageInsteadOfAnAnswerIsNotTriedAgain) {
  Fixture fixture(answers_in_turn({http_answer(200, "<html>Welcome</html>", "text/html; charset=utf-8")}));
  const base::Error error = fixture.failing();
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(holds(error.message, "text/html")) << error.message;
  EXPECT_TRUE(holds(error.message, "base_url")) << error.message;
  EXPECT_EQ(fixture.server.requests().size(), 1U);
}

TEST(EndpointModel, RefusesAnAnswerWithoutEnd) {
  std::atomic<std::size_t> sent = 0;
  Fixture fixture([&sent](const ReceivedRequest&, const Wire& wire) {
    wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    const std::string piece = chunk(std::string(1 << 16, 'x'));
    for (; sent < (std::size_t{50} << 20U) && wire.send(piece);) sent += piece.size();
    return Then::close;
  });
  const base::Error error = fixture.failing();
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_TRUE(holds(error.message, "33554432 bytes")) << error.message;
  EXPECT_TRUE(holds(error.message, "max_output_tokens")) << error.message;
  EXPECT_EQ(fixture.server.requests().size(), 1U);
  EXPECT_LT(sent, std::size_t{50} << 20U);
}

TEST(EndpointModel, FollowsNoRedirectWithItsKey) {
  SocketServer other(answers_in_turn({stream("stolen")}));
  Fixture fixture(
      answers_in_turn({http_answer(307, "", "text/plain", {"Location: " + other.url() + "/v1/chat/completions"})}));
  const base::Error error = fixture.failing();
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(holds(error.message, other.url())) << error.message;
  EXPECT_EQ(other.connections(), 0U);
  EXPECT_EQ(fixture.server.requests().size(), 1U);
}

TEST(EndpointModel, SpeaksTheDialectThatTheServerKnows) {
  Fixture fixture([](const ReceivedRequest& request, const Wire& wire) {
    const Json body = Json::parse(request.body);
    std::string answer = stream("understood");
    if (body.contains("stream_options"))
      answer = error_answer(400, "unknown field stream_options");
    else if (body.contains("max_tokens"))
      answer = error_answer(400, "use max_completion_tokens");
    return wire.send(answer) ? Then::keep : Then::close;
  });
  fixture.options.max_output_tokens = 500;
  const auto first = fixture.chat();
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(first->text, "understood");
  EXPECT_EQ(first->usage.transport_retries, 0);
  EXPECT_EQ(fixture.server.requests().size(), 3U);
  ASSERT_TRUE(fixture.chat().has_value());
  EXPECT_EQ(fixture.server.requests().size(), 4U) << "what was learnt is kept";
}

TEST(EndpointModel, StopsAtOnce) {
  std::stop_source stop;
  Fixture fixture([&stop](const ReceivedRequest&, const Wire& wire) {
    stop.request_stop();
    wire.wait_for_peer_to_close();
    return Then::close;
  });
  const auto start = std::chrono::steady_clock::now();
  const auto reply = fixture.chat(stop.get_token());
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(EndpointModel, KeepsToItsConcurrencyWithManyThreads) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  Fixture fixture([&](const ReceivedRequest&, const Wire& wire) {
    const int now = ++inside;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::yield();
    --inside;
    return wire.send(stream("ok")) ? Then::keep : Then::close;
  });
  fixture.options.max_concurrency = 3;
  ASSERT_TRUE(fixture.chat().has_value());  // makes the model
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 12; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) {
          if (const auto reply = fixture.chat(); reply && reply->text == "ok") ++answered;
        }
      });
    }
  }
  EXPECT_EQ(answered, 60);
  EXPECT_LE(most, 3);
}

TEST(MakeEndpointModel, RefusesOptionsThatCannotWork) {
  http::Client client;
  FakeClock clock;
  const auto refuse = [&](auto change, const char* word) {
    EndpointOptions options;
    options.base_url = "http://localhost:1/v1";
    options.model = "m";
    change(options);
    const auto model = make_endpoint_model(options, client, clock);
    ASSERT_FALSE(model.has_value()) << word;
    EXPECT_EQ(model.error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(holds(model.error().message, word)) << model.error().message;
  };
  refuse([](EndpointOptions& o) { o.model = ""; }, "model");
  refuse([](EndpointOptions& o) { o.base_url = ""; }, "base_url");
  refuse([](EndpointOptions& o) { o.base_url = "localhost:8000/v1"; }, "base_url");
  refuse([](EndpointOptions& o) { o.temperature = -1; }, "temperature");
  refuse([](EndpointOptions& o) { o.max_output_tokens = 0; }, "max_output_tokens");
  refuse([](EndpointOptions& o) { o.max_concurrency = 0; }, "max_concurrency");
}

TEST(MakeEndpointModel, TakesTheAddressWithOrWithoutItsPath) {
  for (const char* tail : {"/v1", "/v1/", "/v1/chat/completions"}) {
    Fixture fixture(answers_in_turn({stream("x")}));
    fixture.options.base_url = fixture.server.url() + tail;
    ASSERT_TRUE(fixture.chat().has_value());
    EXPECT_EQ(fixture.server.requests().at(0).target, "/v1/chat/completions") << tail;
  }
}

}  // namespace
}  // namespace accelopt::llm

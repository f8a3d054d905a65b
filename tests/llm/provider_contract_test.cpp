// SPDX-License-Identifier: Apache-2.0
// What every API's provider must do, against a server in this process that speaks its wire format.
#include <gtest/gtest.h>

#include <random>

#include "fakes/fake_clock.hpp"
#include "fakes/socket_server.hpp"
#include "llm/endpoint.hpp"
#include "wire_fakes.hpp"

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

constexpr const char* kContractKey = "sk-contract-0123456789abcdef";

class ProviderContract : public testing::TestWithParam<Api> {
 protected:
  void serve(Handler handler) {
    server_ = std::make_unique<SocketServer>(std::move(handler));
    options_.api = GetParam();
    options_.base_url = server_->url() + (GetParam() == Api::gemini ? "/v1beta" : "/v1");
    options_.model = "asked-model";
    options_.key = Secret(kContractKey);
    options_.key_source = "SOME_KEY";
    options_.retry.max_tries = 3;
  }
  void serve(const std::vector<std::string>& bodies) {
    std::vector<std::string> answers;
    for (const std::string& body : bodies) answers.push_back(http_answer(200, body, "text/event-stream"));
    serve(answers_in_turn(answers));
  }
  base::Outcome<ChatReply> chat(const ChatRequest& request) {
    auto model = make_endpoint_model(options_, client_, clock_);
    EXPECT_TRUE(model.has_value()) << model.error().message;
    return (*model)->chat(request, {});
  }
  base::Outcome<ChatReply> chat() { return chat(question()); }
  static ChatRequest question() {
    ChatRequest request;
    request.label = "planner i0.b0.p0 try0";
    request.messages = {{Speaker::system, "the rules"},
                        {Speaker::user, "a question"},
                        {Speaker::assistant, "an answer"},
                        {Speaker::user, "another question"}};
    return request;
  }
  Json sent(std::size_t number = 0) { return Json::parse(server_->requests().at(number).body); }
  [[nodiscard]] std::string stream(const WireAnswer& answer = {}) const { return wire_stream(GetParam(), answer); }

  std::unique_ptr<SocketServer> server_;
  http::Client client_;
  FakeClock clock_;
  EndpointOptions options_;
};

INSTANTIATE_TEST_SUITE_P(Apis, ProviderContract, testing::Values(Api::openai, Api::anthropic, Api::gemini),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST_P(ProviderContract, ReadsAStreamWithItsUsageAndLeavesThoughtsOut) {
  serve({stream({.thought = "I wonder"})});
  options_.price = Price{.input = 1, .cached_input = 0.5, .output = 2};
  const auto reply = chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "Hello, world");
  EXPECT_EQ(reply->finish, Finish::complete);
  EXPECT_EQ(reply->model, "served-model");
  EXPECT_EQ(reply->usage.calls, 1);
  EXPECT_EQ(reply->usage.input_tokens, 1000);
  EXPECT_EQ(reply->usage.cached_input_tokens, 400);
  EXPECT_EQ(reply->usage.output_tokens, 200);
  EXPECT_EQ(reply->usage.reasoning_tokens, 50);
  ASSERT_TRUE(reply->usage.usd.has_value());
  EXPECT_DOUBLE_EQ(*reply->usage.usd, (600 * 1 + 400 * 0.5 + 200 * 2) / 1e6);
}

TEST_P(ProviderContract, ReadsAStreamThatIsCutAnywhere) {
  const std::string body = stream({.pieces = {"caf\xc3\xa9 ", "\"quoted\"\n", "data: not an event"}, .thought = "hm"});
  std::mt19937 random(20'261'121);
  for (int round = 0; round < 12; ++round) {
    // Round 0 sends single bytes, the others pieces of random lengths.
    serve([&](const ReceivedRequest&, const Wire& wire) {
      wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
      std::string out;
      for (std::size_t at = 0; at < body.size();) {
        const std::size_t length = round == 0 ? 1 : 1 + random() % 40;
        const std::string piece = body.substr(at, length);
        char size[16];
        std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
        out += size + piece + "\r\n";
        at += piece.size();
        if (round % 3 == 1) {  // in packets of their own
          wire.send(out);
          out.clear();
        }
      }
      wire.send(out + "0\r\n\r\n");
      return Then::close;
    });
    const auto reply = chat();
    ASSERT_TRUE(reply.has_value()) << "round " << round << ": " << reply.error().message;
    EXPECT_EQ(reply->text, "caf\xc3\xa9 \"quoted\"\ndata: not an event") << "round " << round;
    EXPECT_EQ(reply->usage.output_tokens, 200);
  }
}

TEST_P(ProviderContract, UnderstandsAServerThatDoesNotStream) {
  serve(answers_in_turn({http_answer(200, wire_whole(GetParam(), {}))}));
  const auto reply = chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "Hello, world");
  EXPECT_EQ(reply->model, "served-model");
  EXPECT_EQ(reply->usage.input_tokens, 1000);
}

TEST_P(ProviderContract, EventsWithNothingInThemArePassedOver) {
  const std::string pings = ": hello\n\ndata: \n\nevent: ping\ndata: {\"type\":\"ping\"}\n\ndata: ping\n\n";
  serve({pings + stream()});
  const auto reply = chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "Hello, world");
  EXPECT_EQ(reply->usage.transport_retries, 0);
  const std::string whole = stream();
  const std::string half = whole.substr(0, whole.find("world") + 12);
  options_.retry.max_tries = 1;
  serve({half + pings + "data: [DONE]\n\n"});
  EXPECT_FALSE(chat().has_value()) << "no part of an answer is a whole one";
}

TEST_P(ProviderContract, SaysHowAnAnswerEnded) {
  serve({stream({.finish = Finish::cut_by_length})});
  EXPECT_EQ(chat()->finish, Finish::cut_by_length);
  serve({stream({.finish = Finish::filtered})});
  EXPECT_EQ(chat()->finish, Finish::filtered);
}

TEST_P(ProviderContract, AReasonThatEndsNoWholeAnswer_IsAskedForAgainAndCounted) {
  std::string aborted = stream();
  const std::string usual = GetParam() == Api::openai ? "stop" : GetParam() == Api::anthropic ? "end_turn" : "STOP";
  const std::string other = GetParam() == Api::gemini ? "OTHER" : "abort";
  aborted.replace(aborted.find('"' + usual + '"'), usual.size() + 2, '"' + other + '"');
  serve({aborted, stream()});
  const auto reply = chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->usage.transport_retries, 1);
  EXPECT_EQ(reply->usage.input_tokens, 2000);
  options_.retry.max_tries = 1;
  serve({aborted});
  EXPECT_NE(chat().error().message.find("broke off before its end (" + other + ")"), std::string::npos);
}

TEST_P(ProviderContract, CutStream_IsAskedForAgainAndCounted) {
  const std::string whole = stream();
  // After the last piece of text, before the word that it is done.
  const std::string half = whole.substr(0, whole.find("world") + 12);
  serve({half, whole});
  const auto reply = chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "Hello, world");
  EXPECT_EQ(reply->usage.calls, 1);
  EXPECT_EQ(reply->usage.transport_retries, 1);
  const bool tells_early = GetParam() != Api::openai;  // usage comes last there: the broken answer's is estimated
  const std::vector<Message> messages = question().messages;
  std::size_t bytes = 0;
  for (const Message& message : messages) bytes += message.text.size();
  const std::int64_t broken = tells_early ? 1000 : estimated_prompt_tokens(bytes, messages.size());
  EXPECT_EQ(reply->usage.input_tokens, 1000 + broken);
}

TEST_P(ProviderContract, AnErrorInTheMiddleOfAStreamIsTriedAgain) {
  const std::string whole = stream();
  serve({whole.substr(0, whole.find("\n\n", whole.find("Hel")) + 2) + wire_error_event(GetParam(), "too busy"), whole});
  const auto reply = chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->text, "Hello, world");
}

TEST_P(ProviderContract, RetriesWhatMayPassAndWaitsAsAsked) {
  for (const int status : {408, 409, 425, 429, 500, 502, 503, 504, 529}) {
    serve(answers_in_turn(
        {http_answer(status, wire_error(GetParam(), status, "busy"), "application/json", {"Retry-After: 7"}),
         http_answer(200, stream(), "text/event-stream")}));
    const auto before = clock_.now();
    const auto reply = chat();
    ASSERT_TRUE(reply.has_value()) << status << ": " << reply.error().message;
    EXPECT_EQ(reply->usage.transport_retries, 1) << status;
    EXPECT_GE(clock_.now() - before, milliseconds(7'000)) << status;
  }
}

TEST_P(ProviderContract, DoesNotRetryWhatTheUserMustMend) {
  for (const auto& [status, code] : {std::pair{400, ErrorCode::invalid_argument},
                                     {401, ErrorCode::unauthenticated},
                                     {403, ErrorCode::unauthenticated},
                                     {404, ErrorCode::invalid_argument},
                                     {413, ErrorCode::invalid_argument}}) {
    serve(answers_in_turn({http_answer(status, wire_error(GetParam(), status, std::string("no: ") + kContractKey))}));
    const auto reply = chat();
    ASSERT_FALSE(reply.has_value()) << status;
    EXPECT_EQ(reply.error().code, code) << status;
    EXPECT_NE(reply.error().message.find(std::to_string(status) + ": no: [key]"), std::string::npos)
        << reply.error().message;
    EXPECT_EQ(server_->requests().size(), 1U) << status;
  }
}

TEST_P(ProviderContract, SendsItsKeyInItsOwnHeaderAndNowhereElse) {
  serve({stream()});
  ASSERT_TRUE(chat().has_value());
  const ReceivedRequest request = server_->requests().at(0);
  int headers_with_key = 0;
  for (const auto& [name, value] : request.headers) {
    headers_with_key += value.find(kContractKey) == std::string::npos ? 0 : 1;
  }
  EXPECT_EQ(headers_with_key, 1);
  EXPECT_EQ(request.target.find(kContractKey), std::string::npos);
  EXPECT_EQ(request.body.find(kContractKey), std::string::npos);
  switch (GetParam()) {
    case Api::openai:
      EXPECT_EQ(request.target, "/v1/chat/completions");
      EXPECT_EQ(request.headers.at("authorization"), std::string("Bearer ") + kContractKey);
      break;
    case Api::anthropic:
      EXPECT_EQ(request.target, "/v1/messages");
      EXPECT_EQ(request.headers.at("x-api-key"), kContractKey);
      EXPECT_EQ(request.headers.at("anthropic-version"), "2023-06-01");
      break;
    case Api::gemini:
      EXPECT_EQ(request.target, "/v1beta/models/asked-model:streamGenerateContent?alt=sse");
      EXPECT_EQ(request.headers.at("x-goog-api-key"), kContractKey);
      break;
  }
}

TEST_P(ProviderContract, AnAnswerThatRepeatsTheKeyLosesIt) {
  serve({stream({.pieces = {"your key: ", kContractKey}})});
  EXPECT_EQ(chat()->text, "your key: [key]");
}

TEST_P(ProviderContract, AsksInTheApisOwnForm) {
  serve({stream()});
  options_.max_output_tokens = 5'000;
  options_.temperature = 0.5;
  ASSERT_TRUE(chat().has_value());
  const Json body = sent();
  switch (GetParam()) {
    case Api::openai:
      EXPECT_EQ(body["messages"][0], Json({{"role", "system"}, {"content", "the rules"}}));
      EXPECT_EQ(body["messages"][2], Json({{"role", "assistant"}, {"content", "an answer"}}));
      EXPECT_EQ(body["model"], "asked-model");
      EXPECT_EQ(body["max_tokens"], 5'000);
      EXPECT_EQ(body["temperature"], 0.5);
      EXPECT_EQ(body["stream"], true);
      break;
    case Api::anthropic:
      EXPECT_EQ(body["system"], "the rules");
      ASSERT_EQ(body["messages"].size(), 3U);
      EXPECT_EQ(body["messages"][1], Json({{"role", "assistant"}, {"content", "an answer"}}));
      EXPECT_EQ(body["model"], "asked-model");
      EXPECT_EQ(body["max_tokens"], 5'000);
      EXPECT_EQ(body["temperature"], 0.5);
      EXPECT_EQ(body["stream"], true);
      break;
    case Api::gemini:
      EXPECT_EQ(body["systemInstruction"]["parts"][0]["text"], "the rules");
      ASSERT_EQ(body["contents"].size(), 3U);
      EXPECT_EQ(body["contents"][1]["role"], "model");
      EXPECT_EQ(body["contents"][2]["parts"][0]["text"], "another question");
      EXPECT_EQ(body["generationConfig"]["maxOutputTokens"], 5'000);
      EXPECT_EQ(body["generationConfig"]["temperature"], 0.5);
      break;
  }
}

TEST_P(ProviderContract, AsksForAsMuchThoughtAsItIsTold) {
  struct Case {
    Reasoning reasoning;
    const char* word;  ///< openai's
    int tokens;        ///< the others'
  };
  for (const Case& one : {Case{{.effort = "low"}, "low", 2'048}, Case{{.effort = "medium"}, "medium", 8'192},
                          Case{{.effort = "high"}, "high", 24'576}, Case{{.tokens = 3'000}, "low", 3'000},
                          Case{{.tokens = 20'000}, "high", 20'000}}) {
    serve({stream()});
    options_.reasoning = one.reasoning;
    ASSERT_TRUE(chat().has_value());
    const Json body = sent();
    switch (GetParam()) {
      case Api::openai:
        EXPECT_EQ(body["reasoning_effort"], one.word);
        break;
      case Api::anthropic:
        EXPECT_EQ(body["thinking"], Json({{"type", "enabled"}, {"budget_tokens", one.tokens}}));
        EXPECT_EQ(body["max_tokens"], one.tokens + 16'000) << "the answer has its place beside the thoughts";
        EXPECT_FALSE(body.contains("temperature")) << "a thinking model takes none";
        break;
      case Api::gemini:
        EXPECT_EQ(body["generationConfig"]["thinkingConfig"], Json({{"thinkingBudget", one.tokens}}));
        break;
    }
  }
}

TEST_P(ProviderContract, AsksForNoThoughtWhenItIsToldSo) {
  serve({stream()});
  options_.reasoning.effort = "none";
  ASSERT_TRUE(chat().has_value());
  const Json body = sent();
  if (GetParam() == Api::openai) {
    EXPECT_EQ(body["reasoning_effort"], "none");
  }
  if (GetParam() == Api::anthropic) {
    EXPECT_EQ(body["thinking"], Json({{"type", "disabled"}}));
  }
  if (GetParam() == Api::gemini) {
    EXPECT_EQ(body["generationConfig"]["thinkingConfig"], Json({{"thinkingBudget", 0}}));
  }
}

TEST_P(ProviderContract, LearnsFromARefusalHowItsModelIsToldToThink) {
  const std::string words = GetParam() == Api::openai ? "Unsupported value: 'reasoning_effort' does not support 'none'"
                            : GetParam() == Api::anthropic
                                ? "thinking.type.enabled is not supported for this model, use adaptive"
                                : "thinking_budget is not supported, use thinking_level";
  serve(answers_in_turn(
      {http_answer(400, wire_error(GetParam(), 400, words)), http_answer(200, stream(), "text/event-stream")}));
  options_.reasoning.effort = GetParam() == Api::openai ? "none" : "high";
  const auto reply = chat();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->usage.transport_retries, 0);
  const Json body = sent(1);
  if (GetParam() == Api::openai) {
    EXPECT_FALSE(body.contains("reasoning_effort"));
  }
  if (GetParam() == Api::anthropic) {
    EXPECT_EQ(body["thinking"], Json({{"type", "adaptive"}}));
    EXPECT_EQ(body["output_config"], Json({{"effort", "high"}}));
  }
  if (GetParam() == Api::gemini) {
    EXPECT_EQ(body["generationConfig"]["thinkingConfig"], Json({{"thinkingLevel", "high"}}));
  }
}

TEST_P(ProviderContract, AnAnswerOfAnotherApiIsAClearError) {
  const Api other = GetParam() == Api::openai ? Api::gemini : Api::openai;
  serve(answers_in_turn({http_answer(200, wire_whole(other, {}))}));
  const auto reply = chat();
  ASSERT_FALSE(reply.has_value());
  EXPECT_NE(reply.error().message.find("speaks api = \"" + std::string(to_string(GetParam())) + "\""),
            std::string::npos)
      << reply.error().message;
}

TEST(AnthropicModel, KeepsToTheLongestAnswerThatItsModelGives) {
  SocketServer server(answers_in_turn(
      {http_answer(400, wire_error(Api::anthropic, 400,
                                   "max_tokens: 16000 > 8192, which is the maximum allowed number of output tokens")),
       http_answer(200, wire_stream(Api::anthropic, {}), "text/event-stream")}));
  http::Client client;
  FakeClock clock;
  EndpointOptions options;
  options.api = Api::anthropic;
  options.base_url = server.url();
  options.model = "m";
  const auto model = make_endpoint_model(options, client, clock);
  ASSERT_TRUE(model.has_value());
  ChatRequest request;
  request.messages = {{Speaker::user, "hello"}};
  ASSERT_TRUE((*model)->chat(request, {}).has_value());
  EXPECT_EQ(server.requests().at(1).target, "/v1/messages") << "a bare address gets the API's version";
  EXPECT_EQ(Json::parse(server.requests().at(1).body)["max_tokens"], 8192);
}

TEST(GeminiModel, WaitsAsLongAsAnErrorsBodySaysAndKnowsARefusedKey) {
  const std::string quota =
      R"({"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[
          {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"23s"}]}})";
  SocketServer server(answers_in_turn(
      {http_answer(429, quota), http_answer(200, wire_stream(Api::gemini, {}), "text/event-stream"),
       http_answer(400, wire_error(Api::gemini, 400, "API key not valid. Please pass a valid API key."))}));
  http::Client client;
  FakeClock clock;
  EndpointOptions options;
  options.api = Api::gemini;
  options.base_url = server.url();
  options.model = "m";
  const auto model = make_endpoint_model(options, client, clock);
  ASSERT_TRUE(model.has_value());
  ChatRequest request;
  request.messages = {{Speaker::user, "hello"}};
  ASSERT_TRUE((*model)->chat(request, {}).has_value());
  EXPECT_GE(clock.waits().at(0), milliseconds(23'000));
  const auto refused = (*model)->chat(request, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unauthenticated);
}

TEST(ParseApi, KnowsTheApisAndSaysWhichThereAre) {
  EXPECT_EQ(*parse_api("anthropic"), Api::anthropic);
  const auto unknown = parse_api("telepathy");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("gemini"), std::string::npos);
}

TEST(Normalized, RefusesWhatCannotWork) {
  const auto refusal = [](auto change) {
    EndpointOptions options;
    options.api = Api::anthropic;
    options.model = "m";
    change(options);
    const auto checked = normalized(options);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(refusal([](EndpointOptions&) {}), "") << "the vendor's own address is known";
  EXPECT_NE(refusal([](EndpointOptions& o) { o.temperature = 1.5; }).find("from 0 to 1"), std::string::npos);
  EXPECT_NE(refusal([](EndpointOptions& o) { o.reasoning.effort = "vast"; }).find("vast"), std::string::npos);
  EXPECT_NE(refusal([](EndpointOptions& o) { o.reasoning.tokens = -1; }).find("reasoning"), std::string::npos);
  EXPECT_NE(refusal([](EndpointOptions& o) {
              o.reasoning.effort = "low";
              o.max_output_tokens = 1000;
            }).find("2048"),
            std::string::npos);
  EXPECT_NE(refusal([](EndpointOptions& o) { o.requests_per_minute = 0; }).find("requests_per_minute"),
            std::string::npos);
  EXPECT_NE(refusal([](EndpointOptions& o) { o.tokens_per_minute = 0; }).find("tokens_per_minute"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::llm

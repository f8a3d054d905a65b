// SPDX-License-Identifier: Apache-2.0
#include "llm/endpoint_check.hpp"

#include <gtest/gtest.h>

#include <map>

#include "fakes/socket_server.hpp"

namespace accelopt::llm {
namespace {

using fakes::answers_in_turn;
using fakes::http_answer;
using fakes::SocketServer;
using State = EndpointFinding::State;

constexpr const char* kCheckedKey = "sk-checked-0123456789";

struct Checked {
  std::map<std::string, EndpointFinding> by_name;
  std::string target;
  fakes::ReceivedRequest request;

  Checked(Api api, const std::string& answer, bool with_key = true) {
    SocketServer server(answers_in_turn({answer}));
    EndpointOptions options;
    options.api = api;
    options.base_url = server.url();
    if (api == Api::openai) options.base_url += "/v1";
    options.model = "m";
    options.key_source = std::string("SOME_KEY, not ") + kCheckedKey;
    if (with_key) options.key = Secret(kCheckedKey);
    http::Client client;
    for (const EndpointFinding& finding : check_endpoint(options, client, {})) {
      by_name.emplace(finding.name, finding);
      EXPECT_EQ((finding.detail + finding.advice).find(kCheckedKey), std::string::npos);
    }
    EXPECT_EQ(server.requests().size(), 1U) << "one question, which costs nothing";
    request = server.requests().at(0);
    EXPECT_EQ(request.method, "GET");
  }
  [[nodiscard]] State state(const std::string& name) const { return by_name.at(name).state; }
  [[nodiscard]] const std::string& advice(const std::string& name) const { return by_name.at(name).advice; }
};

TEST(CheckEndpoint, FindsEverythingInOrder) {
  const std::map<Api, std::pair<std::string, std::string>> cases{
      {Api::openai, {"/v1/models", R"({"data":[{"id":"other"},{"id":"m"}]})"}},
      {Api::anthropic, {"/v1/models/m", R"({"id":"m","type":"model"})"}},
      {Api::gemini, {"/v1beta/models/m", R"({"name":"models/m"})"}}};
  for (const auto& [api, expected] : cases) {
    const Checked checked(api, http_answer(200, expected.second));
    EXPECT_EQ(checked.request.target, expected.first);
    for (const char* name : {"settings", "endpoint", "key", "model"}) {
      EXPECT_EQ(checked.state(name), State::ok) << to_string(api) << " " << name;
      EXPECT_EQ(checked.advice(name), "");
    }
  }
}

TEST(CheckEndpoint, SaysThatTheKeyIsRefused) {
  for (const Api api : {Api::openai, Api::anthropic, Api::gemini}) {
    for (const int status : {401, 403}) {
      const Checked checked(
          api, http_answer(status, std::string(R"({"error":{"message":"bad key )") + kCheckedKey + "\"}}"));
      EXPECT_EQ(checked.state("endpoint"), State::ok);
      EXPECT_EQ(checked.state("key"), State::missing);
      EXPECT_NE(checked.advice("key").find("SOME_KEY"), std::string::npos);
      EXPECT_FALSE(checked.by_name.contains("model")) << "nothing can be said of it";
    }
  }
  const Checked gemini(Api::gemini, http_answer(400, R"({"error":{"message":"API key not valid."}})"));
  EXPECT_EQ(gemini.state("key"), State::missing);
  const Checked none(Api::openai, http_answer(401, "{}"), false);
  EXPECT_NE(none.advice("key").find("key_env"), std::string::npos);
}

TEST(CheckEndpoint, SaysThatTheModelIsNotThere) {
  const Checked listed(Api::openai, http_answer(200, R"({"data":[{"id":"another"}]})"));
  EXPECT_EQ(listed.state("model"), State::missing);
  EXPECT_NE(listed.advice("model").find("check the name"), std::string::npos);
  for (const Api api : {Api::anthropic, Api::gemini}) {
    EXPECT_EQ(Checked(api, http_answer(404, R"({"error":{"message":"model: m"}})")).state("model"), State::missing);
  }
}

TEST(CheckEndpoint, SaysWhenItCannotTell) {
  EXPECT_EQ(Checked(Api::openai, http_answer(404, "no list here")).state("model"), State::unknown);
  EXPECT_EQ(Checked(Api::openai, http_answer(200, "[]")).state("model"), State::unknown);
  EXPECT_EQ(Checked(Api::anthropic, http_answer(500, "{}")).state("model"), State::unknown);
}

TEST(CheckEndpoint, SaysThatNobodyIsThere) {
  std::string address;
  {
    const SocketServer gone(answers_in_turn({""}));
    address = gone.url();
  }
  EndpointOptions options;
  options.base_url = address + "/v1";
  options.model = "m";
  http::Client client;
  const auto findings = check_endpoint(options, client, {});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[1].name, "endpoint");
  EXPECT_EQ(findings[1].state, State::missing);
  EXPECT_NE(findings[1].detail.find("check that the server runs"), std::string::npos);
}

TEST(CheckEndpoint, SaysThatTheSettingsCannotWork) {
  EndpointOptions options;
  options.base_url = "nonsense";
  options.model = "m";
  http::Client client;
  const auto findings = check_endpoint(options, client, {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].name, "settings");
  EXPECT_EQ(findings[0].state, State::missing);
}

}  // namespace
}  // namespace accelopt::llm

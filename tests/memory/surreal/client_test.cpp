// SPDX-License-Identifier: Apache-2.0
// What the store says of servers that are not as they should be: with answers that were recorded of the engine
// (tests/fakes/surreal/fixtures) and with some that nobody should give.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fakes/socket_server.hpp"
#include "memory/surreal/store.hpp"

namespace accelopt::memory::surreal {
namespace {

using base::ErrorCode;
using base::Json;
using fakes::http_answer;
using fakes::ReceivedRequest;
using fakes::SocketServer;
using fakes::Then;
using fakes::Wire;

constexpr const char* kPassword = "very:secret words";

Json recorded(const std::string& name) {
  std::ifstream file(std::string(ACCELOPT_SURREAL_FIXTURES) + "/" + name + ".json");
  std::stringstream text;
  text << file.rdbuf();
  return Json::parse(text.str())["reply"];
}

std::string cbor(const Json& value) {
  const auto bytes = Json::to_cbor(value);
  return {bytes.begin(), bytes.end()};
}

/// The recorded reply as the bytes of an answer; one to /rpc as CBOR, because that is what the client asks for.
std::string answer_of(const Json& reply, bool as_cbor = false) {
  const std::string type = reply["content_type"].get<std::string>();
  const Json& body = reply["body"];
  const std::string text = body.is_string() ? body.get<std::string>() : as_cbor ? cbor(body) : body.dump();
  return http_answer(reply["status"].get<int>(), text, as_cbor ? "application/cbor" : type);
}

/// Answers by path; what is not there gets the recorded 404.
fakes::Handler by_path(std::map<std::string, std::string> answers) {
  return [answers = std::move(answers)](const ReceivedRequest& request, const Wire& wire) {
    const auto found = answers.find(request.target);
    return wire.send(found != answers.end() ? found->second : answer_of(recorded("no_route"))) ? Then::keep
                                                                                               : Then::close;
  };
}

/// A server that signs in and gives this to every query.
fakes::Handler answering(const std::string& rpc) {
  return by_path(
      {{"/version", answer_of(recorded("version"))}, {"/signin", answer_of(recorded("signin"))}, {"/rpc", rpc}});
}

base::Error error_of(const std::string& url, const std::string& user = "root", const std::string& password = kPassword,
                     std::chrono::milliseconds greeting = std::chrono::seconds{5}) {
  const std::string host = url.substr(std::string("http://").size());
  const auto address = parse_address("surreal://" + (user.empty() ? "" : user + "@") + host + "/team/knowledge");
  Options options;
  options.patience = std::chrono::milliseconds{50};
  options.greeting.stall = greeting;
  const auto store = open_store(*address, password, options);
  if (store) return {};
  EXPECT_EQ(store.error().message.find(kPassword), std::string::npos) << store.error().message;
  EXPECT_EQ(store.error().message.find("(blank)"), std::string::npos) << store.error().message;  // the token
  EXPECT_NE(store.error().message.find(host), std::string::npos) << store.error().message;
  return store.error();
}

bool holds(const base::Error& error, std::string_view part) {
  return error.message.find(part) != std::string::npos;
}

TEST(SurrealErrors, AServerThatIsNotThere) {
  const std::string gone = SocketServer(fakes::answers_in_turn({""})).url();
  EXPECT_EQ(error_of(gone).code, ErrorCode::unavailable);
}

TEST(SurrealErrors, AServerThatTakesConnectionsAndHangs) {
  SocketServer server([](const ReceivedRequest&, const Wire&) { return Then::keep; });
  const auto error = error_of(server.url(), "root", kPassword, std::chrono::milliseconds{30});
  EXPECT_EQ(error.code, ErrorCode::timed_out);
  EXPECT_TRUE(holds(error, "it may hang or be overloaded")) << error.message;
  EXPECT_FALSE(holds(error, "longer stall")) << error.message << ": there is no such setting";
}

TEST(SurrealErrors, AWrongPassword) {
  SocketServer server(
      by_path({{"/version", answer_of(recorded("version"))}, {"/signin", answer_of(recorded("signin_wrong"))}}));
  const auto error = error_of(server.url());
  EXPECT_EQ(error.code, ErrorCode::unauthenticated);
  EXPECT_TRUE(holds(error, "root")) << error.message;
  EXPECT_TRUE(holds(error, "ACCELOPT_SURREAL_PASSWORD")) << error.message;
  // Tried as a user of the database, of the namespace, and of the server.
  std::vector<Json> credentials;
  for (const auto& request : server.requests())
    if (request.target == "/signin") credentials.push_back(Json::parse(request.body));
  ASSERT_EQ(credentials.size(), 3U);
  EXPECT_EQ(credentials[0]["db"], "knowledge");
  EXPECT_EQ(credentials[1]["ns"], "team");
  EXPECT_FALSE(credentials[1].contains("db"));
  EXPECT_FALSE(credentials[2].contains("ns"));
}

TEST(SurrealErrors, NoPassword) {
  SocketServer server(by_path({{"/version", answer_of(recorded("version"))}}));
  const auto error = error_of(server.url(), "root", "");
  EXPECT_EQ(error.code, ErrorCode::unauthenticated);
  EXPECT_TRUE(holds(error, "ACCELOPT_SURREAL_PASSWORD")) << error.message;
}

TEST(SurrealErrors, AGuestWhereNoneIsLetIn) {
  SocketServer server(answering(answer_of(recorded("rpc_guest"), true)));
  const auto error = error_of(server.url(), "");
  EXPECT_EQ(error.code, ErrorCode::unauthenticated);
  EXPECT_TRUE(holds(error, "user@host")) << error.message;
  for (const auto& request : server.requests()) EXPECT_FALSE(request.headers.contains("authorization"));
}

TEST(SurrealErrors, ANamespaceThatIsNotThere) {
  SocketServer server(answering(answer_of(recorded("rpc_missing_namespace"), true)));
  const auto error = error_of(server.url());
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_TRUE(holds(error, "DEFINE NAMESPACE team")) << error.message;
}

TEST(SurrealErrors, ASignInThatIsRefusedAgainAndAgain) {
  SocketServer server(answering(answer_of(recorded("rpc_wrong_password"))));
  EXPECT_EQ(error_of(server.url()).code, ErrorCode::unauthenticated);
}

TEST(SurrealErrors, AnotherKindOfServer) {
  SocketServer web(by_path({{"/version", http_answer(200, "<html>hello</html>", "text/html")}}));
  EXPECT_EQ(error_of(web.url()).code, ErrorCode::unsupported);
  SocketServer nothing(by_path({}));
  EXPECT_EQ(error_of(nothing.url()).code, ErrorCode::unsupported);
  SocketServer old(by_path({{"/version", http_answer(200, "surrealdb-2.3.10", "text/plain")}}));
  const auto error = error_of(old.url());
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_TRUE(holds(error, "surrealdb-2.3.10")) << error.message;
}

TEST(SurrealErrors, AnswersOfAnUnknownForm) {
  const std::string odd[] = {
      "\xff\xff not cbor", cbor("text"), cbor(Json::object()), cbor({{"result", 3}}), cbor({{"result", {1, 2}}}), ""};
  for (const std::string& body : odd) {
    SocketServer server(answering(http_answer(200, body, "application/cbor")));
    EXPECT_EQ(error_of(server.url()).code, ErrorCode::unsupported) << body;
  }
  SocketServer no_token(
      by_path({{"/version", answer_of(recorded("version"))}, {"/signin", http_answer(200, "{\"token\": 5}")}}));
  EXPECT_EQ(error_of(no_token.url()).code, ErrorCode::unsupported);
}

TEST(SurrealErrors, StatusesSayWhatToDo) {
  const std::pair<int, ErrorCode> cases[] = {{403, ErrorCode::permission_denied}, {413, ErrorCode::exhausted},
                                             {415, ErrorCode::unsupported},       {418, ErrorCode::unsupported},
                                             {429, ErrorCode::unavailable},       {500, ErrorCode::unavailable},
                                             {503, ErrorCode::unavailable}};
  for (const auto& [status, code] : cases) {
    SocketServer server(
        answering(http_answer(status, std::string("words with ") + kPassword + "\x1b[2J", "text/plain")));
    const auto error = error_of(server.url());
    EXPECT_EQ(error.code, code) << status;
    EXPECT_FALSE(holds(error, "\x1b")) << error.message;
  }
}

TEST(SurrealErrors, AConflictIsTriedAgainUntilPatienceEnds) {
  const Json conflict = {{"result",
                          {{{"status", "ERR"},
                            {"kind", "Internal"},
                            {"result",
                             "Query not executed: Transaction conflict: Transaction write conflict. This "
                             "transaction can be retried"}}}}};
  SocketServer server(answering(http_answer(200, cbor(conflict), "application/cbor")));
  EXPECT_EQ(error_of(server.url()).code, ErrorCode::unavailable);
  EXPECT_GT(server.requests().size(), 4U);
}

TEST(SurrealErrors, TablesOfANewerProgramAreLeftAlone) {
  const auto ok = [](const Json& result) { return cbor({{"result", {{{"status", "OK"}, {"result", result}}}}}); };
  std::atomic<int> queries = 0;
  const std::string info =
      http_answer(200, ok({{"tables", {{"accelopt_schema", "DEFINE TABLE"}}}}), "application/cbor");
  const std::string version = http_answer(200, ok(Json::array({99})), "application/cbor");
  const auto rest = answering("");
  SocketServer server([&](const ReceivedRequest& request, const Wire& wire) {
    if (request.target != "/rpc") return rest(request, wire);
    return wire.send(queries++ == 0 ? info : version) ? Then::keep : Then::close;
  });
  const auto error = error_of(server.url());
  EXPECT_EQ(error.code, ErrorCode::corrupt);
  EXPECT_TRUE(holds(error, "99")) << error.message;
  EXPECT_TRUE(holds(error, "update accelopt")) << error.message;
  EXPECT_EQ(queries, 2);
}

}  // namespace
}  // namespace accelopt::memory::surreal

// SPDX-License-Identifier: Apache-2.0
// Tasks in both of their forms (server_tasks.cpp).
#include <gtest/gtest.h>

#include "mcp/fake_catalogue.hpp"
#include "mcp/server.hpp"

namespace accelopt::mcp {
namespace {

using base::Json;

/// A self-describing request's parameters, of a client that knows tasks.
Json knowing(Json params = Json::object()) {
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = kModernVersion;
  params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"]["io.modelcontextprotocol/tasks"] =
      Json::object();
  return params;
}
/// The same of a client that does not.
Json unaware(Json params = Json::object()) {
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = kModernVersion;
  return params;
}

class TasksTest : public testing::Test {
 protected:
  Json ask(const std::string& method, Json params = Json::object()) {
    connection_.handle({1, method, std::move(params)});
    return sent_.empty() ? Json() : sent_.back();
  }
  Json result(const std::string& method, Json params = Json::object()) {
    const Json reply = ask(method, std::move(params));
    EXPECT_TRUE(reply.contains("result")) << reply;
    return reply.value("result", Json());
  }
  int code(const std::string& method, Json params = Json::object()) {
    const Json reply = ask(method, std::move(params));
    return reply.contains("error") ? reply["error"]["code"].get<int>() : 0;
  }
  void shake_hands(const std::string& version) {
    static_cast<void>(result("initialize", {{"protocolVersion", version}}));
  }

  Catalogue catalogue_ = fake_catalogue();
  std::vector<Json> sent_;
  Connection connection_{catalogue_, [this](const Json& message) { sent_.push_back(message); }};
};

const Json kFollow = {{"name", "begin"}, {"arguments", {{"follow", true}}}};

TEST_F(TasksTest, Modern_BeginsOneForWhoKnowsAndAsks) {
  const Json begun = result("tools/call", knowing(kFollow));
  EXPECT_EQ(begun["resultType"], "task");
  EXPECT_EQ(begun["taskId"], "going");
  EXPECT_EQ(begun["status"], "working");
  EXPECT_EQ(begun["createdAt"], "2026-01-01T00:00:00Z");
  EXPECT_TRUE(begun["ttlMs"].is_null());
  EXPECT_GT(begun["pollIntervalMs"].get<int>(), 0);
  EXPECT_FALSE(begun.contains("content"));
}

TEST_F(TasksTest, Modern_NobodyElseGetsOne) {
  EXPECT_EQ(result("tools/call", unaware(kFollow))["resultType"], "complete");
  EXPECT_EQ(result("tools/call", knowing({{"name", "begin"}}))["content"][0]["text"], "it has begun");
  EXPECT_EQ(result("tools/call", knowing({{"name", "echo"}}))["resultType"], "complete");
}

TEST_F(TasksTest, Modern_GetGivesTheResultAtTheEnd) {
  EXPECT_EQ(result("tasks/get", knowing({{"taskId", "going"}}))["status"], "working");
  const Json well = result("tasks/get", knowing({{"taskId", "well"}}));
  EXPECT_EQ(well["resultType"], "complete");
  EXPECT_EQ(well["status"], "completed");
  EXPECT_EQ(well["result"]["structuredContent"]["ok"], true);
  EXPECT_EQ(well["result"]["resultType"], "complete");
  const Json badly = result("tasks/get", knowing({{"taskId", "badly"}}));
  EXPECT_EQ(badly["status"], "completed") << "failed is for errors of the protocol";
  EXPECT_EQ(badly["result"]["isError"], true);
  EXPECT_EQ(result("tasks/get", knowing({{"taskId", "cancelled"}}))["status"], "cancelled");
}

TEST_F(TasksTest, Modern_UpdateAndCancelAreAcknowledged) {
  for (const char* method : {"tasks/cancel", "tasks/update"}) {
    EXPECT_EQ(result(method, knowing({{"taskId", "going"}}))["resultType"], "complete");
    EXPECT_EQ(result(method, knowing({{"taskId", "well"}}))["resultType"], "complete");
    EXPECT_EQ(code(method, knowing({{"taskId", "nothing"}})), -32602);
  }
}

TEST_F(TasksTest, Modern_WhoDoesNotKnowThemIsTold) {
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const Json reply = ask(method, unaware({{"taskId", "going"}}));
    EXPECT_EQ(reply["error"]["code"], -32021);
    EXPECT_TRUE(reply["error"]["data"]["requiredCapabilities"]["extensions"].contains("io.modelcontextprotocol/tasks"));
  }
  EXPECT_EQ(code("tasks/result", knowing({{"taskId", "well"}})), -32601) << "of the older revision";
  EXPECT_EQ(code("tasks/list", knowing()), -32601);
  EXPECT_EQ(code("tasks/get", knowing({{"taskId", 5}})), -32602);
  EXPECT_EQ(code("tasks/get", knowing()), -32602);
}

TEST_F(TasksTest, Capabilities_AreSaidAsEachRevisionHasThem) {
  EXPECT_TRUE(
      result("server/discover", knowing())["capabilities"]["extensions"].contains("io.modelcontextprotocol/tasks"));
  EXPECT_TRUE(
      result("initialize", {{"protocolVersion", "2025-11-25"}})["capabilities"]["tasks"]["requests"]["tools"].contains(
          "call"));
  EXPECT_FALSE(result("initialize", {{"protocolVersion", "2025-06-18"}})["capabilities"].contains("tasks"));
  catalogue_.tasks = {};
  EXPECT_FALSE(result("initialize", {{"protocolVersion", "2025-11-25"}})["capabilities"].contains("tasks"));
  EXPECT_EQ(code("tasks/get", knowing({{"taskId", "going"}})), -32601);
}

TEST_F(TasksTest, Legacy_ClientAsksCallByCall) {
  shake_hands("2025-11-25");
  for (const Json& tool : result("tools/list")["tools"])
    EXPECT_EQ(tool.contains("execution"), tool["name"] == "begin") << tool;
  const Json begun = result("tools/call", {{"name", "begin"}, {"task", {{"ttl", 60000}}}});
  EXPECT_EQ(begun["task"]["taskId"], "going");
  EXPECT_EQ(begun["task"]["status"], "working");
  EXPECT_TRUE(begun["task"]["ttl"].is_null());
  EXPECT_EQ(begun["_meta"]["io.modelcontextprotocol/model-immediate-response"], "it has begun");
  EXPECT_EQ(result("tools/call", kFollow)["isError"], false) << "did not ask";
  EXPECT_EQ(code("tools/call", {{"name", "echo"}, {"task", Json::object()}}), -32601);
}

TEST_F(TasksTest, Legacy_GetResultAndCancel) {
  shake_hands("2025-11-25");
  EXPECT_EQ(result("tasks/get", {{"taskId", "well"}})["status"], "completed");
  EXPECT_EQ(result("tasks/get", {{"taskId", "badly"}})["status"], "failed") << "its result is an error";
  const Json well = result("tasks/result", {{"taskId", "well"}});
  EXPECT_EQ(well["structuredContent"]["ok"], true);
  EXPECT_EQ(well["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], "well");
  EXPECT_EQ(result("tasks/result", {{"taskId", "badly"}})["isError"], true);
  EXPECT_EQ(code("tasks/result", {{"taskId", "cancelled"}}), -32602);
  EXPECT_EQ(code("tasks/result", {{"taskId", "nothing"}}), -32602);
  EXPECT_EQ(result("tasks/cancel", {{"taskId", "going"}})["taskId"], "going");
  EXPECT_EQ(code("tasks/cancel", {{"taskId", "well"}}), -32602);
  EXPECT_EQ(code("tasks/update", {{"taskId", "going"}}), -32601);
}

TEST_F(TasksTest, Legacy_OlderRevisionsHaveNone) {
  shake_hands("2025-06-18");
  EXPECT_EQ(code("tasks/get", {{"taskId", "going"}}), -32601);
  EXPECT_EQ(result("tools/call", {{"name", "begin"}, {"task", Json::object()}})["isError"], false)
      << "an unknown member";
}

TEST_F(TasksTest, Legacy_WaitForAResultCanBeCancelled) {
  shake_hands("2025-11-25");
  sent_.clear();
  const Message wait{7, "tasks/result", {{"taskId", "going"}}};
  connection_.expect(wait);
  connection_.handle({{}, "notifications/cancelled", {{"requestId", 7}}});
  connection_.handle(wait);
  EXPECT_TRUE(sent_.empty());
}

TEST_F(TasksTest, Completion_NamesWhatATemplateMayBe) {
  const auto completed = [&](const char* value) {
    return result("completion/complete", {{"ref", {{"type", "ref/resource"}, {"uri", "fake://{letter}"}}},
                                          {"argument", {{"name", "letter"}, {"value", value}}}})["completion"];
  };
  EXPECT_EQ(completed("")["values"].size(), 100U);
  EXPECT_EQ(completed("")["total"], 150);
  EXPECT_EQ(completed("")["hasMore"], true);
  EXPECT_EQ(completed("z")["values"], Json::array());
  EXPECT_EQ(
      result("completion/complete", {{"ref", {{"type", "ref/prompt"}, {"name", "greet"}}}})["completion"]["values"],
      Json::array());
  EXPECT_EQ(code("completion/complete", {{"ref", {{"type", "ref/prompt"}, {"name", "none"}}}}), -32602);
  EXPECT_EQ(code("completion/complete"), -32602);
}

}  // namespace
}  // namespace accelopt::mcp

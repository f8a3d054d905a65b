// SPDX-License-Identifier: Apache-2.0
#include "mcp/server.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "mcp/fake_catalogue.hpp"

namespace accelopt::mcp {
namespace {

using base::Json;

Json modern(Json params = Json::object(), const std::string& version = std::string(kModernVersion)) {
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = version;
  params["_meta"]["io.modelcontextprotocol/clientInfo"] = {{"name", "robot"}, {"version", "1"}};
  params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = Json::object();
  return params;
}

class ServerTest : public testing::Test {
 protected:
  Json ask(const std::string& method, Json params = Json::object(), Json id = 1) {
    connection_.handle({std::move(id), method, std::move(params)});
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
    EXPECT_EQ(
        result("initialize", {{"protocolVersion", version}, {"clientInfo", {{"name", "old\n"}}}})["protocolVersion"],
        version);
  }

  Catalogue catalogue_ = fake_catalogue();
  std::vector<Json> sent_;
  Connection connection_{catalogue_, [this](const Json& message) { sent_.push_back(message); }};
};

TEST_F(ServerTest, Initialize_AgreesOnTheVersion) {
  for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) shake_hands(version);
  const Json made = result("initialize", {{"protocolVersion", "1999-01-01"}});
  EXPECT_EQ(made["protocolVersion"], "2025-11-25");
  EXPECT_EQ(made["serverInfo"]["name"], "fake");
  EXPECT_TRUE(made["capabilities"].contains("tools"));
}

TEST_F(ServerTest, Discover_TellsVersionsAndWho) {
  const Json found = result("server/discover", modern());
  EXPECT_EQ(found["supportedVersions"][0], kModernVersion);
  EXPECT_EQ(found["resultType"], "complete");
  EXPECT_EQ(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "fake");
  EXPECT_TRUE(found["ttlMs"].is_number());
}

TEST_F(ServerTest, UnknownVersion_IsRefusedWithThoseThereAre) {
  const Json reply = ask("tools/list", modern({}, "2031-01-01"));
  EXPECT_EQ(reply["error"]["code"], -32022);
  EXPECT_EQ(reply["error"]["data"]["supported"][0], kModernVersion);
  EXPECT_EQ(reply["error"]["data"]["requested"], "2031-01-01");
}

TEST_F(ServerTest, MethodsOfOneEra_AreUnknownInTheOther) {
  EXPECT_EQ(result("ping"), Json::object());
  EXPECT_EQ(code("ping", modern()), -32601);
  EXPECT_EQ(code("initialize", modern()), -32601);
  EXPECT_EQ(code("no/such"), -32601);
}

TEST_F(ServerTest, CallTool_GivesTextAndStructure) {
  shake_hands("2025-06-18");
  const Json called = result("tools/call", {{"name", "echo"}, {"arguments", {{"text", "hi"}}}});
  EXPECT_EQ(called["content"][0]["text"], "said hi");
  EXPECT_EQ(called["content"][1]["type"], "resource_link");
  EXPECT_EQ(called["structuredContent"]["text"], "hi");
  EXPECT_EQ(called["structuredContent"]["client"], "old?") << "a name is printable";
  EXPECT_EQ(called["isError"], false);
  EXPECT_FALSE(called.contains("resultType"));
}

TEST_F(ServerTest, CallTool_OldestClients_GetTextAlone) {
  shake_hands("2025-03-26");
  const Json called = result("tools/call", {{"name", "echo"}});
  EXPECT_EQ(called["content"].size(), 1U);
  EXPECT_FALSE(called.contains("structuredContent"));
}

TEST_F(ServerTest, CallTool_ModernClientIsKnownByTheRequest) {
  const Json called = result("tools/call", modern({{"name", "echo"}}));
  EXPECT_EQ(called["structuredContent"]["client"], "robot");
  EXPECT_EQ(called["resultType"], "complete");
}

TEST_F(ServerTest, CallTool_Failure_IsForTheModel) {
  const Json failed = result("tools/call", {{"name", "fail"}});
  EXPECT_EQ(failed["isError"], true);
  EXPECT_EQ(failed["content"][0]["text"], "there is no such thing; make it first");
  const Json refused = result("tools/call", {{"name", "echo"}, {"arguments", {{"text", 5}}}});
  EXPECT_EQ(refused["isError"], true);
  EXPECT_EQ(result("tools/call", {{"name", "echo"}, {"arguments", 5}})["isError"], true);
}

TEST_F(ServerTest, CallTool_Failure_HoldsNoControlCharacters) {
  catalogue_.tools.push_back(fake_tool("quote", [](const Json&, const Call&) -> base::Result<ToolResult> {
    return base::fail(base::ErrorCode::parse, "unknown key \"\x1b[2J\"\nand another");
  }));
  EXPECT_EQ(result("tools/call", {{"name", "quote"}})["content"][0]["text"], "unknown key \" [2J\"\nand another");
}

TEST_F(ServerTest, CallTool_Unknown_IsAnError) {
  EXPECT_EQ(code("tools/call", {{"name", "nothing"}}), -32602);
  EXPECT_EQ(code("tools/call"), -32602);
}

TEST_F(ServerTest, CallTool_Bug_EndsTheCallAlone) {
  EXPECT_EQ(code("tools/call", {{"name", "bug"}}), -32603);
  EXPECT_EQ(result("tools/call", {{"name", "echo"}})["isError"], false);
}

TEST_F(ServerTest, Progress_OnlyWithATokenAndGrowing) {
  static_cast<void>(result("tools/call", {{"name", "echo"}}));
  EXPECT_EQ(sent_.size(), 1U);
  sent_.clear();
  static_cast<void>(result("tools/call", {{"name", "echo"}, {"_meta", {{"progressToken", "t"}}}}));
  ASSERT_EQ(sent_.size(), 3U);
  EXPECT_EQ(sent_[0]["method"], "notifications/progress");
  EXPECT_EQ(sent_[0]["params"]["progressToken"], "t");
  EXPECT_LT(sent_[0]["params"]["progress"].get<double>(), sent_[1]["params"]["progress"].get<double>());
}

TEST_F(ServerTest, Cancelled_CallEndsWithoutAReply) {
  const Message call{5, "tools/call", {{"name", "wait"}}};
  connection_.expect(call);
  {
    const std::jthread waiting([&] { connection_.handle(call); });
    connection_.handle({{}, "notifications/cancelled", {{"requestId", 5}}});
  }
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(result("tools/call", {{"name", "echo"}})["isError"], false) << "others go on";
}

TEST_F(ServerTest, Close_EndsWhatWaits) {
  const Message call{5, "tools/call", {{"name", "wait"}}};
  connection_.expect(call);
  {
    const std::jthread waiting([&] { connection_.handle(call); });
    connection_.close();
  }
  EXPECT_TRUE(sent_.empty());
}

TEST_F(ServerTest, Lists_AreWhole) {
  const Json tools = result("tools/list")["tools"];
  EXPECT_EQ(tools.size(), catalogue_.tools.size());
  for (const Json& tool : tools) {
    EXPECT_EQ(tool["inputSchema"]["type"], "object");
    EXPECT_EQ(tool["annotations"]["readOnlyHint"], true);
  }
  EXPECT_EQ(result("resources/list")["resources"][0]["uri"], "fake://a");
  EXPECT_EQ(result("resources/templates/list")["resourceTemplates"][0]["uriTemplate"], "fake://{letter}");
  EXPECT_EQ(result("prompts/list")["prompts"][0]["arguments"][0]["required"], true);
  for (const char* list : {"tools/list", "resources/list", "resources/templates/list", "prompts/list"})
    EXPECT_TRUE(result(list, modern()).contains("cacheScope")) << list;
}

TEST_F(ServerTest, Resource_IsReadOrAbsent) {
  EXPECT_EQ(result("resources/read", {{"uri", "fake://a"}})["contents"][0]["text"], "A");
  EXPECT_EQ(result("resources/read", {{"uri", "fake://%61"}})["contents"][0]["text"], "A");
  EXPECT_EQ(code("resources/read", {{"uri", "fake://b"}}), -32002);
  EXPECT_EQ(code("resources/read", modern({{"uri", "fake://b"}})), -32602);
  EXPECT_EQ(code("resources/read", {{"uri", "fake://a/b"}}), -32002);
  EXPECT_EQ(code("resources/read", {{"uri", "file:///etc/passwd"}}), -32002);
  EXPECT_EQ(code("resources/read"), -32002);
}

TEST_F(ServerTest, Prompt_IsFilledIn) {
  EXPECT_EQ(
      result("prompts/get", {{"name", "greet"}, {"arguments", {{"name", "you"}}}})["messages"][0]["content"]["text"],
      "hello you");
  EXPECT_EQ(code("prompts/get", {{"name", "greet"}}), -32602);
  EXPECT_EQ(code("prompts/get", {{"name", "other"}}), -32602);
}

TEST_F(ServerTest, MetaOfAnotherType_IsIgnored) {
  EXPECT_EQ(result("tools/call", {{"name", "echo"}, {"_meta", 5}})["isError"], false);
  EXPECT_EQ(result("tools/call", {{"name", "echo"}, {"_meta", {{"progressToken", Json::array()}}}})["isError"], false);
}

}  // namespace
}  // namespace accelopt::mcp

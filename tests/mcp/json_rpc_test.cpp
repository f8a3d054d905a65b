// SPDX-License-Identifier: Apache-2.0
#include "mcp/json_rpc.hpp"

#include <gtest/gtest.h>

namespace accelopt::mcp {
namespace {

TEST(JsonRpc, Request_Whole_IsRead) {
  const auto message = read_message(R"({"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"a":1}})");
  ASSERT_TRUE(message && *message);
  EXPECT_EQ((*message)->id, 7);
  EXPECT_EQ((*message)->method, "tools/list");
  EXPECT_EQ((*message)->params["a"], 1);
}

TEST(JsonRpc, Notification_HasNoId) {
  const auto message = read_message(R"({"jsonrpc":"2.0","method":"x"})");
  ASSERT_TRUE(message && *message);
  EXPECT_TRUE((*message)->is_notification());
}

TEST(JsonRpc, AnswerOfAClient_IsNothing) {
  const auto message = read_message(R"({"jsonrpc":"2.0","id":1,"result":{}})");
  ASSERT_TRUE(message);
  EXPECT_FALSE(*message);
}

TEST(JsonRpc, Malformed_IsRefusedByCode) {
  struct Case {
    const char* text;
    RpcCode code;
    base::Json id;
  };
  for (const Case& it :
       {Case{"{\"jsonrpc\":\"2.0\",", RpcCode::parse_error, {}}, Case{"\xff\xfe", RpcCode::parse_error, {}},
        Case{"[]", RpcCode::invalid_request, {}}, Case{"5", RpcCode::invalid_request, {}},
        Case{R"({"jsonrpc":"1.0","id":3,"method":"x"})", RpcCode::invalid_request, 3},
        Case{R"({"jsonrpc":"2.0","id":3})", RpcCode::invalid_request, 3},
        Case{R"({"jsonrpc":"2.0","id":3,"method":4})", RpcCode::invalid_request, 3},
        Case{R"({"jsonrpc":"2.0","id":[3],"method":"x"})", RpcCode::invalid_request, {}},
        Case{R"({"jsonrpc":"2.0","id":1.5,"method":"x"})", RpcCode::invalid_request, {}},
        Case{R"({"jsonrpc":"2.0","id":"a","method":"x","params":[1]})", RpcCode::invalid_params, "a"}}) {
    const auto message = read_message(it.text);
    ASSERT_FALSE(message) << it.text;
    EXPECT_EQ(message.error().error.code, it.code) << it.text;
    EXPECT_EQ(message.error().id, it.id) << it.text;
  }
}

TEST(JsonRpc, DeepNesting_IsRefusedUnread) {
  const auto message = read_message(std::string(1'000'000, '['));
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().error.code, RpcCode::parse_error);
  const std::string quoted = R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(1000, '[') + "\"}";
  EXPECT_TRUE(read_message(quoted)) << "brackets in a text are no nesting";
}

}  // namespace
}  // namespace accelopt::mcp

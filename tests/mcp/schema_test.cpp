// SPDX-License-Identifier: Apache-2.0
#include "mcp/schema.hpp"

#include <gtest/gtest.h>

namespace accelopt::mcp {
namespace {

using base::Json;

const Json& example() {
  static const Json it = schema(R"({"type": "object", "properties": {
      "task": {"type": "string", "minLength": 1, "maxLength": 5, "description": "a folder"},
      "rounds": {"type": "integer", "minimum": 1, "maximum": 9}, "kind": {"enum": ["a", "b"]},
      "list": {"type": "array", "items": {"type": "string"}}}, "required": ["task"], "additionalProperties": false})");
  return it;
}

TEST(Schema, WhatFits_Passes) {
  for (const char* text : {R"({"task": "x"})", R"({"task": "x", "rounds": 9, "kind": "b", "list": ["y"]})",
                           R"({"task": "x", "rounds": null})"}) {
    const auto fits = check(Json::parse(text), example());
    EXPECT_TRUE(fits) << fits.error().message;
  }
}

TEST(Schema, WhatDoesNot_IsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "the arguments must be of type object"},
      {"{}", "\"task\" is missing: a folder"},
      {R"({"task": null})", "\"task\" is missing"},
      {R"({"task": 5})", "\"task\" must be of type string, not 5"},
      {R"({"task": ""})", "\"task\" is empty"},
      {R"({"task": "123456"})", "\"task\" is longer than 5 bytes"},
      {R"({"task": "a\u0000b"})", "\"task\" holds a zero byte"},
      {R"({"task": "x", "rounds": 0})", "\"rounds\" must be 1 or more, not 0"},
      {R"({"task": "x", "rounds": 10})", "\"rounds\" must be 9 or less"},
      {R"({"task": "x", "rounds": 1.5})", "\"rounds\" must be of type integer"},
      {R"({"task": "x", "kind": "c"})", "\"kind\" must be one of [\"a\",\"b\"]"},
      {R"({"task": "x", "list": ["y", 3]})", "\"list[1]\" must be of type string"},
      {R"({"task": "x", "api_key": "s"})", "have no member \"api_key\"; there are: kind, list, rounds, task"}};
  for (const auto& [text, message] : cases) {
    const auto refused = check(Json::parse(text), example());
    ASSERT_FALSE(refused) << text;
    EXPECT_NE(refused.error().message.find(message), std::string::npos) << refused.error().message;
    EXPECT_EQ(refused.error().code, base::ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace accelopt::mcp

// SPDX-License-Identifier: Apache-2.0
#include "page/requests.hpp"

#include <gtest/gtest.h>

namespace accelopt::page {
namespace {

using base::Json;

/// One route that gives back what it was asked, and one that fails.
std::vector<Route> echo() {
  return {{"GET", "runs/{}/outline",
           [](const Request& request) -> base::Result<mcp::HttpReply> {
             TRY_ASSIGN(const std::int64_t after, request.number("after", 7, 100));
             return json_reply({{"run", request.names.front()}, {"after", after}, {"text", request.text("text")}});
           }},
          {"POST", "memory/{}", [](const Request& request) -> base::Result<mcp::HttpReply> {
             if (request.body.empty()) return base::fail(base::ErrorCode::not_found, "no such thing");
             return json_reply(request.body);
           }}};
}

mcp::HttpReply asked(const std::string& method, const std::string& path, const std::string& query = {},
                     const std::string& body = {}) {
  mcp::HttpRequest request{method, path, {}, body};
  request.query = query;
  return answer(echo(), request);
}

TEST(Decoded, Sequences_AreBytesAndOthersStay) {
  EXPECT_EQ(decoded("a%20b%2Fc+d"), "a b/c d");
  EXPECT_EQ(decoded("%"), "%");
  EXPECT_EQ(decoded("%4"), "%4");
  EXPECT_EQ(decoded("%zz%41"), "%zzA");
  EXPECT_EQ(decoded("%00").size(), 1U);
}

TEST(PageRequests, NamesAndOptions_ReachTheRoute) {
  const auto reply = asked("GET", "/api/runs/a%2Fb/outline", "after=12&text=two%20words&other");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(Json::parse(reply.body), (Json{{"run", "a/b"}, {"after", 12}, {"text", "two words"}}));
  EXPECT_EQ(Json::parse(asked("GET", "/api/runs/x/outline").body)["after"], 7);
}

TEST(PageRequests, BadNumbers_AreRefusedByName) {
  for (const char* query : {"after=x", "after=-1", "after=101", "after=1x", "after=99999999999999999999"}) {
    const auto reply = asked("GET", "/api/runs/x/outline", query);
    EXPECT_EQ(reply.status, 400) << query;
    EXPECT_EQ(Json::parse(reply.body)["error"], "after is a number from 0 to 100") << query;
  }
}

TEST(PageRequests, WhatIsNotThere_IsSaid) {
  EXPECT_EQ(asked("GET", "/api/runs/x").status, 404);
  EXPECT_EQ(asked("GET", "/api/").status, 404);
  EXPECT_EQ(asked("GET", "/").status, 404);
  EXPECT_EQ(asked("POST", "/api/runs/x/outline", "", "{}").status, 405);
  EXPECT_EQ(asked("GET", "/api/memory/x").status, 405);
}

TEST(PageRequests, BodiesAreObjects_AndErrorsHaveTheirStatus) {
  EXPECT_EQ(asked("POST", "/api/memory/x", "", "{nonsense").status, 400);
  EXPECT_EQ(asked("POST", "/api/memory/x", "", "[1]").status, 400);
  const std::string nested = "{\"title\":" + std::string(300'000, '[') + std::string(300'000, ']') + "}";
  EXPECT_EQ(asked("POST", "/api/memory/x", "", nested).status, 400);
  EXPECT_EQ(asked("POST", "/api/memory/x", "", R"({"title": "t"})").body, R"({"title":"t"})");
  const auto missing = asked("POST", "/api/memory/x", "", "{}");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(Json::parse(missing.body)["error"], "no such thing");
}

}  // namespace
}  // namespace accelopt::page

// SPDX-License-Identifier: Apache-2.0
#include "mcp/http_request.hpp"

#include <gtest/gtest.h>

namespace accelopt::mcp {
namespace {

using base::Json;

/// A good request's head, with these headers besides, or in place of its own.
HttpRequest head(const std::map<std::string, std::string>& more = {}) {
  HttpRequest out{"POST", "/mcp", more, ""};
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"host", "localhost:80"}, {"content-type", "application/json"}, {"content-length", "2"}})
    out.headers.emplace(name, value);
  return out;
}

int refused(const HttpRequest& request, const HttpAccess& access = {}) {
  const auto refusal = refuse(request, access, 100);
  return refusal ? refusal->status : 0;
}

TEST(HttpHead, IsReadWithNamesInSmallLetters) {
  const auto read = read_head("POST /mcp?x=1 HTTP/1.1\r\nHost:  here \r\nMCP-Protocol-Version: 2026-07-28\r\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->method, "POST");
  EXPECT_EQ(read->path, "/mcp");
  EXPECT_EQ(read->query, "x=1");
  EXPECT_EQ(read->header("host"), "here");
  EXPECT_EQ(read->header("mcp-protocol-version"), "2026-07-28");
  EXPECT_EQ(read->header("other"), "");
}

TEST(HttpHead, Malformed_IsNone) {
  for (const char* text :
       {"", "POST\r\n", "POST /mcp\r\n", "POST /mcp FTP/1\r\n", "POST / HTTP/1.1\r\nno colon\r\n",
        "POST / HTTP/1.1\r\nA : b\r\n", "POST / HTTP/1.1\r\n: b\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\ncontent-length: 2\r\n", "POST / HTTP/1.1\r\nHost: a\r\nHost: b\r\n"})
    EXPECT_FALSE(read_head(text)) << text;
}

TEST(HttpAccessTest, GoodRequest_Passes) {
  EXPECT_EQ(refused(head()), 0);
  for (const char* host : {"127.0.0.1", "127.0.0.1:8123", "127.1.2.3:80", "LOCALHOST:1", "[::1]:8"})
    EXPECT_EQ(refused(head({{"host", host}})), 0) << host;
  EXPECT_EQ(refused(head({{"origin", "http://LOCALHOST:80"}, {"sec-fetch-site", "same-origin"}})), 0);
  EXPECT_EQ(refused(head({{"sec-fetch-site", "none"}})), 0);
}

TEST(HttpAccessTest, OtherHostsAndOrigins_AreForbidden) {
  for (const char* host : {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.evil.example",
                           "127.0.0.1@evil", "localhost:80@evil"})
    EXPECT_EQ(refused(head({{"host", host}})), 403) << host;
  for (const char* origin : {"null", "https://evil.example", "http://localhost.evil.example", "file://localhost",
                             "http://localhost", "http://localhost:3000", "http://127.0.0.1:80"})
    EXPECT_EQ(refused(head({{"origin", origin}})), 403) << origin;
  for (const char* site : {"cross-site", "same-site"})
    EXPECT_EQ(refused(head({{"sec-fetch-site", site}, {"sec-fetch-mode", "cors"}})), 403) << site;
  const HttpAccess elsewhere{"t", HttpAccess::Reach::anywhere};
  EXPECT_EQ(refused(head({{"host", "lab.example"}, {"authorization", "Bearer t"}}), elsewhere), 0);
}

TEST(HttpAccessTest, Token_IsNeededWhole) {
  const HttpAccess access{"secret", HttpAccess::Reach::loopback};
  for (const char* given : {"", "secret", "Bearer", "Bearer secre", "Bearer secrets", "Bearer Secret"})
    EXPECT_EQ(refused(head({{"authorization", given}}), access), 401) << given;
  EXPECT_EQ(refused(head({{"authorization", "Bearer secret"}}), access), 0);
}

TEST(HttpAccessTest, WhatIsNoMessage_IsRefused) {
  HttpRequest get = head();
  get.method = "GET";
  EXPECT_EQ(refused(get), 405);
  HttpRequest other = head();
  other.path = "/";
  EXPECT_EQ(refused(other), 404);
  EXPECT_EQ(refused(head({{"content-type", "text/plain"}})), 415);
  for (const char* length : {"", "x", "-1", "1 2"})
    EXPECT_EQ(refused(head({{"content-length", length}})), 411) << length;
  EXPECT_EQ(refused(head({{"transfer-encoding", "chunked"}})), 411);
  for (const char* length : {"101", "99999999999999999999999"})
    EXPECT_EQ(refused(head({{"content-length", length}})), 413) << length;
}

/// A page whose files need no token: "/".
int refused_to_site(HttpRequest request, const std::map<std::string, std::string>& headers,
                    const HttpAccess& access = {}) {
  HttpSite site;
  site.open = [](const HttpRequest& asked) { return asked.path == "/"; };
  request.headers = {{"host", "localhost:80"}};
  for (const auto& [name, value] : headers) request.headers.insert_or_assign(name, value);
  const auto refusal = refuse_to_site(request, access, site, 100);
  return refusal ? refusal->status : 0;
}

TEST(SiteAccess, OtherPages_AreForbidden) {
  const HttpRequest runs{"GET", "/api/runs", {}, ""};
  EXPECT_EQ(refused_to_site(runs, {}), 0);
  EXPECT_EQ(refused_to_site(runs, {{"host", "evil.example"}}), 403);
  EXPECT_EQ(refused_to_site(runs, {{"origin", "http://localhost:80"}, {"sec-fetch-site", "same-origin"}}), 0);
  for (const char* origin : {"null", "https://evil.example", "http://localhost:81", "http://localhost"})
    EXPECT_EQ(refused_to_site(runs, {{"origin", origin}}), 403) << origin;
  for (const char* site : {"cross-site", "same-site"})
    EXPECT_EQ(refused_to_site(runs, {{"sec-fetch-site", site}, {"sec-fetch-mode", "navigate"}}), 403) << site;
  const HttpRequest page{"GET", "/", {}, ""};
  EXPECT_EQ(refused_to_site(page, {{"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}}), 0);
  EXPECT_EQ(refused_to_site(page, {{"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "no-cors"}}), 403);
}

TEST(SiteAccess, Token_IsNeededForAllButThePageItself) {
  const HttpAccess elsewhere{"t", HttpAccess::Reach::anywhere};
  EXPECT_EQ(refused_to_site({"GET", "/", {}, ""}, {{"host", "lab.example"}}, elsewhere), 0);
  EXPECT_EQ(refused_to_site({"GET", "/api/runs", {}, ""}, {{"host", "lab.example"}}, elsewhere), 401);
  const std::map<std::string, std::string> borne{
      {"host", "lab.example"}, {"origin", "http://lab.example"}, {"authorization", "Bearer t"}};
  EXPECT_EQ(refused_to_site({"GET", "/api/runs", {}, ""}, borne, elsewhere), 0);
}

TEST(SiteAccess, GetsHaveNoBodyAndPostsAreJson) {
  EXPECT_EQ(refused_to_site({"GET", "/api/runs", {}, ""}, {{"content-length", "5"}}), 405);
  EXPECT_EQ(refused_to_site({"GET", "/api/runs", {}, ""}, {{"transfer-encoding", "chunked"}}), 405);
  EXPECT_EQ(refused_to_site({"PUT", "/api/runs", {}, ""}, {}), 405);
  const HttpRequest post{"POST", "/api/memory/x", {}, ""};
  EXPECT_EQ(refused_to_site(post, {{"content-type", "text/plain"}, {"content-length", "2"}}), 415);
  EXPECT_EQ(refused_to_site(post, {{"content-type", "application/json"}, {"content-length", "101"}}), 413);
  EXPECT_EQ(refused_to_site(post, {{"content-type", "application/json"}, {"content-length", "2"}}), 0);
}

std::optional<RpcError> mismatch(std::map<std::string, std::string> headers, const std::string& method, Json params) {
  return header_mismatch(head(headers), {1, method, std::move(params)});
}

TEST(HttpHeaders, SelfDescribingRequest_MustAgreeWithItsBody) {
  const Json meta = {{"_meta", {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}}}, {"name", "läint"}};
  const std::map<std::string, std::string> good{
      {"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}, {"mcp-name", "=?base64?bMOkaW50?="}};
  EXPECT_FALSE(mismatch(good, "tools/call", meta));
  for (const char* name : {"mcp-protocol-version", "mcp-method", "mcp-name"}) {
    auto bad = good;
    bad[name] = "other";
    EXPECT_TRUE(mismatch(bad, "tools/call", meta)) << name;
  }
  EXPECT_TRUE(mismatch(good, "tools/call", Json::object())) << "a header alone describes nothing";
  EXPECT_FALSE(mismatch({{"mcp-protocol-version", "2025-06-18"}}, "tools/call", Json::object()));
}

TEST(HttpStatus, OfErrors_InTheNewEraAlone) {
  const Json unknown = error_reply(1, {RpcCode::method_not_found, "", {}});
  EXPECT_EQ(status_of(unknown, "2026-07-28"), 404);
  EXPECT_EQ(status_of(unknown, "2025-11-25"), 200);
  EXPECT_EQ(status_of(error_reply(1, {RpcCode::unsupported_version, "", {}}), "2026-07-28"), 400);
  EXPECT_EQ(status_of(reply(1, {}), "2026-07-28"), 200);
}

}  // namespace
}  // namespace accelopt::mcp

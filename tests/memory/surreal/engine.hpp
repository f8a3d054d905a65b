// SPDX-License-Identifier: Apache-2.0
// The real engine for a test, and another tool beside the store.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "fakes/surreal/surreal_server.hpp"
#include "http/client.hpp"
#include "memory/surreal/store.hpp"

namespace accelopt::memory::surreal {

inline std::unique_ptr<KnowledgeStore> open_at(const fakes::SurrealServer& server) {
  const auto address = parse_address(server.address());
  auto store = open_store(*address, fakes::SurrealServer::kPassword);
  EXPECT_TRUE(store) << store.error().message;
  return store ? std::move(*store) : nullptr;
}

inline std::string basic_root() {
  return "Basic cm9vdDpjb3JyZWN0OmhvcnNlIGJhdHRlcnk=";  // root:correct:horse battery
}

inline http::Response send(const fakes::SurrealServer& server, const std::string& method, const std::string& path,
                           std::vector<http::Header> headers, const std::string& body) {
  http::Client client;
  const auto response = client.send({.method = method == "GET" ? http::Method::get : http::Method::post,
                                     .url = server.url() + path,
                                     .headers = std::move(headers),
                                     .body = body},
                                    {});
  EXPECT_TRUE(response) << response.error().message;
  return response ? *response : http::Response{};
}

/// As another tool does: statements as text to /sql. Gives what each statement gave.
inline base::Json other_tool(const fakes::SurrealServer& server, const std::string& statements,
                             const std::string& variables = "") {
  const auto response = send(server, "POST", "/sql" + variables,
                             {{"authorization", basic_root()},
                              {"surreal-ns", fakes::SurrealServer::kNamespace},
                              {"surreal-db", fakes::SurrealServer::kDatabase},
                              {"accept", "application/json"}},
                             statements);
  EXPECT_EQ(response.head.status, 200) << response.body;
  return base::Json::parse(response.body, nullptr, false);
}

class SurrealEngine : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = fakes::SurrealServer::missing(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

}  // namespace accelopt::memory::surreal

// SPDX-License-Identifier: Apache-2.0
#include "mcp/stdio.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <map>
#include <thread>

#include "base/files.hpp"
#include "mcp/fake_catalogue.hpp"

namespace accelopt::mcp {
namespace {

using base::Json;

/// Serves what is written, to its end, and gives all replies.
std::vector<Json> serve(const std::string& input) {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  EXPECT_EQ(::pipe(to.data()), 0);
  EXPECT_EQ(::pipe(from.data()), 0);
  std::string output;
  {
    const std::jthread writer([&] {
      for (std::size_t at = 0; at < input.size();) {
        const ssize_t put = ::write(to[1], input.data() + at, input.size() - at);
        if (put <= 0) break;
        at += static_cast<std::size_t>(put);
      }
      ::close(to[1]);
    });
    const std::jthread reader([&] {
      std::array<char, 65536> bytes{};
      for (ssize_t got = 0; (got = ::read(from[0], bytes.data(), bytes.size())) > 0;)
        output.append(bytes.data(), static_cast<std::size_t>(got));
    });
    const Catalogue catalogue = fake_catalogue();
    EXPECT_TRUE(serve_streams(catalogue, to[0], from[1], {}));
    ::close(from[1]);
  }
  ::close(to[0]);
  ::close(from[0]);
  std::vector<Json> replies;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = output.find('\n', at);
    replies.push_back(Json::parse(output.substr(at, end - at)));
    at = end + 1;
  }
  return replies;
}

constexpr const char* kPing = "{\"jsonrpc\":\"2.0\",\"id\":\"ping\",\"method\":\"ping\"}\n";

TEST(Stdio, LinesInAndOut) {
  const auto replies = serve(std::string("\n  \n") + kPing + "not json\n" + kPing);
  ASSERT_EQ(replies.size(), 3U);
  EXPECT_EQ(replies[0]["id"], "ping");
  EXPECT_EQ(replies[1]["error"]["code"], -32700);
  EXPECT_EQ(replies[1]["id"], nullptr);
  EXPECT_EQ(replies[2]["id"], "ping");
}

TEST(Stdio, LineThatIsTooLong_IsSkippedWhole) {
  const auto replies = serve("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" +
                             std::string(kMostMessageBytes + 100'000, 'x') + "\"}\n" + kPing);
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies[0]["error"]["code"], -32600);
  EXPECT_EQ(replies[1]["id"], "ping");
}

TEST(Stdio, InvalidUtf8_IsAnError) {
  const auto replies = serve("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n" + std::string(kPing));
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_TRUE(replies[0].contains("error"));
}

TEST(Stdio, StreamThatEnds_EndsWhatWaits) {
  EXPECT_TRUE(
      serve("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"wait\"}}\n").empty());
}

}  // namespace
}  // namespace accelopt::mcp

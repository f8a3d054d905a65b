// SPDX-License-Identifier: Apache-2.0
#include "http/url.hpp"

#include <gtest/gtest.h>

namespace accelopt::http {
namespace {

using base::ErrorCode;

TEST(OriginOf, FillsInTheSchemesPort) {
  EXPECT_EQ(origin_of("https://api.example.com/v1/chat?x=1").value(), (Origin{"https", "api.example.com", "443"}));
  EXPECT_EQ(origin_of("http://localhost:8000/v1").value(), (Origin{"http", "localhost", "8000"}));
  EXPECT_EQ(to_string(origin_of("http://[::1]:9/").value()), "[::1]:9");
}

TEST(OriginOf, RefusesWhatIsNoAddress) {
  for (const char* text : {"", "localhost:8000", "/v1/chat", "http://", "http://a b/"}) {
    const auto origin = origin_of(text);
    ASSERT_FALSE(origin.has_value()) << text;
    EXPECT_EQ(origin.error().code, ErrorCode::invalid_argument) << text;
  }
}

TEST(OriginOf, RefusesOtherSchemes) {
  const auto origin = origin_of("ftp://example.com/file");
  ASSERT_FALSE(origin.has_value());
  EXPECT_EQ(origin.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(origin.error().message.find("ftp://"), std::string::npos);
}

TEST(OriginOf, RefusesPasswordsAndDoesNotRepeatThem) {
  const auto origin = origin_of("https://me:hunter2@example.com/v1");
  ASSERT_FALSE(origin.has_value());
  EXPECT_EQ(origin.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(origin.error().message.find("hunter2"), std::string::npos);
  EXPECT_NE(origin.error().message.find("example.com"), std::string::npos);
}

TEST(IsLoopback, KnowsThisMachine) {
  EXPECT_TRUE(is_loopback({"http", "localhost", "80"}));
  EXPECT_TRUE(is_loopback({"http", "127.3.2.1", "80"}));
  EXPECT_TRUE(is_loopback({"http", "[::1]", "80"}));
  EXPECT_FALSE(is_loopback({"http", "localhost.example.com", "80"}));
  EXPECT_FALSE(is_loopback({"http", "10.0.0.1", "80"}));
}

TEST(ResolveLocation, ReadsRelativeAndAbsoluteTargetsWithoutTheirSecrets) {
  EXPECT_EQ(resolve_location("https://a.example/v1/chat", "/v2/chat?token=s"), "https://a.example/v2/chat");
  EXPECT_EQ(resolve_location("https://a.example/v1", "https://u:p@b.example/x#y"), "https://b.example/x");
  EXPECT_EQ(resolve_location("https://a.example/v1", "https://"), "");
}

}  // namespace
}  // namespace accelopt::http

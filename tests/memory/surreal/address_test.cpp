// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/address.hpp"

#include <gtest/gtest.h>

namespace accelopt::memory::surreal {
namespace {

using base::ErrorCode;

TEST(SurrealAddress, IsReadWithItsDefaults) {
  const auto full = parse_address("surreal://alice@db.example:9000/team/kernels");
  ASSERT_TRUE(full) << full.error().message;
  EXPECT_EQ(full->url, "http://db.example:9000");
  EXPECT_EQ(full->user, "alice");
  EXPECT_EQ(full->name_space, "team");
  EXPECT_EQ(full->database, "kernels");
  EXPECT_EQ(full->name, "surreal://alice@db.example:9000/team/kernels");
  EXPECT_EQ(parse_address("surreal://host/a/b")->url, "http://host:8000");
  EXPECT_EQ(parse_address("surreal://host/a/b")->user, "");
  EXPECT_EQ(parse_address("surreal+https://host/a/b/")->url, "https://host:443");
  EXPECT_EQ(parse_address("surreal://u@[::1]:1234/a/b")->url, "http://[::1]:1234");
  EXPECT_EQ(parse_address("surreal://u@[::1]/a/b")->url, "http://[::1]:8000");
  EXPECT_EQ(parse_address("surreal://first%2Elast%40x@host/a%20b/c")->user, "first.last@x");
  EXPECT_EQ(parse_address("surreal://u@host/a%20b/c")->name_space, "a b");
}

TEST(SurrealAddress, OtherFormsAreRefused) {
  for (const char* text :
       {"", "knowledge.db", "http://host/a/b", "surreal://", "surreal://host", "surreal://host/a", "surreal://host/a/",
        "surreal://host//b", "surreal://host/a/b/c", "surreal:///a/b", "surreal://@host/a/b", "surreal://host/a/b?x=1",
        "surreal://host/a%0Ab/c", "surreal://host/a%zz/c", "surreal://host/a%4", "surreal://ho st/a/b",
        "surreal://host:x/a/b"}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, ErrorCode::invalid_argument) << text;
  }
  EXPECT_TRUE(is_address("surreal+https://h/a/b"));
  EXPECT_FALSE(is_address("surreal.db"));
}

TEST(SurrealAddress, APasswordInItIsRefusedAndNotRepeated) {
  const auto address = parse_address("surreal://alice:hunter2@host/a/b");
  ASSERT_FALSE(address);
  EXPECT_EQ(address.error().message.find("hunter2"), std::string::npos);
  EXPECT_NE(address.error().message.find("ACCELOPT_SURREAL_PASSWORD"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::memory::surreal

// SPDX-License-Identifier: Apache-2.0
#include "base/base64.hpp"

#include <gtest/gtest.h>

namespace accelopt::base {
namespace {

TEST(Base64, GivesTheBytes) {
  EXPECT_EQ(*from_base64(""), "");
  EXPECT_EQ(*from_base64("AAECAw=="), std::string("\0\1\2\3", 4));
  EXPECT_EQ(*from_base64("AAEC"), std::string("\0\1\2", 3));
  EXPECT_EQ(*from_base64("AAE="), std::string("\0\1", 2));
}

TEST(Base64, OfBytes_GivesThemBack) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64(std::string("\0\1\2\3", 4)), "AAECAw==");
  EXPECT_EQ(*from_base64(to_base64(std::string("\0\1", 2))), std::string("\0\1", 2));
}

TEST(Base64, OtherTexts_AreRefused) {
  for (const char* text : {"A", "AA", "AAA", "A===", "====", "AA=A", "AAE\n", " AAE", "AA-_", "AAEC\n"})
    EXPECT_FALSE(from_base64(text)) << text;
}

}  // namespace
}  // namespace accelopt::base

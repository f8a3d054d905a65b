// SPDX-License-Identifier: Apache-2.0
#include "base/toml.hpp"

#include <gtest/gtest.h>

#include <string>

namespace accelopt::base {
namespace {

/// The code point in three bytes, surrogates too.
std::string three_bytes(unsigned point) {
  return {static_cast<char>(0xE0U | point >> 12U), static_cast<char>(0x80U | (point >> 6U & 0x3FU)),
          static_cast<char>(0x80U | (point & 0x3FU))};
}

TEST(Toml, AnyCharacterInABareKey_IsReadOrRefused) {
  int refused = 0;
  for (unsigned point = 0x800; point <= 0xFFFF; ++point)
    refused += parse_toml("a" + three_bytes(point) + " = 1\n") ? 0 : 1;
  EXPECT_GT(refused, 10000);
  EXPECT_FALSE(parse_toml("a" + three_bytes(0xFE0F) + " = 1\n")) << "a variation selector";
  const auto inside = parse_toml("a = \"" + three_bytes(0xFE0F) + "\"\n");
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->entries.at(0).value.text, three_bytes(0xFE0F));
}

}  // namespace
}  // namespace accelopt::base

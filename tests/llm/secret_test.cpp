// SPDX-License-Identifier: Apache-2.0
#include "llm/secret.hpp"

#include <gtest/gtest.h>

#include <string>

#include "llm/wire_json.hpp"

namespace accelopt::llm {
namespace {

TEST(Blotted, LeavesNoKeyInAServersWords) {
  EXPECT_EQ(blotted("key sk-12345 and sk-12345", Secret("sk-12345")), "key [key] and [key]");
  EXPECT_EQ(blotted("nothing to hide", Secret()), "nothing to hide");
}

TEST(Quoted, KeyAcrossTheCut_LeavesNoPartOfIt) {
  const std::string key = "sk-0123456789abcdef";
  for (std::size_t before = 280; before <= 300; ++before) {
    const std::string words = quoted(std::string(before, 'x') + key, Secret(key));
    EXPECT_EQ(words.find("sk"), std::string::npos) << before << ": " << words;
  }
}

TEST(BlottedInCode, LeavesPlaceholdersInBecauseTheyAreCodeToo) {
  EXPECT_EQ(blotted_in_code("bool EMPTY = true;", Secret("EMPTY")), "bool EMPTY = true;");
  EXPECT_EQ(blotted_in_code("it is sk-0123456789abcdef!", Secret("sk-0123456789abcdef")), "it is [key]!");
}

}  // namespace
}  // namespace accelopt::llm

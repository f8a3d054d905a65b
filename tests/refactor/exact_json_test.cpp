// SPDX-License-Identifier: Apache-2.0
#include "refactor/exact_json.hpp"

#include <gtest/gtest.h>

namespace accelopt::refactor {
namespace {

TEST(ExactJson, OrderOfKeysAndBlanks_DoNotCount) {
  EXPECT_EQ(exact_json(R"({"a": [1, {"b": null}], "c": true})"), exact_json(R"({"c":true,"a":[1,{"b":null}]})"));
  EXPECT_NE(exact_json("[1,2]"), exact_json("[2,1]"));
  EXPECT_NE(exact_json("[1]"), exact_json("[[1]]"));
}

TEST(ExactJson, WholeNumbersOfAnyLength_AreToldApart) {
  // Each pair is one double.
  EXPECT_NE(exact_json("[100000000000000000000]"), exact_json("[100000000000000000001]"));
  EXPECT_NE(exact_json("-36893488147419103232"), exact_json("-36893488147419103233"));
  EXPECT_NE(exact_json(R"({"a":36893488147419103232,"b":36893488147419103233})"),
            exact_json(R"({"a":36893488147419103233,"b":36893488147419103232})"));
  EXPECT_EQ(exact_json("[36893488147419103232]"), exact_json("[ 36893488147419103232 ]"));
}

TEST(ExactJson, ValuesOfOtherTypes_AreToldApart) {
  EXPECT_NE(exact_json("1"), exact_json("1.0"));
  EXPECT_NE(exact_json("36893488147419103232"), exact_json("\"36893488147419103232\""));
  EXPECT_NE(exact_json("36893488147419103232"), exact_json("\"n36893488147419103232\""));
  EXPECT_NE(exact_json("36893488147419103232"), exact_json("36893488147419103232.0"));
}

TEST(ExactJson, ZerosOfEitherSign_AreToldApart) {
  EXPECT_NE(exact_json("[0]"), exact_json("[-0]"));  // as C's %g writes them
  EXPECT_NE(exact_json("0.0"), exact_json("-0.0"));
  EXPECT_NE(exact_json("-0"), exact_json("\"-0\""));
  EXPECT_EQ(exact_json("[-0]"), exact_json("[ -0 ]"));
}

TEST(ExactJson, WhatIsNoValue_IsNone) {
  EXPECT_FALSE(exact_json(""));
  EXPECT_FALSE(exact_json("[1"));
  EXPECT_FALSE(exact_json("[1] 2"));
  EXPECT_FALSE(exact_json("1e999"));
  EXPECT_TRUE(exact_json(std::string(200, '[') + std::string(200, ']')));
  EXPECT_FALSE(exact_json(std::string(1'000'000, '[') + std::string(1'000'000, ']')));
}

}  // namespace
}  // namespace accelopt::refactor

// SPDX-License-Identifier: Apache-2.0
#include "base/expression.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace accelopt::base {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

std::int64_t value_of(std::string_view text, const std::map<std::string, std::int64_t>& values = {}) {
  const auto value = evaluate_expression(text, values);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value.value_or(-999999);
}

Error error_of(std::string_view text, const std::map<std::string, std::int64_t>& values = {}) {
  const auto value = evaluate_expression(text, values);
  EXPECT_FALSE(value) << text << " = " << value.value_or(0);
  return value ? Error{} : value.error();
}

TEST(Expression, FollowsPrecedenceAndAssociativity) {
  EXPECT_EQ(value_of("2+3*4"), 14);
  EXPECT_EQ(value_of("(2+3)*4"), 20);
  EXPECT_EQ(value_of("20-5-3"), 12);
  EXPECT_EQ(value_of("100/10/5"), 2);
  EXPECT_EQ(value_of("100/10*5"), 50);
  EXPECT_EQ(value_of("-2*3"), -6);
  EXPECT_EQ(value_of("2--3"), 5);
  EXPECT_EQ(value_of("  7 \n"), 7);
}

TEST(Expression, CostOfAMatrixProduct) {
  EXPECT_EQ(value_of("2*M*N*K + 4*M*K", {{"M", 64}, {"N", 2048}, {"K", 1024}}),
            2LL * 64 * 2048 * 1024 + 4LL * 64 * 1024);
}

TEST(Expression, DivisionRoundsDownAndModuloMatches) {
  EXPECT_EQ(value_of("7/2"), 3);
  EXPECT_EQ(value_of("-7/2"), -4);
  EXPECT_EQ(value_of("7/-2"), -4);
  EXPECT_EQ(value_of("-7/-2"), 3);
  EXPECT_EQ(value_of("-7%2"), 1);
  EXPECT_EQ(value_of("7%-2"), -1);
  EXPECT_EQ(value_of("m % -1", {{"m", kSmallest}}), 0);
}

TEST(Expression, Functions) {
  EXPECT_EQ(value_of("cdiv(7, 2)"), 4);
  EXPECT_EQ(value_of("cdiv(8, 2)"), 4);
  EXPECT_EQ(value_of("cdiv(-7, 2)"), -3);
  EXPECT_EQ(value_of("min(3, max(1, 2))"), 2);
  EXPECT_EQ(value_of("max (M, 4) + 1", {{"M", 9}}), 10);
}

TEST(Expression, ComparisonsAndLogicGiveOneOrZero) {
  EXPECT_EQ(value_of("2*3 <= 6"), 1);
  EXPECT_EQ(value_of("7 < 7"), 0);
  EXPECT_EQ(value_of("3 > 2 && 2 >= 2"), 1);
  EXPECT_EQ(value_of("1 == 2 || 1 != 1"), 0);
  EXPECT_EQ(value_of("!(1 == 2) + 1"), 2);
  EXPECT_EQ(value_of("1 || 0 && 0"), 1);
  EXPECT_EQ(value_of("5 && -3"), 1);
  EXPECT_EQ(value_of("(4 > 3) * 10"), 10);
}

TEST(Expression, LogicLooksNoFurtherThanItMust) {
  EXPECT_EQ(value_of("0 && 1/0"), 0);
  EXPECT_EQ(value_of("1 || 1/0"), 1);
  EXPECT_NE(error_of("1 && 1/0").message.find("division by zero"), std::string::npos);
  EXPECT_NE(error_of("1/0 || 1").message.find("division by zero"), std::string::npos);
}

TEST(Expression, AFaultHasAPlaceAndAReason) {
  EXPECT_FALSE(expression_fault("A*B <= 96"));
  const auto fault = expression_fault("A < B < C");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->offset, 6U);
  EXPECT_EQ(fault->reason, "expected an operator or the end, found '<'");
  EXPECT_EQ(expression_fault("A = 3")->offset, 2U);
}

TEST(Expression, ANameMayBeSpelledLikeAFunction) {
  EXPECT_EQ(value_of("min + 1", {{"min", 4}}), 5);
}

TEST(Expression, MalformedTextNamesTheColumn) {
  for (const auto& [text, expected] : {
           std::pair{"", "column 1"},
           std::pair{"2*", "column 3"},
           std::pair{"2*M)", "column 4: expected an operator or the end, found ')'"},
           std::pair{"(2", "column 3: expected ')'"},
           std::pair{"2 3", "column 3"},
           std::pair{"1.5*M", "column 2: only whole numbers"},
           std::pair{"2M", "column 2: only whole numbers"},
           std::pair{"log(M, 2)", "column 1: unknown function \"log\"; known are cdiv, min, max"},
           std::pair{"min(1)", "column 6: expected ',': min takes two values"},
           std::pair{"min(1,2,3)", "column 8: expected ')'"},
           std::pair{"99999999999999999999", "column 1: the number does not fit"},
           std::pair{"M ^ 2", "column 3"},
       }) {
    const Error error = error_of(text, {{"M", 1}});
    EXPECT_EQ(error.code, ErrorCode::parse) << text;
    EXPECT_NE(error.message.find(expected), std::string::npos) << error.message;
  }
}

TEST(Expression, ValuesThatDoNotExistAreRefused) {
  EXPECT_EQ(error_of("M+Q", {{"M", 1}}).code, ErrorCode::invalid_argument);
  EXPECT_NE(error_of("M+Q", {{"M", 1}}).message.find("unknown name \"Q\""), std::string::npos);
  for (const char* text : {"1/0", "1%0", "cdiv(1, 0)", "1/(M-M)"}) {
    const Error error = error_of(text, {{"M", 3}});
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_NE(error.message.find("division by zero"), std::string::npos) << error.message;
  }
}

TEST(Expression, OverflowIsRefusedAndNeverWraps) {
  const std::map<std::string, std::int64_t> values{{"big", kLargest}, {"small", kSmallest}};
  for (const char* text : {"big+1", "small-1", "big*2", "-small", "small/-1", "cdiv(small, -1)", "big*big"}) {
    EXPECT_EQ(error_of(text, values).code, ErrorCode::invalid_argument) << text;
  }
  EXPECT_EQ(value_of("big - 1 + 1", values), kLargest);
  EXPECT_EQ(value_of("9223372036854775807"), kLargest);
}

TEST(Expression, DeepNestingIsRefusedInsteadOfCrashing) {
  EXPECT_EQ(error_of(std::string(1000000, '(')).code, ErrorCode::parse);
  EXPECT_EQ(error_of(std::string(1000000, '-')).code, ErrorCode::parse);
  EXPECT_EQ(value_of(std::string(100, '(') + "1" + std::string(100, ')')), 1);
}

TEST(Expression, NamesComeOnceInOrderOfUse) {
  const auto names = expression_names("2*M*N + cdiv(K, M) - min(N, 3)");
  ASSERT_TRUE(names);
  EXPECT_EQ(*names, (std::vector<std::string>{"M", "N", "K"}));
  EXPECT_EQ(expression_names("2*").error().code, ErrorCode::parse);
}

}  // namespace
}  // namespace accelopt::base

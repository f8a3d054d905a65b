// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/ties.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "evaluation/verify/dtype_codec.hpp"

namespace accelopt::evaluation {
namespace {

using model::DType;

/// The places of the two smallest of four values, in two rows. In the first, the second and the third are a tie.
struct TwoSmallest {
  TwoSmallest() {
    values.shape = {2, 4};
    values.values = {1, 2, 2.0000001, 3, 9, 8, 7, 6};
    bounds.rows = {1e-6};
    bounds.row_length = 8;
    expected.dtype = DType::int32;
    expected.shape = {2, 2};
    expected.integers = {0, 1, 3, 2};
  }
  Comparison with(const std::vector<double>& indices) const {
    std::vector<std::byte> bytes(indices.size() * model::size_of(expected.dtype));
    encode(expected.dtype, indices, bytes);
    return compare_choices(expected, {values, bounds}, bytes);
  }

  Expected values;
  Bounds bounds;
  Expected expected;
};

TEST(Ties, AnyOfEqualValuesIsRight) {
  const TwoSmallest two;
  EXPECT_TRUE(two.with({0, 1, 3, 2}).passed());
  EXPECT_TRUE(two.with({0, 2, 3, 2}).passed());
}

TEST(Ties, AnotherValueIsWrong) {
  const Comparison comparison = TwoSmallest().with({0, 1, 3, 1});
  EXPECT_EQ(comparison.violated, NumericalRule::ties);
  EXPECT_EQ(comparison.mismatch.index, 3);
  EXPECT_EQ(comparison.mismatch.expected, 2);
  EXPECT_EQ(comparison.mismatch.actual, 1);
  EXPECT_EQ(comparison.mismatch.normwise_error, 1);
  EXPECT_EQ(TwoSmallest().with({1, 0, 3, 2}).violated, NumericalRule::ties) << "the order counts";
}

TEST(Ties, AnIndexStandsOnceInItsRow) {
  TwoSmallest two;
  two.bounds.rows = {10};
  EXPECT_EQ(two.with({0, 0, 3, 2}).violated, NumericalRule::repeated);
  EXPECT_TRUE(two.with({3, 2, 3, 2}).passed()) << "rows do not share indices";
}

TEST(Ties, IndicesOutsideOfTheRowNameNothing) {
  TwoSmallest two;
  two.bounds.rows = {std::numeric_limits<double>::infinity()};
  for (const double index : {-1.0, 4.0, 2147483647.0, -2147483648.0}) {
    EXPECT_EQ(two.with({0, index, 3, 2}).violated, NumericalRule::exact) << index;
  }
  two.expected.integers = {-1, -1, 3, 2};
  EXPECT_TRUE(two.with({-1, -1, 3, 2}).passed()) << "nothing found";
  EXPECT_EQ(two.with({-1, 0, 3, 2}).violated, NumericalRule::exact);
  two.expected.dtype = DType::uint64;
  EXPECT_EQ(two.with({1.8e19, 0, 3, 2}).violated, NumericalRule::exact);
  EXPECT_EQ(two.with({0, 1, 3}).violated, NumericalRule::size);
}

TEST(Ties, NanAndInfinityTieWithNothingElse) {
  TwoSmallest two;
  two.bounds.rows = {std::numeric_limits<double>::infinity()};
  const double infinity = std::numeric_limits<double>::infinity();
  two.values.values = {infinity, 2, infinity, std::nan(""), 9, 8, 7, 6};
  EXPECT_TRUE(two.with({2, 1, 3, 2}).passed());
  EXPECT_EQ(two.with({3, 1, 3, 2}).violated, NumericalRule::ties);
  EXPECT_EQ(two.with({1, 0, 3, 2}).violated, NumericalRule::ties);
}

TEST(Ties, AReferenceThatCannotBeJudgedIsRefused) {
  TwoSmallest two;
  EXPECT_EQ(refuse_choices(two.expected, two.values), "");
  two.expected.integers = {0, 0, 3, 2};
  EXPECT_NE(refuse_choices(two.expected, two.values).find("appears twice"), std::string::npos);
  two.expected.integers = {0, 1, 3, 2};
  two.values.values[1] = std::nan("");
  EXPECT_NE(refuse_choices(two.expected, two.values).find("names a value that is NaN"), std::string::npos);
}

TEST(Ties, OneIndexARowNeedsNoAxis) {
  TwoSmallest one;
  one.expected.shape = {2};
  one.expected.integers = {1, 3};
  EXPECT_TRUE(one.with({2, 3}).passed());
  EXPECT_EQ(one.with({0, 3}).violated, NumericalRule::ties);
}

}  // namespace
}  // namespace accelopt::evaluation

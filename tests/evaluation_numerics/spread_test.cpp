// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/spread.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace accelopt::evaluation {
namespace {

/// 4 rows of 8 columns, all expected to be 1 and off by at most 0.5.
struct Output {
  Expected expected{model::DType::float32, {4, 8}, std::vector<double>(32, 1.0), {}};
  Bounds bounds;
  std::vector<float> values = std::vector<float>(32, 1.0F);

  Output() {
    bounds.row_length = 32;
    bounds.rows = {0.5};
  }
  [[nodiscard]] std::string text() const { return spread_text(expected, bounds, std::as_bytes(std::span(values))); }
};

TEST(SpreadText, TellsABlockOfRowsAndColumns) {
  Output output;
  for (const int row : {1, 2}) {
    for (const int column : {4, 5, 6}) output.values[static_cast<std::size_t>(row * 8 + column)] = 3.0F;
  }
  EXPECT_EQ(
      output.text(),
      "6 of 32 elements are out of their bound, in 2 of 4 rows (1 to 2) and 3 of 8 columns (4 to 6), 100 % of where "
      "these cross; the largest error is 4 times its bound");
}

TEST(SpreadText, CountsWhatIsNoNumberAndLeavesOutWhatIsWithin) {
  Output output;
  output.values[0] = 1.4F;
  output.values[9] = std::numeric_limits<float>::quiet_NaN();
  output.values[31] = 2.0F;
  EXPECT_EQ(
      output.text(),
      "2 of 32 elements are out of their bound, in 2 of 4 rows (1 to 3) and 2 of 8 columns (1 to 7), 50 % of where "
      "these cross; the largest error is inf times its bound");
}

TEST(SpreadText, IntegersMustBeEqual) {
  Expected expected{model::DType::int32, {3}, {}, {7, 8, 9}};
  const std::vector<std::int32_t> values{7, 8, 10};
  const std::string text = spread_text(expected, Bounds{}, std::as_bytes(std::span(values)));
  EXPECT_TRUE(text.starts_with("1 of 3 elements are out of their bound, in 1 of 1 rows (0 to 0) and 1 of 3 columns (2"))
      << text;
}

}  // namespace
}  // namespace accelopt::evaluation

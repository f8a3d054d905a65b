// SPDX-License-Identifier: Apache-2.0
#include "cli/estimate_text.hpp"

#include <gtest/gtest.h>

namespace accelopt::cli {
namespace {

TEST(EstimateText, FigureOutsideItsRange_IsMarked) {
  const std::string text =
      describe({{"tokens", search::Range{100, 200, 300}, 1100.0}, {"usd", search::Range{1, 2, 3}, 2.0}});
  EXPECT_NE(text.find("1,100 (!)"), std::string::npos) << text;
  EXPECT_EQ(text.find("(!)", text.find("(!)") + 1), std::string::npos) << text;
}

}  // namespace
}  // namespace accelopt::cli

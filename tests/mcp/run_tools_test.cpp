// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mcp/run_start.hpp"

namespace accelopt::mcp {
namespace {

using base::Json;

app::RunProgress improved(const Json& speedup) {
  app::RunProgress it;
  it.run = "r";
  it.task = "t";
  it.state.status = model::RunStatus::done;
  it.result = Json{{"outcome", "improved"},
                   {"speedup", speedup},
                   {"workloads", {{{"name", "w"}, {"role", "race"}, {"speedup", speedup}}}}};
  return it;
}

TEST(Result, AnEndThatIsNotOneDoesNotLookLikeOne) {
  const auto result = result_of(improved({{"estimate", 1.0123}, {"low", 1.0042}, {"high", 1.0204}}));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->text.starts_with("run r of t: 1.012x [1.004, 1.020] faster")) << result->text;
  EXPECT_NE(result->text.find("w (race): 1.012x [1.004, 1.020]"), std::string::npos) << result->text;
}

TEST(Result, AnEndWithoutABoundIsLeftOut) {
  const auto result = result_of(improved({{"estimate", 1.5}, {"low", 1.2}, {"high", "inf"}}));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->text.starts_with("run r of t: 1.50x faster")) << result->text;
}

}  // namespace
}  // namespace accelopt::mcp

// SPDX-License-Identifier: Apache-2.0
#include "llm/price.hpp"

#include <gtest/gtest.h>

namespace accelopt::llm {
namespace {

TEST(CostUsd, CachedInputHasItsOwnPrice) {
  model::Usage usage;
  usage.input_tokens = 3'000'000;
  usage.cached_input_tokens = 1'000'000;
  usage.output_tokens = 500'000;
  EXPECT_DOUBLE_EQ(cost_usd(usage, {.input = 0.15, .cached_input = 0.08, .output = 0.60}), 2 * 0.15 + 0.08 + 0.30);
}

}  // namespace
}  // namespace accelopt::llm

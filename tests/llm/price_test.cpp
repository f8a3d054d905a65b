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

TEST(CostUsd, ReasoningIsPartOfTheOutputAndPaidOnce) {
  model::Usage usage;
  usage.output_tokens = 1'000'000;
  usage.reasoning_tokens = 900'000;
  EXPECT_DOUBLE_EQ(cost_usd(usage, {.input = 1, .cached_input = 1, .output = 2}), 2);
}

TEST(ListPrice, IsKnownForAVendorsOwnEndpointAlone) {
  const auto known = list_price("https://api.openai.com/v1", "gpt-4o-2024-08-06");
  ASSERT_TRUE(known);
  EXPECT_DOUBLE_EQ(known->price.input, 2.5);
  EXPECT_EQ(known->as_of, "2025-10");
  EXPECT_DOUBLE_EQ(list_price("https://api.openai.com/v1", "gpt-4o-2024-05-13")->price.output, 15) << "its own price";
  EXPECT_TRUE(list_price("https://api.anthropic.com", "claude-sonnet-4-5-20250929"));
  EXPECT_DOUBLE_EQ(list_price("https://api.openai.com:443/v1", "gpt-4o-mini")->price.input, 0.15);
  EXPECT_FALSE(list_price("https://api.openai.com/v1", "gpt-4o-audio-preview"));
  EXPECT_FALSE(list_price("https://api.openai.com/v1", "gpt-4o-mini-2024"));
  EXPECT_FALSE(list_price("http://localhost:8000/v1", "gpt-4o"));
  EXPECT_FALSE(list_price("https://api.openai.com.example.net/v1", "gpt-4o"));
}

}  // namespace
}  // namespace accelopt::llm

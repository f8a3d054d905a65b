// SPDX-License-Identifier: Apache-2.0
#include "search/estimate.hpp"

#include <gtest/gtest.h>

namespace accelopt::search {
namespace {

EstimateFacts facts_with_model(const SearchSettings& settings) {
  EstimateFacts facts = facts_of_settings(settings);
  facts.models = true;
  for (const auto& [role, name] : model::Names<model::AgentRole>::kTable) {
    facts.roles[role] = {.input_tokens = exactly(1000),
                         .output_tokens = exactly(100),
                         .seconds = exactly(2),
                         .price = llm::Price{1, 0.5, 10}};
  }
  facts.iterations = exactly(settings.iterations);
  facts.beam = exactly(settings.beam);
  facts.asked_again = facts.answered = exactly(1);
  facts.fixes = facts.lessons = exactly(0);
  facts.built = exactly(1);
  return facts;
}

TEST(Estimate, CountsTheCallsThatTheMethodMakes) {
  SearchSettings settings;
  settings.iterations = 3;
  settings.beam = 2;
  settings.plans = 4;
  settings.attempts = 2;
  const Estimate out = estimate(settings, facts_with_model(settings));
  // 4 plans of the baseline, then 4 of each of two members, twice.
  EXPECT_DOUBLE_EQ(out.calls.at(model::AgentRole::planner).expected, 20);
  EXPECT_DOUBLE_EQ(out.calls.at(model::AgentRole::executor).low, 40);
  EXPECT_DOUBLE_EQ(out.all_calls.high, 60);
  EXPECT_DOUBLE_EQ(out.tokens.expected, 60 * 1100);
  ASSERT_TRUE(out.usd);
  EXPECT_DOUBLE_EQ(out.usd->expected, 60 * (1000 * 1e-6 + 100 * 10e-6));
  EXPECT_LT(out.usd->low, out.usd->expected) << "prompts may come from a cache";
  EXPECT_DOUBLE_EQ(out.evaluations.expected, 40);
}

TEST(Estimate, AnUnknownPriceIsNoPrice) {
  SearchSettings settings;
  EstimateFacts facts = facts_with_model(settings);
  facts.roles[model::AgentRole::fixer].price.reset();
  const Estimate out = estimate(settings, facts);
  EXPECT_FALSE(out.usd);
  EXPECT_TRUE(base::Json(out)["usd"].is_null());
  EXPECT_GT(out.tokens.expected, 0);
}

TEST(Estimate, RecipesAskNobodyAndCostNothing) {
  const SearchSettings settings;
  const Estimate out = estimate(settings, facts_of_settings(settings));
  EXPECT_EQ(out.all_calls.high, 0);
  EXPECT_EQ(out.tokens.high, 0);
  ASSERT_TRUE(out.usd);
  EXPECT_EQ(out.usd->high, 0);
  EXPECT_GT(out.device_seconds.low, 0);
}

TEST(Estimate, WhatIsMeasuredElsewhereTakesNoTimeOfTheRunsOwn) {
  const SearchSettings settings;
  EstimateFacts facts = facts_with_model(settings);
  const Estimate here = estimate(settings, facts);
  facts.elsewhere = true;
  const Estimate away = estimate(settings, facts);
  EXPECT_DOUBLE_EQ(away.device_seconds.expected, here.device_seconds.expected);
  EXPECT_LT(away.wall_seconds.expected, here.wall_seconds.expected);
  facts.race_seconds = facts.open_seconds = facts.confirm_seconds = exactly(1000);
  EXPECT_DOUBLE_EQ(estimate(settings, facts).wall_seconds.expected, away.wall_seconds.expected);
  EXPECT_GE(away.wall_seconds.expected, settings.iterations * 4.0) << "the questions, one after the other";
}

TEST(Estimate, TryingATestersTestsIsWaitedForBeforeTheSearch) {
  const SearchSettings settings;
  EstimateFacts facts = facts_with_model(settings);
  const Estimate without = estimate(settings, facts);
  facts.tests_seconds = {10, 100, 300};
  const Estimate with = estimate(settings, facts);
  EXPECT_DOUBLE_EQ(with.wall_seconds.expected, without.wall_seconds.expected + 100);
  EXPECT_DOUBLE_EQ(with.device_seconds.high, without.device_seconds.high + 300);
}

TEST(Estimate, ABudgetCutsItAndAllThatGoesWithIt) {
  SearchSettings settings;
  const Estimate whole = estimate(settings, facts_with_model(settings));
  settings.max_tokens = static_cast<std::int64_t>(whole.tokens.expected / 2);
  const Estimate cut = estimate(settings, facts_with_model(settings));
  EXPECT_LE(cut.tokens.high, static_cast<double>(*settings.max_tokens));
  EXPECT_LT(cut.all_calls.expected, whole.all_calls.expected);
  EXPECT_LT(cut.wall_seconds.expected, whole.wall_seconds.expected);
  settings.max_tokens.reset();
  settings.max_seconds = 1;
  EXPECT_LE(estimate(settings, facts_with_model(settings)).wall_seconds.high, 1.1);
}

TEST(Estimate, LowExpectedAndHighStandInThisOrder) {
  for (const int iterations : {1, 2, 6, 16}) {
    for (const int patience : {0, 2}) {
      for (const Strategy strategy : {Strategy::beam, Strategy::greedy, Strategy::repeated_sampling}) {
        SearchSettings settings;
        settings.iterations = iterations;
        settings.patience = patience;
        settings.strategy = strategy;
        EstimateFacts facts = facts_of_settings(settings);
        facts.models = true;
        facts.roles = facts_with_model(settings).roles;
        const Estimate out = estimate(settings, facts);
        for (const Range& range : {out.all_calls, out.tokens, *out.usd, out.evaluations, out.device_seconds,
                                   out.wall_seconds, out.calls.at(model::AgentRole::fixer)}) {
          EXPECT_LE(0, range.low);
          EXPECT_LE(range.low, range.expected);
          EXPECT_LE(range.expected, range.high);
        }
      }
    }
  }
}

TEST(Range, DistancesOfUnrelatedThingsAddAsSquares) {
  const Range product = around(10, 2, 2) * around(3, 2, 2);
  EXPECT_DOUBLE_EQ(product.expected, 30);
  EXPECT_NEAR(product.high / product.expected, std::exp(std::sqrt(2.0) * std::log(2.0)), 1e-9);
  EXPECT_NEAR(product.expected / product.low, product.high / product.expected, 1e-9);
  const Range sum = around(10, 2, 2) + around(10, 2, 2);
  EXPECT_DOUBLE_EQ(sum.low, 10);
}

}  // namespace
}  // namespace accelopt::search

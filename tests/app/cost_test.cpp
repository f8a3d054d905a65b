// SPDX-License-Identifier: Apache-2.0
#include "app/cost.hpp"

#include <gtest/gtest.h>

#include "environment.hpp"

#include "app/estimate.hpp"
#include "app/noise.hpp"
#include "app/search_options.hpp"

namespace accelopt::app {
namespace {

model::Usage calls(std::int64_t count, std::optional<double> usd) {
  model::Usage usage;
  usage.calls = count;
  usage.input_tokens = 1000 * count;
  usage.output_tokens = 100 * count;
  usage.usd = usd;
  return usage;
}

TEST(Cost, IsToldByRoleAPlanAndAnAcceptedGain) {
  const std::string text =
      describe_cost({{"planner", calls(4, 0.5)}, {"executor", calls(8, 1.5)}, {"fixer", {}}}, 4, 2);
  EXPECT_NE(text.find("planner"), std::string::npos);
  EXPECT_EQ(text.find("fixer"), std::string::npos) << "who was not asked has no line";
  EXPECT_NE(text.find("$2.00, $0.50 a plan (4), $1.00 an accepted gain (2)"), std::string::npos) << text;
}

TEST(Cost, AnUnknownPriceIsSaidAndNeverZero) {
  const std::string none = describe_cost({{"planner", calls(4, std::nullopt)}}, 4, 1);
  EXPECT_NE(none.find("the cost is unknown: no price is known for 4 of 4 calls"), std::string::npos) << none;
  model::Usage mixed = calls(1, 0.25);
  mixed += calls(2, std::nullopt);
  EXPECT_EQ(mixed.total_usd(), std::nullopt);
  EXPECT_EQ(cost_text(mixed), "$0.25 and 2 calls of unknown price");
  const std::string some = describe_cost({{"planner", mixed}}, 1, 0);
  EXPECT_NE(some.find("no price is known for 2 of 3 calls"), std::string::npos) << some;
  EXPECT_TRUE(base::Json(mixed)["usd"].is_null());
  EXPECT_EQ(base::Json(mixed)["known_usd"], 0.25);
  EXPECT_EQ(base::Json(mixed).get<model::Usage>().unpriced_calls, 2);
}

TEST(Cost, OfNobodyAskedIsNotTold) {
  EXPECT_EQ(describe_cost({{"planner", {}}}, 0, 0), "");
  EXPECT_EQ(model::Usage().total_usd(), 0.0);
}

TEST(Cost, OfQuestionsWithoutAnAnswer_IsTheirRoles) {
  const auto step = [](const std::string& kind, double usd) {
    return journal::StepRecord{.key = {{}, kind}, .input_hash = {}, .output = {}, .usage = calls(1, usd)};
  };
  const RoleUsage usage =
      usage_by_role({step("plan", 1), step("chat:planner i0 try0", 1), step("unanswered:planner i0 try1 @1-1", 2),
                     step("unanswered:tester cases @2-1", 4), step("tests", 8)});
  EXPECT_EQ(usage.by_role.size(), 2U);
  EXPECT_EQ(usage.by_role.at("planner").total_usd(), 3.0);
  EXPECT_EQ(usage.by_role.at("tester").total_usd(), 12.0);
}

TEST(Cost, PaidAnswersOfQuestionsThatDidNotEnd_CountOnce) {
  const auto step = [](const std::string& kind, double usd) {
    return journal::StepRecord{.key = {{}, kind}, .input_hash = {}, .output = {}, .usage = calls(1, usd)};
  };
  search::RunResult result;  // of a search that knows of one plan alone
  result.usage["planner"] = calls(1, 1);
  result.usage["fixer"] = {};
  count_usage_on_record(
      result, {step("chat:planner i0.b0.p0 try0", 1), step("plan", 1), step("chat:planner i0.b0.p1 try0", 2),
               step("chat:executor i0.b0.p0.a0 try0", 4), step("unanswered:executor i0.b0.p0.a0 try0 part1 @1-1", 8),
               step("chat:summarizer i0.b0.p0 try0", 16), step("chat:reviewer pair 0a try0", 32), step("open", 0)});
  EXPECT_EQ(result.usage.at("planner").total_usd(), 3.0) << "an answer is part of the question that ended with it";
  EXPECT_EQ(result.usage.at("executor").total_usd(), 12.0);
  EXPECT_EQ(result.usage.at("executor").calls, 2);
  EXPECT_EQ(result.usage.at("summarizer").total_usd(), 16.0);
  EXPECT_EQ(result.usage.at("reviewer").total_usd(), 32.0);
  EXPECT_EQ(result.usage.at("fixer").calls, 0);
}

TEST(Cost, OfARunInterruptedWhileItCaughtUp_IsThatOfItsRecord) {
  const auto step = [](const std::string& kind, std::int64_t count) {
    return journal::StepRecord{.key = {{}, kind}, .input_hash = {}, .output = {}, .usage = calls(count, 1)};
  };
  search::RunResult result;  // of a session that had read one of three answers
  result.usage["planner"] = calls(1, 1);
  result.usage["executor"] = {};
  result.iterations = 1;
  const base::Json earlier = {
      {"counts", {{"PASSED", 2}, {"NO_ANSWER", 1}}}, {"known", 1}, {"iterations", 0}, {"plans", 4}};

  count_all_on_record(
      result,
      {step("plan", 1), step("execute", 2), step("chat:executor i0 try0", 2), step("build:a", 0), step("build:b", 0)},
      earlier);

  EXPECT_EQ(result.usage.at("planner").calls, 1);
  EXPECT_EQ(result.usage.at("executor").calls, 2);
  EXPECT_EQ(result.evaluations, 2);
  EXPECT_EQ(result.counts.at("PASSED"), 2);
  EXPECT_EQ(result.known, 1);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_EQ(result.plans, 4);
}

TEST(Cost, ARecordOfAnOlderVersionIsRead) {
  const base::Json old = {{"calls", 1}, {"input_tokens", 10}, {"usd", nullptr}};
  EXPECT_EQ(old.get<model::Usage>().total_usd(), std::nullopt);
  EXPECT_EQ(base::Json({{"calls", 1}, {"usd", 0.5}}).get<model::Usage>().total_usd(), 0.5);
}

TEST(Prices, DollarsAreLimitedOnlyWhereTheyCanBeCounted) {
  Config config;
  config.models["default"].base_url = "http://localhost:1/v1";
  config.models["default"].model = "m";
  SearchFlags flags;
  flags.max_usd = 1;
  const auto refused = settings_from(flags, config, environment_of());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::invalid_argument);
  config.models["default"].price = llm::Price{0, 0, 0};
  EXPECT_TRUE(settings_from(flags, config, environment_of())) << "nothing is a price too, where somebody says so";
  config.models["default"] = {};
  config.models["default"].base_url = "https://api.openai.com/v1";
  config.models["default"].model = "gpt-4o";
  EXPECT_TRUE(settings_from(flags, config, environment_of()));
  const auto roles = models_of_roles({}, config);
  ASSERT_TRUE(roles);
  EXPECT_NE(price_text(roles->front().config).find("list price of 2025-10"), std::string::npos);
}

TEST(Prices, ModelOfTheFlags_HasThatOfItsTable) {
  Config config;
  ModelConfig& model = config.models["default"];
  model.model = "m";
  model.price = llm::Price{0, 0, 0};
  SearchFlags flags;
  flags.max_usd = 1;
  flags.agents.model = "m";
  const auto priced = [&](const std::string& api, const std::string& configured, const std::string& given) {
    model.api = flags.agents.api = api;
    model.base_url = configured;
    flags.agents.base_url = given;
    return settings_from(flags, config, environment_of()).has_value();
  };
  EXPECT_TRUE(priced("openai", "http://h/v1/", "http://h/v1"));
  EXPECT_TRUE(priced("anthropic", "", "https://api.anthropic.com"));
  EXPECT_TRUE(priced("gemini", "", ""));
  EXPECT_FALSE(priced("openai", "http://h/v1", "http://other/v1"));
  model.api = "anthropic";
  model.base_url = flags.agents.base_url = "http://h/v1";
  flags.agents.api = "openai";
  EXPECT_FALSE(settings_from(flags, config, environment_of()));
}

TEST(Estimates, StandBesideTheTruth) {
  search::Estimate estimate;
  estimate.tokens = {100, 200, 300};
  estimate.wall_seconds = {1, 2, 3};
  search::RunResult result;
  result.usage["planner"] = calls(1, std::nullopt);
  result.wall_seconds = 2.5;
  const auto comparisons = comparisons_of(to_json(compare(base::Json(estimate), result)));
  ASSERT_EQ(comparisons.size(), 6U);
  for (const auto& comparison : comparisons) {
    if (comparison.name == "tokens") {
      EXPECT_FALSE(comparison.inside());
    }
    if (comparison.name == "wall_seconds") {
      EXPECT_TRUE(comparison.inside());
    }
    if (comparison.name == "usd") {
      EXPECT_EQ(comparison.actual, std::nullopt);
    }
  }
  EXPECT_TRUE(compare({}, result).empty());
}

TEST(Noise, IsJudgedByWhatIsFoundAndByHowMuchABlockVaries) {
  NoiseReport report;
  report.block_sd = 0.008;
  report.smallest_found = 0.02;
  EXPECT_TRUE(is_quiet(report));
  EXPECT_NE(describe_noise(report).find("differences from 2.0 % on are found reliably"), std::string::npos)
      << describe_noise(report);
  report.smallest_found = 0.05;
  EXPECT_FALSE(is_quiet(report));
  report.smallest_found.reset();
  EXPECT_NE(describe_noise(report).find("no difference up to 10 % is found"), std::string::npos);
  report.smallest_found = 0.01;
  report.block_sd = 0.1;
  EXPECT_FALSE(is_quiet(report));
}

}  // namespace
}  // namespace accelopt::app

// SPDX-License-Identifier: Apache-2.0
#include "report/ablation.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace accelopt::report {
namespace {

AblationCell cell(std::uint64_t seed, const std::string& task, std::optional<double> speedup) {
  AblationCell out{seed, {.task = task, .run = "r", .state = "done", .outcome = speedup ? "improved" : "no_gain"}};
  if (speedup) out.task.speedup = model::Interval{*speedup, *speedup, *speedup};
  out.task.evaluations = 10;
  return out;
}

Ablation two_arms() {
  Ablation out{.suite = "s", .tasks = {"a", "b"}, .seeds = {1, 2}, .budget = "10 evaluations", .arms = {}};
  out.arms.push_back({.factor = "strategy", .level = "beam", .base = true});
  out.arms.push_back({.factor = "strategy", .level = "greedy"});
  for (const std::uint64_t seed : {1U, 2U}) {
    out.arms[0].cells.push_back(cell(seed, "a", 4));
    out.arms[0].cells.push_back(cell(seed, "b", 9));
    out.arms[1].cells.push_back(cell(seed, "a", 2));
    out.arms[1].cells.push_back(cell(seed, "b", std::nullopt));
  }
  return out;
}

TEST(AblationFigures, Means_AreGeometricAndCountNoGainAsOne) {
  const Ablation it = two_arms();
  const AblationFigures base = figures_of(it, it.arms[0]);
  EXPECT_EQ(base.runs, 4);
  EXPECT_EQ(base.improved, 4);
  EXPECT_NEAR(*base.speedup, 6, 1e-9);
  EXPECT_NEAR(base.over_seeds->estimate, 6, 1e-9);
  EXPECT_FALSE(base.over_base);
  const AblationFigures greedy = figures_of(it, it.arms[1]);
  EXPECT_EQ(greedy.improved, 2);
  EXPECT_NEAR(*greedy.speedup, std::sqrt(2.0), 1e-9);
  EXPECT_DOUBLE_EQ(greedy.evaluations, 10);
}

TEST(AblationFigures, OverBase_IsPairedByTaskAndSeed) {
  Ablation it = two_arms();
  // 2/4 and 1/9, each twice: the geometric mean is sqrt(1/18).
  const auto over = figures_of(it, it.arms[1]).over_base;
  ASSERT_TRUE(over);
  EXPECT_NEAR(over->estimate, std::sqrt(1.0 / 18), 1e-9);
  EXPECT_LT(over->low, over->estimate);
  // What did not finish on one side is no pair: only task a is left, whose pairs all say the same.
  for (AblationCell& one : it.arms[0].cells)
    if (one.task.task == "b") one.task.state = "failed";
  const auto alone = figures_of(it, it.arms[1]).over_base;
  EXPECT_NEAR(alone->low, 0.5, 1e-9);
  EXPECT_NEAR(alone->high, 0.5, 1e-9);
}

TEST(AblationFigures, NothingFinished_HasNoFigures) {
  Ablation it = two_arms();
  it.arms[1].cells.clear();
  const AblationFigures figures = figures_of(it, it.arms[1]);
  EXPECT_EQ(figures.runs, 0);
  EXPECT_FALSE(figures.speedup || figures.over_seeds || figures.over_base);
}

TEST(AblationTables, ArmsLeftOut_AreNamedWithTheirReason) {
  Ablation it = two_arms();
  it.arms.push_back({.factor = "agents", .level = "model", .left_out = "no model is configured"});
  const std::string text = document_of(it).to_text();
  EXPECT_NE(text.find("left out: agents model: no model is configured"), std::string::npos) << text;
  EXPECT_NE(text.find("beam (base)"), std::string::npos) << text;
  const base::Json json = to_json(it);
  EXPECT_EQ(json["arms"][2]["left_out"], "no model is configured");
  EXPECT_EQ(json["arms"][1]["runs"].size(), 4U);
}

}  // namespace
}  // namespace accelopt::report

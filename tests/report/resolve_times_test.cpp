// SPDX-License-Identifier: Apache-2.0
#include "report/resolve_times.hpp"

#include <gtest/gtest.h>

namespace accelopt::report {
namespace {

ResolveLine line(const std::string& task, MemoryArm arm, bool resolved, double seconds, int evaluations) {
  ResolveLine out;
  out.suite = "suite";
  out.suite_hash = "sha256:1";
  out.suite_run = "20260101-000000-000001";
  out.created = "2026-01-01T00:00:00Z";
  out.program_version = "1";
  out.machine = "machine";
  out.settings = {{"player", "recipes"}};
  out.task = task;
  out.family = "family of " + task;
  out.kind = "slow";
  out.arm = arm;
  out.seed = 7;
  out.resolved = resolved;
  out.seconds = seconds;
  out.budget_seconds = 100;
  out.evaluations = evaluations;
  out.budget_evaluations = 40;
  out.usd = 0;
  out.verdict = resolved ? "faster" : "not_faster";
  out.gain = resolved ? 4 : 1;
  out.peak = 4;
  return out;
}
ResolveLine of_kind(ResolveLine out, const std::string& kind) {
  out.kind = kind;
  return out;
}

const ArmFigures& figures(const std::vector<AlikePasses>& all, MemoryArm arm) {
  return *all.at(0).passes.at(0).find(arm);
}

TEST(ResolveLine, WrittenAndRead_IsTheSame) {
  ResolveLine written = line("a", MemoryArm::shuffled, true, 12.5, 3);
  written.tokens = 900;
  written.usd = std::nullopt;
  const auto read = read_resolve_lines(base::canonical(written) + "\n\n" + base::canonical(written) + "\n", "file");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(base::canonical(read->at(1)), base::canonical(written));
}

TEST(ResolveLine, WhatCannotBeRead_IsNamedByItsLine) {
  const auto broken = read_resolve_lines(
      base::canonical(line("a", MemoryArm::cold, true, 1, 1)) + "\n{\"schema\": 1}\n", "results/x.jsonl");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, base::ErrorCode::parse);
  EXPECT_NE(broken.error().message.find("results/x.jsonl:2"), std::string::npos) << broken.error().message;
  const auto newer = read_resolve_lines("{\"schema\": 2}", "x");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, base::ErrorCode::unsupported);
}

TEST(ResolveLine, Share_IsOfLogarithms) {
  ResolveLine one = line("a", MemoryArm::cold, true, 1, 1);
  one.peak = 16;
  EXPECT_DOUBLE_EQ(one.share(), 0.5);
  one.verdict = "not_faster";
  EXPECT_EQ(one.share(), 0);
}

TEST(AlikePasses, Unresolved_CountsAsTheBudget) {
  // The one that gave up after a second is no quick one: (20 + 60 + 100 + 100) / 4.
  const auto all = alike_passes({line("a", MemoryArm::cold, true, 20, 2), line("b", MemoryArm::cold, true, 60, 10),
                                 line("c", MemoryArm::cold, false, 1, 1), line("d", MemoryArm::cold, false, 90, 40)});
  const ArmFigures& cold = figures(all, MemoryArm::cold);
  EXPECT_EQ(cold.tasks, 4);
  EXPECT_EQ(cold.resolved, 2);
  EXPECT_DOUBLE_EQ(cold.seconds, 70);
  EXPECT_EQ(cold.median_seconds, 60);
  EXPECT_DOUBLE_EQ(cold.evaluations, (2 + 10 + 40 + 40) / 4.0);
  EXPECT_DOUBLE_EQ(cold.share, 0.5);
}

TEST(AlikePasses, Optimal_CountsOnlyAsAClaim) {
  const auto all = alike_passes({line("a", MemoryArm::cold, true, 20, 2),
                                 of_kind(line("x", MemoryArm::cold, false, 5, 1), "optimal"),
                                 of_kind(line("y", MemoryArm::cold, true, 5, 1), "optimal")});
  const ArmFigures& cold = figures(all, MemoryArm::cold);
  EXPECT_EQ(cold.tasks, 1);
  EXPECT_EQ(cold.optimal, 2);
  EXPECT_EQ(cold.claims, 1);
  EXPECT_DOUBLE_EQ(cold.seconds, 20);
}

TEST(AlikePasses, WarmOverCold_IsGeometricOverTasks) {
  // a: 10 of 40 seconds; b: all of the budget's 100 of 25. What neither resolved says nothing.
  const auto all = alike_passes({line("a", MemoryArm::cold, true, 40, 8), line("a", MemoryArm::warm, true, 10, 2),
                                 line("b", MemoryArm::cold, true, 25, 10), line("b", MemoryArm::warm, false, 3, 3),
                                 line("c", MemoryArm::cold, false, 9, 9), line("c", MemoryArm::warm, false, 9, 9)});
  const ArmRatio& warm = all.at(0).warm;
  ASSERT_TRUE(warm.seconds && warm.evaluations);
  EXPECT_NEAR(warm.seconds->estimate, 1, 1e-12);      // sqrt(1/4 * 4)
  EXPECT_NEAR(warm.evaluations->estimate, 1, 1e-12);  // sqrt(2/8 * 40/10)
  EXPECT_EQ(warm.pairs, 2);
  EXPECT_EQ(warm.unresolved, 1);
  EXPECT_FALSE(all.at(0).shuffled.seconds);
}

TEST(AlikePasses, ColdOfAnotherPass_ServesWhereThereIsNone) {
  std::vector<ResolveLine> lines{line("a", MemoryArm::cold, true, 40, 8), line("b", MemoryArm::cold, true, 40, 8),
                                 line("a", MemoryArm::warm, true, 20, 4), line("b", MemoryArm::warm, true, 20, 4)};
  for (std::size_t i = 2; i < 4; ++i) lines[i].suite_run = "20260102-000000-000001";
  EXPECT_NEAR(alike_passes(lines).at(0).warm.seconds->estimate, 0.5, 1e-12);
  lines[2].seed = 8;  // other inputs: no pair
  EXPECT_FALSE(alike_passes(lines).at(0).warm.seconds);
}

TEST(AlikePasses, OtherPlayersMachinesAndSuites_StandApart) {
  std::vector<ResolveLine> lines(4, line("a", MemoryArm::cold, true, 40, 8));
  lines[1].machine = "another";
  lines[2].settings = {{"player", "models"}};
  lines[3].suite_hash = "sha256:2";
  EXPECT_EQ(alike_passes(lines).size(), 4U);
}

TEST(TrendMarkdown, Figures_AreThoseOfTheLines) {
  const std::string text =
      trend_markdown({line("a", MemoryArm::cold, true, 40, 8), line("a", MemoryArm::warm, true, 10, 2),
                      line("b", MemoryArm::cold, true, 40, 8), line("b", MemoryArm::warm, true, 10, 2)});
  EXPECT_NE(text.find("| warm, family left out | 0.25 \\[0.25, 0.25\\] | 0.25 \\[0.25, 0.25\\] | 2 | 0 |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Memory saves evaluations"), std::string::npos);
  EXPECT_NE(text.find("| resolved: 4.0x after 8 in 40 s | resolved: 4.0x after 2 in 10 s | - |"), std::string::npos)
      << text;
  EXPECT_NE(text.find("2 of 2"), std::string::npos);
}

TEST(TrendMarkdown, NoSaving_IsSaid) {
  const std::string text =
      trend_markdown({line("a", MemoryArm::cold, true, 40, 8), line("a", MemoryArm::warm, true, 40, 8),
                      line("b", MemoryArm::cold, true, 40, 8), line("b", MemoryArm::warm, true, 40, 8)});
  EXPECT_NE(text.find("It is not shown that warm takes at most 0.7"), std::string::npos) << text;
  EXPECT_NE(trend_markdown({}).find("There are no results yet"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::report

// SPDX-License-Identifier: Apache-2.0
#include "report/html/trend_plot.hpp"

#include <gtest/gtest.h>

namespace accelopt::report::html {
namespace {

ResolveLine line(const std::string& pass, MemoryArm arm, double seconds, const std::string& player) {
  ResolveLine out;
  out.suite_run = pass;
  out.created = pass;
  out.settings = {{"player", player}};
  out.task = "a";
  out.kind = "slow";
  out.arm = arm;
  out.resolved = true;
  out.seconds = seconds;
  out.budget_seconds = 100;
  out.evaluations = 3;
  out.budget_evaluations = 40;
  out.verdict = "faster";
  out.gain = 2;
  out.peak = 4;
  return out;
}

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + what.size())) ++found;
  return found;
}

TEST(TrendSvg, EachArmAndPass_HasAMarkInThreePanels) {
  const std::string svg =
      trend_svg({line("2026-01-01", MemoryArm::cold, 40, "recipes"), line("2026-01-02", MemoryArm::cold, 30, "recipes"),
                 line("2026-01-02", MemoryArm::warm, 12, "recipes")});
  EXPECT_EQ(occurrences(svg, "<circle"), 9U);
  EXPECT_NE(svg.find("seconds to resolve, restricted mean, warm, pass of 2026-01-02: 12<"), std::string::npos) << svg;
  EXPECT_NE(svg.find("share of the peak, cold, pass of 2026-01-01: 50 %<"), std::string::npos);
  EXPECT_EQ(occurrences(svg, "#9ca3af"), 0U);
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
}

TEST(TrendSvg, AnotherPlayer_StandsBehindALine) {
  const std::string svg = trend_svg(
      {line("2026-01-01", MemoryArm::cold, 40, "recipes"), line("2026-01-02", MemoryArm::cold, 30, "models")});
  EXPECT_EQ(occurrences(svg, "#9ca3af"), 3U);
  EXPECT_EQ(occurrences(svg, " M"), 3U);  // the curve of each panel is broken there
}

TEST(TrendSvg, NoResults_IsAnEmptyPlot) {
  EXPECT_EQ(occurrences(trend_svg({}), "<circle"), 0U);
}

}  // namespace
}  // namespace accelopt::report::html

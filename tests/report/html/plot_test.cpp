// SPDX-License-Identifier: Apache-2.0
#include "report/html/plot.hpp"

#include <gtest/gtest.h>

namespace accelopt::report::html {
namespace {

TEST(Ticks, OfALinearAxis_AreRoundAndInside) {
  const Axis axis{"x", {0.13, 9.7}, Scale::linear, ""};
  EXPECT_EQ(ticks_of(axis, 6), (std::vector<double>{2, 4, 6, 8}));
}

TEST(Ticks, AtZero_HaveNoSign) {
  const Axis axis{"x", {0, 10}, Scale::linear, ""};
  EXPECT_EQ(short_number(ticks_of(axis, 6).front()), "0");
}

TEST(Ticks, OfALogAxis_AreOneTwoFive) {
  const Axis axis{"x", {0.9, 32}, Scale::log, "x"};
  EXPECT_EQ(ticks_of(axis, 6), (std::vector<double>{1, 2, 5, 10, 20}));
}

TEST(RatioAxis, OfSmallGains_IsLinearAndHoldsTheBaseline) {
  const Axis axis = ratio_axis("speed-up", {1.02, 1.09});
  EXPECT_EQ(axis.scale, Scale::linear);
  EXPECT_LT(axis.range.low, 1);
  EXPECT_GT(axis.range.high, 1.09);
}

TEST(RatioAxis, OfLargeGains_IsLogAndIgnoresWhatIsNotFinite) {
  const Axis axis = ratio_axis("speed-up", {28, 0, HUGE_VAL});
  EXPECT_EQ(axis.scale, Scale::log);
  EXPECT_LT(axis.range.high, 40);
}

TEST(ShortNumber, HasNoExponentAndNoZerosAtItsEnd) {
  EXPECT_EQ(short_number(0.5), "0.5");
  EXPECT_EQ(short_number(250000), "250k");
  EXPECT_EQ(short_number(1200000), "1.2M");
  EXPECT_EQ(short_number(0.0002), "0.0002");
}

TEST(Plot, AMarkStandsBetweenTheTicksOfItsValue) {
  Plot plot("p", {"x", {0, 10}, Scale::linear, ""}, {"y", {0, 10}, Scale::linear, ""});
  plot.mark(Mark::faster, 5, 10, "tip <b>");
  const std::string figure = plot.finish("a <title>", "what is seen").source();
  EXPECT_NE(figure.find("<circle class=\"mark faster\" cx=\"383\" cy=\"14\" r=\"4\"><title>tip &lt;b&gt;</title>"),
            std::string::npos)
      << figure;
  EXPECT_NE(figure.find("a &lt;title&gt;"), std::string::npos);
}

TEST(Plot, WhatWouldLieOutsideStaysAtTheEdge) {
  Plot plot("p", {"x", {0, 10}, Scale::linear, ""}, {"y", {1, 10}, Scale::log, "x"});
  plot.mark(Mark::best, 99, 1000, "");
  EXPECT_NE(plot.finish("t", "d").source().find("cx=\"702\" cy=\"14\""), std::string::npos);
}

TEST(MarkOf, EveryVerdictHasItsOwn) {
  EXPECT_EQ(mark_of(model::Status::passed, model::Verdict::faster), Mark::faster);
  EXPECT_EQ(mark_of(model::Status::passed, model::Verdict::slower), Mark::slower);
  EXPECT_EQ(mark_of(model::Status::passed, model::Verdict::tie), Mark::tie);
  EXPECT_EQ(mark_of(model::Status::passed, model::Verdict::none), Mark::undecided);
  EXPECT_EQ(mark_of(model::Status::compile_error, model::Verdict::none), Mark::failed);
}

}  // namespace
}  // namespace accelopt::report::html

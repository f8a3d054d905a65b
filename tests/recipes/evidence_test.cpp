// SPDX-License-Identifier: Apache-2.0
#include "recipes/evidence.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "kernels.hpp"
#include "recipes/route.hpp"

namespace accelopt::recipes {
namespace {

Application tile(const std::string& rows, double prior) {
  Application result = application("register tile", "*", {{"rows", rows}});
  result.shape = "d3.reduction.strided";
  result.prior = prior;
  return result;
}

model::Experience measured(const Application& step, double effect) {
  model::Experience result;
  result.id = "e" + step.parameters.at("rows");
  result.strategy = "It did something.\n" + to_line(step);
  result.effect = {effect, effect * 0.99, effect * 1.01};
  return result;
}

double weight(const std::vector<model::Experience>& memory, const Application& application) {
  return Evidence(memory).judge(application).weight;
}

TEST(Evidence, WithoutAnyThePriorStands) {
  const Judgement judgement = Evidence({}).judge(tile("6", 5));
  EXPECT_DOUBLE_EQ(judgement.weight, 5);
  EXPECT_EQ(judgement.seen, 0);
  EXPECT_TRUE(judgement.rests_on.empty());
}

TEST(Evidence, WhatWasExpectedSurprisesNobody) {
  EXPECT_NEAR(weight({measured(tile("6", 20), 20)}, tile("6", 5)), 5, 0.01);
}

TEST(Evidence, SurprisesMoveThePriorAndMoreSoTheMoreThereAre) {
  const model::Experience better = measured(tile("6", 2), 4);
  const double once = weight({better}, tile("6", 5));
  const double often = weight(std::vector<model::Experience>(20, better), tile("6", 5));
  EXPECT_GT(once, 5.5);
  EXPECT_GT(often, once);
  EXPECT_LT(often, 10) << "the mean, not the product";
  EXPECT_LT(weight({measured(tile("6", 2), 1)}, tile("6", 5)), 4.5) << "what made no difference lowers it";
}

TEST(Evidence, OtherParametersCountLess) {
  const std::vector<model::Experience> memory(4, measured(tile("6", 2), 4));
  EXPECT_GT(weight(memory, tile("6", 5)), weight(memory, tile("4", 5)));
  EXPECT_GT(weight(memory, tile("4", 5)), 5);
}

TEST(Evidence, ShapesThatAreAlikeCountLessAndOthersNotAtAll) {
  const std::vector<model::Experience> memory{measured(tile("6", 2), 4)};
  Application alike = tile("6", 5);
  alike.shape += ".calls";
  Application other = alike;
  other.shape = "d1.map.unit";
  EXPECT_GT(weight(memory, alike), 5);
  EXPECT_LT(weight(memory, alike), weight(memory, tile("6", 5)));
  EXPECT_DOUBLE_EQ(weight(memory, other), 5);
  EXPECT_EQ(likeness("d1.map.unit", "d1.map.unit"), 1);
  EXPECT_EQ(likeness("d1.map.unit", "d2.reduction.strided"), 0);
}

TEST(Evidence, BetterParameters_HoldForOtherShapes) {
  std::vector<model::Experience> memory;
  for (int kernel = 0; kernel < 4; ++kernel) {
    memory.push_back(measured(tile("6", 5), 8));
    memory.push_back(measured(tile("4", 5), 4));
  }
  Application six = tile("6", 5);
  Application four = tile("4", 5);
  six.shape = four.shape = "d1.map.unit";
  EXPECT_GT(weight(memory, six), 5.2);
  EXPECT_LT(weight(memory, four), 4.8);
}

TEST(Evidence, ASmallPromiseIsMovedByLessThanAGreatOne) {
  const std::vector<model::Experience> memory(8, measured(tile("6", 16), 4));
  const double great = weight(memory, tile("6", 16)) / 16;
  const double small = weight(memory, tile("6", 1.28)) / 1.28;
  EXPECT_LT(great, 0.4);
  EXPECT_GT(small, 0.8);
  EXPECT_LT(small, 1);
}

TEST(Evidence, SmallPromisesThatWereNotKeptLowerThoseThatNobodyTried) {
  const std::vector<model::Experience> memory(20, measured(tile("6", 1.2), 1.0));
  Application unseen = application("unroll", "f:i.0", {{"factor", "4"}});
  unseen.shape = "d1.map.unit";
  unseen.prior = 1.2;
  EXPECT_LT(weight(memory, unseen), 1.15);
  EXPECT_GT(weight(memory, unseen), 1.0);
  unseen.prior = 4;
  EXPECT_DOUBLE_EQ(weight(memory, unseen), 4) << "a great one is another matter";
}

TEST(Evidence, CorrectionsOfSmallPromisesThatAreTooSmallLeaveTheOrder) {
  const std::vector<model::Experience> memory(20, measured(tile("6", 1.03), 1.0));
  EXPECT_DOUBLE_EQ(weight(memory, tile("6", 1.03)), 1.03);
  EXPECT_LT(weight({20, measured(tile("6", 1.03), 0.8)}, tile("6", 1.03)), 0.95);
}

TEST(Evidence, RefutedOnesAndWideIntervalsCountLess) {
  const model::Experience plain = measured(tile("6", 2), 4);
  model::Experience refuted = plain;
  refuted.credit.refuted = 5;
  model::Experience wide = plain;
  wide.effect = {4, 1, 16};
  model::Experience agreed = plain;
  agreed.agreeing = 2;
  EXPECT_LT(weight_of(refuted), weight_of(plain));
  EXPECT_LT(weight_of(wide), weight_of(plain));
  EXPECT_GT(weight_of(agreed), weight_of(plain));
  EXPECT_LT(weight({refuted}, tile("6", 5)), weight({plain}, tile("6", 5)));
}

TEST(Evidence, NonsenseTeachesNothing) {
  model::Experience bad = measured(tile("6", 2), 4);
  bad.effect = {-1, -2, 0};
  model::Experience unknown = bad;
  unknown.effect.reset();
  EXPECT_DOUBLE_EQ(weight({bad, unknown}, tile("6", 5)), 5);
}

TEST(Evidence, WhatFailedIsWorthLessAndWhatAlsoWorkedLessLess) {
  model::Experience mend = measured(tile("6", 2), 4);
  mend.polarity = model::Polarity::mends;
  const double once = weight({mend}, tile("6", 5));
  EXPECT_DOUBLE_EQ(once, 3) << "half of the gain: one failure, and one attempt that nobody made";
  EXPECT_LT(weight({mend, mend}, tile("6", 5)), once);
  EXPECT_GT(weight({mend, measured(tile("6", 5), 5)}, tile("6", 5)), once);
  EXPECT_DOUBLE_EQ(weight({mend}, tile("4", 5)), 5) << "other parameters did not fail";
  Application other = tile("6", 5);
  other.shape = "d1.map.unit";
  EXPECT_DOUBLE_EQ(weight({mend}, other), 5);
}

TEST(Evidence, StepsThatWereMeasuredTogetherShareTheSurprise) {
  Application second = application("tile size", "*", {{"change", "-1"}});
  second.shape = "tile.6";
  second.prior = 1.04;
  model::Experience both = measured(tile("6", 2), 8);
  both.strategy += "\n" + to_line(second);
  EXPECT_GT(weight({both}, second), 1.04);
  EXPECT_LT(weight({both}, tile("6", 2)), weight({measured(tile("6", 2), 8)}, tile("6", 2)));
}

TEST(Route, LinesGiveBackWhatTheyWereMadeOf) {
  Application first = tile("6", 24.5);
  Application second = application("flags", "*", {{"flags", "-a -b"}});
  second.prior = 1.01;
  const auto steps = route_from_text("Do it.\n" + to_line(first) + "\n" + to_line(second) + "\n");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].location, "*");
  EXPECT_DOUBLE_EQ(steps[0].prior, 24.5);
  EXPECT_EQ(steps[1].parameters.at("flags"), "-a -b");
  EXPECT_DOUBLE_EQ(steps[1].prior, 1.01);
  EXPECT_EQ(route_from_text("Recipe: tile | at: f:i.0 | with: | shape: d1").at(0).prior, 0) << "an older line";
  EXPECT_EQ(route_from_text("Recipe: tile | at: f:i.0 (expected nanx) | with: | shape: d1").at(0).prior, 0);
  EXPECT_TRUE(route_from_text("No line.").empty());
}

std::vector<Route> routes_on(const Sample& sample, const std::vector<model::Experience>& memory) {
  const auto applications = enumerate(clang(), sample.kernel);
  EXPECT_TRUE(applications.has_value());
  const Evidence evidence(memory);
  return extended(clang(), sample.kernel, ranked(*applications, evidence, {}), evidence, {});
}

bool goes_on_with(const Route& route, const std::string& recipe) {
  return route.steps.size() > 1 && route.steps.back().recipe == recipe;
}

TEST(Route, GoesOnByTheModelsWordWithoutAMemory) {
  const Sample sample = matmul();
  const std::vector<Route> routes = routes_on(sample, {});
  std::map<std::string, std::set<std::string>> begun;  // by recipe
  for (const Route& route : routes) {
    EXPECT_TRUE(route.rests_on.empty());
    if (route.steps.size() == 1) continue;
    ASSERT_EQ(route.steps.size(), 2U);
    EXPECT_GE(route.steps.back().prior, 1.05) << route.title();
    EXPECT_NE(route.steps.front().recipe, route.steps.back().recipe);
    EXPECT_LE(route.weight, route.steps.front().prior) << "a second step promises nothing of its own";
    begun[route.steps.front().recipe].insert(route.steps.front().title);
  }
  EXPECT_EQ(begun.size(), 3U);
  for (const auto& [recipe, titles] : begun) EXPECT_EQ(titles.size(), 1U) << recipe;
  ASSERT_GT(routes.front().steps.size(), 1U) << "it promises what its first step does, which it holds";
  const auto text = apply_all(clang(), sample.kernel, routes.front().steps);
  ASSERT_TRUE(text.has_value()) << text.error().message;
  expect_same(sample, *text);
}

TEST(Route, AMemorySpeaksOnlyOfStepsThatItHasSeen) {
  const Sample sample = matmul();
  Application elsewhere = tile("6", 2);
  elsewhere.shape = "of.no.loop.here";
  const auto titles = [&](const std::vector<model::Experience>& memory) {
    std::set<std::string> result;
    for (const Route& route : routes_on(sample, memory)) result.insert(route.title());
    return result;
  };
  EXPECT_EQ(titles({measured(elsewhere, 2)}), titles({})) << "what no experience is of goes by the model's word";
}

TEST(Route, EvidenceOverrulesTheModel) {
  const Sample sample = matmul();
  Application wider = application("tile size", "*", {{"change", "2"}});
  wider.shape = "tile.6";
  wider.prior = 1.035;
  Application nothing = application("restrict", "kernel", {});
  nothing.shape = "function";
  nothing.prior = 1.035;
  const auto memory_of = [&](double effect, double beside) {
    std::vector<model::Experience> memory;
    for (int kernel = 0; kernel < 5; ++kernel) {
      for (const auto& [step, value] : {std::pair{&wider, effect}, std::pair{&nothing, beside}}) {
        model::Experience it;
        it.id = "e" + std::to_string(memory.size());
        it.strategy = to_line(*step);
        it.slow = "kernel " + std::to_string(kernel);
        it.effect = {value, value * 0.99, value * 1.01};
        memory.push_back(it);
      }
    }
    return memory;
  };
  const std::vector<Route> longer = routes_on(sample, memory_of(1.4, 1.0));
  ASSERT_GT(longer.front().steps.size(), 1U);
  EXPECT_EQ(longer.front().steps.back().recipe, "tile size");
  EXPECT_EQ(longer.front().steps.back().parameters.at("change"), "2");
  EXPECT_NE(longer.front().title().find(", then: "), std::string::npos);
  const auto text = apply_all(clang(), sample.kernel, longer.front().steps);
  ASSERT_TRUE(text.has_value()) << text.error().message;
  expect_same(sample, *text);

  const std::string first = longer[0].steps.front().title;
  const auto alone = std::ranges::find(longer, first, &Route::title);
  ASSERT_NE(alone, longer.end());
  EXPECT_LT(alone->weight, longer.front().weight) << "it is carried out with the longer one";
  // What its steps promise, each without the other, is not to be had of both.
  const Evidence evidence(memory_of(1.4, 1.0));
  EXPECT_DOUBLE_EQ(longer.front().weight, evidence.judge(longer.front().steps.front()).weight);
  for (const double effect : {0.9, 1.0}) {
    for (const Route& route : routes_on(sample, memory_of(effect, 1.0))) {
      EXPECT_FALSE(goes_on_with(route, wider.recipe) || goes_on_with(route, nothing.recipe))
          << "promised more than 1.05 here, and never paid: " << route.title();
    }
  }
}

}  // namespace
}  // namespace accelopt::recipes

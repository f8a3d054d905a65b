// SPDX-License-Identifier: Apache-2.0
#include "memory/ranking.hpp"

#include <gtest/gtest.h>

#include "memory/store_contract.hpp"
#include "memory/utility.hpp"
#include "memory/words.hpp"

namespace accelopt::memory {
namespace {

Match match(const std::string& title, double effect, const std::string& op_type = "matmul") {
  static int number = 0;
  Match made;
  made.item.experience = sample_experience(++number);
  made.item.experience.id = "id" + std::to_string(1000 + number);
  made.item.experience.title = title;
  made.item.experience.strategy = "The way called number" + std::to_string(number);
  made.item.experience.op_type = op_type;
  made.item.experience.effect = model::Interval{effect, effect, effect};
  if (effect < 1) made.item.experience.polarity = model::Polarity::regresses;
  return made;
}

const Query kQuery{.language = "cpp", .target = "cpu", .op_type = "matmul", .bound = "memory"};

std::vector<std::string> titles(const std::vector<model::Experience>& experiences) {
  std::vector<std::string> out;
  for (const auto& experience : experiences) out.push_back(experience.title);
  return out;
}

TEST(Worth, GrowsWithEffectAndConfirmationAndFallsWithRefutation) {
  model::Experience it = sample_experience(1);
  it.effect = model::Interval{1.5, 1.4, 1.6};
  const double plain = utility_of(it);
  it.credit.confirmed = 3;
  const double confirmed = utility_of(it);
  it.credit = {.refuted = 3};
  const double refuted = utility_of(it);
  EXPECT_GT(confirmed, plain);
  EXPECT_LT(refuted, plain);
  EXPECT_DOUBLE_EQ(posterior_mean({}), 0.5);
  it.credit = {};
  it.effect = model::Interval{1 / 1.5, 0.6, 0.7};  // a loss teaches as much as a gain of the same size
  EXPECT_NEAR(utility_of(it), plain, 1e-9);
  it.effect.reset();
  EXPECT_GT(utility_of(it), 0);
  it.effect = model::Interval{0, 0, 0};
  EXPECT_GT(utility_of(it), 0);
}

TEST(Worth, AMendIsNotWorthTheSpeedOfTheKernelThatItMends) {
  model::Experience it = sample_experience(1);
  it.polarity = model::Polarity::mends;
  it.effect = model::Interval{1, 0.99, 1.01};
  const double plain = utility_of(it);
  EXPECT_NEAR(plain, posterior_mean(it.credit) * std::log(kMendEffect), 1e-9);
  it.effect = model::Interval{29.9, 22.6, 39.7};
  EXPECT_NEAR(utility_of(it), plain, 1e-9);
}

TEST(ValueOf, HalvesWithTheHalfLife) {
  Item item = match("a", 2).item;
  const double now = value_of(item);
  item.age = static_cast<std::int64_t>(kHalfLife);
  EXPECT_NEAR(value_of(item), now / 2, 1e-12);
}

TEST(SimilarityOf, OperatorCountsMoreThanFamilyMoreThanBound) {
  Match same = match("a", 2);
  Match family = match("b", 2, "bmm");
  Match other = match("c", 2, "softmax");
  EXPECT_GT(similarity_of(same, kQuery), similarity_of(family, kQuery));
  EXPECT_GT(similarity_of(family, kQuery), similarity_of(other, kQuery));
  const double before = similarity_of(other, kQuery);
  other.text_similarity = 1;
  EXPECT_GT(similarity_of(other, kQuery), before);
  same.text_similarity = 1;
  EXPECT_NEAR(similarity_of(same, kQuery), 1, 1e-12);
}

TEST(Rank, BestFirstAndNoMoreThanThePlaces) {
  const std::vector<Match> matches{match("little", 1.1), match("most", 4), match("some", 1.5),
                                   match("family", 3, "bmm")};
  EXPECT_EQ(titles(rank(matches, kQuery, 4)), (std::vector<std::string>{"most", "family", "some", "little"}));
  EXPECT_EQ(titles(rank(matches, kQuery, 1)), std::vector<std::string>{"most"});
  EXPECT_TRUE(rank(matches, kQuery, 0).empty());
}

TEST(Rank, ShowsNothingRatherThanWhatDoesNotApply) {
  Match elsewhere = match("elsewhere", 9, "softmax");
  Match general = match("general", 1.1, "");
  EXPECT_TRUE(rank({elsewhere}, kQuery, 4).empty());
  EXPECT_EQ(titles(rank({elsewhere, general}, kQuery, 4)), std::vector<std::string>{"general"});
  elsewhere.text_similarity = 0.8;
  elsewhere.item.experience.bound = kQuery.bound;
  EXPECT_EQ(titles(rank({elsewhere}, kQuery, 4)), std::vector<std::string>{"elsewhere"});
  elsewhere.item.experience.bound = "compute";
  EXPECT_TRUE(rank({elsewhere}, kQuery, 4).empty());
}

TEST(Rank, TheBestMatchElsewhereNeedsWordsOfTheKernelToo) {
  Query query = kQuery;
  query.text = "matrix product lhs rhs tile of rows: float acc; memory bound";
  Match elsewhere = match("Winograd for filters", 2, "conv2d");
  elsewhere.text_similarity = 1;
  elsewhere.item.experience.bound = query.bound;
  elsewhere.item.experience.strategy = "Transform the input and transform it back.";
  EXPECT_TRUE(rank({elsewhere}, query, 4).empty());
  elsewhere.item.experience.strategy = "Keep a tile of the product in registers, rows first.";
  EXPECT_EQ(titles(rank({elsewhere}, query, 4)), std::vector<std::string>{"Winograd for filters"});
}

TEST(Rank, OneStrategyTakesOnePlaceAndTellsItsCompany) {
  const auto shown = rank({match("Tile the loop", 2), match("tile  the LOOP!", 3), match("Unroll", 1.5)}, kQuery, 5);
  ASSERT_EQ(titles(shown), (std::vector<std::string>{"tile  the LOOP!", "Unroll"}));
  EXPECT_EQ(shown[0].agreeing, 1);
  EXPECT_EQ(shown[0].contradicting, 0);
}

TEST(Rank, GivesEachWhereTheyAreWeighedByNumber) {
  Query query = kQuery;
  query.alike = Alike::each;
  const std::vector<Match> matches{match("same", 2), match("same", 3), match("same", 0.5)};
  EXPECT_EQ(rank(matches, query, 16).size(), 3U);
  EXPECT_EQ(rank(matches, query, 2).size(), 2U);
  EXPECT_EQ(rank(matches, query, 2).front().effect->estimate, 3);
  EXPECT_EQ(rank(matches, query, 2).front().agreeing, 0);
}

TEST(Rank, ContradictionsStandSideBySideWithTheirCounts) {
  const auto shown =
      rank({match("Unroll", 1.9), match("Tile", 2), match("Tile", 1.9), match("Avoid: tile", 0.7), match("Pack", 1.2)},
           kQuery, 5);
  ASSERT_EQ(titles(shown), (std::vector<std::string>{"Tile", "Avoid: tile", "Unroll", "Pack"}));
  EXPECT_EQ(shown[0].agreeing, 1);
  EXPECT_EQ(shown[0].contradicting, 1);
  EXPECT_EQ(shown[1].agreeing, 0);
  EXPECT_EQ(shown[1].contradicting, 2);
}

TEST(Rank, WhatHelpedHereAndHurtElsewhereIsNoContradiction) {
  const auto shown = rank({match("Tile", 2), match("Tile", 0.7, "bmm")}, kQuery, 5);
  ASSERT_EQ(shown.size(), 2U);
  EXPECT_EQ(shown[0].contradicting, 0);
  EXPECT_EQ(shown[1].contradicting, 0);
}

TEST(Rank, TheSameStrategyUnderTwoTitlesIsShownOnce) {
  std::vector<Match> matches{match("Alpha", 1.5), match("Beta", 1.4), match("Gamma", 1.3)};
  matches[0].item.experience.strategy = matches[1].item.experience.strategy = "Pack the operand, then tile.";
  matches[2].item.experience.strategy = "Use wider vectors.";
  const auto shown = rank(matches, kQuery, 5);
  ASSERT_EQ(titles(shown), (std::vector<std::string>{"Alpha", "Gamma"}));
  EXPECT_EQ(shown[0].agreeing, 1);
}

TEST(Rank, StrategiesThatDifferInNumbersAreNotTheSame) {
  std::vector<Match> matches{match("Tile 4x16", 3), match("Tile 8x32", 1.2), match("Avoid: tile 2 x 2", 0.5)};
  for (Match& one : matches) one.item.experience.strategy = "Use this tile: " + one.item.experience.title + ".";
  const auto shown = rank(matches, kQuery, 5);
  ASSERT_EQ(shown.size(), 3U);
  for (const model::Experience& one : shown) {
    EXPECT_EQ(one.agreeing, 0) << one.title;
    EXPECT_EQ(one.contradicting, 0) << one.title;
  }
  EXPECT_NE(strategy_key(matches[0].item.experience), strategy_key(matches[1].item.experience));
}

TEST(WordsAndNumbers, KeepNumbersOfAnyLength) {
  EXPECT_EQ(words_and_numbers_of("Tile the loop 4x16, by 8", 64),
            (std::vector<std::string>{"tile", "loop", "4x16", "8"}));
  EXPECT_EQ(words_of("Tile the loop 4x16, by 8", 64), (std::vector<std::string>{"tile", "loop"}));
}

TEST(StrategyKey, OfARecipeIsItsNameParametersAndShape) {
  model::Experience one = sample_experience(1);
  one.title = "Tile a loop";
  one.strategy = "It helps.\nRecipe: tile | at: kernel:i.0 | with: size=32 | shape: d2.map.unit\n";
  model::Experience other = one;
  other.strategy = "It helps.\nRecipe: tile | at: kernel:j.1 | with: size=32 | shape: d2.map.unit\n";
  EXPECT_EQ(strategy_key(one), strategy_key(other));
  other.strategy = "It helps.\nRecipe: tile | at: kernel:j.1 | with: size=64 | shape: d2.map.unit\n";
  EXPECT_NE(strategy_key(one), strategy_key(other));
}

TEST(FamilyOf, HoldsTheProductsTogether) {
  EXPECT_EQ(family_of("lora").size(), 7U);
  EXPECT_EQ(family_of("silu"), std::vector<std::string>{"silu"});
  EXPECT_TRUE(family_of("").empty());
}

}  // namespace
}  // namespace accelopt::memory

// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

#include "evaluation/verify/dtype_codec.hpp"

namespace accelopt::evaluation {
namespace {

using model::DType;
using model::Family;
using model::InitKind;
using model::InitSpec;

std::vector<double> drawn(const InputDraw& draw) {
  std::size_t elements = 1;
  for (const std::int64_t axis : draw.shape) elements *= static_cast<std::size_t>(axis);
  std::vector<std::byte> bytes(elements * model::size_of(draw.dtype));
  const auto result = draw_input(draw, bytes);
  EXPECT_TRUE(result.has_value());
  return decode(draw.dtype, bytes);
}

const InitSpec kNormal{InitKind::normal, 0, 1};

TEST(Inputs, NormalNumbersAreNormal) {
  const std::vector<double> values = drawn({kNormal, DType::float32, {1000, 300}, Family::as_declared, 42});
  double moments[5] = {};
  double within_one = 0;
  for (const double value : values) {
    for (int power = 1; power < 5; ++power) moments[power] += std::pow(value, power);
    within_one += std::abs(value) < 1;
  }
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(moments[1] / count, 0, 0.01);
  EXPECT_NEAR(moments[2] / count, 1, 0.02);
  EXPECT_NEAR(moments[3] / count, 0, 0.03);
  EXPECT_NEAR(moments[4] / count, 3, 0.1);
  EXPECT_NEAR(within_one / count, 0.6827, 0.005);
  double neighbours = 0;
  for (std::size_t i = 1; i < values.size(); ++i) neighbours += values[i] * values[i - 1];
  EXPECT_NEAR(neighbours / count, 0, 0.01);
}

TEST(Inputs, AreTheSameEverywhere) {
  // Literal bits: another machine, compiler or set of flags must draw these.
  const std::vector<double> values = drawn({kNormal, DType::float64, {4}, Family::as_declared, 1});
  const std::vector<double> expected{-0x1.18663af824c1bp+0, 0x1.fcbc7aec66496p-1, 0x1.7695eb2dad39fp-3,
                                     -0x1.5f46d75062b9fp-5};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(values[i], expected[i]) << std::hexfloat << values[i];
}

TEST(Inputs, DependOnSeedAndIndexAlone) {
  const InputDraw draw{kNormal, DType::float32, {3, 5000}, Family::as_declared, 9};
  const std::vector<double> values = drawn(draw);
  EXPECT_EQ(values, drawn(draw));
  const std::vector<double> longer = drawn({kNormal, DType::float32, {20000}, Family::as_declared, 9});
  EXPECT_TRUE(std::equal(values.begin(), values.end(), longer.begin()));
  EXPECT_NE(values, drawn({kNormal, DType::float32, {3, 5000}, Family::as_declared, 10}));
}

TEST(Inputs, FollowTheirGenerators) {
  for (const double value : drawn({{InitKind::uniform, -2, 3}, DType::float32, {5000}, Family::as_declared, 3})) {
    EXPECT_TRUE(value >= -2 && value <= 3);
  }
  std::set<double> seen;
  for (const double value : drawn({{InitKind::integers, -1, 3}, DType::int32, {500}, Family::as_declared, 3}))
    seen.insert(value);
  EXPECT_EQ(seen, (std::set<double>{-1, 0, 1, 2}));
  EXPECT_EQ(drawn({{InitKind::constant, 2.5, 0}, DType::float16, {3}, Family::as_declared, 3}),
            (std::vector<double>{2.5, 2.5, 2.5}));
  EXPECT_EQ(drawn({{InitKind::ones, 0, 0}, DType::boolean, {2}, Family::as_declared, 3}), (std::vector<double>{1, 1}));
  EXPECT_EQ(drawn({{InitKind::zeros, 0, 0}, DType::int64, {}, Family::as_declared, 3}), (std::vector<double>{0}));
  for (const double value : drawn({{InitKind::abs_normal, 0, 1}, DType::bfloat16, {500}, Family::as_declared, 3})) {
    EXPECT_GE(value, 0);
  }
  EXPECT_TRUE(drawn({kNormal, DType::float32, {0, 4}, Family::rows, 3}).empty());
}

TEST(Inputs, StructureSurvivesEveryFamily) {
  for (const Family family : model::kTransformations) {
    const auto permuted = drawn({{InitKind::permutation, 0, 1}, DType::int32, {3, 50}, family, 5});
    for (int row = 0; row < 3; ++row) {
      std::vector<double> sorted(permuted.begin() + row * 50, permuted.begin() + (row + 1) * 50);
      EXPECT_FALSE(std::is_sorted(sorted.begin(), sorted.end()));
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(sorted[i], static_cast<double>(i));
    }
    const auto pointers = drawn({{InitKind::indptr, 700, 1}, DType::int64, {20}, family, 5});
    EXPECT_EQ(pointers.front(), 0);
    EXPECT_EQ(pointers.back(), 700);
    EXPECT_TRUE(std::is_sorted(pointers.begin(), pointers.end()));
    const auto distinct = drawn({{InitKind::distinct, 10, 70}, DType::int32, {3, 50}, family, 5});
    for (int row = 0; row < 3; ++row) {
      const std::set<double> seen(distinct.begin() + row * 50, distinct.begin() + (row + 1) * 50);
      EXPECT_EQ(seen.size(), 50U);
      EXPECT_GE(*seen.begin(), 10);
      EXPECT_LT(*seen.rbegin(), 70);
    }
    EXPECT_NE(std::vector<double>(distinct.begin(), distinct.begin() + 50),
              std::vector<double>(distinct.begin() + 50, distinct.begin() + 100));
    InitSpec listed{InitKind::values};
    listed.values = {0, 3, 3, 9};
    EXPECT_EQ(drawn({listed, DType::int64, {2, 2}, family, 5}), listed.values);
    const auto ascending = drawn({{InitKind::sorted, 1, 2}, DType::float32, {2, 3000}, family, 5});
    EXPECT_TRUE(std::is_sorted(ascending.begin(), ascending.begin() + 3000));
    EXPECT_TRUE(std::is_sorted(ascending.begin() + 3000, ascending.end()));
    EXPECT_LT(ascending[0], ascending[2999]);
  }
}

TEST(Inputs, FamiliesTransformTheDeclaredValues) {
  const auto with = [](Family family) { return drawn({kNormal, DType::float64, {40, 100}, family, 8}); };
  const std::vector<double> declared = with(Family::as_declared);
  const std::vector<double> positive = with(Family::positive);
  const std::vector<double> up = with(Family::scaled_up);
  const std::vector<double> down = with(Family::scaled_down);
  const std::vector<double> heavy = with(Family::heavy);
  const std::vector<double> sparse = with(Family::sparse);
  const std::vector<double> rows = with(Family::rows);
  double largest = 0;
  double zeros = 0;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    EXPECT_EQ(positive[i], std::abs(declared[i]));
    EXPECT_EQ(up[i], declared[i] * 1000);
    EXPECT_EQ(down[i], declared[i] / 1000);
    EXPECT_GE(std::abs(heavy[i]), std::abs(declared[i]));
    EXPECT_TRUE(sparse[i] == 0 || sparse[i] == declared[i]);
    EXPECT_EQ(rows[i], declared[i / 100 * 100]);
    largest = std::max(largest, std::abs(heavy[i]));
    zeros += sparse[i] == 0;
  }
  EXPECT_GT(largest, 50);
  EXPECT_NEAR(zeros / static_cast<double>(declared.size()), 0.875, 0.02);
}

TEST(Inputs, LateRowsAreConstantButForOneElementInTheSecondHalf) {
  const std::vector<double> late = drawn({kNormal, DType::float32, {50, 37}, Family::late, 8});
  std::set<std::size_t> places;
  for (std::size_t row = 0; row < 50; ++row) {
    const double usual = late[row * 37];
    std::vector<std::size_t> departing;
    for (std::size_t i = 0; i < 37; ++i) {
      if (late[row * 37 + i] != usual) departing.push_back(i);
    }
    ASSERT_EQ(departing.size(), 1U);
    EXPECT_GE(departing.front(), 18U);
    places.insert(departing.front());
  }
  EXPECT_GT(places.size(), 10U);
  EXPECT_EQ(drawn({kNormal, DType::float32, {1}, Family::late, 8}).size(), 1U);
}

TEST(Inputs, BlocksRepeatAlongRowsAndRowsRepeatButForOneElementEach) {
  constexpr std::size_t kLength = 300;
  const std::vector<double> blocks = drawn({kNormal, DType::float32, {40, kLength}, Family::blocks, 8});
  std::set<std::size_t> lengths;
  for (std::size_t row = 0; row < 40; row += 2) {
    const double* const even = &blocks[row * kLength];
    std::size_t length = 4;
    while (!std::equal(even + length, even + kLength / 2, even)) length *= 2;
    ASSERT_LE(length, 64U);
    lengths.insert(length);
    int departing = 0;
    int differing = 0;
    for (std::size_t i = 0; i < kLength; ++i) {
      departing += even[i] != even[i % length];
      differing += even[i] != even[kLength + i];
    }
    EXPECT_EQ(departing, 1);
    EXPECT_EQ(differing, 1);
  }
  EXPECT_EQ(lengths.size(), 5U);
}

TEST(Inputs, ZerosHaveBothSigns) {
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::float8_e4m3fn}) {
    int zeros = 0;
    int negative = 0;
    for (const double value : drawn({{InitKind::uniform, 1, 2}, dtype, {4000}, Family::signed_zeros, 8})) {
      zeros += value == 0;
      negative += value == 0 && std::signbit(value);
    }
    EXPECT_NEAR(zeros, 2000, 150) << model::to_string(dtype);
    EXPECT_NEAR(negative, 1000, 120) << model::to_string(dtype);
  }
}

TEST(Inputs, NearTiesAreUnitsInTheLastPlaceApart) {
  const std::vector<double> ties =
      drawn({{InitKind::uniform, 1, 1.5}, DType::float32, {30, 500}, Family::near_ties, 8});
  for (std::size_t row = 0; row < 30; ++row) {
    std::vector<double> values(ties.begin() + static_cast<std::ptrdiff_t>(row * 500),
                               ties.begin() + static_cast<std::ptrdiff_t>((row + 1) * 500));
    std::sort(values.begin(), values.end());
    EXPECT_GT(values.back(), values.front());
    EXPECT_LT(values.back() / values.front(), 1 + 8e-6);
    for (std::size_t i = 1; i < values.size(); ++i) EXPECT_LE(values[i] - values[i - 1], 3 * 0x1p-23);
  }
}

TEST(Inputs, Extremes_AreTheEndsOfTheRange) {
  const InputDraw draw{{InitKind::integers, -5, 1000}, DType::int32, {30, 100}, Family::extremes, 8};
  const std::vector<double> values = drawn(draw);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(values, 999.0)), 1500, 120);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(values, -5.0)), 750, 100);
  EXPECT_TRUE(std::ranges::all_of(values, [](double value) { return value >= -5 && value <= 999; }));
  InputDraw other = draw;
  other.init.kind = InitKind::sorted;
  EXPECT_EQ(drawn_family(other), Family::as_declared) << "of integers alone";
}

TEST(Inputs, Outliers_AreOneElementInAboutOneRowOfEight) {
  for (const auto& [rows, columns] : {std::pair{800, 61}, {1, 5000}, {3, 7}}) {
    const std::vector<std::int64_t> shape{rows, columns};
    std::set<std::size_t> places;
    int most = 0;
    for (const std::uint64_t seed : {8U, 9U, 10U, 11U, 12U}) {
      const std::vector<double> declared = drawn({kNormal, DType::float64, shape, Family::as_declared, seed});
      const std::vector<double> values = drawn({kNormal, DType::float64, shape, Family::outliers, seed});
      int outlying = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] == declared[i]) continue;
        EXPECT_EQ(values[i], 1000 * declared[i]);
        places.insert(i);
        ++outlying;
      }
      EXPECT_GE(outlying, std::min(rows, 2));
      most = std::max(most, outlying);
    }
    EXPECT_LE(most, rows > 10 ? 140 : rows);
    EXPECT_GE(most, rows > 10 ? 70 : 1);
    EXPECT_GE(places.size(), 4U) << "the places are random";
  }
}

TEST(Inputs, Offsets_HaveOneLongSequenceAmongOutliers) {
  constexpr int kTotal = 30000;
  int empty_before = 0;
  int empty_behind = 0;
  int both = 0;
  std::set<std::ptrdiff_t> places;
  for (const std::size_t count : {501U, 6U, 2U}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const auto offsets = drawn(
          {{InitKind::indptr, kTotal, 1}, DType::int32, {static_cast<std::int64_t>(count)}, Family::outliers, seed});
      EXPECT_EQ(offsets.front(), 0);
      EXPECT_EQ(offsets.back(), kTotal);
      std::vector<double> lengths(count);
      std::adjacent_difference(offsets.begin(), offsets.end(), lengths.begin());
      EXPECT_GE(*std::ranges::min_element(lengths), 0);
      const auto longest = std::ranges::max_element(lengths);
      EXPECT_GE(*longest, kTotal / 3);
      places.insert(longest - lengths.begin());
      if (count < 100) continue;
      empty_before += offsets[5] == 0;
      empty_behind += offsets[count - 6] == kTotal;
      both += offsets[5] == 0 && offsets[count - 6] == kTotal;
    }
  }
  EXPECT_GT(places.size(), 15U);
  EXPECT_NEAR(empty_before, 50, 20);
  EXPECT_NEAR(empty_behind, 50, 20);
  EXPECT_GE(both, 5);
  model::TensorSpec input;
  input.init.kind = InitKind::indptr;
  EXPECT_EQ(family_of_input(input, Family::outliers), Family::outliers) << "and so it is not what is timed";
  EXPECT_EQ(family_of_input(input, Family::rows), Family::as_declared);
}

TEST(Inputs, CoarseValues_OfLikeSpreadAreEqualAtTimes) {
  const auto values = drawn({kNormal, DType::float64, {2000}, Family::coarse, 8});
  const auto edges = drawn({{InitKind::sorted, -3, 3}, DType::float64, {2, 50}, Family::coarse, 9});
  for (const std::ptrdiff_t row : {0, 50}) {
    EXPECT_TRUE(std::is_sorted(edges.begin() + row, edges.begin() + row + 50));
    EXPECT_LT(edges[static_cast<std::size_t>(row)], edges[static_cast<std::size_t>(row) + 49]);
  }
  const std::set<double> seen(values.begin(), values.end());
  EXPECT_GE(seen.size(), 10U);
  EXPECT_LE(seen.size(), 20U);
  EXPECT_GT(std::ranges::count_if(edges, [&](double edge) { return seen.contains(edge); }), 80);
  for (const double value : drawn({{InitKind::uniform, 0.01, 2.01}, DType::float64, {500}, Family::coarse, 8}))
    EXPECT_TRUE(value >= 0.01 && value < 2.01) << value;
  for (const double value : drawn({{InitKind::abs_normal, 0, 1}, DType::float32, {500}, Family::coarse, 8}))
    EXPECT_GT(value, 0);
  EXPECT_EQ(drawn({{InitKind::ones, 0, 0}, DType::float32, {2}, Family::coarse, 8}), (std::vector<double>{1, 1}));
}

TEST(Inputs, WideIntegers_DrawEveryBit) {
  for (const auto& [init, dtype] :
       {std::pair{"integers(0, 18446744073709551616)", DType::uint64},
        {"integers(0, 9007199254740992)", DType::uint64},  // what init advises
        {"integers(1, 9007199254740992)", DType::uint64},
        {"integers(-9223372036854775808, 9223372036854775807)", DType::int64},
        {"integers(1152921504606846976, 1152921504606848000)", DType::int64}}) {  // 1024 numbers that doubles round
    for (const Family family : {Family::as_declared, Family::late, Family::blocks}) {
      std::vector<std::byte> bytes(4000 * sizeof(std::uint64_t));
      ASSERT_TRUE(draw_input({*model::parse_init(init), dtype, {500, 8}, family, 3}, bytes));
      std::vector<int> ones(64);
      for (const std::int64_t value : decode_integers(dtype, bytes)) {
        for (int bit = 0; bit < 64; ++bit) ones[bit] += static_cast<int>(static_cast<std::uint64_t>(value) >> bit & 1);
      }
      for (int bit = 0; bit < 10; ++bit) EXPECT_NEAR(ones[bit], 2000, 250) << init << ", bit " << bit;
    }
  }
}

TEST(Inputs, WideIntegers_StayInTheirRange) {
  const InitSpec exact = *model::parse_init("integers(9223372036854775805, 9223372036854775807)");
  const InitSpec all = *model::parse_init("integers(-9223372036854775808, 9223372036854775807)");
  const auto integers = [](const InitSpec& init, Family family) {
    std::vector<std::byte> bytes(400 * sizeof(std::int64_t));
    EXPECT_TRUE(draw_input({init, DType::int64, {400}, family, 3}, bytes));
    return decode_integers(DType::int64, bytes);
  };
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const auto drawn = integers(exact, Family::as_declared);
  EXPECT_EQ(std::set(drawn.begin(), drawn.end()), (std::set<std::int64_t>{kLargest - 2, kLargest - 1}));
  for (const std::int64_t value : integers(all, Family::positive)) EXPECT_GE(value, 0);
  EXPECT_GT(std::ranges::count(integers(all, Family::sparse), 0), 300);
  EXPECT_GT(std::ranges::count(integers(all, Family::signed_zeros), 0), 150);
  const auto extremes = integers(all, Family::extremes);
  EXPECT_GT(std::ranges::count(extremes, kLargest - 1), 150);
  EXPECT_GT(std::ranges::count(extremes, std::numeric_limits<std::int64_t>::min()), 60);
  const InitSpec none = *model::parse_init("integers(9007199254740993, 9007199254740993)");
  std::vector<std::byte> bytes(8);
  EXPECT_FALSE(draw_input({none, DType::int64, {1}, Family::as_declared, 3}, bytes));
}

TEST(Inputs, NarrowIntegers_AreDrawnAsBefore) {
  // Literal values: recorded runs drew these.
  EXPECT_EQ(drawn({*model::parse_init("integers(0, 1000)"), DType::int64, {4}, Family::as_declared, 1}),
            (std::vector<double>{335, 982, 339, 471}));
  EXPECT_EQ(drawn({*model::parse_init("integers(0, 4503599627370496)"), DType::uint64, {2}, Family::as_declared, 1}),
            (std::vector<double>{1508897552520195, 4424825527969764}));
}

TEST(Inputs, IndicesAreNotScaled) {
  for (const Family family : {Family::scaled_up, Family::heavy}) {
    for (const double value : drawn({{InitKind::integers, 0, 10}, DType::int32, {300}, family, 5}))
      EXPECT_LT(value, 10);
  }
}

TEST(Inputs, RefuseWhatCannotBeDrawn) {
  std::vector<std::byte> bytes(16);
  const auto code = [&](const InputDraw& draw) {
    const auto result = draw_input(draw, bytes);
    EXPECT_FALSE(result.has_value());
    return result ? base::ErrorCode::internal : result.error().code;
  };
  const Family declared = Family::as_declared;
  EXPECT_EQ(code({kNormal, DType::float32, {5}, declared, 1}), base::ErrorCode::invalid_argument);
  EXPECT_EQ(code({kNormal, DType::float32, {-2, -2}, declared, 1}), base::ErrorCode::invalid_argument);
  EXPECT_EQ(code({{InitKind::uniform, 2, 1}, DType::float32, {4}, declared, 1}), base::ErrorCode::invalid_argument);
  EXPECT_EQ(code({{InitKind::integers, 3, 3}, DType::float32, {4}, declared, 1}), base::ErrorCode::invalid_argument);
  EXPECT_EQ(code({{InitKind::indptr, 300, 1}, DType::uint8, {16}, declared, 1}), base::ErrorCode::invalid_argument);
  EXPECT_EQ(code({{InitKind::indptr, 2.5, 1}, DType::float32, {4}, declared, 1}), base::ErrorCode::invalid_argument);
  EXPECT_EQ(code({{InitKind::distinct, 0, 15}, DType::int32, {16}, declared, 1}), base::ErrorCode::invalid_argument);
  EXPECT_EQ(code({{InitKind::distinct, 0, 300}, DType::uint8, {16}, declared, 1}), base::ErrorCode::invalid_argument);
  InitSpec listed{InitKind::values};
  listed.values = {1, 2, 3};
  EXPECT_EQ(code({listed, DType::int32, {4}, declared, 1}), base::ErrorCode::invalid_argument);
  InitSpec open{InitKind::indptr};
  open.expressions[0] = "total";
  EXPECT_EQ(code({open, DType::int32, {4}, declared, 1}), base::ErrorCode::invalid_argument);
  EXPECT_EQ(code({{InitKind::permutation, 0, 1}, DType::boolean, {16}, declared, 1}),
            base::ErrorCode::invalid_argument);
}

model::Task task_with(const std::vector<std::vector<Family>>& families) {
  model::Task task;
  for (const auto& permitted : families) {
    model::TensorSpec input;
    input.name = "x" + std::to_string(task.definition.inputs.size());
    input.families = permitted;
    task.definition.inputs.push_back(input);
  }
  return task;
}

TEST(Families, RotateOverWhatSomeInputPermits) {
  const model::Task task =
      task_with({{Family::sparse, Family::scaled_up, Family::scaled_down}, {Family::positive}, {}});
  EXPECT_EQ(families_of_task(task), (std::vector<Family>{Family::as_declared, Family::positive, Family::scaled_up,
                                                         Family::scaled_down, Family::sparse, Family::outliers}));
  EXPECT_EQ(family_of_slot(task, 0), Family::as_declared);
  EXPECT_EQ(family_of_slot(task, 4), Family::sparse);
  EXPECT_EQ(family_of_slot(task, 6), Family::as_declared);
  EXPECT_EQ(family_of_input(task.definition.inputs[0], Family::outliers), Family::outliers) << "come with scaled_up";
  EXPECT_EQ(family_of_input(task.definition.inputs[1], Family::outliers), Family::as_declared);
  EXPECT_EQ(family_of_input(task.definition.inputs[1], Family::sparse), Family::as_declared);
  EXPECT_EQ(family_of_input(task.definition.inputs[0], Family::sparse), Family::sparse);
  EXPECT_EQ(families_of_task(task_with({})), (std::vector<Family>{Family::as_declared}));
}

TEST(Seeds, DifferForEverythingThatDiffers) {
  std::set<std::uint64_t> seeds;
  for (const std::uint64_t run : {0U, 1U}) {
    for (const char* workload : {"race", "check", ""}) {
      for (int slot = 0; slot < 8; ++slot) {
        for (const char* input : {"x", "w", "race"}) seeds.insert(input_seed(run, workload, slot, input));
      }
    }
  }
  EXPECT_EQ(seeds.size(), 2U * 3 * 8 * 3);
  EXPECT_NE(input_seed(0, "ab", 0, "c"), input_seed(0, "a", 0, "bc"));
}

TEST(Perturbation, MovesByTwoRoundingErrors) {
  std::vector<double> values(1000, 3.0);
  values[0] = 0;
  perturb(values, DType::float32, {}, 4);
  int up = 0;
  EXPECT_EQ(values[0], 0);
  for (std::size_t i = 1; i < values.size(); ++i) {
    EXPECT_NEAR(std::abs(values[i] / 3 - 1), 0x1p-23, 1e-12);
    up += values[i] > 3;
  }
  EXPECT_NEAR(up, 500, 80);
  std::vector<double> lower(10, 1.0);
  model::Numerics numerics;
  numerics.lower_precision = true;
  perturb(lower, DType::float32, numerics, 4);
  EXPECT_EQ(std::abs(lower[0] - 1), 0x1p-7);
  std::vector<double> whole(10, 5.0);
  perturb(whole, DType::int32, {}, 4);
  EXPECT_EQ(whole, std::vector<double>(10, 5.0));
}

}  // namespace
}  // namespace accelopt::evaluation

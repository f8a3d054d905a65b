// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/numerics.hpp"
#include "evaluation/verify/fingerprint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/inputs.hpp"

namespace accelopt::evaluation {
namespace {

using model::DType;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::byte> bytes_of(DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * model::size_of(dtype));
  encode(dtype, values, bytes);
  return bytes;
}

/// An output of `count` numbers in [1, 2) whose honest errors are those of perturbed inputs of an identity.
struct Identity {
  explicit Identity(DType dtype, std::int64_t rows, std::int64_t columns) {
    expected.dtype = dtype;
    expected.shape = {rows, columns};
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      expected.values.push_back(1 + static_cast<double>(i) / static_cast<double>(rows * columns));
    }
    calibrate_again();
  }
  void calibrate_again(const model::Numerics& numerics = {}) {
    std::vector<double> runs[3] = {expected.values, expected.values, expected.values};
    perturb(runs[1], expected.dtype, numerics, 1);
    perturb(runs[2], expected.dtype, numerics, 2);
    bounds = calibrate(expected, {runs[0], runs[1], runs[2], {}}, numerics);
  }
  Comparison with(const std::vector<double>& values) const {
    return compare(expected, bounds, bytes_of(expected.dtype, values));
  }

  Expected expected;
  Bounds bounds;
};

TEST(Numerics, MeasuresTheHonestError) {
  const Identity identity(DType::float32, 4, 64);
  EXPECT_NEAR(identity.bounds.honest_normwise, 0x1p-23, 1e-9);
  EXPECT_EQ(identity.bounds.normwise, 32 * 0x1p-24);
  EXPECT_EQ(identity.bounds.row_length, 64);
  EXPECT_TRUE(identity.bounds.float_is_finite);
  EXPECT_TRUE(identity.with(identity.expected.values).passed());
}

TEST(Numerics, TwoRunsTellWhereTheyAreNearlyAllAndRowsAreMany) {
  const auto told = [](std::int64_t rows, double factor) {
    const Identity all(DType::bfloat16, rows, 64);
    Identity two = all;
    two.bounds.honest_normwise /= factor;
    return float_runs_tell(all.bounds, two.bounds);
  };
  EXPECT_TRUE(told(64, 1));
  EXPECT_TRUE(told(64, 1.4));
  EXPECT_FALSE(told(64, 1.6));
  EXPECT_FALSE(told(63, 1));
  Identity none(DType::bfloat16, 64, 64);
  none.bounds.honest_normwise = none.bounds.honest_elementwise = 0;
  EXPECT_FALSE(float_runs_tell(none.bounds, none.bounds)) << "runs without an error tell nothing";
}

TEST(Numerics, NamesTheFirstBadElement) {
  const Identity identity(DType::float32, 4, 64);
  std::vector<double> values = identity.expected.values;
  values[200] += 0.25;
  values[77] = 0;
  const Comparison comparison = identity.with(values);
  EXPECT_EQ(comparison.violated, NumericalRule::elementwise);
  EXPECT_EQ(comparison.mismatch.index, 77);
  EXPECT_NEAR(comparison.mismatch.expected, 1 + 77.0 / 256, 1e-12);
  EXPECT_EQ(comparison.mismatch.actual, 0);
  EXPECT_GT(comparison.mismatch.normwise_error, 0.01);
  EXPECT_EQ(comparison.mismatch.normwise_bound, identity.bounds.normwise);
  EXPECT_NE(explain(identity.expected, comparison).find("element [1, 13]"), std::string::npos);
}

TEST(Numerics, RefusesAWrongLastElement) {
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16}) {
    Identity identity(dtype, 5, 37);
    std::vector<double> values = identity.expected.values;
    values.back() *= dtype == DType::bfloat16 ? 1.5 : 1.05;  // bfloat16 inputs alone account for several per cent
    const Comparison comparison = identity.with(values);
    EXPECT_EQ(comparison.violated, NumericalRule::elementwise) << model::to_string(dtype);
    EXPECT_EQ(comparison.mismatch.index, 184);
  }
}

TEST(Numerics, AcceptsWhatRoundsToTheOutput) {
  for (const DType dtype :
       {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::float8_e4m3fn, DType::float8_e5m2}) {
    const Identity identity(dtype, 5, 37);
    EXPECT_TRUE(identity.with(identity.expected.values).passed()) << model::to_string(dtype);
  }
}

TEST(Numerics, RefusesASpreadErrorThatNoElementShows) {
  Identity identity(DType::float32, 64, 64);
  identity.bounds.rows.assign(identity.bounds.rows.size(), 1e-3);
  std::vector<double> values = identity.expected.values;
  for (double& value : values) value += 1e-4;
  const Comparison comparison = identity.with(values);
  EXPECT_EQ(comparison.violated, NumericalRule::normwise);
  EXPECT_GT(comparison.normwise_error, 5e-5);
}

TEST(Numerics, TakesTheTasksOwnNormwiseBound) {
  Identity identity(DType::float32, 64, 64);
  model::Numerics numerics;
  numerics.normwise = 2e-5;
  identity.calibrate_again(numerics);
  EXPECT_EQ(identity.bounds.normwise, 2e-5);
}

TEST(Numerics, NanIsNeverAWildcard) {
  Identity identity(DType::float32, 2, 40);
  identity.expected.values[3] = kNan;
  identity.expected.values[5] = kInfinity;
  identity.expected.values[6] = -kInfinity;
  identity.calibrate_again();
  std::vector<double> values = identity.expected.values;
  EXPECT_TRUE(identity.with(values).passed());
  for (const auto& [index, value] : std::vector<std::pair<std::size_t, double>>{
           {3, 1.0}, {3, kInfinity}, {5, kNan}, {5, -kInfinity}, {5, 1e38}, {6, 0.0}, {79, kNan}, {79, kInfinity}}) {
    std::vector<double> wrong = values;
    wrong[index] = value;
    const Comparison comparison = identity.with(wrong);
    EXPECT_EQ(comparison.violated, NumericalRule::pattern) << index << " " << value;
    EXPECT_EQ(comparison.mismatch.index, static_cast<std::int64_t>(index));
    EXPECT_TRUE(std::isfinite(comparison.normwise_error));
  }
}

TEST(Numerics, OneRowOfNanDoesNotHideTheOtherRows) {
  Identity identity(DType::float32, 3, 40);
  for (std::size_t i = 0; i < 40; ++i) identity.expected.values[i] = kNan;
  identity.calibrate_again();
  std::vector<double> values = identity.expected.values;
  values[119] = 1;
  EXPECT_EQ(identity.with(values).violated, NumericalRule::elementwise);
}

TEST(Numerics, TooLargeReference_ExpectsOverflow) {
  Identity identity(DType::float16, 1, 40);
  identity.expected.values[0] = 70000;
  identity.expected.values[1] = 65519.9;  // within rounding of infinity: both sides are honest
  identity.calibrate_again();
  EXPECT_TRUE(identity.with(identity.expected.values).passed());
  std::vector<double> values = identity.expected.values;
  values[1] = kInfinity;
  EXPECT_TRUE(identity.with(values).passed());
  values[0] = 100;
  EXPECT_EQ(identity.with(values).violated, NumericalRule::pattern);
}

TEST(Numerics, RowsOfDifferentSizeHaveDifferentBounds) {
  Identity identity(DType::float32, 2, 64);
  for (std::size_t i = 0; i < 64; ++i) identity.expected.values[i] *= 1e6;
  identity.calibrate_again();
  std::vector<double> values = identity.expected.values;
  values[100] *= 1.01;  // nothing beside the large row, and wrong in its own
  EXPECT_EQ(identity.with(values).violated, NumericalRule::elementwise);
}

TEST(Numerics, AnIllConditionedRowDoesNotLoosenTheOthers) {
  Identity identity(DType::float32, 8, 64);
  std::vector<double> runs[3] = {identity.expected.values, identity.expected.values, identity.expected.values};
  perturb(runs[1], DType::float32, {}, 1);
  perturb(runs[2], DType::float32, {}, 2);
  for (std::size_t i = 0; i < 64; ++i) runs[0][i] *= 1.5;
  identity.bounds = calibrate(identity.expected, {runs[0], runs[1], runs[2], {}}, {});
  EXPECT_NEAR(identity.bounds.honest_elementwise, 0.5, 0.01);
  std::vector<double> values = identity.expected.values;
  values[0] *= 1.4;  // as far off as the honest run of that row
  values[500] *= 1.0001;
  EXPECT_EQ(identity.with(values).mismatch.index, 500);
}

TEST(Numerics, OverflowingFloatRun_IsReported) {
  Identity identity(DType::float32, 1, 40);
  identity.expected.values[7] = -4.9e39;  // double can say it; float makes it infinite, or NaN in another order
  std::vector<double> overflowed = identity.expected.values;
  overflowed[7] = -kInfinity;
  const std::vector<double>& exact = identity.expected.values;
  EXPECT_FALSE(calibrate(identity.expected, {overflowed, exact, exact, {}}, {}).float_is_finite);
  identity.expected.values[7] = -kInfinity;  // what is infinite in double, too, may be
  EXPECT_TRUE(calibrate(identity.expected, {overflowed, overflowed, overflowed, {}}, {}).float_is_finite);
}

TEST(Numerics, AFloatRunThatOverflowsIsReported) {
  Identity identity(DType::float32, 1, 40);
  std::vector<double> overflowed = identity.expected.values;
  overflowed[7] = kInfinity;
  const Bounds bounds =
      calibrate(identity.expected, {overflowed, identity.expected.values, identity.expected.values, {}}, {});
  EXPECT_FALSE(bounds.float_is_finite);
}

TEST(Numerics, Float64DoesNotTakeItsBoundFromAFloatRun) {
  Identity identity(DType::float64, 4, 63);  // quotients by 252 are no floats
  std::vector<double> as_float = identity.expected.values;
  for (double& value : as_float) value = static_cast<double>(static_cast<float>(value));
  identity.bounds =
      calibrate(identity.expected, {as_float, identity.expected.values, identity.expected.values, {}}, {});
  EXPECT_FALSE(identity.with(as_float).passed());
  identity.bounds = calibrate(identity.expected, {{}, identity.expected.values, identity.expected.values, {}}, {});
  EXPECT_FALSE(identity.with(as_float).passed());
  EXPECT_TRUE(identity.with(identity.expected.values).passed());
}

TEST(Numerics, AllZerosAreExact) {
  Identity identity(DType::float32, 2, 40);
  identity.expected.values.assign(80, 0.0);
  identity.calibrate_again();
  std::vector<double> values(80, 0.0);
  EXPECT_TRUE(identity.with(values).passed());
  values[40] = 1e-6;
  EXPECT_EQ(identity.with(values).violated, NumericalRule::elementwise);
}

TEST(Numerics, HugeAndTinyNumbersAreCompared) {
  for (const double scale : {1e300, 1e-300}) {
    Identity identity(DType::float64, 4, 64);
    for (double& value : identity.expected.values) value *= scale;
    identity.calibrate_again();
    EXPECT_TRUE(identity.with(identity.expected.values).passed());
    std::vector<double> values = identity.expected.values;
    for (double& value : values) value *= 1 + 1e-9;
    EXPECT_FALSE(identity.with(values).passed());
  }
}

TEST(Numerics, IntegersAreExact) {
  Expected expected{DType::int32, {2, 2}, {}, {1, -2, 3, 2147483647}};
  const Bounds bounds = calibrate(expected, {}, {});
  EXPECT_TRUE(compare(expected, bounds, bytes_of(DType::int32, {1, -2, 3, 2147483647})).passed());
  const Comparison comparison = compare(expected, bounds, bytes_of(DType::int32, {1, -2, 4, 2147483646}));
  EXPECT_EQ(comparison.violated, NumericalRule::exact);
  EXPECT_EQ(comparison.mismatch.index, 2);
  EXPECT_EQ(comparison.mismatch.actual, 4);
  Expected flags{DType::boolean, {3}, {}, {1, 0, 1}};
  std::vector<std::byte> odd{std::byte{1}, std::byte{0}, std::byte{2}};
  EXPECT_EQ(compare(flags, bounds, odd).violated, NumericalRule::exact);
}

TEST(Numerics, AnotherSizeIsRefused) {
  const Identity identity(DType::float32, 2, 40);
  EXPECT_EQ(compare(identity.expected, identity.bounds, std::vector<std::byte>(79 * 4)).violated, NumericalRule::size);
}

TEST(Numerics, ScalarsAndEmptyOutputsAreOutputs) {
  Expected scalar{DType::float32, {}, {2.0}, {}};
  const std::vector<double> run{2.0};
  EXPECT_TRUE(compare(scalar, calibrate(scalar, {run, run, run, {}}, {}), bytes_of(DType::float32, {2})).passed());
  EXPECT_FALSE(compare(scalar, calibrate(scalar, {run, run, run, {}}, {}), bytes_of(DType::float32, {2.1})).passed());
  Expected empty{DType::float32, {0, 5}, {}, {}};
  EXPECT_TRUE(compare(empty, calibrate(empty, {}, {}), {}).passed());
}

TEST(Numerics, AStatedBoundStandsForTheMeasuredErrorInAllRules) {
  Identity identity(DType::float32, 4, 64);
  std::vector<double> values = identity.expected.values;
  values[5] *= 1.01;
  EXPECT_FALSE(identity.with(values).passed());
  identity.calibrate_again({false, 1e-2});
  EXPECT_EQ(identity.bounds.normwise, 1e-2);
  EXPECT_TRUE(identity.with(values).passed()) << "an element has twice the room";
  values[5] *= 1.02;
  EXPECT_EQ(identity.with(values).violated, NumericalRule::elementwise);
  for (double& value : values) value = 0.98 * value;
  EXPECT_FALSE(identity.with(values).passed());
}

TEST(Numerics, WhatIsBelowOneUnitOfTheRowsLargestElementHasNoDigits) {
  Identity identity(DType::float32, 1, 40);
  identity.expected.values.assign(40, 1e-20);
  identity.expected.values[7] = 1;
  const std::vector<double>& exact = identity.expected.values;
  identity.bounds = calibrate(identity.expected, {exact, exact, exact, {}}, {});
  std::vector<double> values = exact;
  values[20] = 2e-20;
  EXPECT_TRUE(identity.with(values).passed());
  values[20] = 1e-6;
  EXPECT_EQ(identity.with(values).violated, NumericalRule::elementwise);
  values = exact;
  values[7] = 0.999;
  EXPECT_EQ(identity.with(values).violated, NumericalRule::elementwise);
}

TEST(Numerics, TheFloatRunOnPerturbedInputsCounts) {
  Identity identity(DType::float32, 4, 64);
  const std::vector<double>& exact = identity.expected.values;
  std::vector<double> off = exact;
  for (double& value : off) value *= 1 + 1e-4;
  identity.bounds = calibrate(identity.expected, {exact, exact, exact, off}, {});
  EXPECT_NEAR(identity.bounds.honest_normwise, 1e-4, 1e-6);
  EXPECT_TRUE(identity.with(off).passed());
}

/// The sum of `length` times the same number, one after the other or in pairs of pairs.
template <class Real>
double sum_of_equal(Real value, std::size_t length, bool pairwise) {
  if (!pairwise) {
    Real sum = 0;
    for (std::size_t i = 0; i < length; ++i) sum += value;
    return static_cast<double>(sum);
  }
  for (; length > 1; length /= 2) value += value;
  return static_cast<double>(value);
}

TEST(Numerics, LongSumsInDoubleMayTakeAnotherOrderAndNoLowerPrecision) {
  constexpr std::size_t kLength = std::size_t{1} << 16;
  constexpr std::size_t kRows = 40;
  std::vector<double> values;
  for (std::size_t i = 0; i < kRows; ++i) values.push_back(1 + static_cast<double>(i) * 0.0123456789);
  // As for every row of constants: the roundings of one sum all go the same way, in the perturbed runs too.
  const auto sums = [&](std::uint64_t perturbation, bool pairwise) {
    std::vector<double> rows = values;
    if (perturbation != 0) perturb(rows, DType::float64, {}, perturbation);
    for (double& row : rows) row = sum_of_equal(row, kLength, pairwise);
    return rows;
  };
  std::vector<double> in_float = values;
  for (double& row : in_float) row = sum_of_equal(static_cast<float>(row), kLength, false);
  const Expected expected{DType::float64, {kRows}, sums(0, false), {}};
  const std::vector<double> first = sums(1, false);
  const std::vector<double> second = sums(2, false);
  const Bounds bounds = calibrate(expected, {in_float, first, second, {}}, {});
  const Comparison exact = compare(expected, bounds, bytes_of(DType::float64, sums(0, true)));
  EXPECT_TRUE(exact.passed()) << exact.normwise_error << " of " << bounds.normwise;
  EXPECT_GT(exact.normwise_error, 32 * 0x1p-53) << "more than what is always allowed";
  EXPECT_FALSE(compare(expected, bounds, bytes_of(DType::float64, in_float)).passed());
}

/// 128 rows of 64 normal numbers as bfloat16; the honest runs perturb them.
Expected normal_numbers() {
  Expected out;
  out.dtype = DType::bfloat16;
  out.shape = {128, 64};
  std::vector<std::byte> drawn(8192 * sizeof(double));
  const InputDraw draw{{model::InitKind::normal, 0, 1}, DType::float64, {128, 64}, model::Family::as_declared, 11};
  EXPECT_TRUE(draw_input(draw, drawn));
  out.values = decode(DType::float64, drawn);
  return out;
}

Bounds bounds_of_perturbed(const Expected& expected, const model::Numerics& numerics = {}) {
  std::vector<double> runs[2] = {expected.values, expected.values};
  perturb(runs[0], expected.dtype, numerics, 1);
  perturb(runs[1], expected.dtype, numerics, 2);
  return calibrate(expected, {expected.values, runs[0], runs[1], {}}, numerics);
}

TEST(Bands, FindCoarseRoundingAmongSmallElementsAlone) {
  const Expected expected = normal_numbers();
  const Bounds bounds = bounds_of_perturbed(expected);
  EXPECT_TRUE(compare(expected, bounds, bytes_of(DType::bfloat16, expected.values)).passed());
  const std::vector<double> coarse = rounded_to(DType::float8_e4m3fn, expected.values);
  std::vector<double> values = expected.values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i]) < 0.15) values[i] = coarse[i];
  }
  const Comparison comparison = compare(expected, bounds, bytes_of(DType::bfloat16, values));
  EXPECT_EQ(comparison.violated, NumericalRule::band);
  EXPECT_LT(std::abs(comparison.mismatch.expected), 0.16);
  EXPECT_GT(comparison.mismatch.normwise_error, 3 * comparison.mismatch.normwise_bound);
  EXPECT_NE(explain(expected, comparison).find("computed less exactly than in 16 bits"), std::string::npos);
}

TEST(Bands, AnotherRoundingOfTheResultIsHonest) {
  const Expected expected = normal_numbers();
  const Bounds bounds = bounds_of_perturbed(expected);
  std::vector<double> halves = expected.values;
  for (double& value : halves) value *= 0.7;
  std::vector<double> values = rounded_to(DType::bfloat16, halves);
  for (double& value : values) value /= 0.7;
  EXPECT_TRUE(compare(expected, bounds, bytes_of(DType::bfloat16, values)).passed());
}

TEST(Bands, ZerosAreNoSmallElements) {
  Expected expected = normal_numbers();
  constexpr std::size_t kZeros = 64 * 64;  // half of the rows see no key
  std::fill_n(expected.values.begin(), kZeros, 0.0);
  std::vector<double> values = expected.values;
  // A few elements that cancel to almost nothing are off by as much as their rows' other elements are rounded.
  for (std::size_t i = kZeros; i < values.size(); i += 512) {
    expected.values[i] = 1e-5;
    values[i] = 3e-4;
  }
  const Bounds bounds = bounds_of_perturbed(expected);
  const Comparison comparison = compare(expected, bounds, bytes_of(DType::bfloat16, values));
  EXPECT_TRUE(comparison.passed()) << explain(expected, comparison);
}

TEST(Bands, AreOf16BitOutputsWithEnoughRowsAndNoStatedBound) {
  Expected expected = normal_numbers();
  model::Numerics stated;
  stated.normwise = 0.1;
  EXPECT_EQ(bounds_of_perturbed(expected, stated).bands, unlimited_bands());
  EXPECT_NE(bounds_of_perturbed(expected).bands, unlimited_bands());
  expected.dtype = DType::float32;
  EXPECT_EQ(bounds_of_perturbed(expected).bands, unlimited_bands());
  expected.dtype = DType::bfloat16;
  expected.shape = {8, 1024};
  EXPECT_EQ(bounds_of_perturbed(expected).bands, unlimited_bands());
}

TEST(Agreement, OfRunsIsWithinWhatARightOutputMayBeOff) {
  const Identity identity(DType::float32, 2, 40);
  const auto run = [&](double share) {
    std::vector<double> values = identity.expected.values;
    values[79] *= 1 + share * 32 * 0x1p-24;
    return bytes_of(DType::float32, values);
  };
  const auto disagree = [&](double one, double other) {
    return first_disagreement(identity.expected, identity.bounds, run(one), run(other));
  };
  EXPECT_EQ(disagree(0.5, 0.5), std::nullopt);
  EXPECT_EQ(disagree(0.4, -0.4), std::nullopt);
  EXPECT_EQ(disagree(0.9, -0.9), std::optional<std::size_t>(79));
  std::vector<double> hole = identity.expected.values;
  hole[3] = std::numeric_limits<double>::quiet_NaN();
  const auto with_hole = bytes_of(DType::float32, hole);
  EXPECT_EQ(first_disagreement(identity.expected, identity.bounds, run(0), with_hole), std::optional<std::size_t>(3));
  EXPECT_EQ(first_disagreement(identity.expected, identity.bounds, with_hole, with_hole), std::nullopt);
}

TEST(Agreement, OfIntegersIsExact) {
  Expected expected{DType::int32, {3}, {}, {1, 2, 3}};
  const Bounds bounds = calibrate(expected, {}, {});
  const auto one = bytes_of(DType::int32, {1, 2, 3});
  EXPECT_EQ(first_disagreement(expected, bounds, one, one), std::nullopt);
  EXPECT_EQ(first_disagreement(expected, bounds, one, bytes_of(DType::int32, {1, 2, 4})),
            std::optional<std::size_t>(2));
}

TEST(Fingerprints, DifferWithEveryByteAndWithTheBordersOfTensors) {
  std::vector<std::byte> bytes(5000, std::byte{7});
  const auto of = [](const std::vector<std::byte>& data, std::size_t first) {
    const std::span<const std::byte> all(data);
    return fingerprint({all.first(first), all.subspan(first)});
  };
  const Fingerprint base = of(bytes, 2000);
  EXPECT_EQ(of(bytes, 2000), base);
  EXPECT_FALSE(of(bytes, 1999) == base);
  for (const std::size_t place : {0U, 1U, 239U, 240U, 1999U, 2000U, 4999U}) {
    bytes[place] ^= std::byte{1};
    EXPECT_FALSE(of(bytes, 2000) == base) << place;
    bytes[place] ^= std::byte{1};
  }
}

TEST(Numerics, AFactorStandsForTheRunsOnPerturbedInputs) {
  const Identity identity(DType::float32, 4, 64);
  const std::vector<double>& exact = identity.expected.values;
  const auto off = [&](double by) {
    std::vector<double> out = exact;
    for (double& value : out) value *= 1 + by;
    return out;
  };
  const std::vector<double> in_float = off(1e-6);
  const std::vector<double> perturbed = off(3e-6);
  const HonestRuns all{in_float, perturbed, exact, exact};
  const auto factor = float_factor(identity.expected, all, {});
  ASSERT_TRUE(factor);
  EXPECT_NEAR(*factor, 3, 0.01);
  HonestRuns alone;
  alone.in_float = in_float;
  alone.float_factor = *factor;
  const Bounds whole = calibrate(identity.expected, all, {});
  const Bounds scaled = calibrate(identity.expected, alone, {});
  EXPECT_NEAR(scaled.normwise / whole.normwise, 1, 0.01);
  EXPECT_NEAR(scaled.rows.at(1) / whole.rows.at(1), 1, 0.01);
  EXPECT_FALSE(float_factor(identity.expected, {exact, perturbed, exact, exact}, {})) << "no error to scale";
  EXPECT_FALSE(float_factor(identity.expected, {off(1e-9), perturbed, exact, exact}, {})) << "too far from it";
  const Identity half(DType::float16, 4, 64);
  EXPECT_FALSE(float_factor(half.expected, {in_float, perturbed, exact, exact}, {})) << "bands need every run";
  const Identity wide(DType::float64, 4, 64);
  EXPECT_FALSE(float_factor(wide.expected, {in_float, perturbed, exact, exact}, {}))
      << "a float run says nothing of double";
}

/// Rows of ones, of which every fourth is off by a normal error of a thousandth, the others hardly: a run of a softmax
/// in which some rows have two scores that nearly tie.
std::vector<double> with_rows_that_stand_alone(std::size_t rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> out;
  for (std::size_t row = 0; row < rows; ++row) {
    const double off = (row % 4 == 0 ? 1e-3 : 1e-12) * normal(random);
    for (int i = 0; i < 32; ++i) out.push_back(i == 0 ? 1 + off : 1);
  }
  return out;
}

TEST(Numerics, RowsThatStandAloneAreMeasuredByMoreRuns) {
  constexpr std::size_t kRows = 4096;
  const Expected expected{DType::float32, {kRows, 32}, std::vector<double>(kRows * 32, 1.0), {}};
  const auto run = [&](std::uint64_t seed) { return with_rows_that_stand_alone(kRows, seed); };
  HonestErrors errors = honest_errors(expected, {run(1), run(2), run(3), run(4)}, {});
  ASSERT_TRUE(needs_more_runs(DType::float32, expected.shape, errors, {}));
  const auto refused = [&] {
    const Bounds bounds = bounds_of(DType::float32, expected.shape, errors, {});
    int out = 0;
    for (std::uint64_t seed = 100; seed < 120; ++seed)
      out += compare(expected, bounds, bytes_of(DType::float32, run(seed))).passed() ? 0 : 1;
    return out;
  };
  EXPECT_GT(refused(), 0) << "runs like those that calibrated it";
  for (std::uint64_t more = 0; more < kMoreRuns; ++more) add_honest_run(expected, run(10 + more), 1, errors);
  EXPECT_EQ(refused(), 0);

  const Bounds bounds = bounds_of(DType::float32, expected.shape, errors, {});
  for (const std::size_t row : {std::size_t{0}, std::size_t{1}}) {
    std::vector<double> wrong = expected.values;
    wrong[32 * row] += row == 0 ? 0.05 : 1e-4;
    EXPECT_EQ(compare(expected, bounds, bytes_of(DType::float32, wrong)).violated, NumericalRule::elementwise) << row;
  }
}

TEST(Numerics, AnOutputOfOneElementIsMeasuredByMoreRuns) {
  const Expected one{DType::float32, {1}, {1000.0}, {}};
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const auto run = [&] { return std::vector<double>{1000.0 + 0.1 * normal(random)}; };
  int refused_after_two = 0;
  int refused = 0;
  for (int slot = 0; slot < 300; ++slot) {
    HonestErrors errors = honest_errors(one, {run(), {}, {}, run()}, {});
    ASSERT_TRUE(has_few_elements(one.shape));
    const auto honest = bytes_of(DType::float32, run());
    refused_after_two += compare(one, bounds_of(DType::float32, one.shape, errors, {}), honest).passed() ? 0 : 1;
    for (int more = 0; more < kMoreRuns; ++more) add_honest_run(one, run(), 1, errors);
    refused += compare(one, bounds_of(DType::float32, one.shape, errors, {}), honest).passed() ? 0 : 1;
    const auto wrong = bytes_of(DType::float32, {1000.0 + 4});
    EXPECT_FALSE(compare(one, bounds_of(DType::float32, one.shape, errors, {}), wrong).passed()) << slot;
  }
  EXPECT_GT(refused_after_two, 0);
  EXPECT_EQ(refused, 0);
  const std::vector<double> exact = one.values;
  const std::vector<double> off{1000.1};
  EXPECT_EQ(float_factor(one, {off, exact, exact, off}, {}), 1) << "rotated inputs tell more";
}

TEST(Numerics, MoreRunsAreForRowsThatStandAloneAlone) {
  const Expected expected{DType::float32, {64, 32}, std::vector<double>(64 * 32, 1.0), {}};
  const auto errors_of = [&](double usual, double one_row) {
    std::vector<double> run = expected.values;
    for (std::size_t row = 0; row < 64; ++row) run[32 * row] += row == 5 ? one_row : usual;
    return honest_errors(expected, {run, run, run, {}}, {});
  };
  EXPECT_TRUE(needs_more_runs(DType::float32, expected.shape, errors_of(1e-6, 1e-4), {}));
  EXPECT_FALSE(needs_more_runs(DType::float32, expected.shape, errors_of(1e-5, 1e-4), {}))
      << "the usual row's bound is as wide";
  EXPECT_FALSE(needs_more_runs(DType::float32, expected.shape, errors_of(0, 1e-7), {}))
      << "any element may be off by as much";
  model::Numerics stated;
  stated.normwise = 1e-3;
  EXPECT_FALSE(needs_more_runs(DType::float32, expected.shape, errors_of(1e-6, 1e-4), stated))
      << "the task allows more than that";
  EXPECT_TRUE(needs_more_runs(DType::float32, expected.shape, errors_of(1e-6, 1e-3), stated));
  EXPECT_FALSE(needs_more_runs(DType::int32, expected.shape, {}, {}));
}

}  // namespace
}  // namespace accelopt::evaluation

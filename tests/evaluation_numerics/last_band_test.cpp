// SPDX-License-Identifier: Apache-2.0
// The smallest elements of wide outputs, which no row's bound protects where a row is a whole tensor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/inputs.hpp"
#include "evaluation/verify/numerics.hpp"

namespace accelopt::evaluation {
namespace {

using model::DType;

/// exp over uniform numbers in [-20, 20), one tensor with one axis.
class LastBand : public testing::Test {
 protected:
  static constexpr std::int64_t kElements = 16384;
  LastBand() {
    std::vector<std::byte> drawn(kElements * sizeof(float));
    const InputDraw draw{
        {model::InitKind::uniform, -20, 20}, DType::float32, {kElements}, model::Family::as_declared, 7};
    EXPECT_TRUE(draw_input(draw, drawn));
    inputs = decode(DType::float32, drawn);
    expected.shape = {kElements};
    expected.values = of([](double x) { return std::exp(x); });
  }
  template <class Function>
  std::vector<double> of(const Function& function) const {
    std::vector<double> out;
    for (const double x : inputs) out.push_back(function(x));
    return out;
  }
  [[nodiscard]] Bounds bounds(const model::Numerics& numerics = {}) const {
    std::vector<double> perturbed[2] = {inputs, inputs};
    for (int run = 0; run < 2; ++run) {
      perturb(perturbed[run], DType::float32, numerics, 1 + static_cast<std::uint64_t>(run));
      for (double& value : perturbed[run]) value = std::exp(value);
    }
    const std::vector<double> in_float = of([](double x) { return std::exp(static_cast<float>(x)); });
    return calibrate(expected, {in_float, perturbed[0], perturbed[1], {}}, numerics);
  }
  [[nodiscard]] Comparison with(const std::vector<double>& values, const model::Numerics& numerics = {}) const {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    encode(DType::float32, values, bytes);
    return compare(expected, bounds(numerics), bytes);
  }

  std::vector<double> inputs;
  Expected expected;
};

TEST_F(LastBand, ZerosInPlaceOfSmallElementsAreRefused) {
  const double most = *std::max_element(inputs.begin(), inputs.end());
  const Comparison comparison = with(of([&](double x) { return x < most - 18.5 ? 0 : std::exp(x); }));
  EXPECT_EQ(comparison.violated, NumericalRule::band);
  EXPECT_EQ(comparison.mismatch.actual, 0);
  EXPECT_GT(comparison.mismatch.expected, comparison.mismatch.normwise_bound);
  EXPECT_NE(explain(expected, comparison).find("not to be left out"), std::string::npos);
}

TEST_F(LastBand, AnotherExponentialIsHonest) {
  const Comparison comparison = with(of([](double x) { return std::exp2(static_cast<float>(x) * 1.44269504F); }));
  EXPECT_TRUE(comparison.passed()) << explain(expected, comparison);
}

TEST_F(LastBand, AFewSmallElementsMayBeDifferencesOfLargerNumbers) {
  expected.values = of([](double x) { return 1 / (1 + std::exp(-x)); });
  const auto in_float = of([](double x) { return 1 / (1 + std::exp(-static_cast<float>(x))); });
  const Bounds allowed = calibrate(expected, {in_float, expected.values, expected.values, {}}, {});
  const auto by_tanh = of([](double x) { return 0.5F + 0.5F * std::tanh(0.5F * static_cast<float>(x)); });
  std::vector<std::byte> bytes(by_tanh.size() * sizeof(float));
  encode(DType::float32, by_tanh, bytes);
  const Comparison comparison = compare(expected, allowed, bytes);
  EXPECT_TRUE(comparison.passed()) << explain(expected, comparison);
}

TEST_F(LastBand, DoesNotStandBesideAStatedBound) {
  model::Numerics stated;
  stated.normwise = 1e-3;
  EXPECT_TRUE(with(of([](double x) { return x < 2 ? 0 : std::exp(x); }), stated).passed());
}

TEST_F(LastBand, AFewSmallElementsAreNotJudgedTogether) {
  std::int64_t small = 0;
  for (double& value : expected.values) {
    if (value < 1e5 && ++small > 200) value = 1e8;
  }
  EXPECT_EQ(bounds().bands, unlimited_bands());
}

}  // namespace
}  // namespace accelopt::evaluation

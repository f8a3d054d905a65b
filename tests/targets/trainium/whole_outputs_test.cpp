// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/whole_outputs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "targets/trainium/legacy_normal.hpp"
#include "targets/trainium/traces.hpp"

namespace accelopt::targets::trainium {
namespace {

using evaluation::Invocation;
using evaluation::Precision;
using evaluation::ReferenceTensor;

TEST(LegacyNormal, Seed42_GivesNumpysNumbers) {
  LegacyNormal generator(42);

  // np.random.seed(42); np.random.normal(size=5)
  for (const double expected :
       {0.4967141530112327, -0.13826430117118466, 0.6476885381006925, 1.5230298564080254, -0.23415337472333597})
    EXPECT_DOUBLE_EQ(generator.normal(0, 1), expected);
}

TEST(LegacyNormal, LongStream_StaysNumpys) {
  LegacyNormal generator(84);
  double last = 0;
  for (int i = 0; i < 100'001; ++i) last = generator.normal(0, 1);

  EXPECT_DOUBLE_EQ(last, 1.1929476509100383);
}

TEST(LegacyNormal, MeanAndDeviation_ScaleIt) {
  LegacyNormal plain(7);
  LegacyNormal scaled(7);

  for (int i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(scaled.normal(1, 0.05), 1 + 0.05 * plain.normal(0, 1));
}

model::Definition silu() {
  model::Definition out;
  out.axes = {{"P", 128}, {"F", 8}};
  model::TensorSpec x;
  x.name = "x";
  x.shape = {"P", "F"};
  out.inputs = {x};
  x.name = "y";
  out.outputs = {x};
  return out;
}

/// silu, times what `distort` makes of an element's place.
evaluation::HostReference reference(double (*distort)(std::size_t), int& calls) {
  return [distort, &calls](Precision, const std::vector<ReferenceTensor>& inputs,
                           const Invocation&) -> base::Result<std::vector<ReferenceTensor>> {
    ++calls;
    ReferenceTensor out;
    for (std::size_t i = 0; i < inputs[0].values.size(); ++i)
      out.values.push_back(inputs[0].values[i] / (1 + std::exp(-inputs[0].values[i])) * distort(i));
    return std::vector{out};
  };
}

TEST(WholeOutputs, RightKernel_PassesAndTheReferenceIsAskedOnceASeed) {
  const model::Definition definition = silu();
  const Program program = program_of(silu_trace());
  int calls = 0;
  auto check = WholeOutputs::create(definition, {}, reference([](std::size_t) { return 1.0; }, calls));
  ASSERT_TRUE(check.has_value());

  for (int i = 0; i < 2; ++i) EXPECT_EQ(check->check(program, {.name = "published", .axes = {}}, {}).value(), "");

  EXPECT_EQ(calls, 5);
}

TEST(WholeOutputs, DistanceDecides_NotASingleElement) {
  const model::Definition definition = silu();
  const Program program = program_of(silu_trace());
  int calls = 0;
  const auto told = [&](double (*distort)(std::size_t)) {
    auto check = WholeOutputs::create(definition, {}, reference(distort, calls));
    return check->check(program, {.name = "published", .axes = {}}, {}).value();
  };

  // One element of 1024 that is off by 1e-4 of itself is 1e-4 of a thirtieth of the whole.
  EXPECT_EQ(told([](std::size_t i) { return i == 3 ? 1 + 1e-4 : 1.0; }), "");
  const std::string wrong = told([](std::size_t) { return 1 + 3e-5; });
  EXPECT_EQ(wrong.find("numpy's seed 0: the relative L2 distance of the whole output \"y\" is 3e-05"), 0U) << wrong;
}

TEST(WholeOutputs, InputThatTheBenchmarkDoesNotDraw_IsRefused) {
  model::Definition definition = silu();
  definition.inputs[0].init = model::parse_init("uniform(0, 1)").value();
  int calls = 0;

  const auto check = WholeOutputs::create(definition, {}, reference([](std::size_t) { return 1.0; }, calls));

  ASSERT_FALSE(check.has_value());
  EXPECT_EQ(check.error().code, base::ErrorCode::unsupported);
}

TEST(WholeOutputs, WorkloadTooLargeForAReferencesLoops_IsRefusedBeforeItIsCalled) {
  model::Definition definition = silu();
  definition.cost.flops = "2*P*F*1000000";
  int calls = 0;
  const auto create = [&](model::Role role) {
    const std::vector<model::Workload> all{{.name = "published", .axes = {}, .role = role}};
    return WholeOutputs::create(definition, all, reference([](std::size_t) { return 1.0; }, calls));
  };
  EXPECT_TRUE(create(model::Role::race).has_value()) << "2 billion";

  definition.cost.flops = "2*P*F*100000000";
  EXPECT_TRUE(create(model::Role::check).has_value()) << "not held whole";
  const auto refused = create(model::Role::race);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("\"published\" takes 205 billion operations"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace accelopt::targets::trainium

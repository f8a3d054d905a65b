// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/known_outputs.hpp"

#include <gtest/gtest.h>

namespace accelopt::evaluation {
namespace {

model::TensorSpec tensor(const std::string& name) {
  model::TensorSpec out;
  out.name = name;
  out.shape = std::vector<std::string>{"N"};
  out.init = {model::InitKind::normal, 0, 1};
  return out;
}

/// y and z of x, `seen`, which the host may see, and a scalar.
model::Task task() {
  model::Task out;
  out.definition.axes = {{"N", std::nullopt}};
  out.definition.inputs = {tensor("x"), tensor("seen"), tensor("scale")};
  out.definition.inputs[1].visible = true;
  out.definition.inputs[2].shape.reset();
  out.definition.outputs = {tensor("y"), tensor("z")};
  out.workloads = {{"large", {{"N", 64}}, model::Role::race, 1.0}, {"one", {{"N", 1}}, model::Role::check, 1.0}};
  return out;
}

/// What is said of a task whose outputs are what `reference` gives of one element of each input.
template <class Reference>
std::string said(const model::Task& task, Reference reference) {
  const HostReference all = [&](Precision, const std::vector<ReferenceTensor>& inputs, const Invocation& invocation) {
    const auto count = static_cast<std::size_t>(invocation.axes.at(0));
    std::vector<ReferenceTensor> out(2);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [y, z] = reference(inputs[0].values[i], inputs[1].values[i], inputs[2].values[0], count);
      out[0].values.push_back(y);
      out[1].values.push_back(z);
    }
    return base::Result<std::vector<ReferenceTensor>>(out);
  };
  const auto result = refuse_known_outputs(task, equal_outputs(task.definition, all));
  return result ? "" : result.error().message;
}

TEST(KnownOutputs, OfData_AreNone) {
  EXPECT_EQ(
      said(task(), [](double x, double seen, double scale, std::size_t) { return std::pair(x * scale, x + seen); }),
      "");
}

TEST(KnownOutputs, OfWhatTheHostKnowsAlone_AreRefused) {
  const std::string message =
      said(task(), [](double x, double seen, double scale, std::size_t) { return std::pair(x, seen * scale); });
  EXPECT_NE(message.find("the output z is the same for all data"), std::string::npos) << message;
  EXPECT_NE(message.find("(seen, scale)"), std::string::npos) << message;
}

TEST(KnownOutputs, ThatOneWorkloadGivesAway_MayStay) {
  EXPECT_EQ(said(task(),
                 [](double x, double seen, double, std::size_t count) { return std::pair(x, count == 1 ? seen : x); }),
            "");
}

TEST(KnownOutputs, WhereTheHostKnowsNothingNew_AreNotLookedFor) {
  model::Task fixed = task();
  fixed.definition.inputs[1].visible = false;
  fixed.definition.inputs[2].init = {model::InitKind::constant, 0.5};
  EXPECT_FALSE(host_knows_values(fixed));
  EXPECT_EQ(said(fixed, [](double, double, double, std::size_t) { return std::pair(1.0, 2.0); }), "");
  EXPECT_TRUE(draws_scalars(task()));
  fixed.workloads[0].inits["scale"] = {model::InitKind::constant, 2};
  EXPECT_TRUE(draws_scalars(fixed)) << "workloads of the same axes may differ";
}

}  // namespace
}  // namespace accelopt::evaluation

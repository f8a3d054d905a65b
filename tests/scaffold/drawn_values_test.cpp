// SPDX-License-Identifier: Apache-2.0
#include "scaffold/drawn_values.hpp"

#include <gtest/gtest.h>

namespace accelopt::scaffold {
namespace {

using model::DType;

/// The condition on a scalar s of that type that every one of these workloads draws its own way.
std::string condition(DType dtype, const std::string& type, const std::vector<std::string>& inits,
                      model::Language language = model::Language::cpp) {
  model::Task task;
  task.definition.axes = {{"n", std::nullopt}};
  model::TensorSpec scalar;
  scalar.name = "s";
  scalar.dtype = dtype;
  for (const std::string& init : inits) {
    model::Workload workload{"", {{"n", 64}}};
    workload.inits["s"] = *model::parse_init(init);
    task.workloads.push_back(workload);
  }
  task.definition.inputs = {scalar};
  return values_are_drawn(task, scalar, {"s", type}, language);
}

TEST(DrawnValues, OfAConstantScalar_AreThatValueAlone) {
  EXPECT_EQ(condition(DType::float32, "float", {"constant(0.5)"}), "s == 0.5f");
  EXPECT_EQ(condition(DType::float32, "float", {"constant(0.1)", "constant(0.1)"}), "s == 0.100000001f");
  EXPECT_EQ(condition(DType::float64, "double", {"ones"}), "s == 1.0");
  EXPECT_EQ(condition(DType::float32, "float", {"zeros"}), "s == 0.0f");
  EXPECT_EQ(condition(DType::float32, "float", {"constant(1e-6)"}), "s == 9.99999997e-07f");
  EXPECT_EQ(condition(DType::float16, "_Float16", {"constant(2)"}), "s == static_cast<_Float16>(2.0f)");
  EXPECT_EQ(condition(DType::float16, "_Float16", {"constant(2)"}, model::Language::c), "s == (_Float16)2.0f");
  EXPECT_EQ(condition(DType::int32, "int", {"constant(3)"}), "s == 3");
  EXPECT_EQ(condition(DType::int32, "int", {"constant(3)", "constant(5)"}), "(s == 3 || s == 5)");
}

TEST(DrawnValues, OfARange_EndWhereItDoes) {
  EXPECT_EQ(condition(DType::float32, "float", {"uniform(0.5, 2)"}), "s >= 0.5f && s <= 2.0f");
  EXPECT_EQ(condition(DType::float32, "float", {"normal(0, 1)"}), "");
  EXPECT_EQ(condition(DType::float32, "float", {"abs_normal(0, 1)"}), "s >= 0.0f");
  EXPECT_EQ(condition(DType::int32, "int", {"integers(0, 9)"}), "s >= 0 && s <= 8");
  EXPECT_EQ(condition(DType::int32, "int", {"integers(0, n)"}), "s >= 0 && s <= 63");
  EXPECT_EQ(condition(DType::uint32, "unsigned int", {"integers(0, 9)"}), "s <= 8") << "below 0 there is nothing";
  EXPECT_EQ(condition(DType::uint8, "unsigned char", {"integers(0, 256)"}), "");
  EXPECT_EQ(condition(DType::boolean, "bool", {"integers(0, 2)"}), "");
  EXPECT_EQ(condition(DType::int64, "long", {"integers(1, 5)", "constant(9)"}), "((s >= 1 && s <= 4) || s == 9)");
  EXPECT_EQ(condition(DType::int64, "long", {"constant(9)", "normal(0, 1)"}), "");
}

TEST(DrawnValues, TensorsOfOneNumber_AreRefused) {
  model::Task task;
  task.workloads = {{"race", {}}};
  const auto refused = [&](const std::string& init, std::vector<model::Family> families = {}) {
    model::TensorSpec tensor;
    tensor.name = "bias";
    tensor.shape = std::vector<std::string>{};
    tensor.init = *model::parse_init(init);
    tensor.families = std::move(families);
    task.definition.inputs = {tensor};
    const auto result = refuse_fixed_tensors(task);
    return result ? "" : result.error().message;
  };
  EXPECT_NE(refused("zeros").find("every element of bias is drawn as one number (zeros)"), std::string::npos);
  EXPECT_NE(refused("constant(0.5)"), "");
  EXPECT_EQ(refused("constant(0.5)", {model::Family::sparse}), "");
  EXPECT_NE(refused("zeros", {model::Family::sparse}), "") << "families leave zeros as they are";
  EXPECT_EQ(refused("normal(0, 1)"), "");
}

}  // namespace
}  // namespace accelopt::scaffold

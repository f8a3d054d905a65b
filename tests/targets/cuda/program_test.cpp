// SPDX-License-Identifier: Apache-2.0
// What the device server is given of a kernel's directives.
#include "targets/cuda/program.hpp"

#include <gtest/gtest.h>

#include "targets/cuda/cuda_task.hpp"
#include "targets/cuda/description.hpp"
#include "targets/cuda/task_header.hpp"

namespace accelopt::targets::cuda {
namespace {

using devices::cuda::Argument;

/// The plan of the task's first workload, for these directives.
devices::cuda::LaunchPlan plan_with(const std::string& directives, const model::Task& task) {
  const auto parsed = model::parse_device_directives(directives);
  EXPECT_TRUE(parsed) << parsed.error().message;
  const model::AxisValues axes = model::bind_axes(task.definition, task.workloads.at(0));
  const auto plan = model::bind_launch_plan(*parsed, task.definition, axes, {}, description().launch_limits);
  EXPECT_TRUE(plan) << plan.error().message;
  return device_plan(*plan, task.definition);
}

TEST(DevicePlan, Arguments_AreNamedOrConstant) {
  const auto plan = plan_with(
      "//@ scratch sums float32 [M] zero\n"
      "//@ tensormap rows of x box=(32, 8) swizzle=128B\n"
      "//@ launch scale_rows grid=(M, 2) block=(256) smem=1024 cluster=(2) args=(rows, x, scale, sums, y, M)\n",
      scale_task());
  ASSERT_EQ(plan.launches.size(), 1U);
  const devices::cuda::Launch& launch = plan.launches[0];
  EXPECT_EQ(launch.kernel, "scale_rows");
  EXPECT_EQ(launch.cubin, 0U);
  EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(launch.block, (std::array<std::uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(launch.cluster, (std::array<std::uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(launch.shared_bytes, 1024U);
  ASSERT_EQ(launch.arguments.size(), 6U);
  const auto is = [&](std::size_t i, Argument::Kind kind, const std::string& name) {
    return launch.arguments[i].kind == kind && launch.arguments[i].name == name && launch.arguments[i].offset == 0;
  };
  EXPECT_TRUE(is(0, Argument::Kind::tensor_map, "rows"));
  EXPECT_TRUE(is(1, Argument::Kind::tensor, "x"));
  EXPECT_TRUE(is(2, Argument::Kind::scalar, "scale"));
  EXPECT_EQ(launch.arguments[2].dtype, model::DType::float32);
  EXPECT_TRUE(is(3, Argument::Kind::tensor, "sums"));
  EXPECT_TRUE(is(4, Argument::Kind::tensor, "y"));
  EXPECT_TRUE(is(5, Argument::Kind::constant, ""));
  EXPECT_EQ(launch.arguments[5].dtype, model::DType::int64);
  EXPECT_EQ(launch.arguments[5].bits, 64U);
  ASSERT_EQ(plan.scratch.size(), 1U);
  EXPECT_EQ(plan.scratch[0].bytes, 64 * sizeof(float));
  EXPECT_TRUE(plan.scratch[0].zero);
  ASSERT_EQ(plan.tensor_maps.size(), 1U);
  EXPECT_EQ(plan.tensor_maps[0].tensor, "x");
  EXPECT_EQ(plan.tensor_maps[0].shape, (std::vector<std::int64_t>{512, 64}));
  EXPECT_EQ(plan.tensor_maps[0].swizzle_bytes, 128);
  EXPECT_TRUE(devices::cuda::check_plan(plan, 1));
}

TEST(DevicePlan, ReferenceScalar_IsOfItsReal) {
  model::Task task = scale_task();
  task.definition = reference_definition(task.definition, model::DType::float64);
  const auto plan = plan_with("//@ launch scale_rows grid=(M) block=(256) args=(x, scale, y, M)\n", task);
  EXPECT_EQ(plan.launches.at(0).arguments.at(1).dtype, model::DType::float64);
}

TEST(PlanName, HasTheVariableAxesAlone) {
  EXPECT_EQ(plan_name(scale_task().definition, {{"M", 64}, {"N", 512}}), "M=64");
  model::Definition fixed = scale_task().definition;
  fixed.axes = {{"M", 64}, {"N", 512}};
  EXPECT_EQ(plan_name(fixed, {{"M", 64}, {"N", 512}}), "");
}

}  // namespace
}  // namespace accelopt::targets::cuda

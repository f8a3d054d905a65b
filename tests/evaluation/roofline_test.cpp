// SPDX-License-Identifier: Apache-2.0
#include "evaluation/roofline.hpp"

#include <gtest/gtest.h>

#include "fake_target.hpp"

namespace accelopt::evaluation {
namespace {

TEST(Roofline, FloorIsTheLargerOfBothAndSharesStayBelowOne) {
  model::Task task = fake_task();
  task.definition.cost = {"1000*M", "8*M"};
  const model::Workload& workload = task.workloads[0];
  const auto compute = roofline(task, workload, {1e9, 5e8, 1e9}, 2e5);
  ASSERT_TRUE(compute);
  EXPECT_EQ(compute->bound, "compute");
  EXPECT_DOUBLE_EQ(compute->floor_ns, 1e5);
  EXPECT_DOUBLE_EQ(compute->fraction, 0.5);
  const auto memory = roofline(task, workload, {1e15, 5e8, 1e6}, 1e3);
  EXPECT_EQ(memory->bound, "memory");
  EXPECT_DOUBLE_EQ(memory->fraction, 1.0);
  task.definition.inputs[0].dtype = model::DType::float64;
  EXPECT_DOUBLE_EQ(roofline(task, workload, {1e9, 5e8, 1e9}, 2e5)->floor_ns, 2e5);
  task.definition.cost = {};
  EXPECT_FALSE(roofline(task, workload, {1e9, 5e8, 1e9}, 2e5));
  EXPECT_EQ(least_credible_ns(task, workload, {1e9, 5e8, 1e9}, 1 << 20), 0);
}

TEST(Roofline, AFewNumbersInDoubleDoNotSlowDownTheOthers) {
  model::Task task = fake_task();
  task.definition.cost = {"1000*M", "8*M"};
  const model::Workload& workload = task.workloads[0];
  const Peaks peaks{1e9, 5e8, 1e12};
  model::TensorSpec alpha = task.definition.inputs[0];
  alpha.name = "alpha";
  alpha.dtype = model::DType::float64;
  alpha.shape.reset();
  task.definition.inputs.push_back(alpha);
  EXPECT_DOUBLE_EQ(roofline(task, workload, peaks, 4e5)->floor_ns, 1e5) << "a scalar";
  EXPECT_DOUBLE_EQ(earlier_roofline(task, workload, peaks, 4e5)->floor_ns, 2e5) << "as in records of before";
  EXPECT_DOUBLE_EQ(least_credible_ns(task, workload, peaks, 0), 0.8 * 1e5);
  task.definition.inputs.back().shape = std::vector<std::string>{"BLOCKS"};
  task.definition.axes.push_back({"BLOCKS", 2});
  EXPECT_DOUBLE_EQ(roofline(task, workload, peaks, 4e5)->floor_ns, 1e5) << "two elements";
  for (model::TensorSpec* tensor : {&task.definition.inputs[0], &task.definition.outputs[0]})
    tensor->dtype = model::DType::float64;
  EXPECT_DOUBLE_EQ(least_credible_ns(task, workload, peaks, 0), 0.8 * 2e5) << "all in double";
  task.definition.outputs[0].dtype = model::DType::float32;
  EXPECT_DOUBLE_EQ(least_credible_ns(task, workload, peaks, 0), 0.8 * 1e5) << "float does for float32 outputs";
}

TEST(Roofline, TheFasterUnitCountsWhateverTheKernel) {
  model::Task task = fake_task();
  task.definition.cost = {"1000*M", "8*M"};
  const model::Workload& workload = task.workloads[0];
  Peaks peaks{1e9, 5e8, 1e12};
  peaks.tensor_flops_per_second = 8e9;
  peaks.tensor_tf32_flops_per_second = 6e9;
  for (const double time_ns : {4e5, 6e4}) {
    EXPECT_DOUBLE_EQ(roofline(task, workload, peaks, time_ns)->floor_ns, 5e4) << "three products for one of float32";
  }
  for (const model::DType narrow : {model::DType::bfloat16, model::DType::float16}) {
    task.definition.inputs[0].dtype = narrow;
    for (const double time_ns : {4e5, 2e4}) {
      EXPECT_DOUBLE_EQ(roofline(task, workload, peaks, time_ns)->floor_ns, 1.25e4) << time_ns;
    }
  }
  model::TensorSpec scale = task.definition.inputs[0];
  scale.name = "scale";
  scale.dtype = model::DType::float32;
  scale.shape = std::vector<std::string>{"BLOCKS"};
  task.definition.axes.push_back({"BLOCKS", 2});
  task.definition.inputs.push_back(scale);
  EXPECT_DOUBLE_EQ(roofline(task, workload, peaks, 4e5)->floor_ns, 1.25e4) << "narrow numbers with their scales";
  EXPECT_DOUBLE_EQ(earlier_roofline(task, workload, peaks, 4e5)->floor_ns, 5e4) << "as in records of before";
  task.definition.inputs.pop_back();
  task.definition.inputs[0].dtype = model::DType::float32;
  task.definition.numerics.lower_precision = true;
  EXPECT_DOUBLE_EQ(roofline(task, workload, peaks, 4e5)->floor_ns, 1.25e4);
  peaks.tensor_flops_per_second = peaks.tensor_tf32_flops_per_second = 0;
  EXPECT_DOUBLE_EQ(roofline(task, workload, peaks, 4e5)->floor_ns, 1e5) << "no matrix units";
}

TEST(Roofline, OfEachPeakTheLargerOneIsKept) {
  const Peaks both = larger_peaks({1, 4, 3, 0}, {2, 3, 1, 5});
  EXPECT_EQ(both.flops_per_second, 2);
  EXPECT_EQ(both.flops_per_second_float64, 4);
  EXPECT_EQ(both.bytes_per_second, 3);
  EXPECT_EQ(both.last_level_bytes_per_second, 5);
}

TEST(Roofline, WarmDataInACacheIsNotHeldToMemory) {
  model::Task task = fake_task();
  const model::Workload& workload = task.workloads[0];
  const Peaks peaks{1e12, 1e12, 1e6};
  EXPECT_GT(least_credible_ns(task, workload, peaks, 1 << 20), 1e5);
  task.cpu.cache = model::Cache::warm;
  EXPECT_LT(least_credible_ns(task, workload, peaks, 1 << 20), 1.0);
}

TEST(Roofline, TensorsChangedInPlace_AreReadInTimeAndWrittenBackLater) {
  model::Task task = fake_task();
  task.definition.cost = {"", "8*M"};  // 4*M are read, 4*M written
  model::Workload workload = task.workloads[0];
  workload.axes["M"] = 1'000'000;
  const Peaks peaks{1e15, 1e15, 1e9};
  const auto least_ns = [&](std::int64_t cache) { return least_credible_ns(task, workload, peaks, cache); };
  EXPECT_DOUBLE_EQ(least_ns(1 << 30), 0.8 * 8e6) << "an output of its own";
  task.definition.inputs[0].inout = task.definition.outputs[0].inout = true;
  EXPECT_DOUBLE_EQ(least_ns(1 << 30), 0.8 * 4e6);
  EXPECT_DOUBLE_EQ(least_ns(1'000'000), 0.8 * 7e6) << "as much as the cache holds";
  EXPECT_DOUBLE_EQ(least_ns(0), 0.8 * 8e6);
  task.definition.cost.bytes = "4*M";
  EXPECT_DOUBLE_EQ(least_ns(1 << 30), 0.8 * 4e6) << "counted once by the task itself";
}

TEST(Roofline, Accelerator_IsHeldToMatrixUnitsAndCache) {
  model::Task task = fake_task();
  task.target = "cuda";
  task.cpu.threads = 4;  // of a CPU: says nothing here
  model::Workload workload = task.workloads[0];
  workload.axes["M"] = 1'000'000;  // 1e6 operations, 8e6 bytes
  Peaks peaks{1e9, 1e9, 1e9};
  EXPECT_DOUBLE_EQ(roofline(task, workload, peaks, 1e9)->floor_ns, 8e6);
  EXPECT_DOUBLE_EQ(least_credible_ns(task, workload, peaks, 0), 0.8 * 8e6);
  EXPECT_DOUBLE_EQ(least_credible_ns(task, workload, peaks, 7'500'000), 0.8 * 1e6);  // compute: 1e6 / 1e9
  peaks.tensor_flops_per_second = 1e9;
  EXPECT_DOUBLE_EQ(least_credible_ns(task, workload, peaks, 7'500'000), 0.8 * 5e5);
}

}  // namespace
}  // namespace accelopt::evaluation

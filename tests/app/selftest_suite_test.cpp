// SPDX-License-Identifier: Apache-2.0
#include "app/selftest_suite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/launch_plan.hpp"
#include "targets/cuda/description.hpp"

namespace accelopt::app {
namespace {

bool may_fail_to_build(const SelftestKernel& kernel) {
  return std::find(kernel.expected.begin(), kernel.expected.end(), "COMPILE_ERROR") != kernel.expected.end();
}

/// The first reason why some workload cannot be launched; empty: all can.
std::string plan_problem(const model::Task& task, const std::string& source) {
  const auto directives = model::parse_device_directives(source);
  if (!directives) return directives.error().message;
  std::vector<std::int64_t> values;
  for (const model::TunedName& tuned : directives->tuned) values.push_back(tuned.values.front());
  for (const model::Workload& workload : task.workloads) {
    const auto plan = model::bind_launch_plan(*directives, task.definition, bind_axes(task.definition, workload),
                                              values, targets::cuda::description().launch_limits);
    if (!plan) return workload.name + ": " + plan.error().message;
  }
  return {};
}

TEST(BuiltinSelftest, HasASuiteForEachKindOfDevice) {
  for (const auto& [kind, language, attacked, honest] :
       {std::tuple("cpu", model::Language::cpp, 40, 25), std::tuple("cuda", model::Language("cuda"), 40, 25),
        std::tuple("trainium", model::Language("nki"), 20, 15),
        std::tuple("triton", model::Language("python"), 40, 15)}) {
    const auto suite = builtin_selftest(kind);
    ASSERT_TRUE(suite) << suite.error().message;
    std::set<std::string> names;
    for (const SelftestKernel& kernel : suite->kernels) {
      EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name << " appears twice";
      const model::Task& task = suite->tasks.at(kernel.task);
      EXPECT_EQ(task.target, kind) << kernel.name;
      const bool in_c = kernel.kernel.solution().language == model::Language::c;
      EXPECT_TRUE(in_c || kernel.kernel.solution().language == language) << kernel.name;
    }
    const auto attacks = std::ranges::count(suite->kernels, true, &SelftestKernel::attack);
    EXPECT_GE(attacks, attacked) << kind;
    EXPECT_GE(static_cast<std::ptrdiff_t>(suite->kernels.size()) - attacks, honest) << kind;
  }
  EXPECT_EQ(builtin_selftest("opencl").error().code, base::ErrorCode::unsupported);
}

TEST(BuiltinSelftest, CudaKernelsHaveLaunchPlansUnlessTheyAreMeantToHaveNone) {
  const auto suite = builtin_selftest("cuda");
  ASSERT_TRUE(suite) << suite.error().message;
  for (const auto& [name, task] : suite->tasks) {
    EXPECT_EQ(plan_problem(task, main_text(task.baseline)), "") << name;
    EXPECT_EQ(plan_problem(task, task.reference.text), "") << name;
  }
  for (const SelftestKernel& kernel : suite->kernels) {
    if (kernel.attack && may_fail_to_build(kernel)) continue;
    EXPECT_EQ(plan_problem(suite->tasks.at(kernel.task), main_text(kernel.kernel.solution())), "") << kernel.name;
  }
  for (const char* refused : {"unknown_directive", "no_launch", "output_not_passed", "huge_scratch", "too_many_threads",
                              "too_much_shared_memory", "too_wide_box", "flags_include"}) {
    const auto kernel = std::ranges::find(suite->kernels, refused, &SelftestKernel::name);
    ASSERT_NE(kernel, suite->kernels.end()) << refused;
    EXPECT_NE(plan_problem(suite->tasks.at(kernel->task), main_text(kernel->kernel.solution())), "") << refused;
  }
}

}  // namespace
}  // namespace accelopt::app

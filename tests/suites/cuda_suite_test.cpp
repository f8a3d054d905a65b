// SPDX-License-Identifier: Apache-2.0
// The launch plans of the bundled CUDA tasks: every directive is read, and every workload can be launched.
#include <gtest/gtest.h>

#include "model/launch_plan.hpp"
#include "suites/task_folder.hpp"
#include "targets/cuda/description.hpp"

namespace accelopt::suites {
namespace {

namespace fs = std::filesystem;

/// Binds the plan of every workload, and expects scratch of a few GiB at most.
void expect_plans(const model::Task& task, const std::string& name, const std::string& source) {
  SCOPED_TRACE(task.definition.name + "/" + name);
  const auto directives = model::parse_device_directives(source);
  ASSERT_TRUE(directives) << directives.error().line << ":" << directives.error().column << ": "
                          << directives.error().message;
  EXPECT_TRUE(directives->tuned.empty()) << "a trusted or compared kernel has its numbers fixed";
  for (const model::Workload& workload : task.workloads) {
    const auto plan = model::bind_launch_plan(*directives, task.definition, bind_axes(task.definition, workload), {},
                                              targets::cuda::description().launch_limits);
    ASSERT_TRUE(plan) << workload.name << ": " << plan.error().line << ":" << plan.error().column << ": "
                      << plan.error().message;
    std::int64_t scratch = 0;
    for (const model::ScratchTensor& tensor : plan->scratch) scratch += tensor.bytes;
    EXPECT_LE(scratch, std::int64_t{3} << 30);
  }
}

TEST(CudaSuite, EveryBaselineAndReferenceHasALaunchPlanForEveryWorkload) {
  const auto tasks = find_suite_tasks(fs::path(ACCELOPT_SUITES) / "nkibench-cuda");
  ASSERT_TRUE(tasks) << tasks.error().message;
  for (const fs::path& folder : *tasks) {
    const auto task = load_task(folder);
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_EQ(task->target, "cuda");
    EXPECT_EQ(task->baseline.language, model::Language("cuda"));
    EXPECT_EQ(task->reference.name, "reference.cu");
    expect_plans(*task, "baseline.cu", main_text(task->baseline));
    expect_plans(*task, "reference.cu", task->reference.text);
  }
}

}  // namespace
}  // namespace accelopt::suites

// SPDX-License-Identifier: Apache-2.0
// Bundled CUDA kernels through the real builder: the suite's baselines and references, and what the self-test tries: of
// its kernels that compile every kEachth, and with ACCELOPT_EVERY_KERNEL set all of them, which takes minutes. Needs
// NVRTC and no device; without NVRTC every test is skipped and says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "app/selftest_suite.hpp"
#include "model/tuning.hpp"
#include "suites/task_folder.hpp"
#include "targets/cuda/build.hpp"
#include "targets/cuda/cuda_task.hpp"

namespace accelopt::cli {
namespace {

using app::SelftestKernel;
using targets::cuda::CudaBuilder;

class CudaBuilds : public testing::Test {
 protected:
  void SetUp() override {
    if (!targets::cuda::no_nvrtc().empty()) GTEST_SKIP() << targets::cuda::no_nvrtc();
  }

  static std::unique_ptr<CudaBuilder> builder_of(const model::Task& task) {
    auto builder = targets::cuda::make_cuda_builder(task, targets::cuda::build_options(), {});
    EXPECT_TRUE(builder) << builder.error().message;
    return builder ? std::move(*builder) : nullptr;
  }

  static void expect_trusted_files_build(CudaBuilder& builder, const model::Task& task) {
    for (const char* real : {"double", "float"}) {
      const auto built = builder.build_reference(real, {});
      ASSERT_TRUE(built) << built.error().message;
      for (const auto& kernel : (*built)->program.cubins.at(0).kernels)
        EXPECT_EQ(kernel.spill_bytes, 0) << kernel.kernel << " in " << real;
    }
    const auto baseline = builder.build(model::Kernel(task.baseline), {});
    ASSERT_TRUE(baseline) << baseline.error().message;
    EXPECT_TRUE((*baseline)->report.built) << (*baseline)->report.diagnostics;
  }
};

class CudaSuiteBuilds : public CudaBuilds, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Operators, CudaSuiteBuilds,
                         testing::Values("adamw", "add_rmsnorm_matmul", "bmm", "bmm_softmax", "gqa_full", "lora",
                                         "mamba", "matmul", "matmul_add_rmsnorm", "rmsnorm_matmul",
                                         "rope_single_freq_apply", "silu", "swiglu", "transpose_matmul"),
                         [](const auto& made) { return made.param; });

TEST_P(CudaSuiteBuilds, BaselineAndReference) {
  const auto task = suites::load_task(std::filesystem::path(ACCELOPT_SUITES) / "nkibench-cuda" / GetParam());
  ASSERT_TRUE(task) << task.error().message;
  const auto builder = builder_of(*task);
  ASSERT_NE(builder, nullptr);
  expect_trusted_files_build(*builder, *task);
}

TEST_F(CudaBuilds, TheExampleOfADocumentedTask) {
  const auto task = suites::load_task(ACCELOPT_CUDA_EXAMPLE);
  ASSERT_TRUE(task) << task.error().message;
  const auto builder = builder_of(*task);
  ASSERT_NE(builder, nullptr);
  expect_trusted_files_build(*builder, *task);
}

/// Whether the kernel is built without ACCELOPT_EVERY_KERNEL: `number` counts the kernels of its task. Those that only
/// the builder catches are.
bool taken(const SelftestKernel& kernel, std::size_t number) {
  constexpr std::size_t kEach = 6;
  const bool refused = kernel.expected.size() == 1 && kernel.expected.front() == "COMPILE_ERROR";
  return refused || number % kEach == 0 || std::getenv("ACCELOPT_EVERY_KERNEL") != nullptr;
}

/// Whether the self-test's header allows what the builder made of the kernel.
void expect_as_announced(const SelftestKernel& kernel, const model::BuildReport& report) {
  const auto announced = [&](std::string_view status) {
    return std::find(kernel.expected.begin(), kernel.expected.end(), status) != kernel.expected.end();
  };
  if (!report.built) {
    EXPECT_TRUE(kernel.attack && announced("COMPILE_ERROR")) << kernel.name << ": " << report.diagnostics;
    EXPECT_NE(report.diagnostics.find(kernel.reason), std::string::npos) << kernel.name << ": " << report.diagnostics;
    if (!kernel.hides.empty()) {
      EXPECT_EQ(report.diagnostics.find(kernel.hides), std::string::npos) << kernel.name;
    }
    return;
  }
  const bool nothing_else = kernel.expected.size() == 1 && announced("COMPILE_ERROR");
  EXPECT_FALSE(nothing_else) << kernel.name << " builds";
}

/// The kernel itself, or one for each choice that its `//@ tune` lines leave.
std::vector<model::Kernel> configurations_of(const model::Kernel& kernel, const model::Definition& definition) {
  const auto space = kernel.space(definition);
  if (!space || !space->open()) return {kernel};
  std::vector<model::Kernel> out;
  for (const model::TuningValues& values : space->configurations) out.push_back(*kernel.with_values(values));
  return out;
}

class CudaSelftestBuilds : public CudaBuilds, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tasks, CudaSelftestBuilds,
                         testing::Values("axpy", "histogram", "layernorm_bf16", "matmul", "matmul_bf16", "rowsum",
                                         "rowsum_by_warps", "softmax", "subnormal", "total"),
                         [](const auto& made) { return made.param; });

TEST_P(CudaSelftestBuilds, EveryKernelAsItsHeaderSays) {
  const auto suite = app::builtin_selftest("cuda");
  ASSERT_TRUE(suite) << suite.error().message;
  const model::Task& task = suite->tasks.at(GetParam());
  const auto builder = builder_of(task);
  ASSERT_NE(builder, nullptr);
  expect_trusted_files_build(*builder, task);
  std::vector<const SelftestKernel*> kernels;
  std::size_t number = 0;
  for (const SelftestKernel& kernel : suite->kernels) {
    if (kernel.task == GetParam() && taken(kernel, number++)) kernels.push_back(&kernel);
  }
  ASSERT_FALSE(kernels.empty());
  for (const SelftestKernel* kernel : kernels) {
    for (const model::Kernel& one : configurations_of(kernel->kernel, task.definition)) {
      const auto built = builder->build(one, {});
      ASSERT_TRUE(built) << kernel->name << ": " << built.error().message;
      expect_as_announced(*kernel, (*built)->report);
    }
  }
}

}  // namespace
}  // namespace accelopt::cli

// SPDX-License-Identifier: Apache-2.0
// A kernel's own host function beside the kernel as it is measured: here one in C++, over the fake driver.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "evaluation/local_evaluator.hpp"
#include "targets/cuda/fake_cuda.hpp"

namespace accelopt::targets::cuda {
namespace {

template <class Number>
std::vector<Number> numbers(const evaluation::Bytes& bytes) {
  std::vector<Number> out(bytes.size() / sizeof(Number));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

template <class Number>
std::string packed(const std::vector<Number>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)};
}

/// Squares as kSquares has them; `wrong` of the first results are off by a half.
class HostFunctionBuilder final : public FakeBuilder {
 public:
  HostFunctionBuilder(const model::Task& task, std::size_t wrong) : FakeBuilder(task), wrong_(wrong) {}

  base::Result<evaluation::HostCalls> call_host_function(const model::Kernel&, const model::AxisValues& axes,
                                                         const std::vector<evaluation::Bytes>& inputs,
                                                         std::stop_token) override {
    const auto x = numbers<float>(inputs.at(0));
    const auto g = numbers<float>(inputs.at(1));
    const float s = numbers<float>(inputs.at(2)).at(0);
    std::vector<float> y;
    std::vector<std::int32_t> n;
    for (std::size_t i = 0; i < static_cast<std::size_t>(axes.at("M")); ++i) {
      float sum = 0;
      n.push_back(0);
      for (std::size_t k = 0; k < g.size(); ++k) {
        sum += x[i * g.size() + k] * x[i * g.size() + k] * g[k];
        n.back() += x[i * g.size() + k] < 0;
      }
      y.push_back(sum + s + (i < wrong_ ? 0.5F : 0.0F));
    }
    return evaluation::HostCalls{{packed(y), packed(n)}, {30, 10, 20}, "C++"};
  }

 private:
  std::size_t wrong_;
};

/// The profile of the baseline, whose host function has so many wrong results; none: it has no such function.
model::Profile profile_of(std::optional<std::size_t> wrong, bool wanted = true) {
  CudaOptions options = fake_options();
  if (wrong)
    options.builders["cuda"] = [wrong](const model::Task& task, CudaBuildOptions,
                                       std::stop_token) -> base::Result<std::unique_ptr<CudaBuilder>> {
      return std::make_unique<HostFunctionBuilder>(task, *wrong);
    };
  const auto target = make_cuda_target(options);
  const auto evaluator = evaluation::make_local_evaluator(*target);
  evaluation::MeasureSettings settings = quick_settings();
  settings.host_run = wanted;
  const auto opened = evaluator->ask(evaluation::Open{squares_task(), settings}, {});
  EXPECT_TRUE(opened) << opened.error().message;
  auto profile = evaluator->ask(evaluation::Profile{model::Kernel(cuda_solution(kSquares))}, {});
  EXPECT_TRUE(profile) << profile.error().message;
  if (!profile) return {};
  std::erase_if(profile->notes, [](const std::string& note) {
    return note.find("host function") == std::string::npos && note.find("own function") == std::string::npos;
  });
  return *profile;
}

TEST(HostRun, TheSameBytesAreToldOfEveryWorkloadThatIsVerified) {
  const model::Profile profile = profile_of(0);
  EXPECT_EQ(profile.notes,
            (std::vector<std::string>{
                "rows_3000: the solution's own function computes the same bytes as the kernel that was measured",
                "rows_2333: the solution's own function computes the same bytes as the kernel that was measured"}));
  const auto time = std::find_if(profile.items.begin(), profile.items.end(),
                                 [](const model::ProfileItem& item) { return item.name == "rows_3000: host time"; });
  ASSERT_NE(time, profile.items.end());
  EXPECT_DOUBLE_EQ(time->value, 20);
  EXPECT_EQ(time->unit, "us");
}

TEST(HostRun, WhatDiffersIsCounted) {
  const model::Profile profile = profile_of(3);
  ASSERT_EQ(profile.notes.size(), 2);
  EXPECT_EQ(profile.notes[0],
            "rows_3000: the solution's own function differs from the kernel that was measured in 3 of 3000 elements of "
            "output y, by 0.5 at most");
}

TEST(HostRun, AKernelWithoutAHostFunctionSaysSo) {
  EXPECT_EQ(profile_of(std::nullopt).notes,
            std::vector<std::string>{"the host function was not called: kernels of this target have no host function"});
}

TEST(HostRun, NobodyIsCalledUnlessItIsAskedFor) {
  EXPECT_TRUE(profile_of(3, false).notes.empty());
}

}  // namespace
}  // namespace accelopt::targets::cuda

// SPDX-License-Identifier: Apache-2.0
#include "scaffold/openmp.hpp"

#include <gtest/gtest.h>

#include "scaffold/programs.hpp"
#include "scaffold/scaffold.hpp"

namespace accelopt::scaffold {
namespace {

constexpr const char* kParallel = "#pragma omp parallel for\nfor (;;) {}\n";
constexpr const char* kSerial = "for (;;) {}\n";

OpenMpAdvice advice_on(int threads, const std::string& baseline, const std::string& winner,
                       const std::vector<std::string>& flags) {
  model::Task task;
  task.definition.name = "f";
  task.cpu.threads = threads;
  task.baseline = {model::Language::cpp, {{"baseline.cpp", baseline}}};
  const UserBuild build = user_build_of(flags, "/", "a build");
  return openmp_advice(task, {model::Language::cpp, {{"kernel.cpp", winner}}}, &build);
}

TEST(OpenMpText, OnlyWhatStartsThreads_IsParallel) {
  for (const char* text :
       {kParallel, "# pragma omp \\\n  parallel for reduction(+ : sum)\n",
        "#pragma omp target teams distribute parallel for\n", "_Pragma(\"omp parallel for\") for (;;) {}",
        "#define EACH _Pragma(\"omp parallel for\")\n"}) {
    EXPECT_TRUE(has_omp_parallel(text)) << text;
  }
  for (const char* text :
       {"#pragma omp simd\n", "// #pragma omp parallel\n", "int parallel = 1;\n", "#pragma omp for\n"}) {
    EXPECT_FALSE(has_omp_parallel(text)) << text;
  }
}

TEST(OpenMpAdvice, APragmaThatTheBuildCompiles_MustNotBeLost) {
  const OpenMpAdvice lost = advice_on(1, kParallel, kSerial, {"-O2", "-fopenmp"});
  EXPECT_NE(lost.refusal.find("[cpu] threads"), std::string::npos) << lost.refusal;
  EXPECT_FALSE(lost.no_measuring.empty());
  const OpenMpAdvice kept = advice_on(1, kParallel, kParallel, {"-O2", "-fopenmp"});
  EXPECT_EQ(kept.refusal, "");
  EXPECT_FALSE(kept.no_measuring.empty());
  const OpenMpAdvice raced = advice_on(4, kParallel, kSerial, {"-O2", "-fopenmp"});
  EXPECT_EQ(raced.refusal + raced.warning + raced.no_measuring, "");
}

TEST(OpenMpAdvice, APragmaThatTheBuildIgnores_IsNone) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"-O2"}, {"-O2", "-fopenmp-simd"}, {"-fopenmp", "-fno-openmp"}}) {
    const OpenMpAdvice ignored = advice_on(1, kParallel, kSerial, flags);
    EXPECT_EQ(ignored.refusal + ignored.warning + ignored.no_measuring, "");
  }
  const OpenMpAdvice gained = advice_on(4, kSerial, kParallel, {"-O2"});
  EXPECT_NE(gained.warning.find("add it to your build"), std::string::npos) << gained.warning;
  EXPECT_FALSE(gained.no_measuring.empty());
}

TEST(Scaffold, OfOpenMp_TheThreadsAreAskedFor) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("twice.cpp",
                              "void twice(const float* x, float* y, int n) {\n#pragma omp parallel for\n"
                              "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n");
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "twice";
  options.stated = {{"x=n"}, {"y=n"}, {}, {"n=64"}, {}, {"x=normal(0, 1)"}};
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_EQ(report->open.size(), 1U);
  EXPECT_NE(report->open.front().find("cpu.threads"), std::string::npos) << report->open.front();
  ASSERT_FALSE(report->notes.empty());
  EXPECT_NE(report->notes.front().find("-fopenmp"), std::string::npos) << report->notes.front();
}

}  // namespace
}  // namespace accelopt::scaffold

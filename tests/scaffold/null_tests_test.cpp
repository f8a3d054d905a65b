// SPDX-License-Identifier: Apache-2.0
#include "scaffold/null_tests.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/programs.hpp"
#include "scaffold/scaffold.hpp"
#include "scaffold/winner_patch.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::scaffold {
namespace {

/// Which of x and bias `void f(const float* x, const float* bias, float* y, int n)` with this body tests.
std::string tested(const std::string& body, const std::string& before = "") {
  const auto clang = load_clang();
  if (!clang) return "libclang is not installed";
  const auto unit = read_unit(*clang, before + "\nvoid f(const float* x, const float* bias, float* y, int n) " + body,
                              model::Language::cpp);
  EXPECT_TRUE(unit.has_value() && unit->errors.empty()) << body;
  return base::joined(parameters_tested_for_null(*unit, *unit->find("f")), ",");
}

class NullTests : public testing::Test {
 protected:
  void SetUp() override {
    if (!load_clang()) GTEST_SKIP() << "libclang is not installed";
  }
};

TEST_F(NullTests, AreFoundInTheFunctionAndWhatItCalls) {
  for (const char* body :
       {"{ if (bias != nullptr) y[0] = bias[0]; }", "{ if (0 == bias) return; }", "{ y[0] = bias ? bias[0] : 0; }",
        "{ if (!bias || n < 1) return; }", "{ if (n > 0 && bias) y[0] = bias[0]; }", "{ while (bias) return; }",
        "{ const bool has = bias; y[0] = has; }", "{ const float* b = bias; if (b) y[0] = b[0]; }"})
    EXPECT_EQ(tested(body), "bias") << body;
  EXPECT_EQ(tested("{ y[0] = at(n, bias); }", "float at(int i, const float* b) { return b ? b[i] : 0; }"), "bias");
  EXPECT_EQ(tested("{ y[0] = AT(bias, n); }", "#define AT(b, i) ((b) ? (b)[i] : 0)"), "bias");
}

TEST_F(NullTests, AreNotWhatPointersAreReadAndPassedBy) {
  EXPECT_EQ(tested("{ for (int i = 0; i < n; ++i) y[i] = x[i] != 0 ? bias[i] : !x[i]; }"), "");
  EXPECT_EQ(tested("{ if (*bias == 0 || *x) y[0] = *bias ? 1 : 2; }"), "");
  EXPECT_EQ(tested("{ y[0] = at(n, bias) + at(x - bias, x); }", "float at(long i, const float* b) { return b[i]; }"),
            "");
  EXPECT_EQ(tested("{ y[0] = at(x, bias, n); }",
                   "float at(const float* a, const float* b, int i) "
                   "{ return i && a ? *a : *b; }"),
            "x");
}

constexpr const char* kAddBias =
    "void add_bias(const float* x, const float* bias, float* y, int n) {\n"
    "  for (int i = 0; i < n; ++i) y[i] = x[i] + (bias != 0 ? bias[i] : 0);\n}\n";

TEST_F(NullTests, LeaveCallersWithoutTheTensorToTheOldBody) {
  const auto clang = load_clang();
  for (const auto& [file, condition] :
       {std::pair("bias.c", " && bias != 0 && "), {"bias.cpp", " && bias != nullptr && "}}) {
    const Repository repository(file, kAddBias);
    ScaffoldOptions options;
    options.file = repository.file();
    options.function = "add_bias";
    options.stated.shapes = {"x=n", "bias=n"};
    options.stated.outputs = {"y=n"};
    options.stated.axes = {"n=64"};
    options.stated.inits = {"x=normal(0, 1)", "bias=normal(0, 1)"};
    options.folder = repository.path() / "task";
    const auto report = scaffold_task(*clang, options);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_NE(base::joined(report->notes, "\n").find("add_bias tests bias for null"), std::string::npos);
    const auto task = suites::load_task(options.folder);
    ASSERT_TRUE(task.has_value()) << task.error().message;
    const auto patch = make_winner_patch({{*task, task->baseline, options.folder, {}}});
    ASSERT_TRUE(patch.has_value()) << patch.error().message;
    EXPECT_NE(diff_of(*patch).find(condition), std::string::npos) << diff_of(*patch);
  }
}

}  // namespace
}  // namespace accelopt::scaffold

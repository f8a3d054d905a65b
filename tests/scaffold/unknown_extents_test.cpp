// SPDX-License-Identifier: Apache-2.0
#include "scaffold/unknown_extents.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/programs.hpp"
#include "scaffold/scaffold.hpp"
#include "scaffold/winner_patch.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::scaffold {
namespace {

/// What is unknown of f over n elements of y, and of t over the constant axes with these extents.
std::string unknown(const std::string& function, const std::vector<std::string>& shape,
                    const std::vector<std::int64_t>& extents) {
  const auto clang = load_clang();
  if (!clang) return "libclang is not installed";
  const auto unit = read_unit(*clang, function, model::Language::cpp);
  EXPECT_TRUE(unit.has_value() && unit->errors.empty()) << function;
  model::Task task;
  task.definition.axes = {{"n", std::nullopt}};
  std::size_t place = 0;
  for (const std::string& axis : shape) {
    if (axis != "n") task.definition.axes.push_back({axis, extents.at(place++)});
  }
  task.definition.inputs = {{"t", shape, model::DType::float32, {}, {}}};
  task.definition.outputs = {{"y", std::vector<std::string>{"n"}, model::DType::float32, {}, {}}};
  task.entry = model::Entry{"f.cpp", "f", {"t", "y", "int n"}};
  return base::joined(unknown_extents(task, *unit, *unit->find("f")), ",");
}

class UnknownExtents : public testing::Test {
 protected:
  void SetUp() override {
    if (!load_clang()) GTEST_SKIP() << "libclang is not installed";
  }
};

constexpr const char* kHead = "void f(const float* t, float* y, int n) { for (int i = 0; i < n; ++i) ";

TEST_F(UnknownExtents, AreThoseThatSizesAndDataDecide) {
  EXPECT_EQ(unknown(std::string(kHead) + "for (int j = 0; j < n; ++j) y[i] += t[i + j]; }", {"L"}, {127}), "L");
  EXPECT_EQ(unknown(std::string(kHead) + "y[i] = t[(int)y[i]]; }", {"L"}, {77}), "L");
  EXPECT_EQ(
      unknown("void g(const float* t, float* y); void f(const float* t, float* y, int n) { g(t, y + n); }", {"L"}, {9}),
      "L");
  EXPECT_EQ(unknown(std::string(kHead) + "for (int k = 0; k < 9; ++k) y[i] += t[k]; }", {"L"}, {12}), "L")
      << "the function never reads the last three";
}

TEST_F(UnknownExtents, AreNotThoseThatTheFunctionFixes) {
  EXPECT_EQ(unknown(std::string(kHead) + "for (int k = 0; k < 9; ++k) y[i] += t[k]; }", {"L"}, {9}), "");
  EXPECT_EQ(unknown(std::string(kHead) + "for (int k = 8; k < 9; ++k) y[i] += t[0] + t[1] * t[8 - k]; }", {"L"}, {2}),
            "");
  EXPECT_EQ(unknown(std::string(kHead) + "y[i] = t[3 * i] + t[3 * i + 1] - t[3 * i + 2]; }", {"n", "C"}, {3}), "");
  EXPECT_EQ(
      unknown(std::string("constexpr int K = 5; ") + kHead + "for (int k = 0; k < K; ++k) y[i] += t[i * K + k]; }",
              {"n", "K"}, {5}),
      "");
  EXPECT_EQ(unknown("void f(const float t[7], float* y, int n) { y[n - 1] = t[n]; }", {"L"}, {7}), "");
  EXPECT_EQ(unknown("void f(const float* t, float* y, int n) { y[n - 1] = t[n]; }", {"L"}, {1}), "") << "one is enough";
}

/// rnnoise's: y has len + max_pitch elements, which nothing in a call says.
constexpr const char* kCorrelation =
    "void correlate(const float *x, const float *y, float *out, int len, int max_pitch) {\n"
    "  for (int i = 0; i < max_pitch; i++) {\n    float sum = 0;\n"
    "    for (int j = 0; j < len; j++) sum += x[j] * y[i + j];\n    out[i] = sum;\n  }\n}\n";

ScaffoldOptions correlation(const Repository& repository) {
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "correlate";
  options.stated = {{"x=len", "y=ylen"},
                    {"out=max_pitch"},
                    {},
                    {"len=240", "max_pitch=200", "ylen=440"},
                    {},
                    {"x=normal(0, 1)", "y=normal(0, 1)"}};
  options.folder = repository.path() / "task";
  return options;
}

TEST_F(UnknownExtents, AllowTheWorkloadsOwnSizesAlone) {
  const auto clang = load_clang();
  const Repository repository("pitch.c", kCorrelation);
  const ScaffoldOptions options = correlation(repository);
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_EQ(report->notes.size(), 1U);
  EXPECT_NE(report->notes[0].find("nothing in a call of correlate says how long ylen is"), std::string::npos);
  const auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  for (const model::Workload& workload : task->workloads)
    EXPECT_LE(workload.axes.at("len") + workload.axes.at("max_pitch"), 440) << workload.name;
  const auto patch = make_winner_patch({{*task, task->baseline, options.folder, {}}});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  const std::string& after = patch->files.front().after;
  EXPECT_NE(after.find("(len == 240 && max_pitch == 200)"), std::string::npos) << after;
  EXPECT_EQ(after.find("len >="), std::string::npos) << after;
  ASSERT_EQ(patch->notes.size(), 1U);
  EXPECT_NE(patch->notes[0].find("exactly the sizes of the workloads"), std::string::npos) << patch->notes[0];
}

TEST_F(UnknownExtents, ThatFollowFromOthers_AreStatedAsExpressions) {
  const auto clang = load_clang();
  const Repository repository("pitch.c", kCorrelation);
  ScaffoldOptions options = correlation(repository);
  options.stated.shapes = {"x=len", "y=len + max_pitch"};
  options.stated.axes.pop_back();
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->notes.empty()) << report->notes.front();
  const auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message << repository.read("task/task.toml");
  EXPECT_EQ(task->entry->args.back(), "y_extent = len+max_pitch");
  EXPECT_EQ(task->workloads.size(), 5U);
  for (const model::Workload& workload : task->workloads)
    EXPECT_EQ(workload.axes.at("y_extent"), workload.axes.at("len") + workload.axes.at("max_pitch")) << workload.name;
  const auto patch = make_winner_patch({{*task, task->baseline, options.folder, {}}});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  const std::string& after = patch->files.front().after;
  EXPECT_NE(after.find("_kernel(x, y, out, len, max_pitch, ((int64_t)len+(int64_t)max_pitch));"), std::string::npos)
      << after;
  repository.write("src/pitch.c", after);
  const auto built = repository.run("gcc -Wall -Wextra -Werror -O1 -c src/pitch.c");
  EXPECT_EQ(built.first, 0) << built.second << after;
  std::string toml = repository.read("task/task.toml");
  toml.replace(toml.find("y_extent = 440"), 14, "y_extent = 441");
  repository.write("task/task.toml", toml);
  const auto refused = suites::load_task(options.folder);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("workload \"race\" has 441 in place of 440"), std::string::npos)
      << refused.error().message;
}

TEST_F(UnknownExtents, StatedAsExpressionsOfNothing_AreRefused) {
  const auto clang = load_clang();
  const Repository repository("pitch.c", kCorrelation);
  const auto refusal = [&](const std::string& shape) {
    ScaffoldOptions options = correlation(repository);
    options.stated.shapes = {"x=len", shape};
    options.stated.axes.pop_back();
    const auto report = scaffold_task(*clang, options);
    return report ? "taken" : report.error().message;
  };
  EXPECT_NE(refusal("y=len/max_pitch").find("no name for an axis"), std::string::npos);
  EXPECT_NE(refusal("y=len+").find("no name for an axis"), std::string::npos);
  EXPECT_NE(refusal("y=len+pad").find("add --axis pad=EXTENT"), std::string::npos);
  EXPECT_NE(refusal("y=len-300").find("is -60"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::scaffold

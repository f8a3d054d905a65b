// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "suites/nkibench/axis_names.hpp"
#include "suites/nkibench/benchmark.hpp"
#include "suites/nkibench/export.hpp"
#include "suites/nkibench/import.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::suites::nkibench {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr const char* kSummary = R"({
  "silu": {"seed": "./seeds/silu.yaml", "cases": {"2": {"values": {"M": 256, "N": 512},
    "impls": [{"task": "./reference/silu.py", "kernel": "./kernels/silu_0.py"}]}}},
  "unheard_of": {"cases": {"0": {"values": {"M": 4}, "impls": [{"task": "./reference/silu.py", "kernel": "./kernels/silu_0.py"}]}}}
})";
constexpr const char* kReference = R"(import numpy as np

def forward(x):
  return x / (1 + np.exp(-x))

def transform_to_nki_inputs(inputs):
    tensor_inputs = []
    tensor_inputs.append(np.reshape(inputs[0], (128, 2, 512)))  # input[0] -> tensor_input[0]

    return tensor_inputs

def transform_nki_outputs(k_res, ref):
    return k_res
)";

class NkiBench : public testing::Test {
 protected:
  NkiBench() : place_(*base::TemporaryFolder::create("nkibench")) {
    put("NKIBench/summary.json", kSummary);
    put("NKIBench/reference/silu.py", kReference);
    put("NKIBench/kernels/silu_0.py", "def kernel(v1): ...\n");
  }
  void put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(base::make_folders((checkout() / name).parent_path()));
    ASSERT_TRUE(base::write_file(checkout() / name, text));
  }
  [[nodiscard]] fs::path checkout() const { return place_.path() / "checkout"; }
  [[nodiscard]] fs::path output() const { return place_.path() / "tasks"; }
  [[nodiscard]] std::string refusal_of_silu() const {
    const auto report = import_benchmark(options());
    EXPECT_TRUE(report) << report.error().message;
    return report && !report->tasks.empty() ? report->tasks.front().refused : "no report";
  }
  [[nodiscard]] ImportOptions options() const {
    return {.checkout = checkout(), .operators = {"silu"}, .output = output(), .replaces = false, .target = "trainium"};
  }
  base::TemporaryFolder place_;
};

TEST_F(NkiBench, Case_BecomesATaskThatLoads) {
  EXPECT_EQ(refusal_of_silu(), "");
  const auto task = load_task(output() / "silu");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->definition.inputs.front().shape, (Names{"M0", "M1", "N"}));
  EXPECT_EQ(task->definition.outputs.front().shape, (Names{"M0", "M1", "N"}));
  EXPECT_EQ(model::variable_axes(task->definition), (Names{"M0", "M1"}));
  EXPECT_EQ(task->workloads.front().axes, (model::AxisValues{{"M0", 128}, {"M1", 2}}));
  EXPECT_EQ(task->baseline.sources.front().text, "def kernel(v1): ...\n");
  EXPECT_NE(task->reference.text.find("M = M0 * M1"), std::string::npos) << task->reference.text;
}

TEST_F(NkiBench, UnknownOperator_IsRefusedAlone) {
  ImportOptions all = options();
  all.operators.clear();
  const auto report = import_benchmark(all);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->tasks.size(), 2U);
  EXPECT_EQ(report->tasks[0].refused, "");
  EXPECT_NE(report->tasks[1].refused.find("not one of the fourteen"), std::string::npos);
  EXPECT_FALSE(fs::exists(output() / "unheard_of"));
}

TEST_F(NkiBench, OperatorThatIsNotThere_IsAnError) {
  ImportOptions other = options();
  other.operators = {"conv"};
  EXPECT_EQ(import_benchmark(other).error().code, base::ErrorCode::not_found);
  other.checkout = output();
  EXPECT_EQ(import_benchmark(other).error().code, base::ErrorCode::not_found);
}

TEST_F(NkiBench, FolderWithFiles_IsNotWrittenInto) {
  EXPECT_EQ(refusal_of_silu(), "");
  EXPECT_NE(refusal_of_silu().find("--force"), std::string::npos);
}

TEST_F(NkiBench, HostileCheckout_IsRefused) {
  put("NKIBench/summary.json",
      R"({"silu": {"cases": {"2": {"values": {"M": 4, "N": 4}, "impls": [{"task": "../../etc/passwd", "kernel": "k"}]}}}})");
  EXPECT_NE(refusal_of_silu().find("leaves"), std::string::npos);
  put("NKIBench/summary.json", R"({"silu": {"cases": {"2": {"values": {"M": -4}, "impls": []}}}, "x": 3})");
  ImportOptions all = options();
  all.operators.clear();
  const auto report = import_benchmark(all);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems.size(), 2U);
  put("NKIBench/summary.json", "[]");
  EXPECT_EQ(import_benchmark(all).error().code, base::ErrorCode::parse);
}

TEST_F(NkiBench, ReferenceThatDoesMoreThanReshape_IsRefused) {
  std::string text = kReference;
  text.replace(text.find("np.reshape(inputs[0]"), 20, "np.transpose(inputs[0]");
  put("NKIBench/reference/silu.py", text);
  EXPECT_NE(refusal_of_silu().find("np.reshape"), std::string::npos);
  text = kReference;
  text.replace(text.find("(128, 2, 512)"), 13, "(128, 3, 512)");
  put("NKIBench/reference/silu.py", text);
  EXPECT_NE(refusal_of_silu().find("reshapes an input"), std::string::npos);
}

TEST_F(NkiBench, Winner_IsListedOnceBesideTheBenchmarksOwn) {
  ASSERT_EQ(refusal_of_silu(), "");
  const ExportRequest request{.task_folder = output() / "silu",
                              .winner = {model::Language("nki"), {{"kernel.py", "def kernel(x): faster\n"}}},
                              .winner_id = "0123456789",
                              .output = checkout()};
  for (int twice = 0; twice < 2; ++twice) {
    const auto exported = export_winner(request);
    ASSERT_TRUE(exported) << exported.error().message;
    EXPECT_EQ(exported->kernel, checkout() / "NKIBench/kernels/silu_0_accelopt_012345.py");
    EXPECT_EQ(*base::read_file(exported->kernel), "def kernel(x): faster\n");
  }
  const auto summary = base::parse_json(*base::read_file(checkout() / "NKIBench/summary.json"), "summary");
  const base::Json& impls = summary->at("silu").at("cases").at("2").at("impls");
  ASSERT_EQ(impls.size(), 2U);
  EXPECT_EQ(impls[1].at("kernel"), "./kernels/silu_0_accelopt_012345.py");
  EXPECT_EQ(impls[1].at("task"), "./reference/silu.py");
  EXPECT_EQ(summary->at("silu").at("seed"), "./seeds/silu.yaml");
}

TEST_F(NkiBench, Export_MakesANewFolder) {
  ASSERT_EQ(refusal_of_silu(), "");
  const auto exported = export_winner({.task_folder = output() / "silu",
                                       .winner = {model::Language("nki"), {{"kernel.py", "text"}}},
                                       .winner_id = "abcdef",
                                       .output = place_.path() / "new"});
  ASSERT_TRUE(exported) << exported.error().message;
  const auto read = read_cases(place_.path() / "new");
  ASSERT_TRUE(read && read->cases.size() == 1);
  EXPECT_EQ(read->cases.front().values, (Values{{"M", 256}, {"N", 512}}));
}

TEST_F(NkiBench, TaskThatWasNotImported_CannotBeExported) {
  const auto exported =
      export_winner({.task_folder = checkout(), .winner = {}, .winner_id = "abcdef", .output = place_.path() / "new"});
  EXPECT_EQ(exported.error().code, base::ErrorCode::unsupported);
}

TEST(AxisNames, SplitAndJoinedAxes_HaveNames) {
  AxisNames axes({{'B', 1}, {'S', 4096}, {'H', 8}, {'D', 128}});
  EXPECT_EQ(axes.name("BSHD", {1, 8, 4, 128, 8, 128}), (Names{"one", "S0", "S1", "S2", "H", "D"}));
  EXPECT_EQ(axes.name("BSHD", {32, 128, 1024}), (Names{"Sb0", "Sb1", "HD"}));
  EXPECT_EQ(axes.parts('S'), Names());  // two ways
  EXPECT_EQ(axes.parts('H'), Names());  // once a part of another
  EXPECT_EQ(axes.shape_of("SD"), (Shape{8, 4, 128, 128}));
  EXPECT_FALSE(axes.name("BSHD", {4096, 8}));
  EXPECT_FALSE(axes.name("BSHD", {4097, 8, 128}));
}

}  // namespace
}  // namespace accelopt::suites::nkibench

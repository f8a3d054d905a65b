// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/export.hpp"

#include <algorithm>
#include <map>

#include "suites/flashinfer_trace/datasets.hpp"
#include "suites/flashinfer_trace/import.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

class Export : public DatasetTest {
 protected:
  /// "scale" imported with a Triton baseline that returns its results.
  model::Task imported_task() {
    put("definitions/scale.json", kScale);
    put("workloads/scale.jsonl", scale_workload("aaaaaaaa-1", "9") + scale_workload("bbbbbbbb-1", "3"));
    put("solutions/s.json",
        solution("base", "scale", "triton", "main.py::run", "main.py", R"(def run(x, a):\n  return x\n)"));
    EXPECT_TRUE(import_dataset({.dataset = root(), .output = output()}));
    auto task = load_task(output() / "scale");
    EXPECT_TRUE(task) << task.error().message;
    return task.value_or(model::Task{});
  }
  ExportRequest request_for(const model::Task& task) {
    ExportRequest request;
    request.task = task;
    request.task_folder = output() / "scale";
    request.winner = task.baseline;
    request.winner.sources[0].text = "def run(x, a):\n  return a * x  # faster\n";
    request.winner_id = "abcdef0123456789";
    request.timings = {{"aaaaaaaa", 250'000.0, 500'000.0, model::Interval{2.0, 1.9, 2.1}}, {"bbbbbbbb", 1'000.0}};
    request.device = "Some GPU";
    request.version = "0.1.0";
    request.timestamp = "2026-01-02T03:04:05";
    request.record = {{"type", "result"}};
    request.output = folder_->path() / "exported";
    return request;
  }
  [[nodiscard]] std::string exported(const std::string& name) const {
    const auto text = base::read_file(folder_->path() / "exported" / name);
    EXPECT_TRUE(text) << name;
    return text.value_or("");
  }
  void put_exported(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_->path() / "exported" / name;
    ASSERT_TRUE(base::make_folders(path.parent_path()));
    ASSERT_TRUE(base::write_file(path, text));
  }
  /// The files below the folder with their texts.
  static std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file())
        files[entry.path().lexically_relative(folder).string()] = base::read_file(entry.path()).value_or("");
    }
    return files;
  }
  static Entry read_scale(const std::filesystem::path& folder) {
    const auto dataset = read_dataset(folder, {});
    EXPECT_TRUE(dataset) << dataset.error().message;
    if (!dataset || !dataset->entries.contains("scale")) return {};
    EXPECT_TRUE(dataset->problems.empty()) << to_string(dataset->problems.front(), "");
    return dataset->entries.at("scale");
  }
};

constexpr const char* kOthersTrace =
    R"({"definition":"scale","solution":"base","workload":{"uuid":"aaaaaaaa-1"},"evaluation":{"status":"TIMEOUT"}})";

TEST_F(Export, Solution_HasTheFieldsThatSaySomething) {
  const ExportRequest request = request_for(imported_task());
  const auto report = export_winner(request);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->solution, "accelopt_triton_abcdef");
  const std::string file = request.winner.sources[0].name;
  const std::string expected = R"({
  "name": "accelopt_triton_abcdef",
  "definition": "scale",
  "author": "accelopt",
  "spec": {
    "language": "triton",
    "target_hardware": [
      "Some GPU"
    ],
    "entry_point": ")" + file + R"(::run",
    "destination_passing_style": false
  },
  "sources": [
    {
      "path": ")" + file + R"(",
      "content": "def run(x, a):\n  return a * x  # faster\n"
    }
  ]
})";
  EXPECT_EQ(exported("solutions/accelopt/elementwise/scale/accelopt_triton_abcdef.json"), expected);
  EXPECT_EQ(exported("accelopt/accelopt_triton_abcdef.json"), "{\n  \"type\": \"result\"\n}\n");
}

TEST_F(Export, Traces_HaveAllFields) {
  ASSERT_TRUE(export_winner(request_for(imported_task())));
  const std::string lines = exported("traces/accelopt/elementwise/scale.jsonl");
  const std::string expected =
      R"x({"definition":"scale","workload":{"axes":{"Z":9},"inputs":{"x":{"type":"random"},"a":{"type":"scalar","value":0.5}},)x"
      R"x("uuid":"aaaaaaaa-1"},"solution":"accelopt_triton_abcdef","evaluation":{"status":"PASSED",)x"
      R"x("environment":{"hardware":"Some GPU","libs":{"accelopt":"0.1.0"}},"timestamp":"2026-01-02T03:04:05","log":"",)x"
      R"x("correctness":{"max_relative_error":"NaN","max_absolute_error":"NaN","extra":{"evaluator":"accelopt 0.1.0",)x"
      R"x("inputs":{"x":"normal(0, 1)","a":"constant(0.5)"},)x"
      R"x("speedup_over_baseline":{"estimate":2.0,"low":1.9,"high":2.1}}},)x"
      R"x("performance":{"latency_ms":0.25,"reference_latency_ms":0.0,"speedup_factor":0.0}}})x";
  EXPECT_EQ(lines.substr(0, lines.find('\n')), expected);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  const std::string baseline = exported("traces/somebody/elementwise/scale.jsonl");
  EXPECT_EQ(std::count(baseline.begin(), baseline.end(), '\n'), 1)
      << "of one workload the baseline's time is not known";
  EXPECT_NE(baseline.find("\"latency_ms\":0.5"), std::string::npos);
}

TEST_F(Export, Dataset_ReadsBackAndOthersStay) {
  const ExportRequest request = request_for(imported_task());
  ASSERT_TRUE(export_winner(request));
  const std::filesystem::path traces = request.output / "traces/accelopt/elementwise/scale.jsonl";
  const std::string other =
      R"({"definition":"scale","solution":"other","workload":{"uuid":"u"},"evaluation":{"status":"TIMEOUT"}})";
  ASSERT_TRUE(base::write_file(traces, exported("traces/accelopt/elementwise/scale.jsonl") + other));
  ASSERT_TRUE(export_winner(request)) << "again";
  const auto dataset = read_dataset(request.output, {});
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_TRUE(dataset->problems.empty()) << to_string(dataset->problems.front(), "");
  const Entry& scale = dataset->entries.at("scale");
  EXPECT_EQ(scale.workloads.size(), 2U);
  EXPECT_EQ(scale.solutions.size(), 2U);
  EXPECT_EQ(scale.traces.size(), 4U) << "two of the winner, one of the baseline, one of somebody else";
}

TEST_F(Export, DatasetOfAnotherLayout_IsOnlyAddedTo) {
  ExportRequest request = request_for(imported_task());
  request.output = root();
  put("workloads/scale.jsonl", scale_workload("aaaaaaaa-1", "9") + scale_workload("bbbbbbbb-1", "3") +
                                   scale_workload("cccccccc-1", "5"));  // one that the task does not have
  put("traces/somebody/elementwise/scale.jsonl", std::string(kOthersTrace) + "\n");
  const auto before = files_of(root());
  const auto report = export_winner(request);
  ASSERT_TRUE(report) << report.error().message;
  auto after = files_of(root());
  std::string& traces = after["traces/somebody/elementwise/scale.jsonl"];
  EXPECT_TRUE(traces.starts_with(std::string(kOthersTrace) + "\n")) << traces;
  EXPECT_EQ(std::count(traces.begin(), traces.end(), '\n'), 2) << "our time of the baseline comes after it";
  for (const char* name : {"definitions/scale.json", "workloads/scale.jsonl", "solutions/s.json"})
    EXPECT_EQ(after[name], before.at(name)) << name;
  EXPECT_EQ(after.size(), before.size() + 3) << "the winner, its traces and its record";
  const Entry scale = read_scale(root());
  EXPECT_EQ(scale.workloads.size(), 3U);
  EXPECT_EQ(scale.solutions.size(), 2U);
  EXPECT_EQ(scale.traces.size(), 4U);
  ASSERT_TRUE(export_winner(request)) << "again";
  EXPECT_EQ(files_of(root()), after);
}

TEST_F(Export, MissingWorkloads_AreAppended) {
  ExportRequest request = request_for(imported_task());
  request.output = root();
  put("workloads/scale.jsonl", scale_workload("aaaaaaaa-1", "9"));
  std::string own = scale_workload("cccccccc-1", "5");
  own.pop_back();  // the line's end
  put("workloads/elementwise/scale.jsonl", own);
  ASSERT_TRUE(export_winner(request));
  const std::string text = files_of(root())["workloads/elementwise/scale.jsonl"];
  EXPECT_TRUE(text.starts_with(own + "\n{")) << text;
  EXPECT_NE(text.find("bbbbbbbb-1"), std::string::npos);
  EXPECT_EQ(text.find("aaaaaaaa-1"), std::string::npos);
  EXPECT_EQ(read_scale(root()).workloads.size(), 3U);
}

TEST_F(Export, RefusedFiles_AreNotWrittenAgain) {
  ExportRequest request = request_for(imported_task());
  request.output = root();
  put("definitions/scale.json", replaced(kScale, "\"reference\"", "\"ref\""));
  put("workloads/scale.jsonl",
      replaced(scale_workload("aaaaaaaa-1", "9"), "\"axes\"", "\"axis\"") + scale_workload("bbbbbbbb-1", "3"));
  ASSERT_TRUE(export_winner(request));
  EXPECT_FALSE(std::filesystem::exists(root() / "definitions/elementwise"));
  EXPECT_FALSE(std::filesystem::exists(root() / "workloads/elementwise"));
}

TEST_F(Export, AnotherSolutionOfTheBaselinesName_Stays) {
  ExportRequest request = request_for(imported_task());
  request.output = root();
  const std::string other =
      solution("base", "scale", "triton", "main.py::run", "main.py", R"(def run(x, a):\n  return a * x\n)");
  put("solutions/s.json", other);
  const auto report = export_winner(request);
  ASSERT_TRUE(report) << report.error().message;
  const auto files = files_of(root());
  EXPECT_EQ(files.at("solutions/s.json"), other);
  EXPECT_FALSE(files.contains("traces/somebody/elementwise/scale.jsonl")) << "the times are of other code";
  EXPECT_TRUE(std::any_of(report->notes.begin(), report->notes.end(), [](const std::string& note) {
    return note.find("\"base\" is not the baseline that was timed") != std::string::npos;
  }));
}

TEST_F(Export, WinnerInAnotherFile_IsKeptOrRefused) {
  ExportRequest request = request_for(imported_task());
  request.output = root();
  ASSERT_TRUE(export_winner(request));
  const std::filesystem::path own = root() / "solutions/accelopt/elementwise/scale/accelopt_triton_abcdef.json";
  const std::filesystem::path moved = root() / "solutions/winner.json";
  std::filesystem::rename(own, moved);
  ASSERT_TRUE(export_winner(request));
  EXPECT_FALSE(std::filesystem::exists(own));
  EXPECT_EQ(read_scale(root()).solutions.size(), 2U);
  ASSERT_TRUE(base::write_file(moved, replaced(base::read_file(moved).value(), "faster", "edited")));
  const auto before = files_of(root());
  const auto refused = export_winner(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::already_exists);
  EXPECT_EQ(files_of(root()), before);
}

TEST_F(Export, ProblemFolders_GetTheWinnerBesideTheirOwn) {
  const ExportRequest request = request_for(imported_task());
  put_exported("level1/scale/definition.json", kScale);
  put_exported("level1/scale/workload.jsonl", scale_workload("aaaaaaaa-1", "9"));
  put_exported("level1/scale/solution_base.json",
               solution("base", "scale", "triton", "main.py::run", "main.py", R"(def run(x, a):\n  return x\n)"));
  ASSERT_TRUE(export_winner(request));
  EXPECT_FALSE(std::filesystem::exists(request.output / "definitions"));
  EXPECT_TRUE(exported("level1/scale/workload.jsonl").starts_with(scale_workload("aaaaaaaa-1", "9") + "{"));
  const Entry scale = read_scale(request.output);
  EXPECT_EQ(scale.workloads.size(), 2U);
  EXPECT_EQ(scale.solutions.size(), 2U);
}

TEST_F(Export, ProblemFoldersWithoutTheDefinition_AreRefused) {
  const ExportRequest request = request_for(imported_task());
  put_exported("other/definition.json", replaced(kScale, "\"scale\"", "\"other\""));
  const auto before = files_of(request.output);
  const auto report = export_winner(request);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, base::ErrorCode::unsupported);
  EXPECT_EQ(files_of(request.output), before);
}

TEST_F(Export, LinkInPlaceOfAFolder_IsRefused) {
  const ExportRequest request = request_for(imported_task());
  ASSERT_TRUE(base::make_folders(request.output));
  std::filesystem::create_directory_symlink(root() / "definitions", request.output / "definitions");
  const auto report = export_winner(request);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("is no folder"), std::string::npos) << report.error().message;
  EXPECT_EQ(files_of(root() / "definitions").size(), 1U);
}

TEST_F(Export, TasksOfTheirOwn_AreExportedWithoutDefinition) {
  ExportRequest request = request_for(imported_task());
  request.task_folder = folder_->path();
  request.task.target = "cpu";
  request.winner = {model::Language::cpp, {{"kernel.cpp", "void kernel();\n"}}};
  const auto report = export_winner(request);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->solution, "accelopt_cpp_abcdef");
  EXPECT_FALSE(std::filesystem::exists(request.output / "definitions"));
  EXPECT_NE(exported("solutions/accelopt/elementwise/scale/accelopt_cpp_abcdef.json")
                .find("\"entry_point\": \"kernel.cpp::kernel\""),
            std::string::npos);
  const std::string lines = exported("traces/accelopt/elementwise/scale.jsonl");
  EXPECT_NE(lines.find(R"("a":{"type":"scalar","value":0.5})"), std::string::npos) << lines;
  request.author = "../x";
  EXPECT_EQ(export_winner(request).error().code, base::ErrorCode::unsupported);
}

TEST_F(Export, DamagedOrigin_IsRefused) {
  ExportRequest request = request_for(imported_task());
  const std::filesystem::path origin = request.task_folder / kOriginFile;
  const std::string text = base::read_file(origin).value();
  for (const auto& [from, to, message] : {std::tuple{"\"schema\": 1", "\"schema\": 2", "schema 2 is newer"},
                                          {"\"uuid\"", "\"uid\"", "uuid is missing"},
                                          {"\"reference\"", "\"ref\"", "reference is missing"},
                                          {"{", "{{", "no JSON"}}) {
    ASSERT_TRUE(base::write_file(origin, replaced(text, from, to)));
    const auto report = export_winner(request);
    ASSERT_FALSE(report) << message;
    EXPECT_NE(report.error().message.find(message), std::string::npos) << report.error().message;
    EXPECT_NE(report.error().message.find(kOriginFile), std::string::npos);
  }
}

}  // namespace
}  // namespace accelopt::suites::flashinfer_trace

// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/dataset.hpp"

#include <unistd.h>

#include "suites/flashinfer_trace/datasets.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

class DatasetReading : public DatasetTest {
 protected:
  Dataset read(const std::vector<std::string>& names = {}) {
    auto dataset = read_dataset(root(), names);
    EXPECT_TRUE(dataset) << dataset.error().message;
    return dataset ? std::move(*dataset) : Dataset{};
  }
  /// The one problem that the dataset has; "scale" is read in spite of it.
  std::string only_problem() {
    put("definitions/a/scale.json", kScale);
    const Dataset dataset = read();
    EXPECT_TRUE(dataset.entries.contains("scale")) << "one bad file stops nothing else";
    EXPECT_EQ(dataset.problems.size(), 1U);
    return dataset.problems.empty() ? "" : to_string(dataset.problems.front(), "");
  }
  void expect_problem(const std::string& file, const std::string& text, const std::string& message) {
    SCOPED_TRACE(message);
    put(file, text);
    const std::string problem = only_problem();
    EXPECT_NE(problem.find(file), std::string::npos) << problem;
    EXPECT_NE(problem.find(message), std::string::npos) << problem;
    std::filesystem::remove(root() / file);
  }
};

TEST_F(DatasetReading, EveryLayout_IsRead) {
  put("definitions/elementwise/scale.json", kScale);
  put("workloads/elementwise/scale.jsonl", "\n" + scale_workload("u1", "3") + "\n" + scale_workload("u2", "\"5\""));
  put("workloads/single.json", scale_workload("u3", "7.0"));
  put("solutions/old/scale/one.json",
      solution("one", "scale", "triton", "main.py::run", "main.py", "def run(x, a): return x"));
  put("solutions/author/elementwise/scale/two.json",
      solution("two", "scale", "cuda", "k.cu::run", "k.cu", "void run();"));
  put("traces/author/elementwise/scale.jsonl",
      R"({"definition": "scale", "solution": "one", "workload": {"uuid": "u1", "axes": {"Z": 3}, "inputs": {}}, "evaluation":)"
      R"( {"status": "PASSED", "correctness": {"max_relative_error": "Infinity"}, "performance": {"latency_ms": "0.25"}}})");
  const Dataset dataset = read();
  EXPECT_TRUE(dataset.problems.empty()) << to_string(dataset.problems.front(), "");
  const Entry& scale = dataset.entries.at("scale");
  ASSERT_EQ(scale.workloads.size(), 3U);
  EXPECT_EQ(scale.workloads[1].axes.at("Z"), 5) << "a number as a string";
  EXPECT_EQ(scale.workloads[2].uuid, "u3") << "one workload as a file of its own";
  EXPECT_EQ(scale.definition.axes[1].value, 8);
  EXPECT_FALSE(scale.definition.inputs[1].shape);
  ASSERT_EQ(scale.solutions.size(), 2U) << "with and without a folder for authors";
  EXPECT_FALSE(scale.solutions[0].destination_passing);
  ASSERT_EQ(scale.traces.size(), 1U);
  EXPECT_EQ(scale.traces[0].latency_ms, 0.25);
}

TEST_F(DatasetReading, SolExecBench_IsReadByProblem) {
  const std::string without_reference =
      replaced(replaced(kScale, R"("reference": "import torch\n\ndef run(x, a):\n    return a * x\n",)", ""),
               R"("N": {"type": "const", "value": "8"})",
               R"("N": {"type": "const", "value": 8}, "M": {"type": "expr", "expression": "Z * N"})");
  const std::string bare =
      R"({"uuid": "u1", "axes": {"Z": 3}, "inputs": {"x": {"type": "custom"}}, "tolerance": {"max_atol": 1}})";
  for (const char* folder : {"L1/first", "L1/second"}) {
    put(std::string(folder) + "/definition.json", without_reference);
    put(std::string(folder) + "/reference.py", "def run(x, a):\n    return a * x\n");
    put(std::string(folder) + "/workload.jsonl", bare);
    std::string text = solution("mine", "other name", "pytorch", "k.py::run", "k.py", "def run(x, a): return x");
    text = replaced(text, R"("language": "pytorch")", R"("languages": ["pytorch"])");
    put(std::string(folder) + "/solution_python.json", replaced(text, "mine", folder[3] == 'f' ? "first" : "second"));
  }
  const Dataset dataset = read();
  EXPECT_TRUE(dataset.problems.empty()) << to_string(dataset.problems.front(), "");
  const Entry& scale = dataset.entries.at("scale");
  EXPECT_EQ(scale.workloads.size(), 1U) << "the same problem in two folders is one";
  EXPECT_EQ(scale.workloads[0].inputs.at("x").source, InputSource::custom);
  ASSERT_EQ(scale.solutions.size(), 2U);
  EXPECT_EQ(scale.solutions[0].language, "python");
  EXPECT_EQ(scale.definition.axes[2].expression, "Z * N");
}

TEST_F(DatasetReading, BadDefinitions_AreRefusedByName) {
  const std::string other = replaced(kScale, R"("name": "scale")", R"("name": "other")");
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& message) {
    expect_problem("definitions/other.json", replaced(other, from, to), message);
  };
  refused("\"axes\"", "\"axis\"", "axes is missing");
  refused("\"8\"", "-8", "axes.N.value must be a whole number, 0 or more");
  refused("\"8\"", "99999999999999999999", "axes.N.value must be a whole number");
  refused(R"(["Z", "N"])", R"(["Z", "Q"])", "inputs.x.shape names \"Q\", which is no axis");
  refused(R"("y": {)", R"("x": {)", "outputs.x is an input too");
  refused("def run(x, a)", "def walk(x, a)", "reference has no function run");
  refused("def run(x, a)", "    def run(x, a)", "reference has no function run");
  refused(R"(["Z >= 1", "x.shape[1] == N"])", R"("Z")", "constraints must be a list");
  expect_problem("definitions/other.json", "{\"name\": \"other\"", "no JSON that can be read");
  expect_problem("definitions/other.json", "[]", "must be an object");
  expect_problem("definitions/other.json", std::string(100'000, '['), "nested too deeply");
  std::string wide = "{";
  for (int i = 0; i < 5000; ++i) wide += "\"k" + std::to_string(i) + "\": 0, ";
  expect_problem("definitions/other.json", wide + "\"z\": 0}", "too many keys");
}

TEST_F(DatasetReading, SecondDefinitionOfAName_KeepsNeither) {
  put("definitions/a.json", kScale);
  put("definitions/b.json", kScale);
  put("definitions/c.json", kPaged);
  const Dataset dataset = read();
  EXPECT_FALSE(dataset.entries.contains("scale"));
  EXPECT_TRUE(dataset.entries.contains("paged"));
  ASSERT_EQ(dataset.problems.size(), 1U);
  EXPECT_EQ(dataset.problems[0].key, "scale");
  EXPECT_NE(dataset.problems[0].message.find("is a second definition of this name, after"), std::string::npos);
}

TEST_F(DatasetReading, BadWorkloadsAndTraces_AreRefusedByLine) {
  const auto refused = [&](const std::string& line, const std::string& message) {
    expect_problem("workloads/scale.jsonl", scale_workload("good", "3") + line, "scale.jsonl:2: scale: " + message);
  };
  refused(scale_workload("good", "4"), "has the uuid of a workload before it");
  refused(scale_workload("u", "-1"), "axes.Z must be a whole number, 0 or more");
  refused(scale_workload("u", "3", "\"NaN\""), "inputs.a.value is not finite");
  refused(scale_workload("u", "3", "\"-Infinity\""), "inputs.a.value is not finite");
  refused(scale_workload("u", "3", "[1]"), "inputs.a.value must be a number");
  refused(replaced(scale_workload("u", "3"), "random", "magic"),
          "inputs.x.type must be random, scalar, safetensors or custom");
  refused(replaced(scale_workload("u", "3"), R"("solution": null)", R"("solution": "s")"),
          "has a solution; that belongs into traces/");
  refused("nonsense\n", "no JSON that can be read");
  const std::string trace =
      R"({"definition": "scale", "solution": "s", "workload": {"uuid": "u"}, "evaluation": {"status": "PASSED"}})";
  expect_problem("traces/t.jsonl", trace, "evaluation.performance is missing");
  expect_problem("traces/t.jsonl", replaced(trace, R"("solution": "s", )", ""), "solution is missing");
}

TEST_F(DatasetReading, BadSolutions_AreRefusedByName) {
  const std::string good = solution("s", "scale", "triton", "main.py::run", "main.py", "def run(): pass");
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& message) {
    expect_problem("solutions/s.json", replaced(good, from, to), message);
  };
  refused(R"("path": "main.py")", R"("path": "../main.py")", "sources.path leaves the solution's folder");
  refused(R"("path": "main.py")", R"("path": "/etc/main.py")", "sources.path leaves the solution's folder");
  refused(R"("path": "main.py")", R"("path": "a\nb")", "sources.path is no name of a file");
  refused("main.py::run", "other.py::run", "names a file that is none of the sources");
  refused("main.py::run", "main.py", "spec.entry_point must be FILE::FUNCTION");
  refused("main.py::run", "main.py::a::b", "spec.entry_point must be FILE::FUNCTION");
  refused(R"("sources": [)", R"("sources": [{"path": "main.py", "content": "x"}, )", "sources.path is there twice");
  refused(R"("sources": [)", R"("sources": [{"path": "main.py/x", "content": "x"}, )", "sources has a file in a file");
  refused(R"("definition": "scale")", R"("definition": "gone")", "gone: speaks of a definition that is not there");
}

TEST_F(DatasetReading, LinksAndStrangeFiles_AreRefused) {
  ASSERT_TRUE(base::make_folders(root() / "definitions"));
  std::filesystem::create_symlink("/etc/passwd", root() / "definitions" / "link.json");
  EXPECT_NE(only_problem().find("link.json: is a symbolic link"), std::string::npos);
  std::filesystem::remove(root() / "definitions" / "link.json");
  ASSERT_EQ(::mkfifo((root() / "definitions" / "pipe.json").c_str(), 0600), 0);
  EXPECT_NE(only_problem().find("pipe.json: is no regular file"), std::string::npos);
  std::filesystem::remove(root() / "definitions" / "pipe.json");
  std::filesystem::path deep = root() / "definitions";
  for (int i = 0; i < 20; ++i) deep /= "d";
  ASSERT_TRUE(base::make_folders(deep));
  EXPECT_NE(only_problem().find("is nested too deeply"), std::string::npos);
}

TEST_F(DatasetReading, OnlyWhatWasAskedFor_IsRead) {
  put("definitions/scale.json", kScale);
  put("definitions/paged.json", kPaged);
  put("workloads/paged.jsonl", "nonsense");
  const Dataset dataset = read({"scale"});
  EXPECT_EQ(dataset.entries.size(), 1U);
  EXPECT_EQ(read_dataset(root(), {"scales"}).error().code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(read_dataset(root() / "none", {}).error().code, base::ErrorCode::not_found);
  put("definitions/paged.json", "{");
  put("definitions/scale.json", "{");
  EXPECT_EQ(read().problems.size(), 3U) << "a dataset with nothing but mistakes is one";
  ASSERT_TRUE(base::make_folders(output()));
  const auto empty = read_dataset(output(), {});
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("no dataset; it needs definitions/"), std::string::npos);
}

TEST_F(DatasetReading, PathsOfTensors_StayInTheDataset) {
  put("blob/a.safetensors", "x");
  std::filesystem::create_directory_symlink("/etc", root() / "blob" / "etc");
  EXPECT_TRUE(file_in(root(), "./blob/a.safetensors"));
  EXPECT_EQ(file_in(root(), "blob/b.safetensors").error().code, base::ErrorCode::not_found);
  for (const char* path : {"/etc/passwd", "../x", "blob/../../x", "blob/etc/passwd"})
    EXPECT_EQ(file_in(root(), path).error().code, base::ErrorCode::permission_denied) << path;
}

}  // namespace
}  // namespace accelopt::suites::flashinfer_trace

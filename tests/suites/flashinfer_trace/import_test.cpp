// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/import.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "suites/flashinfer_trace/datasets.hpp"
#include "suites/lint.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

using base::Problem;
using base::Severity;

const std::string kKernel =
    R"(#include \"task.h\"\nextern \"C\" void kernel(const float* x, float a, float* y, int64_t Z) {\n}\n)";

class Import : public DatasetTest {
 protected:
  ImportReport import(ImportOptions options = {}) {
    options.dataset = root();
    options.output = output();
    options.replaces = true;
    auto report = import_dataset(options);
    EXPECT_TRUE(report) << report.error().message;
    return report ? std::move(*report) : ImportReport{};
  }
  ImportedTask imported(ImportOptions options = {}) {
    const ImportReport report = import(std::move(options));
    EXPECT_EQ(report.tasks.size(), 1U);
    return report.tasks.empty() ? ImportedTask{} : report.tasks.front();
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    const auto text = base::read_file(output() / name);
    EXPECT_TRUE(text) << name;
    return text.value_or("");
  }
  static bool has(const std::vector<std::string>& texts, const std::string& part) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text.find(part) != std::string::npos; });
  }
};

TEST_F(Import, Definition_BecomesATaskThatLoads) {
  put("definitions/scale.json", kScale);
  put("workloads/scale.jsonl", scale_workload("aaaaaaaa-1", "9") + scale_workload("bbbbbbbb-1", "3") +
                                   scale_workload("cccccccc-1", "5", "\"0.25\""));
  put("solutions/kernel.json", solution("kernel", "scale", "cpp", "kernel.cpp::kernel", "kernel.cpp", kKernel));
  const ImportedTask task = imported();
  EXPECT_EQ(task.refused, "");
  EXPECT_TRUE(task.lost.empty());
  EXPECT_EQ(task.workloads, 3U);
  EXPECT_TRUE(has(task.open, "reference.cpp"));
  EXPECT_EQ(file("scale/reference.py"), "import torch\n\ndef run(x, a):\n    return a * x\n");
  EXPECT_NE(file("scale/reference.cpp").find("void reference(const real* x,\n"), std::string::npos);
  EXPECT_NE(file("scale/solutions/kernel/kernel.cpp").find("void kernel"), std::string::npos);
  const auto loaded = load_task(output() / "scale");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->target, "cpu");
  EXPECT_EQ(loaded->definition.description, "y = a * x");
  EXPECT_EQ(to_string(loaded->definition.inputs[1].init), "constant(0.5)");
  ASSERT_EQ(loaded->workloads.size(), 3U);
  EXPECT_EQ(loaded->workloads[0].name, "aaaaaaaa") << "the largest is timed";
  EXPECT_EQ(loaded->workloads[0].role, model::Role::race);
  EXPECT_EQ(loaded->workloads[1].role, model::Role::held_out);
  EXPECT_EQ(to_string(loaded->workloads[1].inits.at("a")), "constant(0.25)");
  EXPECT_EQ(loaded->workloads[2].role, model::Role::check);
  const std::vector<Problem> problems = lint_task(*loaded, {.folder = output() / "scale"});
  const auto open = std::find_if(problems.begin(), problems.end(),
                                 [](const Problem& one) { return one.severity == Severity::error; });
  ASSERT_NE(open, problems.end()) << "what is to be written is an error until it is";
  EXPECT_NE(open->message.find("is not complete: #error"), std::string::npos);
}

TEST_F(Import, WithoutSolutionAndWorkload_SaysWhatToWrite) {
  put("definitions/scale.json", kScale);
  const ImportedTask task = imported();
  EXPECT_TRUE(has(task.open, "task.toml: the dataset has no workload"));
  EXPECT_TRUE(has(task.open, "baseline.cu: the kernel to beat"));
  EXPECT_TRUE(has(task.notes, "a: the dataset has no value for this scalar"));
  const auto problems = task_problems(output() / "scale");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].key, "workloads[0].axes.Z");
  EXPECT_NE(problems[0].message.find("left open"), std::string::npos);
}

TEST_F(Import, Tensors_AreListedWhereTheirFileIsThere) {
  put("definitions/paged.json", kPaged);
  put("blob/t.safetensors",
      int32_tensors({{"kv_indptr", {0, 2, 5}}, {"kv_indices", {7, 1, 3, 2, 0}}, {"kv_last_page_len", {16, 4}}}));
  const std::string axes = R"({"len_indptr": 3, "num_kv_indices": 5, "num_pages": 9, "batch": 2})";
  put("workloads/paged.jsonl", paged_workload("w1", axes, "./blob/t.safetensors"));
  const ImportedTask task = imported();
  EXPECT_TRUE(task.lost.empty());
  EXPECT_TRUE(has(task.notes, "constraint \"max(batch, 2) > 1\" is not checked"));
  const std::string toml = file("paged/task.toml");
  EXPECT_NE(toml.find(R"x(init = "values(0, 2, 5)")x"), std::string::npos) << toml;
  EXPECT_NE(toml.find(R"x(init = "values(7, 1, 3, 2, 0)")x"), std::string::npos);
  EXPECT_NE(toml.find(R"x(init = "values(16, 4)")x"), std::string::npos);
}

TEST_F(Import, MissingTensors_AreDrawnWithTheirStructure) {
  put("definitions/paged.json", kPaged);
  const std::string axes = R"({"len_indptr": 3, "num_kv_indices": 5, "num_pages": 9, "batch": 2})";
  const std::string more = R"({"len_indptr": 3, "num_kv_indices": 50, "num_pages": 9, "batch": 2})";
  put("blob/lfs.safetensors", "version https://git-lfs.example/spec/v1\n");
  put("workloads/paged.jsonl",
      paged_workload("w1", axes, "blob/none.safetensors") + paged_workload("w2", more, "blob/lfs.safetensors"));
  const ImportedTask task = imported();
  EXPECT_EQ(task.workloads, 2U);
  EXPECT_TRUE(has(task.notes, "kv_indptr: its file is not in the dataset; drawn as indptr(num_kv_indices)"));
  EXPECT_TRUE(has(task.notes, "kv_indices: its file is a Git LFS pointer"));
  const std::string toml = file("paged/task.toml");
  EXPECT_NE(toml.find(R"(distinct(0, num_pages))"), std::string::npos) << toml;
  EXPECT_NE(toml.find(R"x(inputs = { kv_indices = "integers(0, num_pages)" })x"), std::string::npos)
      << "more ids than pages cannot be distinct";
  EXPECT_NE(toml.find(R"x(init = "integers(1, page_size + 1)")x"), std::string::npos);
}

TEST_F(Import, WorkloadsThatNoTaskCanHave_AreLostByName) {
  put("definitions/paged.json", kPaged);
  put("blob/t.safetensors",
      int32_tensors({{"kv_indptr", {0, 2, 5}}, {"kv_indices", {7, 1, 3, 2, 0}}, {"kv_last_page_len", {16, 4}}}));
  put("blob/bad.safetensors", "nonsense");
  put("blob/float.safetensors", replaced(int32_tensors({{"kv_indptr", {0, 2, 5}}}), "I32", "F32"));
  std::filesystem::create_symlink("/etc/hostname", root() / "blob" / "link.safetensors");
  const auto axes = [](const char* length, const char* indices, const char* pages) {
    return R"({"len_indptr": )" + std::string(length) + R"(, "num_kv_indices": )" + indices + R"(, "num_pages": )" +
           pages + R"(, "batch": 2})";
  };
  const std::string good = axes("3", "5", "9");
  put("workloads/paged.jsonl", paged_workload("good", good, "blob/t.safetensors") +
                                   paged_workload("zero", axes("3", "5", "0"), "blob/t.safetensors") +
                                   paged_workload("broken", axes("4", "5", "9"), "blob/t.safetensors") +
                                   paged_workload("total", axes("3", "6", "9"), "blob/t.safetensors") +
                                   paged_workload("huge", axes("3", "5", "9000000000000000000"), "blob/t.safetensors") +
                                   paged_workload("lying", good, "blob/bad.safetensors") +
                                   paged_workload("float", good, "blob/float.safetensors") +
                                   paged_workload("outside", good, "../t.safetensors") +
                                   paged_workload("link", good, "blob/link.safetensors") +
                                   paged_workload("unbound", R"({"len_indptr": 3})", "blob/t.safetensors"));
  const ImportedTask task = imported({.most_workloads = 0});
  EXPECT_EQ(task.workloads, 1U);
  for (const char* lost :
       {"zero: axis num_pages is 0", "broken: the constraint \"len_indptr == batch + 1\" does not hold",
        "total: kv_indptr: its last value is 5, but num_kv_indices is 6", "huge: makes \"cache\" larger than 1 TiB",
        "bad.safetensors: states a header", "float.safetensors: kv_indptr is F32, the definition says int32",
        "outside: \"../t.safetensors\" leaves the dataset's folder",
        "link: \"blob/link.safetensors\" passes a symbolic link", "unbound: binds no axis"})
    EXPECT_TRUE(has(task.lost, lost)) << lost << "\n" << base::joined(task.lost, "\n");
}

TEST_F(Import, ScalarsThatATaskWouldRound_AreLost) {
  put("definitions/scale.json",
      replaced(kScale, R"("a": {"shape": null, "dtype": "float32"})", R"("a": {"shape": null, "dtype": "int64"})"));
  put("workloads/scale.jsonl", scale_workload("exact", "3", "9007199254740992") +
                                   scale_workload("rounded", "4", "9007199254740993") +
                                   scale_workload("text", "5", "\"9007199254740993\""));
  const ImportedTask task = imported();
  EXPECT_EQ(task.workloads, 1U);
  EXPECT_TRUE(has(task.lost, "rounded: a: its value is a whole number beyond 2^53 that a task would round"))
      << base::joined(task.lost, "\n");
  EXPECT_TRUE(has(task.lost, "text: a: its value is a whole number"));
}

TEST_F(Import, DefinitionsThatNoTaskCanHave_AreRefusedAndStopNoOther) {
  put("definitions/scale.json", kScale);
  const auto bad = [&](const std::string& name, const std::string& from, const std::string& to) {
    put("definitions/" + name.substr(name.rfind('/') + 1) + ".json",
        replaced(replaced(kScale, R"("name": "scale")", "\"name\": \"" + name + "\""), from, to));
  };
  bad("fp4", R"("dtype": "float32"}, "a")", R"("dtype": "float4_e2m1"}, "a")");
  bad("keyword", R"("a": {"shape")", R"("double": {"shape")");
  bad("empty_axis", "\"8\"", "0");
  bad("scalar_out", R"("y": {"shape": ["Z", "N"])", R"("y": {"shape": null)");
  bad("../up", "elementwise", "x");
  const ImportReport report = import();
  EXPECT_EQ(report.tasks.size(), 6U);
  const auto refused = [&](const std::string& name) {
    for (const ImportedTask& task : report.tasks) {
      if (task.definition == name) return task.refused;
    }
    return std::string("not there");
  };
  EXPECT_EQ(refused("scale"), "");
  EXPECT_NE(refused("fp4").find("accelopt has no dtype float4_e2m1"), std::string::npos);
  EXPECT_NE(refused("keyword").find("is a keyword of C or C++"), std::string::npos) << refused("keyword");
  EXPECT_NE(refused("empty_axis").find("must be \"var\""), std::string::npos);
  EXPECT_NE(refused("scalar_out").find("is a scalar"), std::string::npos);
  EXPECT_NE(refused("../up").find("cannot be a folder's"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_->path() / "up"));
}

TEST_F(Import, TheFastestOnRecord_IsTheBaseline) {
  put("definitions/scale.json", kScale);
  put("workloads/scale.jsonl", scale_workload("u1", "9"));
  const auto trace = [](const std::string& name, const std::string& status, const std::string& ms) {
    return R"({"definition": "scale", "solution": ")" + name +
           R"(", "workload": {"uuid": "u1"}, "evaluation": {"status": ")" + status +
           R"(", "performance": {"latency_ms": )" + ms + "}}}\n";
  };
  for (const char* name : {"a", "b", "c"})
    put("solutions/" + std::string(name) + ".json",
        solution(name, "scale", "triton", "main.py::run", "main.py",
                 "# " + std::string(name) + R"(\ndef run(x, a):\n  return x\n)"));
  put("traces/t.jsonl", trace("a", "PASSED", "2.0") + trace("b", "PASSED", "1.0") + trace("c", "PASSED", "0.1") +
                            trace("c", "TIMEOUT", "0"));
  const ImportedTask task = imported();
  EXPECT_TRUE(file("scale/baseline.py").starts_with("# b")) << "c failed somewhere";
  EXPECT_TRUE(has(task.notes, "solution b: returns its results, although it does not say so"));
  EXPECT_NE(file("scale/flashinfer_trace.json").find("\"destination_passing_style\": false"), std::string::npos);
  imported({.solution = "a"});
  EXPECT_TRUE(file("scale/baseline.py").starts_with("# a"));
  EXPECT_NE(imported({.solution = "z"}).refused.find("no solution \"z\" of scale"), std::string::npos);
}

TEST_F(Import, AnotherEntry_IsCalledRun) {
  put("definitions/scale.json", kScale);
  put("workloads/scale.jsonl", scale_workload("u1", "9"));
  put("solutions/s.json", solution("s", "scale", "triton", "main.py::fwd", "main.py", "def fwd(x, a, y): pass"));
  imported();
  EXPECT_EQ(file("scale/baseline.py"), "def fwd(x, a, y): pass\n\nrun = fwd\n");
  EXPECT_NE(file("scale/flashinfer_trace.json").find("\"destination_passing_style\": true"), std::string::npos);
}

TEST_F(Import, EntryBesideAKernelCalledRun_IsNoBaseline) {
  put("definitions/scale.json", kScale);
  put("workloads/scale.jsonl", scale_workload("u1", "9"));
  for (const char* const binding :
       {"@triton.jit\\ndef run(x, y): pass", "run = triton.jit(f)", "from kernels import scale as run"}) {
    put("solutions/s.json", solution("s", "scale", "triton", "main.py::fwd", "main.py",
                                     binding + std::string("\\ndef fwd(x, a, y): pass")));
    EXPECT_TRUE(has(imported().notes,
                    "solution s (triton) is kept in solutions/ and is no baseline: its entry fwd "
                    "would have to be called run"))
        << binding;
    EXPECT_EQ(file("scale/solutions/s/main.py").find("run = fwd"), std::string::npos);
  }
  put("solutions/s.json", solution("s", "scale", "triton", "main.py::fwd", "main.py",
                                   "import runner\\nrunner.run = 3\\ndef fwd(x, a, y): pass"));
  imported();
  EXPECT_TRUE(file("scale/baseline.py").ends_with("run = fwd\n"));
}

TEST_F(Import, SolutionsThatCannotRun_AreKeptWithTheReason) {
  put("definitions/scale.json", kScale);
  put("workloads/scale.jsonl", scale_workload("u1", "9"));
  put("solutions/s.json", solution("host", "scale", "cuda", "k.cu::run", "k.cu", "void run();"));
  EXPECT_TRUE(
      has(imported().notes,
          "solution host (cuda) is kept in solutions/ and is no baseline: its function is host code for tvm-ffi"));
  EXPECT_EQ(file("scale/solutions/host/k.cu"), "void run();");
  EXPECT_NE(file("scale/baseline.cu").find("#error"), std::string::npos);
  put("solutions/s.json", solution("py", "scale", "python", "k.py::run", "k.py", "def run(x): return x"));
  EXPECT_TRUE(has(imported().notes, "takes 1 parameters, but the definition has 2 inputs and 1 outputs"));
}

TEST_F(Import, ReferencesThatDrawAtRandom_AreNoted) {
  const auto draws = [&](const std::string& reference) {
    put("definitions/scale.json", replaced(kScale, R"(import torch\n\ndef run(x, a):\n    return a * x\n)", reference));
    return has(imported().notes, "its reference draws at random");
  };
  EXPECT_TRUE(draws(R"(def run(x, a):\n    return a * torch.randn_like(x)\n)"));
  EXPECT_TRUE(draws(R"(def run(x, a):\n    return a * torch.empty(3).normal_()\n)"));
  EXPECT_TRUE(draws(
      R"(def noise(x):\n    return torch.randn_like(x)\n\ndef noisy(x):\n    return x + noise(x)\n\ndef run(x, a):\n    return a * noisy(x)\n)"));
  EXPECT_FALSE(draws(R"(def inputs():\n    return torch.randn(3)\n\ndef run(x, a):\n    return a * x\n)"))
      << "its inputs are not what it computes";
}

TEST_F(Import, LongDescriptions_AreCutBetweenCharacters) {
  std::string long_text = "x";
  for (int i = 0; i < 300; ++i) long_text += "\u00e9";
  put("definitions/scale.json", replaced(kScale, R"(y = a * x\nrow by row)", long_text));
  put("workloads/scale.jsonl", scale_workload("u1", "9"));
  EXPECT_EQ(imported().refused, "");
  EXPECT_NE(file("scale/task.toml").find("description = \"x\u00e9"), std::string::npos);
  EXPECT_TRUE(task_problems(output() / "scale").empty()) << "it can be read";
}

TEST_F(Import, ManyWorkloads_AreTakenInStepsOfSize) {
  put("definitions/scale.json", kScale);
  std::string lines;
  for (int i = 1; i <= 40; ++i) lines += scale_workload("u" + std::to_string(i), std::to_string(i));
  put("workloads/scale.jsonl", lines);
  const ImportedTask task = imported({.most_workloads = 4});
  EXPECT_EQ(task.workloads, 4U);
  EXPECT_EQ(task.left_out, 36U);
  const std::string toml = file("scale/task.toml");
  for (const char* rows : {"{ Z = 40 }", "{ Z = 27 }", "{ Z = 14 }", "{ Z = 1 }"})
    EXPECT_NE(toml.find(rows), std::string::npos) << toml;
  EXPECT_EQ(imported({.most_workloads = 0}).left_out, 0U);
}

TEST_F(Import, ComputedAxes_AreBoundByTheirExpression) {
  put("definitions/scale.json",
      replaced(kScale, R"("N": {"type": "const", "value": "8"})",
               R"("N": {"type": "expr", "expression": "Z * 2 + C // 3"}, "C": {"type": "const", "value": 9})"));
  put("workloads/scale.jsonl", scale_workload("u1", "5"));
  imported();
  EXPECT_NE(file("scale/task.toml").find("axes = { Z = 5, N = 13 }"), std::string::npos) << file("scale/task.toml");
}

TEST_F(Import, FoldersWithFiles_AreLeftAlone) {
  put("definitions/scale.json", kScale);
  ASSERT_TRUE(base::make_folders(output() / "scale"));
  ASSERT_TRUE(base::write_file(output() / "scale" / "mine.txt", "x"));
  const auto report = import_dataset({.dataset = root(), .output = output()});
  ASSERT_TRUE(report);
  EXPECT_NE(report->tasks[0].refused.find("is not empty"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(output() / "scale" / "task.toml"));
}

}  // namespace
}  // namespace accelopt::suites::flashinfer_trace

// SPDX-License-Identifier: Apache-2.0
#include "suites/task_folder.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace accelopt::suites {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

constexpr std::string_view kTask = R"toml(schema = 1
name = "scale"
op_type = "elementwise"
description = "y = a * x \"scaled\""
target = "cpu"

[axes]
Z = "var"
N = 128
A = "var"

[[inputs]]
name = "x"
shape = ["Z", "N", "A"]
dtype = "float32"
init = "normal(0, 1)"
families = ["positive", "scaled"]
[[inputs]]
name = "a"
dtype = "float64"
init = "constant(2.5)"
[[inputs]]
name = "bias"
shape = []
dtype = "float32"
init = "ones"

[[outputs]]
name = "y"
shape = ["Z", "N", "A"]
dtype = "float32"

[[workloads]]
name = "large"
axes = { Z = 64, A = 2 }
role = "race"
weight = 2
[[workloads]]
name = "odd"
axes = { Z = 61, A = 3 }
role = "check"
[[workloads]]
name = "hidden"
axes = { Z = 17, A = 1 }
role = "held_out"

[numerics]
lower_precision = true
normwise = 2e-5

[cost]
flops = "Z*N*A"
bytes = "8*Z*N*A"

[cpu]
threads = 1
cache = "warm"

[entry]
file = "../src/scale.cpp"
function = "scale"
args = ["y", "const float* x", "a", "int Z", "bias"]
)toml";

/// A folder with a task whose task.toml has one text replaced by another.
class TaskFolder : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-task");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_ = std::move(*folder);
    put("task.toml", kTask);
    put("baseline.cpp", "extern \"C\" void kernel();\n");
    put("reference.cpp", "extern \"C\" void reference();\n");
  }

  void put(const std::string& name, std::string_view text) {
    const auto written = base::write_file(path() / name, text);
    ASSERT_TRUE(written) << written.error().message;
  }

  void replace(std::string_view from, std::string_view to) {
    std::string text(kTask);
    const auto place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    text.replace(place, from.size(), to);
    put("task.toml", text);
  }

  /// The error of loading the task after one replacement.
  base::Error error_after(std::string_view from, std::string_view to) {
    replace(from, to);
    const auto task = load_task(path());
    EXPECT_FALSE(task) << "loads in spite of: " << to;
    return task ? base::Error{} : task.error();
  }

  /// Expects exactly one problem with this line, key and beginning of the message.
  void expect_problem(std::string_view from, std::string_view to, int line, std::string_view key,
                      std::string_view message) {
    SCOPED_TRACE(to);
    const base::Error error = error_after(from, to);
    EXPECT_EQ(error.code, ErrorCode::parse);
    const std::string expected =
        toml() + ":" + std::to_string(line) + ": " + std::string(key) + ": " + std::string(message);
    EXPECT_EQ(error.message.substr(0, expected.size()), expected);
    EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
  }

  [[nodiscard]] const fs::path& path() const { return folder_->path(); }
  [[nodiscard]] std::string toml() const { return (path() / "task.toml").string(); }

 private:
  std::optional<base::TemporaryFolder> folder_;
};

TEST_F(TaskFolder, LoadsEveryKey) {
  put("hints.md", "Z is small.\n");
  const auto task = load_task(path());
  ASSERT_TRUE(task) << task.error().message;
  const model::Definition& definition = task->definition;
  EXPECT_EQ(definition.name, "scale");
  EXPECT_EQ(definition.op_type, "elementwise");
  EXPECT_EQ(definition.description, "y = a * x \"scaled\"");
  ASSERT_EQ(definition.axes.size(), 3U);
  EXPECT_EQ(definition.axes[0].name, "Z");  // the order of the text, not of the alphabet
  EXPECT_EQ(definition.axes[0].value, std::nullopt);
  EXPECT_EQ(definition.axes[1].name, "N");
  EXPECT_EQ(definition.axes[1].value, 128);
  EXPECT_EQ(definition.axes[2].name, "A");
  ASSERT_EQ(definition.inputs.size(), 3U);
  EXPECT_EQ(definition.inputs[0].shape, (std::vector<std::string>{"Z", "N", "A"}));
  EXPECT_EQ(definition.inputs[0].families,
            (std::vector{model::Family::positive, model::Family::scaled_up, model::Family::scaled_down}));
  EXPECT_EQ(definition.inputs[1].shape, std::nullopt);
  EXPECT_EQ(definition.inputs[1].dtype, model::DType::float64);
  EXPECT_EQ(definition.inputs[1].init.kind, model::InitKind::constant);
  EXPECT_EQ(definition.inputs[1].init.first, 2.5);
  EXPECT_EQ(definition.inputs[2].shape, std::vector<std::string>{});
  ASSERT_EQ(definition.outputs.size(), 1U);
  ASSERT_EQ(task->workloads.size(), 3U);
  EXPECT_EQ(task->workloads[0].axes, (model::AxisValues{{"Z", 64}, {"A", 2}}));
  EXPECT_EQ(task->workloads[0].weight, 2.0);
  EXPECT_EQ(task->workloads[1].role, model::Role::check);
  EXPECT_EQ(task->workloads[2].role, model::Role::held_out);
  EXPECT_TRUE(definition.numerics.lower_precision);
  EXPECT_EQ(definition.numerics.normwise, 2e-5);
  EXPECT_EQ(definition.cost.flops, "Z*N*A");
  EXPECT_EQ(task->cpu.cache, model::Cache::warm);
  ASSERT_TRUE(task->entry);
  EXPECT_EQ(task->entry->args.size(), 5U);
  EXPECT_EQ(task->baseline.language, model::Language::cpp);
  EXPECT_EQ(model::main_text(task->baseline), "extern \"C\" void kernel();\n");
  EXPECT_EQ(task->reference.name, "reference.cpp");
  EXPECT_EQ(task->hints, "Z is small.\n");
  EXPECT_FALSE(task->derived_reference);
}

TEST_F(TaskFolder, TheTomlItselfMayBeNamed) {
  EXPECT_TRUE(load_task(path() / "task.toml"));
}

/// Everything that a task folder of somebody else's may hold instead of a file.
TEST_F(TaskFolder, OnlyRegularFilesOfTheFolderAreRead) {
  const auto secret = base::TemporaryFolder::create("accelopt-secret");
  ASSERT_TRUE(secret);
  ASSERT_TRUE(base::write_file(secret->path() / "key", "a secret\n"));
  const auto refused = [&](const char* name) {
    const auto task = load_task(path());
    EXPECT_FALSE(task) << name;
    return task ? std::string() : task.error().message;
  };
  for (const char* name : {"hints.md", "baseline.cpp", "reference.cpp", "task.toml"}) {
    SCOPED_TRACE(name);
    const fs::path file = path() / name;
    const auto kept = base::read_file(file);
    fs::remove(file);
    fs::create_symlink(secret->path() / "key", file);
    EXPECT_NE(refused(name).find(std::string(name) + ": is a symbolic link"), std::string::npos) << refused(name);
    EXPECT_EQ(refused(name).find("a secret"), std::string::npos);
    fs::remove(file);
    fs::create_symlink(secret->path() / "nothing", file);
    EXPECT_NE(refused(name).find("is a symbolic link"), std::string::npos) << refused(name);
    fs::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    EXPECT_NE(refused(name).find("is no regular file"), std::string::npos) << refused(name);
    fs::remove(file);
    fs::create_directory(file);
    EXPECT_NE(refused(name).find("is no regular file"), std::string::npos) << refused(name);
    fs::remove(file);
    put(name, std::string(std::size_t{2} << 20, ' '));
    EXPECT_NE(refused(name).find("KiB, which is the most; shorten it"), std::string::npos) << refused(name);
    fs::remove(file);
    if (kept) put(name, *kept);
  }
  EXPECT_TRUE(load_task(path()));
}

TEST_F(TaskFolder, NumbersOfPartsAreBounded) {
  const auto task_with = [&](const std::string& workloads, const std::string& axes) {
    std::string text(kTask);
    text.insert(text.find("[axes]\n") + 7, axes);
    return text.insert(text.find("[[workloads]]"), workloads);
  };
  std::string workloads;
  for (int i = 0; i < 1100; ++i) {
    workloads += "[[workloads]]\nname=\"w" + std::to_string(i) + "\"\naxes={Z=1,A=1}\nrole=\"check\"\n";
  }
  std::string axes;
  for (int i = 0; i < 70; ++i) axes += "X" + std::to_string(i) + " = 2\n";
  put("task.toml", task_with(workloads, ""));
  EXPECT_NE(load_task(path()).error().message.find("workloads: 1103 are too many; a task has at most 1000"),
            std::string::npos);
  put("task.toml", task_with("", axes));
  EXPECT_NE(load_task(path()).error().message.find("axes: 73 are too many; a task has at most 64"), std::string::npos);
  std::string deep = "a = ";
  for (int i = 0; i < 100000; ++i) deep += "[";
  put("task.toml", deep);
  EXPECT_FALSE(load_task(path()));
  std::string dotted = "a";
  for (int i = 0; i < 100000; ++i) dotted += ".a";
  put("task.toml", dotted + " = 1\n");
  EXPECT_FALSE(load_task(path()));
}

TEST_F(TaskFolder, NearTiesNeedOutputsThatAreNotExact) {
  replace("\"positive\", \"scaled\"", "\"near_ties\", \"late\", \"blocks\", \"signed_zeros\"");
  EXPECT_TRUE(load_task(path()));
  const auto text = base::read_file(path() / "task.toml");
  ASSERT_TRUE(text);
  std::string exact = *text;
  exact.replace(exact.rfind("float32"), 7, "int32");
  put("task.toml", exact);
  EXPECT_NE(load_task(path()).error().message.find("inputs[0].families: near_ties needs outputs of floating types"),
            std::string::npos);
}

TEST_F(TaskFolder, WhatIsWrittenLoadsBackEqual) {
  put("hints.md", "Line one.\n\tand \"two\"\n");
  auto task = load_task(path());
  ASSERT_TRUE(task) << task.error().message;
  task->definition.description = "tab\t quote\" backslash\\ newline\n bell\a \xC3\xA9";
  task->definition.numerics.normwise = 0.1 + 0.2;
  task->workloads[0].weight = 1.0 / 3;
  for (const bool derived : {false, true}) {
    task->derived_reference = derived;
    const auto written = write_task(*task, path() / "sub" / "copy");
    ASSERT_TRUE(written) << written.error().message;
    const auto copy = load_task(path() / "sub" / "copy");
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_EQ(base::Json(*copy).dump(1), base::Json(*task).dump(1));
  }
}

TEST_F(TaskFolder, ADerivedReferenceIsDerivedUntilItIsEdited) {
  auto task = load_task(path());
  ASSERT_TRUE(task);
  task->derived_reference = true;
  ASSERT_TRUE(write_task(*task, path()));
  EXPECT_TRUE(load_task(path())->derived_reference);
  put("reference.cpp", "extern \"C\" void reference();  // checked by hand\n");
  EXPECT_FALSE(load_task(path())->derived_reference);
}

TEST_F(TaskFolder, WritingReplacesABaselineOfAnotherLanguage) {
  auto task = load_task(path());
  ASSERT_TRUE(task);
  task->baseline = {model::Language::c, {{"winner.c", "void kernel(void) {}\n"}}};
  task->hints.clear();
  put("hints.md", "old");
  ASSERT_TRUE(write_task(*task, path()));
  const auto back = load_task(path());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->baseline.sources.front().name, "baseline.c");
  EXPECT_EQ(back->baseline.language, model::Language::c);
  EXPECT_EQ(back->hints, "");
}

TEST_F(TaskFolder, ABaselineOfSeveralFilesIsNotWritten) {
  auto task = load_task(path());
  ASSERT_TRUE(task);
  task->baseline.sources.push_back({"helper.hpp", ""});
  EXPECT_EQ(write_task(*task, path() / "copy").error().code, ErrorCode::unsupported);
  EXPECT_FALSE(fs::exists(path() / "copy"));
}

TEST_F(TaskFolder, MissingFilesAreNamed) {
  const auto absent = load_task(path() / "nowhere");
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);
  EXPECT_EQ(absent.error().message, (path() / "nowhere").string() + ": no such folder; give the folder of a task");
  put("kernel.cpp", "int f();");
  const auto source = load_task(path() / "kernel.cpp");
  ASSERT_FALSE(source);
  EXPECT_NE(source.error().message.find("with `accelopt init`"), std::string::npos) << source.error().message;

  fs::remove(path() / "baseline.cpp");
  fs::remove(path() / "reference.cpp");
  const auto task = load_task(path());
  EXPECT_EQ(task.error().code, ErrorCode::not_found);
  EXPECT_EQ(task.error().message,
            (path() / "reference.cpp").string() +
                ": no such file; put the trusted reference there (reference.cpp or reference.c)\n" +
                (path() / "baseline.cpp").string() +
                ": no such file; put the kernel to beat there (baseline.cpp or baseline.c)");

  fs::remove(path() / "task.toml");
  const auto no_toml = load_task(path());
  EXPECT_EQ(no_toml.error().code, ErrorCode::not_found);
  EXPECT_EQ(no_toml.error().message, toml() + ": no such file; a task is a folder with a task.toml");
}

TEST_F(TaskFolder, AmbiguousAndEmptySourcesAreRefused) {
  put("baseline.c", "void kernel(void);\n");
  put("reference.cpp", "  \n");
  const auto task = load_task(path());
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().code, ErrorCode::parse);
  EXPECT_NE(task.error().message.find("baseline.c: stands beside baseline.cpp; keep one of them"), std::string::npos);
  EXPECT_NE(task.error().message.find("reference.cpp: is empty"), std::string::npos);
}

TEST_F(TaskFolder, AFileThatMayNotBeReadSaysSo) {
  ASSERT_EQ(::chmod(path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((path() / "task.toml").c_str(), 0), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // The superuser may read every file: be somebody else.
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(1);
    const auto task = load_task(path());
    if (task || task.error().code != ErrorCode::permission_denied) ::_exit(2);
    ::_exit(task.error().message.find(toml()) == std::string::npos ? 3 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(TaskFolder, DamagedTextIsAnErrorAndNeverACrash) {
  constexpr std::uint64_t kSeed = 20250118;
  RecordProperty("seed", std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  constexpr std::string_view kLetters = "\"'[]{}=,.#\n\\0a-?\xFF";
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string text(kTask);
    for (int change = 0; change < 3; ++change) {
      const std::size_t place = random() % text.size();
      if (random() % 2 == 0) {
        text.erase(place, random() % 12);
      } else {
        text.insert(place, 1, kLetters[random() % kLetters.size()]);
      }
    }
    put("task.toml", text);
    const auto task = load_task(path());
    if (task) continue;
    ++refused;
    EXPECT_EQ(task.error().code, ErrorCode::parse);
    EXPECT_EQ(task.error().message.find(toml() + ":"), 0U) << "seed " << kSeed << " round " << round;
  }
  EXPECT_GT(refused, 200);
}

TEST_F(TaskFolder, AFileThatIsNoFileSaysSo) {
  fs::remove(path() / "task.toml");
  fs::create_directory(path() / "task.toml");
  const auto task = load_task(path());
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().code, ErrorCode::io);
  EXPECT_NE(task.error().message.find(toml()), std::string::npos);
}

TEST_F(TaskFolder, TextThatIsNotTomlNamesLineAndColumn) {
  const base::Error error = error_after("op_type = \"elementwise\"", "op_type = elementwise\"");
  EXPECT_EQ(error.code, ErrorCode::parse);
  EXPECT_EQ(error.message.rfind(toml() + ":3: not TOML, column ", 0), 0U) << error.message;
  // The same key twice is no TOML either.
  EXPECT_NE(error_after("N = 128", "N = 128\nN = 64").message.find(":10: not TOML"), std::string::npos);
}

TEST_F(TaskFolder, UnknownKeysGetASuggestion) {
  expect_problem("op_type =", "op_typ =", 3, "op_typ", "unknown key; did you mean \"op_type\"? known keys are schema");
  expect_problem("cache = \"warm\"", "cahce = \"warm\"", 57, "cpu.cahce",
                 "unknown key; did you mean \"cache\"? known keys are threads, cache");
  expect_problem("init = \"ones\"", "init = \"ones\"\nlayout = \"row\"", 27, "inputs[2].layout",
                 "unknown key; known keys are name, shape, dtype, init, families");
  expect_problem("weight = 2", "wieght = 2", 37, "workloads[0].wieght", "unknown key; did you mean \"weight\"?");
  expect_problem("[numerics]", "[numeric]", 47, "numeric", "unknown key; did you mean \"numerics\"?");
}

TEST_F(TaskFolder, SchemaNameAndTarget) {
  expect_problem("schema = 1\n", "", 1, "schema", "missing; write schema = 1");
  expect_problem("schema = 1", "schema = 5", 1, "schema", "schema 5 is newer than this program");
  expect_problem("schema = 1", "schema = \"1\"", 1, "schema", "must be an integer, not a string; write schema = 1");
  expect_problem("name = \"scale\"", "name = \"\"", 2, "name", "must not be empty");
  expect_problem("name = \"scale\"\n", "", 1, "name", "missing; write the task's name");
  expect_problem("target = \"cpu\"", "target = \"gpu\"", 5, "target",
                 "unknown target \"gpu\"; did you mean \"cpu\"? known are cpu, cuda, opencl, triton");
  expect_problem("target = \"cpu\"\n", "", 1, "target", "missing; write one of cpu, cuda");
}

TEST_F(TaskFolder, TheTableOfAnotherTargetIsRefused) {
  expect_problem("[numerics]", "[cuda]\ncache = \"warm\"\n[numerics]", 47, "cuda",
                 "belongs to target = \"cuda\"; leave it out");
}

TEST_F(TaskFolder, AxesMustBeVarOrPositive) {
  const std::string form = "must be \"var\" (bound by each workload) or the axis's extent, a positive integer";
  expect_problem("N = 128", "N = 0", 9, "axes.N", form);
  expect_problem("N = 128", "N = -1", 9, "axes.N", form);
  expect_problem("N = 128", "N = 1.5", 9, "axes.N", form);
  expect_problem("N = 128", "N = \"variable\"", 9, "axes.N", form);
  expect_problem("N = 128", "N = \"?\"", 9, "axes.N", "left open (\"?\"); write \"var\"");
}

TEST_F(TaskFolder, NamesMustFitIntoAHeader) {
  expect_problem("name = \"bias\"", "name = \"x\"", 23, "inputs[2].name", "\"x\" is already the name of an input");
  expect_problem("name = \"bias\"", "name = \"N\"", 23, "inputs[2].name", "\"N\" is already the name of an axis");
  expect_problem("name = \"y\"", "name = \"double\"", 29, "outputs[0].name", "\"double\" is a keyword of C or C++");
  expect_problem("name = \"y\"", "name = \"kernel\"", 29, "outputs[0].name",
                 "\"kernel\" is taken by the generated task.h");
  expect_problem("name = \"y\"", "name = \"y-out\"", 29, "outputs[0].name", "\"y-out\" is no C identifier");
  expect_problem("name = \"y\"", "name = \"__y\"", 29, "outputs[0].name", "\"__y\" is reserved");
}

TEST_F(TaskFolder, Shapes) {
  expect_problem("shape = [\"Z\", \"N\", \"A\"]\ndtype = \"float32\"\ninit",
                 "shape = [\"Z\", \"Q\"]\ndtype = \"float32\"\ninit", 14, "inputs[0].shape",
                 "unknown axis \"Q\"; known axes are Z, N, A");
  expect_problem(
      "shape = []", "shape = \"?\"", 24, "inputs[2].shape",
      "left open (\"?\"); write the axis names, outermost first, like [\"M\", \"K\"]; known axes are Z, N, A");
  expect_problem("shape = []", "shape = [\"?\"]", 24, "inputs[2].shape", "left open (\"?\")");
  expect_problem("shape = []", "shape = [128]", 24, "inputs[2].shape[0]", "must be a string, not an integer");
  expect_problem("shape = []", "shape = 128", 24, "inputs[2].shape", "must be an array, not an integer");
  expect_problem("name = \"y\"\nshape = [\"Z\", \"N\", \"A\"]", "name = \"y\"", 28, "outputs[0].shape",
                 "missing; write");
}

TEST_F(TaskFolder, Dtypes) {
  expect_problem("dtype = \"float64\"", "dtype = \"flaot64\"", 20, "inputs[1].dtype",
                 "unknown dtype \"flaot64\"; did you mean \"float64\"? known are float64, float32, float16");
  expect_problem("dtype = \"float64\"\n", "", 18, "inputs[1].dtype", "missing; write one of float64");
}

TEST_F(TaskFolder, Generators) {
  expect_problem("init = \"ones\"", "init = \"gauss(0, 1)\"", 26, "inputs[2].init",
                 "cannot read \"gauss(0, 1)\" as a generator; write one of normal(mean, deviation)");
  expect_problem("init = \"ones\"\n", "", 22, "inputs[2].init", "missing; write how elements are drawn");
  expect_problem("init = \"ones\"", "init = \"uniform(1, 0)\"", 26, "inputs[2].init",
                 "uniform(1, 0): the low end must be under the high end");
  expect_problem("init = \"ones\"", "init = \"normal(0, -1)\"", 26, "inputs[2].init",
                 "normal(0, -1): the deviation must not be negative");
  expect_problem("init = \"ones\"", "init = \"permutation\"", 26, "inputs[2].init", "permutation draws indices");
  expect_problem("init = \"ones\"", "init = \"sorted(0, 1)\"", 26, "inputs[2].init",
                 "sorted(0, 1) needs a tensor with at least one axis");
  expect_problem("dtype = \"float32\"\ninit = \"ones\"", "dtype = \"int32\"\ninit = \"normal(0, 1)\"", 26,
                 "inputs[2].init",
                 "normal(0, 1) draws real numbers, but the dtype is int32; write integers(low, high)");
  expect_problem("dtype = \"float32\"\ninit = \"ones\"", "dtype = \"int8\"\ninit = \"integers(0, 129)\"", 26,
                 "inputs[2].init", "integers(0, 129) draws values that int8 does not hold");
  replace("dtype = \"float32\"\ninit = \"ones\"", "dtype = \"uint8\"\ninit = \"integers(0, 256)\"");
  EXPECT_TRUE(load_task(path()));
}

TEST_F(TaskFolder, ACudaTaskTakesAReferenceOfTheDeviceOrOfTheProcessor) {
  std::string text(kTask);
  text.replace(text.find("target = \"cpu\""), 14, "target = \"cuda\"");
  text.replace(text.find("[cpu]\nthreads = 1"), 17, "[cuda]");
  put("task.toml", text);
  put("baseline.cu", "extern \"C\" __global__ void scale();\n");
  const auto with = load_task(path());
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(with->reference.name, "reference.cpp");
  std::filesystem::remove(path() / "reference.cpp");
  const auto task = load_task(path());
  ASSERT_FALSE(task);
  EXPECT_NE(task.error().message.find("no such file; put the trusted reference there (reference.cu or reference.cpp or "
                                      "reference.c or reference.py)"),
            std::string::npos)
      << task.error().message;
}

TEST_F(TaskFolder, Families) {
  expect_problem("\"positive\", \"scaled\"", "\"positive\", \"tiny\"", 17, "inputs[0].families",
                 "unknown family \"tiny\"");
  expect_problem("dtype = \"float32\"\ninit = \"ones\"", "dtype = \"int8\"\ninit = \"ones\"\nfamilies = [\"rows\"]", 27,
                 "inputs[2].families", "only floating inputs can be transformed");
}

TEST_F(TaskFolder, WorkloadsBindEveryVariableAxisAndNoOther) {
  expect_problem("axes = { Z = 61, A = 3 }", "axes = { Z = 61 }", 40, "workloads[1].axes",
                 "does not bind the variable axis \"A\"; add A = 64");
  expect_problem("axes = { Z = 61, A = 3 }", "axes = { Z = 61, A = 3, N = 4 }", 40, "workloads[1].axes.N",
                 "the axis is constant in [axes]");
  expect_problem("axes = { Z = 61, A = 3 }", "axes = { Z = 61, A = 3, Q = 4 }", 40, "workloads[1].axes.Q",
                 "unknown axis \"Q\"; known axes are Z, N, A");
  expect_problem("axes = { Z = 61, A = 3 }", "axes = { Z = 0, A = 3 }", 40, "workloads[1].axes.Z",
                 "must be the axis's extent, a positive integer");
  expect_problem("axes = { Z = 61, A = 3 }", "axes = { Z = \"?\", A = 3 }", 40, "workloads[1].axes.Z",
                 "left open (\"?\"); write the axis's extent");
  expect_problem("axes = { Z = 61, A = 3 }", "axes = { Z = 1000000000000, A = 1000000000000 }", 40, "workloads[1].axes",
                 "makes \"x\" larger than 1 TiB");
}

TEST_F(TaskFolder, WorkloadNamesRolesAndWeights) {
  expect_problem("name = \"odd\"", "name = \"large\"", 39, "workloads[1].name", "\"large\" is already the name");
  expect_problem("role = \"check\"", "role = \"chekc\"", 41, "workloads[1].role",
                 "unknown role \"chekc\"; did you mean \"check\"? known are race, check, held_out");
  expect_problem("role = \"check\"\n", "", 38, "workloads[1].role", "missing; write one of race, check, held_out");
  expect_problem("weight = 2", "weight = 0", 37, "workloads[0].weight", "must be a positive number");
  expect_problem("weight = 2", "weight = \"2\"", 37, "workloads[0].weight", "must be a number, not a string");
  expect_problem("role = \"race\"", "role = \"check\"", 33, "workloads", "none has role = \"race\"");
}

TEST_F(TaskFolder, ATaskNeedsInputsOutputsAndWorkloads) {
  put("task.toml", "schema = 1\nname = \"empty\"\ntarget = \"cpu\"\n");
  const auto task = load_task(path());
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().message,
            toml() + ":1: inputs: missing; write at least one [[inputs]] with name, shape and dtype\n" + toml() +
                ":1: outputs: missing; write at least one [[outputs]] with name, shape and dtype\n" + toml() +
                ":1: workloads: missing; write at least one [[workloads]] with name, axes and role");
  put("task.toml", "schema = 1\nname = \"empty\"\ntarget = \"cpu\"\ninputs = []\noutputs = 4\nworkloads = []\n");
  EXPECT_EQ(load_task(path()).error().message,
            toml() + ":4: inputs: missing; write at least one [[inputs]] with name, shape and dtype\n" + toml() +
                ":5: outputs: must be an array, not an integer; write [[outputs]] with name, shape and dtype\n" +
                toml() + ":6: workloads: none has role = \"race\"; without one nothing is timed");
}

TEST_F(TaskFolder, CostIsAnExpressionOverTheAxes) {
  expect_problem("flops = \"Z*N*A\"", "flops = \"Z*N*\"", 52, "cost.flops", "\"Z*N*\", column 5: expected a number");
  expect_problem("flops = \"Z*N*A\"", "flops = \"Z*x\"", 52, "cost.flops",
                 "unknown axis \"x\"; known axes are Z, N, A");
  expect_problem("flops = \"Z*N*A\"", "flops = 12", 52, "cost.flops", "must be a string, not an integer");
  expect_problem("flops = \"Z*N*A\"", "flops = \"Z/(A-1)\"", 44, "workloads[2].axes",
                 "cost.flops has no value here: \"Z/(A-1)\": division by zero");
  expect_problem("flops = \"Z*N*A\"", "flops = \"Z-18\"", 44, "workloads[2].axes", "makes cost.flops negative");
}

TEST_F(TaskFolder, NumericsAndCpu) {
  expect_problem("normwise = 2e-5", "normwise = 2", 49, "numerics.normwise", "must be over 0 and under 1");
  expect_problem("lower_precision = true", "lower_precision = \"yes\"", 48, "numerics.lower_precision",
                 "must be true or false, not a string");
  expect_problem("threads = 1", "threads = 0", 56, "cpu.threads", "must be from 1");
  expect_problem("cache = \"warm\"", "cache = \"hot\"", 57, "cpu.cache", "must be \"cold\" or \"warm\"");
}

TEST_F(TaskFolder, EntryArgumentsAreTheKernelsOwn) {
  expect_problem("\"bias\"]", "\"bais\"]", 62, "entry.args", "\"bais\" is no input, output or axis");
  expect_problem("\"int Z\", \"bias\"]", "\"int Z\"]", 62, "entry.args",
                 "lacks \"bias\"; the function must be given it");
  expect_problem("\"bias\"]", "\"bias\", \"x\"]", 62, "entry.args", "\"x\" stands there twice");
  expect_problem("function = \"scale\"\n", "function = \"scale\"\nflags = [\"-fplugin=x.so\"]\n", 62, "entry.flags",
                 "\"-fplugin=x.so\" is no flag that decides how a kernel is compiled");
  expect_problem("function = \"scale\"\n", "", 59, "entry.function", "missing; write the function's name");
}

TEST_F(TaskFolder, AllProblemsAreListedInTheOrderOfTheText) {
  std::string text(kTask);
  for (const auto& [from, to] : {std::pair{"N = 128", "N = 0"},
                                 {"dtype = \"float64\"", "dtype = \"f64\""},
                                 {"role = \"check\"", "role = \"verify\""},
                                 {"threads = 1", "thread = 1"}}) {
    text.replace(text.find(from), std::string_view(from).size(), to);
  }
  put("task.toml", text);
  const std::vector<base::Problem> problems = task_problems(path());
  std::vector<std::pair<int, std::string>> places;
  for (const base::Problem& problem : problems) places.emplace_back(problem.line, problem.key);
  EXPECT_EQ(places, (std::vector<std::pair<int, std::string>>{
                        {9, "axes.N"}, {20, "inputs[1].dtype"}, {41, "workloads[1].role"}, {56, "cpu.thread"}}));
  const auto error = load_task(path()).error();
  EXPECT_EQ(std::count(error.message.begin(), error.message.end(), '\n'), 3);
}

}  // namespace
}  // namespace accelopt::suites

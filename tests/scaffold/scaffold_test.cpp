// SPDX-License-Identifier: Apache-2.0
#include "scaffold/scaffold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "scaffold/programs.hpp"
#include "suites/task_folder.hpp"
#include "targets/cpu/task_header.hpp"

namespace accelopt::scaffold {
namespace {

using base::ErrorCode;

ScaffoldOptions options_for(const Repository& repository) {
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "rms_product";
  options.stated.shapes = {"x=rows,K", "weights=K,N"};
  options.stated.outputs = {"out"};
  options.stated.axes = {"rows=24"};
  options.folder = repository.path() / "task";
  return options;
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from << " is not in\n" << text;
  text.replace(at, from.size(), to);
}

/// Compiles the task's kernel and reference against their headers, checks that both symbols are there.
void expect_builds(const Repository& repository, const model::Task& task, const std::string& compiler) {
  const std::string extension = compiler == "gcc" ? ".c" : ".cpp";
  repository.write("task/task.h", targets::cpu::kernel_header(task.definition));
  const auto kernel = repository.run(compiler + " -Wall -Wextra -Werror -O1 -c task/baseline" + extension +
                                     " -o kernel.o && nm kernel.o");
  EXPECT_EQ(kernel.first, 0) << kernel.second << repository.read("task/baseline" + extension);
  EXPECT_NE(kernel.second.find(" T kernel"), std::string::npos) << kernel.second;
  EXPECT_EQ(kernel.second.find(" b "), std::string::npos) << "the baseline keeps state: " << kernel.second;
  repository.write("task/task.h", targets::cpu::reference_header(task.definition));
  for (const char* real : {"float", "double"}) {
    const auto reference = repository.run(compiler + " -DACCELOPT_REAL=" + real + " -c task/reference" + extension +
                                          " -o reference.o && nm reference.o");
    EXPECT_EQ(reference.first, 0) << reference.second << repository.read("task/reference" + extension);
    EXPECT_NE(reference.second.find(" T reference"), std::string::npos) << reference.second;
  }
}

TEST(Scaffold, MakesATaskFromAUsersFunction) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("model.cpp", kUserProgram);
  repository.write("src/settings.h", kSettingsHeader);
  const auto report = scaffold_task(*clang, options_for(repository));
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->notes.empty()) << report->notes.front();
  EXPECT_EQ(report->open.size(), 4U);  // three inits and the shape of out

  // What is open is refused, line by line.
  const auto unfinished = suites::load_task(repository.path() / "task");
  ASSERT_FALSE(unfinished.has_value());
  for (const std::string& place : report->open) {
    const std::string line = place.substr(0, place.find(": "));
    EXPECT_NE(unfinished.error().message.find(line), std::string::npos) << place << "\n" << unfinished.error().message;
  }

  std::string toml = repository.read("task/task.toml");
  replace(toml, "init = \"?\"", "init = \"normal(0, 0.05)\"");
  replace(toml, "init = \"?\"", "init = \"constant(1e-6)\"");
  replace(toml, "init = \"?\"", "init = \"normal(0, 1)\"");
  replace(toml, "shape = \"?\"", "shape = [\"rows\", \"N\"]");
  repository.write("task/task.toml", toml);
  const auto task = suites::load_task(repository.path() / "task");
  ASSERT_TRUE(task.has_value()) << task.error().message << "\n" << toml;
  EXPECT_TRUE(task->derived_reference);
  ASSERT_TRUE(task->entry.has_value());
  EXPECT_EQ(task->entry->file, "../src/model.cpp");
  EXPECT_EQ(task->entry->args, (std::vector<std::string>{"out", "int rows", "weights", "eps", "x"}));
  EXPECT_EQ(task->definition.inputs.size(), 3U);
  EXPECT_FALSE(task->definition.inputs[1].shape.has_value());  // eps, by value
  EXPECT_EQ(model::variable_axes(task->definition), (std::vector<std::string>{"rows"}));
  const model::AxisValues axes = model::bind_axes(task->definition, task->workloads.front());
  EXPECT_EQ(axes.at("K"), 48);  // from the file's own constant and macro
  EXPECT_EQ(axes.at("N"), 40);
  EXPECT_EQ(axes.at("rows"), 24);
  EXPECT_EQ(task->workloads.size(), 5U);
  expect_builds(repository, *task, "g++");
}

TEST(Scaffold, TakesWhatIsStated) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("model.cpp", kUserProgram);
  repository.write("src/settings.h", kSettingsHeader);
  ScaffoldOptions options = options_for(repository);
  options.stated.outputs = {"out=rows,N"};
  options.stated.inits = {"x=normal(0,1)", "weights=normal(0, 0.05)", "eps=constant(1e-6)"};
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->open.empty()) << report->open.front();
  const auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  EXPECT_EQ(task->definition.cost.bytes, "4*rows*N + 4*K*N + 4*rows*K");
}

TEST(Scaffold, HandlesCWithConstantAxesThatAreArguments) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("rows.c", kCProgram);
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "scale_rows";
  options.stated.shapes = {"in=rows,columns"};
  options.stated.outputs = {"out=rows,columns"};
  options.stated.axes = {"rows=50"};
  options.stated.constants = {"columns=32"};
  options.stated.inits = {"in=normal(0, 1)"};
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->notes.empty()) << report->notes.front();
  const auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  EXPECT_EQ(task->baseline.language, model::Language::c);
  expect_builds(repository, *task, "gcc");
}

TEST(Scaffold, TakesAFunctionThatIsDeclaredBeforeItIsDefined) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("twice.cpp",
                              "void twice(const float* in, float* out, int n);\n"
                              "void user(const float* in, float* out) { twice(in, out, 8); }\n"
                              "void twice(const float* in, float* out, int n) {\n"
                              "  for (int i = 0; i < n; ++i) out[i] = 2.0f * in[i];\n"
                              "}\n");
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "twice";
  options.stated.shapes = {"in=n", "out=n"};
  options.stated.outputs = {"out"};
  options.stated.axes = {"n=4096"};
  options.stated.inits = {"in=normal(0, 1)"};
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  expect_builds(repository, *task, "g++");
}

TEST(Scaffold, AdaptsInputsThatAreNotConstAndOtherIntegerTypes) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository(
      "odd.cpp",
      "static void gather(long long* index, char* flags, float* table, double y[], unsigned long n) {\n"
      "  while (n > 0) { --n; y[n] = table[index[n]] * flags[n]; }\n}\n"
      "void use(long long* i, char* f, float* t, double* y) { gather(i, f, t, y, 4); }\n");
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "gather";
  options.stated.shapes = {"index=N", "flags=N", "table=T"};
  options.stated.outputs = {"y=N"};
  options.stated.axes = {"N=1000", "T=77"};
  options.stated.inits = {"index=integers(0, 77)", "flags=integers(0, 2)", "table=normal(0, 1)"};
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_EQ(report->notes.size(), 1U) << repository.read("task/baseline.cpp");
  EXPECT_NE(report->notes[0].find("how long T is"), std::string::npos) << report->notes[0];
  const auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  EXPECT_EQ(task->definition.inputs[0].dtype, model::DType::int64);
  EXPECT_EQ(task->definition.inputs[1].dtype, model::DType::int8);
  EXPECT_EQ(model::bind_axes(task->definition, task->workloads.front()).at("T"), 77);
  expect_builds(repository, *task, "g++");
}

TEST(Scaffold, IntegersOfFloats_KeepTheFunctionsOwnRounding) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  for (const std::string extension : {".c", ".cpp"}) {
    const Repository repository("quantize" + extension,
                                "#include <math.h>\n#include <stdint.h>\n"
                                "void quantize(const float* x, int8_t* q, float scale, int n) {\n"
                                "  for (int i = 0; i < n; ++i) {\n    const float v = x[i] / scale;\n"
                                "    q[i] = (int8_t)(v < 0.0f ? v - 0.5f : v + 0.5f);\n  }\n}\n");
    ScaffoldOptions options;
    options.file = repository.file();
    options.function = "quantize";
    options.stated = {{"x=n", "q=n"}, {"q"}, {}, {"n=64"}, {}, {"x=normal(0, 1)", "scale=uniform(0.1, 1)"}};
    options.folder = repository.path() / "task";
    const auto report = scaffold_task(*clang, options);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_TRUE(report->notes.empty()) << report->notes.front();
    const std::string reference = repository.read("task/reference" + extension);
    EXPECT_NE(reference.find("const float v = x[i] / scale;"), std::string::npos) << reference;
    const auto task = suites::load_task(options.folder);
    ASSERT_TRUE(task.has_value()) << task.error().message;
    expect_builds(repository, *task, extension == ".c" ? "gcc" : "g++");
  }
}

TEST(Scaffold, ProposesIntegersThatReachAsFarAsTheResults) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const auto asked = [&](const std::string& result) {
    const Repository repository("sum.cpp", "void f(const int* x, " + result +
                                               "* y, int n, int k) {\n"
                                               "  y[0] = k;\n  for (int i = 0; i < n; ++i) y[0] += x[i];\n}\n");
    ScaffoldOptions options;
    options.file = repository.file();
    options.function = "f";
    options.stated = {{"x=n", "y=one"}, {"y"}, {}, {"n=64", "one=1"}, {}, {}};
    options.folder = repository.path() / "task";
    const auto report = scaffold_task(*clang, options);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return repository.read("task/task.toml");
  };
  EXPECT_NE(asked("long").find("like \"integers(-8000000, 8000000)\""), std::string::npos);
  const std::string narrow = asked("int");
  EXPECT_NE(narrow.find("like \"integers(-1000, 1000)\""), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("the values that callers give it, like \"integers(0, 100)\""), std::string::npos) << narrow;
}

TEST(Scaffold, RenamesWhatTheTaskCallsOtherwise) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository(
      "kernel.cpp",
      "const int N = 64;\nstatic float reference(float v) { return v + 1; }\n"
      "extern \"C\" void kernel(const float* x, float* y) { for (int i = 0; i < N; ++i) y[i] = reference(x[i]); }\n");
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "kernel";
  options.stated.shapes = {"x=N"};
  options.stated.outputs = {"y=N"};
  options.stated.inits = {"x=normal(0, 1)"};
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->open.empty());
  const auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  expect_builds(repository, *task, "g++");
}

TEST(Scaffold, GeneratorThatDoesNotFit_IsRefusedAndNothingIsWritten) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("model.cpp", kUserProgram);
  repository.write("src/settings.h", kSettingsHeader);
  ScaffoldOptions options = options_for(repository);
  options.stated.inits = {"eps=values(0.00001)"};
  const auto report = scaffold_task(*clang, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(
      report.error().message,
      "--init eps: values(1e-05) needs a tensor with at least one axis; eps is a number: write constant(VALUE), or "
      "a range, like uniform(0.5, 2)");
  EXPECT_FALSE(std::filesystem::exists(options.folder));
}

TEST(Scaffold, RefusesWhatItCannotAdapt) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("model.cpp",
                              "struct Buffer { float* data; };\nBuffer counted(float* y) { *y = 1; return {y}; }\n"
                              "void by_reference(Buffer& y) { y.data[0] = 1; }\nvoid deep(float** y) { **y = 1; }\n"
                              "void again(float* y, int n) { if (n > 0) again(y, n - 1); *y = 1; }\n"
                              "void plain(const float* x, float* y) { *y = *x; }\n");
  const auto code = [&](const std::string& function, const std::string& output, const std::string& shape = "") {
    ScaffoldOptions options;
    options.file = repository.file();
    options.function = function;
    if (!output.empty()) options.stated.outputs = {output};
    if (!shape.empty()) options.stated.shapes = {shape};
    options.folder = repository.path() / "task";
    const auto report = scaffold_task(*clang, options);
    return report ? ErrorCode::internal : report.error().code;
  };
  EXPECT_EQ(code("counted", "y"), ErrorCode::unsupported);
  EXPECT_EQ(code("by_reference", "y"), ErrorCode::unsupported);
  EXPECT_EQ(code("deep", "y"), ErrorCode::unsupported);
  EXPECT_EQ(code("again", "y"), ErrorCode::unsupported);
  EXPECT_EQ(code("absent", "y"), ErrorCode::not_found);
  EXPECT_EQ(code("plain", ""), ErrorCode::invalid_argument);
  EXPECT_EQ(code("plain", "x"), ErrorCode::invalid_argument);
  EXPECT_EQ(code("plain", "y", "z=M"), ErrorCode::invalid_argument);
  EXPECT_EQ(code("plain", "y", "x=int"), ErrorCode::invalid_argument);
  EXPECT_EQ(code("plain", "y", "x"), ErrorCode::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(repository.path() / "task"));
  repository.write("src/plain.hpp", "inline void plain(const float* x, float* y) { *y = *x; }\n");
  ScaffoldOptions of_header;
  of_header.file = repository.path() / "src" / "plain.hpp";
  of_header.function = "plain";
  of_header.folder = repository.path() / "task";
  EXPECT_NE(scaffold_task(*clang, of_header).error().message.find("is a header"), std::string::npos);
}

TEST(Scaffold, OfDeviceCode_TheLaunchIsAskedFor) {
  const Repository repository("scale.cu", "__global__ void scale(const float* x, float* y, int n) {}\n");
  ScaffoldOptions options = options_for(repository);
  options.function = "scale";
  options.stated = {};
  const auto report = scaffold_task(syntax::Clang::none(), options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const std::string asked = base::joined(report->open, "\n");
  for (const char* part : {"baseline.cu:2: grid and block", "reference.cpp:1: ", "inputs.x.shape", "outputs.y.dtype",
                           "workloads.race: the extent of n"}) {
    EXPECT_NE(asked.find(part), std::string::npos) << part << " is not in " << asked;
  }
  const auto loaded = suites::load_task(options.folder);
  ASSERT_FALSE(loaded.has_value());
  EXPECT_NE(loaded.error().message.find("baseline.cu:2"), std::string::npos) << loaded.error().message;
}

TEST(Scaffold, OfPython_ImportsBesideItAreAskedForWhereTheyStand) {
  const Repository repository("relu.py", "import torch, triton\nfrom utils import relu\ndef f(x): return relu(x)\n");
  repository.write("src/utils.py", "");
  repository.write("utils.py", "");
  ScaffoldOptions options = options_for(repository);
  options.function = options.reference = "f";
  options.stated = {};
  const auto report = scaffold_task(syntax::Clang::none(), options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const std::string asked = base::joined(report->open, "\n");
  const auto loaded = suites::load_task(options.folder);
  ASSERT_FALSE(loaded.has_value());
  for (const char* place : {"baseline.py:3", "reference.py:2"}) {
    EXPECT_NE(asked.find(place), std::string::npos) << place << " is not in " << asked;
    EXPECT_NE(loaded.error().message.find(place), std::string::npos)
        << place << " is not in " << loaded.error().message;
  }
}

/// The reference that `init` derives of f, which takes x and n, in a repository where it builds.
std::string derived_reference(const syntax::Clang& clang, const std::string& function, const StatedTexts& stated) {
  const Repository repository("sum.cpp", function);
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "f";
  options.stated = stated;
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(clang, options);
  EXPECT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->notes.empty()) << report->notes.front();
  const auto task = suites::load_task(options.folder);
  EXPECT_TRUE(task.has_value()) << task.error().message;
  expect_builds(repository, *task, "g++");
  return task->reference.text;
}

TEST(Scaffold, DoublesOverFloats_StayInTheReference) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const StatedTexts stated{.shapes = {"x=n"}, .axes = {"n=64"}, .inits = {"x=normal(0, 1)"}};
  const std::string sum = derived_reference(
      *clang,
      "#include <algorithm>\n"
      "float f(const float* x, int n) {\n  double sum = 0.0;\n"
      "  for (int i = 0; i < n; ++i) sum += std::max(0.5f, x[i]);\n  return (float)std::max(sum, 0.25);\n}\n",
      stated);
  EXPECT_NE(sum.find("reference(const real* x, real* result, "), std::string::npos) << sum;
  EXPECT_NE(sum.find("double sum = 0.0;"), std::string::npos) << "its float build would sum in float\n" << sum;
  EXPECT_NE(sum.find("std::max(sum, 0.25)"), std::string::npos) << sum;
  EXPECT_NE(sum.find("std::max(real(0.5f), x[i])"), std::string::npos) << sum;
  const std::string result = derived_reference(
      *clang,
      "double f(const float* x, int n) { double sum = 0; for (int i = 0; i < n; ++i) sum += x[i]; return sum; }\n",
      stated);
  EXPECT_NE(result.find("real* result"), std::string::npos) << result;
  EXPECT_NE(result.find("double sum = 0;"), std::string::npos) << result;
}

TEST(Scaffold, DoublesOverDoubles_BecomeReal) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string reference = derived_reference(
      *clang,
      "double f(const double* x, int n) { double sum = 0; for (int i = 0; i < n; ++i) sum += x[i]; return sum; }\n",
      {.shapes = {"x=n"}, .axes = {"n=64"}, .inits = {"x=normal(0, 1)"}});
  EXPECT_NE(reference.find("real sum = 0;"), std::string::npos) << reference;
}

TEST(Scaffold, DoesNotWriteIntoAFolderThatIsInUse) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("model.cpp", kUserProgram);
  ScaffoldOptions options = options_for(repository);
  options.folder = repository.path() / "src";
  const auto report = scaffold_task(*clang, options);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::already_exists);
  options.folder = repository.path() / "task";
  options.file = repository.path() / "absent.cpp";
  const auto absent = scaffold_task(*clang, options);
  ASSERT_FALSE(absent.has_value());
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace accelopt::scaffold

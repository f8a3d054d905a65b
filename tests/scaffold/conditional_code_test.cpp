// SPDX-License-Identifier: Apache-2.0
// Users' code in which preprocessor conditionals decide what is compiled.
#include <gtest/gtest.h>

#include "scaffold/extract.hpp"
#include "scaffold/programs.hpp"
#include "scaffold/scaffold.hpp"
#include "scaffold/winner_patch.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::scaffold {
namespace {

using model::Language;

/// The repository's file, whose "twice" over n elements has its own code for a winner.
std::string patched_twice(const syntax::Clang& clang, const Repository& repository) {
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "twice";
  options.stated = {{"x=n"}, {"y=n"}, {}, {"n=64"}, {}, {"x=normal(0, 1)"}};
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(clang, options);
  if (!report) return report.error().message;
  const auto task = suites::load_task(options.folder);
  if (!task) return task.error().message;
  const auto patch = make_winner_patch({{*task, task->baseline, options.folder, {}}});
  return patch ? patch->files.front().after : patch.error().message;
}

/// What the compiler says of the text in the place of the repository's file.
std::string complaints(const Repository& repository, const std::string& text, const std::string& compiler) {
  const std::string file = "src/" + repository.file().filename().string();
  repository.write(file, text);
  const auto [code, output] = repository.run(compiler + " -Wall -Wextra -Werror -c " + file + " -o twice.o");
  return code == 0 ? "" : output + text;
}

TEST(WinnerPatch, InALinkageBlockForCppAlone_IsCompiled) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string program =
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      "typedef struct { float by; } Gain;\nstatic Gain gain(void) { Gain g = {2}; return g; }\n"
      "void twice(const float *x, float *y, int n) {\n  for (int i = 0; i < n; ++i) y[i] = gain().by * x[i];\n}\n"
      "#ifdef __cplusplus\n}\n#endif\n";
  const Repository c("twice.c", program);
  const std::string in_c = patched_twice(*clang, c);
  EXPECT_NE(in_c.find("#endif\n\ntypedef struct"), std::string::npos) << in_c;
  EXPECT_EQ(complaints(c, in_c, "gcc"), "");
  const Repository cpp("twice.cpp", program);
  const std::string in_cpp = patched_twice(*clang, cpp);
  EXPECT_NE(in_cpp.find("\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n"), std::string::npos) << in_cpp;
  EXPECT_EQ(complaints(cpp, in_cpp, "g++"), "");
}

/// A return type that a conditional chooses, as fixed-point builds have it.
constexpr const char* kChosenType = "#ifdef FIXED_POINT\nint\n#else\nvoid\n#endif\n";

TEST(Scaffold, OfAReturnTypeInAConditional_TakesWhatIsCompiled) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string program = kChosenType + std::string(
                                                "twice(const float *x, float *y, int n) {\n"
                                                "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n"
                                                "#ifdef FIXED_POINT\n  return n;\n#endif\n}\n");
  const Repository repository("twice.c", program);
  EXPECT_EQ(complaints(repository, patched_twice(*clang, repository), "gcc"), "");
  const std::string baseline = repository.read("task/baseline.c");
  EXPECT_NE(baseline.find("#include \"task.h\"\n\nvoid kernel(const float *x"), std::string::npos) << baseline;
}

TEST(KernelText, ReturnsOfOtherBranches_AreWrittenToo) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("total.c",
                              "float total(const float *x, int n) {\n  float s = 0;\n#ifdef FIXED_POINT\n"
                              "  if (n < 0) return -1;\n#endif\n  for (int i = 0; i < n; ++i) s += x[i];\n"
                              "  return s;\n}\n");
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "total";
  options.stated = {{"x=n"}, {}, {}, {"n=64"}, {}, {"x=normal(0, 1)"}};
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const std::string baseline = repository.read("task/baseline.c");
  EXPECT_NE(baseline.find("if (n < 0) { *result = -1; return; }\n"), std::string::npos) << baseline;
  EXPECT_NE(baseline.find("  *result = s;\n"), std::string::npos) << baseline;
}

TEST(WinnerPatch, AHelperThatIsDeclaredAboveAndDefinedBelow_IsTheWinners) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string parameters = "doubled(const float *x, float *y, int n)";
  const Repository repository("twice.c",
                              "#include \"doubled.h\"\nvoid twice(const float *x, float *y, int n) {\n"
                              "  doubled(x, y, n);\n}\n" +
                                  (kChosenType + parameters) +
                                  " {\n  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n");
  repository.write("src/doubled.h", "#pragma once\n" + (kChosenType + parameters) + ";\n");
  const std::string after = patched_twice(*clang, repository);
  EXPECT_NE(after.find("twice_accelopt_doubled(x, y, n);"), std::string::npos) << after;
  EXPECT_EQ(complaints(repository, after, "gcc"), "");
}

/// What of the text and the repository's headers "f" needs.
std::string extracted_f(const syntax::Clang& clang, const Repository& repository, const std::string& source) {
  const auto extract = extract_function(clang, source, Language::c, "f", {repository.path() / "src", {}});
  return extract ? extract->source : extract.error().message;
}

TEST(Extract, HeadersOfBranchesThatAreNotCompiled_TakeNothingFromOthers) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("unused.c", "");
  repository.write("src/sizes.h", "#ifndef SIZES_H\n#define SIZES_H\n#define SIZE 2\n#endif\n");
  repository.write("src/broken.h", "#ifdef OTHER\nvoid other(void);\n");
  repository.write("src/vectors.h", "static float first(const float* x) { return x[0] + 1; }\n");
  const std::string f = "void f(float* y) { *y = SIZE; }\n";
  EXPECT_EQ(extracted_f(*clang, repository,
                        "#ifdef WITH_GPU\n#include \"sizes.h\"\n#endif\n#include \"sizes.h\"\n"
                        "#ifdef WITH_TI\n#include \"broken.h\"\n#endif\n" +
                            f),
            "#define SIZE 2\n\n" + f);
  // Another compiler may take the other branch.
  const std::string kept = extracted_f(*clang, repository,
                                       "#ifndef __clang__\n#include \"vectors.h\"\n#else\n"
                                       "static float first(const float* x) { return x[0]; }\n#endif\n"
                                       "void f(float* y) { *y = first(y); }\n");
  EXPECT_NE(kept.find("return x[0] + 1;"), std::string::npos) << kept;
}

TEST(Extract, ATextThatIsIncludedTwice_IsThereTwice) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("unused.c", "");
  repository.write("src/config.h", "#define GAIN 3\n");
  repository.write("src/gained.inc",
                   "#include \"config.h\"\nstatic float NAME(float v) { return v OP GAIN; }\n#undef NAME\n#undef OP\n");
  const std::string source = extracted_f(*clang, repository,
                                         "#define NAME times\n#define OP *\n#include \"gained.inc\"\n"
                                         "#define NAME plus\n#define OP +\n#include \"gained.inc\"\n"
                                         "void f(float* y) { *y = times(*y) + plus(*y); }\n");
  const auto unit = read_unit(*clang, source, Language::c);
  ASSERT_TRUE(unit.has_value());
  EXPECT_TRUE(unit->errors.empty()) << source;
  ASSERT_EQ(unit->functions.size(), 3U) << source;
  EXPECT_EQ(unit->functions[1].name, "plus");
  EXPECT_EQ(source.find("GAIN 3"), source.rfind("GAIN 3")) << source;
}

TEST(Extract, AFileThatCannotBeRead_IsNotSaidToBeEmpty) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("unused.c", "");
  const std::string problem = extracted_f(*clang, repository, "#ifdef A\nvoid f(float* y) { *y = 1; }\n");
  EXPECT_NE(problem.find("unterminated conditional directive"), std::string::npos) << problem;
}

}  // namespace
}  // namespace accelopt::scaffold

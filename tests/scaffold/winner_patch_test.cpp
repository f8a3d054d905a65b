// SPDX-License-Identifier: Apache-2.0
#include "scaffold/winner_patch.hpp"

#include <gtest/gtest.h>

#include "scaffold/extract.hpp"
#include "scaffold/programs.hpp"
#include "scaffold/scaffold.hpp"
#include "scaffold/winner_blocks.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::scaffold {
namespace {

using base::ErrorCode;

/// Faster by hand, with helpers, macros, includes and a directive, and names that the user's file has too.
constexpr const char* kFasterKernel = R"(// SPDX-License-Identifier: Apache-2.0
//@ flags -ffast-math
#include <cmath>
#include <cstring>
#include "task.h"

#define TILE (N / 5)
namespace {
template <class T>
T square(T v) { return v * v; }
constexpr int kHalf = K / 2;
int calls(int i) { return i; }
}  // namespace

static float scale_of(const float* row, float eps) {
  float sums[2] = {0, 0};
  for (int k = 0; k < kHalf; ++k) {
    sums[0] += square(row[k]);
    sums[1] += square(row[k + kHalf]);
  }
  return 1.0f / std::sqrt((sums[0] + sums[1]) / K + eps);
}

extern "C" void kernel(const float* weights, float eps, const float* x, float* out, int64_t rows) {
  float normed[K];
  for (int64_t i = 0; i < rows; ++i) {
    const float scale = scale_of(x + i * K, eps);
    for (int k = 0; k < K; ++k) normed[k] = x[i * K + k] * scale;
    std::memset(out + i * N, 0, sizeof(float) * N);
    for (int k = 0; k < K; ++k)
      for (int t = 0; t < N; t += TILE)
        for (int j = t; j < t + TILE + calls(0); ++j) out[i * N + j] += normed[k] * weights[k * N + j];
  }
}
)";

/// Without headers, which take most of the time to read.
constexpr const char* kSmallProgram =
    "enum { K = 48, N = 40 };\n"
    "void rms_product(float* out, int rows, const float* weights, float eps, const float* x) {\n"
    "  for (int i = 0; i < rows * N; ++i) out[i] = x[i % K] * weights[i % K * N] + eps;\n}\n";
constexpr const char* kSmallKernel =
    "#include \"task.h\"\n"
    "extern \"C\" void kernel(const float* weights, float eps, const float* x, float* out, int64_t rows) {\n"
    "  for (int64_t row = 0; row < rows * N; ++row) out[row] = x[row % K] * weights[row % K * N] + eps;\n}\n";

model::Task scaffolded(const syntax::Clang& clang, const Repository& repository) {
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "rms_product";
  options.stated.shapes = {"x=rows,K", "weights=K,N"};
  options.stated.outputs = {"out=rows,N"};
  options.stated.axes = {"rows=24"};
  options.stated.inits = {"x=normal(0, 1)", "weights=normal(0, 1)", "eps=constant(1e-6)"};
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(clang, options);
  EXPECT_TRUE(report.has_value()) << report.error().message;
  auto task = suites::load_task(options.folder);
  EXPECT_TRUE(task.has_value()) << task.error().message;
  return std::move(*task);
}

model::Task scaffolded_c(const syntax::Clang& clang, const Repository& repository) {
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "scale_rows";
  options.stated.shapes = {"in=rows,columns"};
  options.stated.outputs = {"out=rows,columns"};
  options.stated.axes = {"rows=50"};
  options.stated.constants = {"columns=32"};
  options.stated.inits = {"in=normal(0, 1)"};
  options.folder = repository.path() / "task";
  EXPECT_TRUE(scaffold_task(clang, options).has_value());
  auto task = suites::load_task(options.folder);
  EXPECT_TRUE(task.has_value()) << task.error().message;
  return std::move(*task);
}

model::Solution solution(model::Language language, const std::string& text) {
  return {language, {{language == model::Language::c ? "kernel.c" : "kernel.cpp", text}}};
}

base::Result<std::string> patch_text(const model::Task& task, const model::Solution& winner,
                                     const Repository& repository, const PatchForm& form = {}) {
  TRY_ASSIGN(const WinnerPatch patch, make_winner_patch({{task, winner, repository.path() / "task", form}}));
  return diff_of(patch);
}

/// Applies the patch of the winner as a user does, and compares the program's answers before and after.
void expect_same_answers(const Repository& repository, const model::Task& task, const model::Solution& winner,
                         const std::string& compiler) {
  const std::string build = compiler + " -Wall -Wextra -O2 src/" + repository.file().filename().string() +
                            " -o program -lm 2>build.log || { cat build.log; false; } && ./program";
  const auto before = repository.run(build);
  ASSERT_EQ(before.first, 0) << before.second;
  const auto patch = patch_text(task, winner, repository);
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  repository.write("winner.patch", *patch);
  const auto check = repository.run("git apply --check winner.patch && git apply winner.patch");
  ASSERT_EQ(check.first, 0) << check.second << *patch;
  const auto after = repository.run(build);
  EXPECT_EQ(after.first, 0) << after.second << *patch;
  EXPECT_EQ(after.second, before.second) << *patch;
}

TEST(WinnerPatch, GivesTheSameAnswersWithAHandMadeKernel) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("model.cpp", kUserProgram);
  repository.write("src/settings.h", kSettingsHeader);
  const model::Task task = scaffolded(*clang, repository);
  expect_same_answers(repository, task, solution(model::Language::cpp, kFasterKernel), "g++");
  const std::string patched = repository.read("src/model.cpp");
  EXPECT_NE(patched.find("::rms_product_accelopt::kernel(weights, eps, x, out, rows);"), std::string::npos) << patched;
  EXPECT_NE(patched.find("#include <cstring>"), std::string::npos);
  EXPECT_NE(patched.find("constexpr int kHalf = 48 / 2;"), std::string::npos) << patched;
  EXPECT_NE(patched.find("#undef TILE"), std::string::npos);
  EXPECT_EQ(patched.find("task.h"), std::string::npos);
  EXPECT_NE(patched.find("/* Counts calls. */"), std::string::npos);
  EXPECT_LT(patched.find("namespace rms_product_accelopt {"), patched.find("/// Row-wise root mean square"));
}

TEST(WinnerPatch, TunedValuesAreMacrosThatEndWithTheKernel) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("model.cpp", kUserProgram);
  repository.write("src/settings.h", kSettingsHeader);
  const model::Task task = scaffolded(*clang, repository);
  std::string tuned = kFasterKernel;
  tuned.replace(tuned.find("N / 5"), 5, "N / STRIPS");
  tuned.insert(tuned.find("//@ flags"), "//@ tune STRIPS in {5}\n//@ require N % STRIPS == 0\n");
  expect_same_answers(repository, task, solution(model::Language::cpp, tuned), "g++");
  const std::string patched = repository.read("src/model.cpp");
  EXPECT_NE(patched.find("#define STRIPS 5\n"), std::string::npos) << patched;
  EXPECT_NE(patched.find("#undef STRIPS\n"), std::string::npos) << patched;
  EXPECT_EQ(patched.find("//@"), std::string::npos) << patched;
}

TEST(WinnerPatch, TakesTheScaffoldedBaselineItself) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("model.cpp", kUserProgram);
  repository.write("src/settings.h", kSettingsHeader);
  const model::Task task = scaffolded(*clang, repository);
  expect_same_answers(repository, task, task.baseline, "g++");
  const std::string patched = repository.read("src/model.cpp");
  const std::size_t comment = patched.find("/// Row-wise");
  EXPECT_EQ(patched.find("/// Row-wise", comment + 1), std::string::npos) << patched;
  EXPECT_EQ(patched.find("static float square", patched.find("static float square") + 1), std::string::npos) << patched;
}

TEST(WinnerPatch, KeepsTheOldBodyForOtherConstantsInC) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("rows.c", kCProgram);
  const model::Task task = scaffolded_c(*clang, repository);
  const model::Solution winner =
      solution(model::Language::c,
               "#include <math.h>\n#include \"task.h\"\n"
               "double gain(double v) { return v / 2; }\n"
               "void kernel(const double* in, double* out, int64_t rows) {\n"
               "  for (int64_t i = 0; i < rows; ++i, in += columns, out += columns) {\n"
               "    const double first = fabs(in[0]);\n"
               "    for (int j = 0; j < columns; ++j) out[j] = gain(in[j]) + first;\n  }\n}\n");
  expect_same_answers(repository, task, winner, "gcc -std=gnu11");
  const std::string patched = repository.read("src/rows.c");
  EXPECT_NE(patched.find("if (columns == 32 && rows >= 7 && rows <= 801 &&"), std::string::npos) << patched;
  EXPECT_NE(patched.find("static double scale_rows_accelopt_gain(double v)"), std::string::npos) << patched;
}

TEST(WinnerPatch, TakesTheScaffoldedBaselineInC) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("rows.c", kCProgram);
  const model::Task task = scaffolded_c(*clang, repository);
  expect_same_answers(repository, task, task.baseline, "gcc -std=gnu11");
}

TEST(WinnerPatch, WorksInsideBlocksAndWithoutALastLineEnd) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string program =
      "#if defined(_OPENMP)\n#include <omp.h>\n#endif\n#include <cstdio>\nint main2();\nextern \"C\" {\n"
      "void twice(const float* x, float* y, long n) { for (long i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n}\n"
      "int main() { float x[3] = {1, 2, 3}, y[3]; twice(x, y, 3); std::printf(\"%g\\n\", y[0] + y[1] + y[2]); }";
  const Repository repository("twice.cpp", program);
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "twice";
  options.stated.shapes = {"x=n"};
  options.stated.outputs = {"y=n"};
  options.stated.axes = {"n=4096"};
  options.stated.inits = {"x=normal(0, 1)"};
  options.folder = repository.path() / "task";
  ASSERT_TRUE(scaffold_task(*clang, options).has_value());
  const auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  const model::Solution winner =
      solution(model::Language::cpp,
               "#include \"task.h\"\ntemplate <int kStep> static float add(float v) { return v + v; }\n"
               "extern \"C\" {\nvoid kernel(const float* x, float* y, int64_t n) {\n"
               "  for (int64_t i = 0; i < n; ++i) y[i] = add<4>(x[i]);\n}\n}\n");
  expect_same_answers(repository, *task, winner, "g++");
}

/// What `init` makes of "twice" over n elements in that file.
base::Result<model::Task> scaffolded_twice(const syntax::Clang& clang, const Repository& repository) {
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "twice";
  options.stated = {{"x=n"}, {"y=n"}, {}, {"n=64"}, {}, {"x=normal(0, 1)"}};
  options.folder = repository.path() / "task";
  TRY_ASSIGN(const ScaffoldReport report, scaffold_task(clang, options));
  return suites::load_task(report.folder);
}

/// Right only where y is not x, and where there are at least four elements.
constexpr const char* kTwiceInPasses =
    "void kernel(const float* x, float* y, int64_t n) {\n"
    "  for (int64_t i = 0; i < n; ++i) y[i] = 0;\n"
    "  for (int64_t i = 0; i < n; ++i) y[i] += 2 * x[i];\n"
    "  if (n < 4) y[0] = -1;\n}\n";

TEST(WinnerPatch, LeavesCallersInPlaceAndSmallSizesToTheOldBody) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string main =
      "int main(void) {\n  float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, y[9];\n  twice(x, y, 8);\n"
      "  twice(x + 1, x, 8);\n  twice(y, y, 7);\n  twice(x, y, 1);\n  twice(x, y, 0);\n"
      "  printf(\"%g %g %g %g %g\\n\", x[0], x[7], x[8], y[0], y[6]);\n  return 0;\n}\n";
  const std::string loop = " n) {\n  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n";
  const std::string kernel = std::string("#include \"task.h\"\n");
  const Repository c("twice.c", "#include <stdio.h>\nvoid twice(const float *x, float *y, int" + loop + main);
  const auto c_task = scaffolded_twice(*clang, c);
  ASSERT_TRUE(c_task.has_value()) << c_task.error().message;
  expect_same_answers(c, *c_task, solution(model::Language::c, kernel + kTwiceInPasses), "gcc -Wconversion -Werror");
  const Repository cpp("twice.cpp", "#include <cstdio>\nvoid twice(const float* x, float* y, int" + loop + main);
  const auto cpp_task = scaffolded_twice(*clang, cpp);
  ASSERT_TRUE(cpp_task.has_value()) << cpp_task.error().message;
  expect_same_answers(cpp, *cpp_task, solution(model::Language::cpp, kernel + "extern \"C\" " + kTwiceInPasses),
                      "g++ -Wconversion -Wold-style-cast -Werror");
  const std::string vectors =
      "#include <cstdio>\n#include <span>\nvoid twice(std::span<const float> x, std::span<float> y) {\n"
      "  for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];\n}\n"
      "int main() {\n  float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n"
      "  twice({x + 1, 8}, {x, 8});\n  std::printf(\"%g %g %g\\n\", x[0], x[7], x[8]);\n}\n";
  const Repository spans("spans.cpp", vectors);
  const auto span_task = scaffolded_twice(*clang, spans);
  ASSERT_TRUE(span_task.has_value()) << span_task.error().message;
  expect_same_answers(spans, *span_task, solution(model::Language::cpp, kernel + "extern \"C\" " + kTwiceInPasses),
                      "g++ -std=c++20");
}

TEST(WinnerPatch, LeavesSizesAboveAllThatWereVerifiedToTheOldBody) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("twice.c",
                              "#include <stdio.h>\nvoid twice(const float *x, float *y, int n) {\n"
                              "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n"
                              "static float from[20000], to[20000];\n"
                              "int main(void) {\n  from[19999] = 1;\n  twice(from, to, 20000);\n"
                              "  printf(\"%g\\n\", to[19999]);\n  return 0;\n}\n");
  const auto task = scaffolded_twice(*clang, repository);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  EXPECT_EQ(task->workloads[3].axes.at("n"), 1025);
  const model::Solution winner = solution(model::Language::c,
                                          "#include \"task.h\"\nvoid kernel(const float* x, float* y, int64_t n) {\n"
                                          "  for (short i = 0; i < (short)n && i < 1025; ++i) y[i] = 2 * x[i];\n}\n");
  expect_same_answers(repository, *task, winner, "gcc -Werror");
  repository.write("src/twice.c",
                   "void twice(const float *x, float *y, short n) {\n"
                   "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n");
  model::Task other = *task;
  other.entry->content.clear();
  other.workloads = {{"race", {{"n", 64}}}, {"check", {{"n", 32767}}}};
  const auto patch = make_winner_patch({{other, winner, repository.path() / "task", {}}});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  EXPECT_NE(diff_of(*patch).find("if (n >= 64 && twice"), std::string::npos) << "no short is longer";
  ASSERT_EQ(patch->notes.size(), 1U);
  EXPECT_EQ(patch->notes[0].find("twice: the patch calls the winner for n from 64 to 32767, "), 0U) << patch->notes[0];
  other.workloads.clear();
  EXPECT_TRUE(make_winner_patch({{other, winner, repository.path() / "task", {}}})) << "as init tries one";
}

TEST(WinnerPatch, LeavesScalarsThatWereNeverDrawnToTheOldBody) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("blend.c",
                              "#include <stdio.h>\n"
                              "void blend(const float *x, float *z, float alpha, int power, int n) {\n"
                              "  for (int i = 0; i < n; ++i) {\n    z[i] = alpha;\n"
                              "    for (int p = 0; p < power; ++p) z[i] *= x[i];\n  }\n}\n"
                              "int main(void) {\n  float x[8] = {2}, y[8], z[8];\n  blend(x, y, 0.5f, 2, 8);\n"
                              "  blend(x, z, 3, 5, 8);\n  printf(\"%g %g\\n\", y[0], z[0]);\n  return 0;\n}\n");
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "blend";
  options.stated = {{"x=n"}, {"z=n"}, {}, {"n=64"}, {}, {"x=normal(0, 1)", "alpha=constant(0.5)", "power=constant(2)"}};
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_EQ(report->notes.size(), 2U);
  EXPECT_EQ(report->notes[0].find("alpha is drawn as one value, constant(0.5): "), 0U) << report->notes[0];
  const auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  expect_same_answers(repository, *task,
                      solution(model::Language::c,
                               "#include \"task.h\"\n"
                               "void kernel(const float* x, float alpha, int power, float* z, int64_t n) {\n"
                               "  (void)alpha, (void)power;\n"
                               "  for (int64_t i = 0; i < n; ++i) z[i] = 0.5f * x[i] * x[i];\n}\n"),
                      "gcc -Werror");
  EXPECT_NE(repository.read("src/blend.c").find(" && alpha == 0.5f && power == 2 && "), std::string::npos);
}

TEST(WinnerPatch, TensorsThatAreRestrictOrChangedInPlaceAreNotCompared) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string loop = "int n) {\n  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n";
  const Repository repository("twice.cpp", "void twice(const float* __restrict x, float* __restrict y, " + loop);
  const auto task = scaffolded_twice(*clang, repository);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  const auto patch = patch_text(*task, task->baseline, repository);
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  EXPECT_EQ(patch->find("are_disjoint"), std::string::npos) << *patch;

  const Repository one("scale.cpp", "void scale(float* x, int n) {\n  for (int i = 0; i < n; ++i) x[i] *= 2;\n}\n");
  ScaffoldOptions options;
  options.file = one.file();
  options.function = "scale";
  options.stated = {{}, {}, {"x=n"}, {"n=64"}, {}, {"x=normal(0, 1)"}};
  options.folder = one.path() / "task";
  ASSERT_TRUE(scaffold_task(*clang, options).has_value());
  const auto in_place = suites::load_task(options.folder);
  ASSERT_TRUE(in_place.has_value()) << in_place.error().message;
  const auto of_one = patch_text(*in_place, in_place->baseline, one);
  ASSERT_TRUE(of_one.has_value()) << of_one.error().message;
  EXPECT_EQ(of_one->find("are_disjoint"), std::string::npos) << *of_one;
}

TEST(WinnerPatch, MacrosAndGuardsOfHeaders_StayWhatTheyAre) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("twice.c",
                              "#include <stdio.h>\n#include \"gain.h\"\nvoid twice(const float *x, float *y, int n) {\n"
                              "  for (int i = 0; i < n; ++i) y[i] = SCALE * gained(x[i]);\n}\n#include \"clip.inc\"\n"
                              "int main(void) {\n  float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, y[9];\n  twice(x, y, 9);\n"
                              "  printf(\"%g %g\\n\", y[8], clipped(y[8]));\n  return 0;\n}\n");
  repository.write("src/gain.h",
                   "#ifndef GAIN_H\n#define GAIN_H\n#define CLIP 1\n#if CLIP\n#define SCALE 3.0f\n#else\n"
                   "#define SCALE 1.0f\n#endif\nstatic inline float gained(float v) { return v + 1; }\n#endif\n");
  repository.write("src/clip.inc",
                   "#ifdef CLIP\nstatic float clipped(float v) { return v > SCALE ? SCALE : v; }\n"
                   "#else\nstatic float clipped(float v) { return v; }\n#endif\n");
  const auto task = scaffolded_twice(*clang, repository);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  std::string winner = model::main_text(task->baseline);  // as a model may write it
  winner.replace(winner.find("{\n") + 2, 0, "#define STEP 1\n");
  expect_same_answers(repository, *task, solution(model::Language::c, winner), "gcc");
  const std::string patched = repository.read("src/twice.c");
  EXPECT_EQ(patched.find("#define CLIP"), std::string::npos) << "the header says it\n" << patched;
  EXPECT_EQ(patched.find("GAIN_H"), std::string::npos) << patched;
  EXPECT_NE(patched.find("#pragma pop_macro(\"STEP\")\n"), std::string::npos) << patched;
  EXPECT_EQ(patched.find("push_macro(\"SCALE\")", patched.find("push_macro(\"SCALE\")") + 1), std::string::npos);
}

TEST(WinnerPatch, OfAFunctionWithAConditionalAttribute_StandsAboveIt) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("twice.c",
                              "#if defined(__GNUC__)\n__attribute__((noinline))\n#endif\n"
                              "void twice(const float *x, float *y, int n) {\n"
                              "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n");
  const auto task = scaffolded_twice(*clang, repository);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  const auto patch = make_winner_patch({{*task, task->baseline, repository.path() / "task", {}}});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  const std::string& after = patch->files.front().after;
  EXPECT_LT(after.find("twice_accelopt_kernel"), after.find("#if defined(__GNUC__)")) << after;
}

TEST(WinnerPatch, StandsBesideCommentsOverSeveralLines) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string directives = "#define GAIN 2  /* of the filter,\n   as measured */\n";
  const std::string other = "int other(void) { return 0; } /* More,\n   without stars. */ ";
  const std::string comment = "/* Doubles x,\n   without stars,\n\nfor all of n.\n */\n";
  const std::string loop =
      "void twice(const float *x, float *y, int n) {\n  for (int i = 0; i < n; ++i) y[i] = GAIN * x[i];\n}\n";
  for (const std::string& before : {directives, directives + comment, directives + other}) {
    const Repository repository("twice.c", "#include <stddef.h>  /* sizes,\n   of course */\n" + before + loop);
    const auto task = scaffolded_twice(*clang, repository);
    ASSERT_TRUE(task.has_value()) << task.error().message << before;
    const auto patch = make_winner_patch({{*task, task->baseline, repository.path() / "task", {}}});
    ASSERT_TRUE(patch.has_value()) << patch.error().message << before;
    const std::string& after = patch->files.front().after;
    EXPECT_EQ(count_errors(*clang, after, model::Language::c).value_or(1), 0U) << after;
    EXPECT_NE(after.find(before == directives + comment ? comment + "void twice" : "\nvoid twice"), std::string::npos)
        << after;
  }
}

TEST(WinnerPatch, OfTwoFunctions_SharesWhatTheirWinnersDeclare) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string body = "(const float *x, float *y, int n) {\n  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n";
  const Repository repository("twice.c", "void twice" + body + "void also" + body);
  const auto task = scaffolded_twice(*clang, repository);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  model::Task other = *task;
  other.entry->function = "also";
  other.entry->content.clear();
  const model::Solution winner = solution(
      model::Language::c, std::string("#include \"task.h\"\ntypedef enum { width = 8 } lanes;\n") + kTwiceInPasses);
  const auto patch = make_winner_patch(
      {{other, winner, repository.path() / "task", {}}, {*task, winner, repository.path() / "task", {}}});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  const std::string& after = patch->files.front().after;
  EXPECT_EQ(count_errors(*clang, after, model::Language::c).value_or(1), 0U) << after;
}

TEST(WinnerPatch, BuildsAsPedanticC90) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("twice.c",
                              "#include <stdio.h>\nvoid twice(const float *x, float *y, int n) {\n  int i;\n"
                              "  for (i = 0; i < n; i++) y[i] = 2 * x[i];\n}\n"
                              "int main(void) {\n  float x[9] = {1, 2}, y[9];\n  twice(x, y, 9);\n  twice(x, y, 1);\n"
                              "  printf(\"%g\\n\", y[1]);\n  return 0;\n}\n");
  const std::string compiler = "gcc -std=c90 -pedantic -Werror";
  repository.write("compile_commands.json", R"([{"directory": ".", "file": ")" + repository.file().string() +
                                                R"(", "command": ")" + compiler + R"( -c twice.c"}])");
  const auto task = scaffolded_twice(*clang, repository);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  expect_same_answers(repository, *task, task->baseline, compiler);
  EXPECT_NE(repository.read("src/twice.c").find("    return;\n  }\n  {\n  int i;\n"), std::string::npos);
  EXPECT_TRUE(patch_text(*task, task->baseline, repository)) << "a winner is no change";
}

TEST(WinnerPatch, RefusesWhatDoesNotFit) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("model.cpp", kSmallProgram);
  const model::Task task = scaffolded(*clang, repository);
  const model::Solution winner = solution(model::Language::cpp, kSmallKernel);
  const auto code = [&](const model::Task& changed, const model::Solution& other, const std::string& source) {
    const auto result = replace_entry(*clang, {changed, other, "", {}}, source);
    return result ? ErrorCode::internal : result.error().code;
  };
  EXPECT_EQ(code(task, solution(model::Language::c, "void kernel(void) {}"), kSmallProgram), ErrorCode::unsupported);
  EXPECT_EQ(code(task, solution(model::Language::cpp, "void other() {}"), kSmallProgram), ErrorCode::unsupported);
  EXPECT_EQ(code(task, winner, "int main() {}"), ErrorCode::not_found);
  EXPECT_EQ(code(task, winner, "void rms_product(float* out, int rows) {}"), ErrorCode::invalid_argument);
  EXPECT_EQ(code(task, winner, "void rms_product(float* out, int rows, const double* w, float e, const float* x) {}"),
            ErrorCode::invalid_argument);
  model::Task without = task;
  without.entry.reset();
  EXPECT_EQ(code(without, winner, kSmallProgram), ErrorCode::invalid_argument);
  model::Task lost = task;
  lost.entry->file = "../src/absent.cpp";
  const auto patch = patch_text(lost, winner, repository);
  ASSERT_FALSE(patch.has_value());
  EXPECT_EQ(patch.error().code, ErrorCode::not_found);
}

/// A helper, a constant, and a function that the entry does not use.
constexpr const char* kShiftProgram =
    "constexpr float kShift = 1.5f;\n"
    "static float shifted(float v) { return v + kShift; }\n"
    "void twice(const float* x, float* y, int n) {\n"
    "  for (int i = 0; i < n; ++i) y[i] = 2 * shifted(x[i]);\n}\n"
    "float unrelated(float v) { return v - 1; }\n";
constexpr const char* kShiftProgramInC =
    "#define kShift 1.5f\n"
    "static float shifted(float v) { return v + kShift; }\n"
    "void twice(const float* x, float* y, int n) {\n"
    "  for (int i = 0; i < n; ++i) y[i] = 2 * shifted(x[i]);\n}\n";

TEST(WinnerPatch, WinnersInTheFile_AreNoChangeAndHideNone) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  for (const std::string name : {"shift.cpp", "shift.c"}) {
    const Repository repository(name, name == "shift.c" ? kShiftProgramInC : kShiftProgram);
    const auto task = scaffolded_twice(*clang, repository);
    ASSERT_TRUE(task.has_value()) << task.error().message;
    const auto patch_of = [&] {
      const PatchForm form{FlagsBy::pragmas, {"-O3"}};
      const auto patch = make_winner_patch({{*task, task->baseline, repository.path() / "task", form}});
      return patch ? patch->files.front().after : patch.error().message;
    };
    const std::string patched = patch_of();
    EXPECT_EQ(without_winners(patched).find("twice_accelopt"), std::string::npos) << patched;
    repository.write("src/" + name, patched);
    EXPECT_EQ(patch_of().find("was changed"), std::string::npos) << patched;
    for (const auto& [from, to] : {std::pair("y[i] = 2 * ", "y[i] = 3 * "), std::pair("v + kShift", "v - kShift")}) {
      std::string mended = patched;
      mended.replace(mended.rfind(from), std::string(from).size(), to);
      repository.write("src/" + name, mended);
      EXPECT_NE(patch_of().find("was changed after the task was made"), std::string::npos) << mended;
    }
  }
}

TEST(WinnerPatch, WhatHeadersOfOtherFoldersSay_StaysTheirsAndCounts) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("twice.c",
                              "#include \"gain.h\"\nvoid twice(const float *x, float *y, int n) {\n"
                              "  for (int i = 0; i < n; ++i) y[i] = GAIN * weight(x[i]);\n}\n");
  const std::string header =
      "#pragma once\n#define GAIN 2.0f\nstatic inline float weight(float v) { return v * GAIN; }\n";
  repository.write("include/gain.h", header);
  repository.write("compile_commands.json",
                   R"([{"directory": ")" + repository.path().string() +
                       R"(", "command": "gcc -Iinclude -O2 -c src/twice.c", "file": "src/twice.c"}])");
  const auto task = scaffolded_twice(*clang, repository);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  model::Solution winner = task->baseline;
  const auto patch_of = [&](FlagsBy by) {
    const auto patch = make_winner_patch({{*task, winner, repository.path() / "task", {by, {}}}});
    return patch ? patch->files.front().after : patch.error().message;
  };
  const std::string as_is = patch_of(FlagsBy::nothing);
  EXPECT_EQ(as_is.find("#define GAIN"), std::string::npos) << as_is;
  EXPECT_EQ(as_is.find("accelopt_weight"), std::string::npos) << as_is;
  const std::string with_pragmas = patch_of(FlagsBy::pragmas);
  EXPECT_EQ(with_pragmas.find("#define GAIN"), std::string::npos) << with_pragmas;
  EXPECT_NE(with_pragmas.find("accelopt_weight(float v)"), std::string::npos) << "with the winner's flags";
  std::string text = model::main_text(winner);
  text.replace(text.find("2.0f"), 4, "4.0f");
  winner = solution(model::Language::c, text);
  const std::string changed = patch_of(FlagsBy::nothing);
  EXPECT_NE(changed.find("accelopt_weight(float v)"), std::string::npos) << "with the winner's macro\n" << changed;
  repository.write("include/gain.h", "// Of the house.\n" + header);
  EXPECT_EQ(patch_of(FlagsBy::nothing).find("was changed"), std::string::npos);
  repository.write("include/gain.h", std::string(header).replace(header.find("2.0f"), 4, "3.0f"));
  EXPECT_NE(patch_of(FlagsBy::nothing).find("was changed after the task was made"), std::string::npos);
}

TEST(WinnerPatch, OfAFunctionThatWasChangedSince_IsRefused) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("shift.cpp", kShiftProgram);
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "twice";
  options.stated = {{"x=n"}, {"y=n"}, {}, {"n=64"}, {}, {"x=normal(0, 1)"}};
  options.folder = repository.path() / "task";
  ASSERT_TRUE(scaffold_task(*clang, options).has_value());
  const auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  EXPECT_EQ(task->entry->content.size(), 64U);
  const auto problem = [&](const model::Task& of, const std::string& from, const std::string& to) {
    std::string program = kShiftProgram;
    program.replace(program.find(from), from.size(), to);
    repository.write("src/shift.cpp", program);
    const auto patch = patch_text(of, of.baseline, repository);
    return patch ? "" : patch.error().message;
  };
  EXPECT_NE(problem(*task, "2 * shifted", "3 * shifted").find("was changed after the task was made"),
            std::string::npos);
  EXPECT_NE(problem(*task, "2 * shifted", "/* Made faster by accelopt */ 3 * shifted"), "");
  EXPECT_NE(problem(*task, "v + kShift", "v - kShift"), "");
  EXPECT_NE(problem(*task, "1.5f", "2.5f"), "");
  EXPECT_EQ(problem(*task, "v - 1", "v - 2"), "");
  EXPECT_EQ(problem(*task, "  for (int", "  // Doubles.\n\tfor  (int"), "");
  model::Task of_older_version = *task;
  of_older_version.entry->content.clear();
  EXPECT_EQ(problem(of_older_version, "2 * shifted", "3 * shifted"), "");
  std::string toml = repository.read("task/task.toml");
  toml.replace(toml.find(task->entry->content), 2, "??");
  repository.write("task/task.toml", toml);
  EXPECT_NE(suites::load_task(options.folder).error().message.find("the hash that init wrote"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::scaffold

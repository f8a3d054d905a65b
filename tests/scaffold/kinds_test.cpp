// SPDX-License-Identifier: Apache-2.0
// Functions whose parameters are more than pointers to float: made into tasks, and patched with their own baseline.
#include <gtest/gtest.h>

#include "scaffold/programs.hpp"
#include "scaffold/scaffold.hpp"
#include "scaffold/winner_patch.hpp"
#include "scaffold/words.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::scaffold {
namespace {

base::Result<ScaffoldReport> made(const syntax::Clang& clang, const Repository& repository, const StatedTexts& stated) {
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "f";
  options.stated = stated;
  options.folder = repository.path() / "task";
  return scaffold_task(clang, options);
}

/// The headers that the code names: each takes a compiler longer to read than all the rest.
std::string headers_of(const std::string& code) {
  std::string out = "#include <cstdio>\n";
  for (const char* name : {"span", "vector"}) {
    if (code.find(std::string("std::") + name) != std::string::npos) out += std::string("#include <") + name + ">\n";
  }
  return out;
}

/// The task that `init` makes of f, after the program was patched with its baseline and still says the same.
model::Task patched(const std::string& function, const std::string& main, const StatedTexts& stated) {
  const auto clang = load_clang();
  if (!clang) return {};
  const Repository repository("kinds.cpp", headers_of(function + main) + function + "\n");
  repository.write("src/main.cpp", "#include \"kinds.cpp\"\n" + main + "\n");
  const auto report = made(*clang, repository, stated);
  EXPECT_TRUE(report.has_value()) << report.error().message;
  if (!report) return {};
  EXPECT_TRUE(report->notes.empty()) << report->notes.front() << repository.read("task/baseline.cpp");
  EXPECT_TRUE(report->open.empty()) << report->open.front();
  auto task = suites::load_task(repository.path() / "task");
  EXPECT_TRUE(task.has_value()) << task.error().message << repository.read("task/task.toml");
  if (!task) return {};
  const std::string build = "g++ -std=c++20 -Wall -Wextra -Werror -O1 src/main.cpp -o program && ./program";
  const auto before = repository.run(build);
  EXPECT_EQ(before.first, 0) << before.second;
  const auto patch = make_winner_patch({{*task, task->baseline, repository.path() / "task", {}}});
  EXPECT_TRUE(patch.has_value()) << patch.error().message;
  if (!patch) return {};
  repository.write("src/kinds.cpp", patch->files.front().after);
  EXPECT_NE(patch->files.front().after, patch->files.front().before);
  const auto after = repository.run(build);
  EXPECT_EQ(after.first, 0) << after.second << patch->files.front().after;
  EXPECT_EQ(after.second, before.second) << patch->files.front().after;
  return std::move(*task);
}

std::string refusal(const std::string& function, const StatedTexts& stated) {
  const auto clang = load_clang();
  if (!clang) return "libclang is not installed";
  const Repository repository("kinds.cpp", function + "\n");
  const auto report = made(*clang, repository, stated);
  return report ? "taken" : report.error().message;
}

class Kinds : public testing::Test {
 protected:
  void SetUp() override {
    if (!load_clang()) GTEST_SKIP() << "libclang is not installed";
  }
};

const std::vector<std::string> kDrawX{"x=normal(0, 1)"};

TEST_F(Kinds, SearchesThatEndEarly_CostTheirResultAlone) {
  const model::Task task = patched(
      "int f(const float* x, float a, int n) {\n  for (int i = 0; i < n; ++i) {\n    if (x[i] > a) return i;\n  }\n  "
      "return -1;\n}",
      "int main() { float x[3] = {1, 2, 3}; std::printf(\"%d\\n\", f(x, 1.5f, 3)); }",
      {.shapes = {"x=n"}, .axes = {"n=64"}, .inits = {"x=normal(0, 1)", "a=uniform(1, 3)"}});
  EXPECT_EQ(task.definition.cost.bytes, "4");
}

/// The lines of a kernel that make the function's own parameters.
std::string locals_of(const std::string& function, const StatedTexts& stated) {
  const Repository repository("kinds.cpp", function + "\n");
  const auto report = made(*load_clang(), repository, stated);
  EXPECT_TRUE(report.has_value()) << report.error().message;
  return repository.read("task/baseline.cpp");
}

TEST_F(Kinds, PointersThatTheBodyAdvances_AreNotConst) {
  const std::string loop = "{ float s = 0; while (n--) s += *x++; return s; }";
  const StatedTexts stated{.shapes = {"x=n"}, .axes = {"n=64"}, .inits = kDrawX};
  EXPECT_NE(locals_of("float f(float* x, int n) " + loop, stated).find(" float* x = const_cast"), std::string::npos);
  const std::string other = "{ float s = 0; for (int i = 0; i < n; ++i) s += x[i]; return s; }";
  EXPECT_NE(locals_of("float f(float* x, int n) " + other, stated).find(" float* const x = "), std::string::npos);
  const std::string records =
      "struct P { float x, y; };\nfloat f(const P* p, int n) "
      "{ float s = 0; for (int i = 0; i < n; ++i, ++p) s += p->x * p->y; return s; }";
  EXPECT_NE(
      locals_of(records, {.shapes = {"p=n"}, .axes = {"n=64"}, .inits = {"p=normal(0, 1)"}}).find(" const P* p ="),
      std::string::npos);
  const std::string span =
      "#include <span>\nfloat f(std::span<const float> x) "
      "{ float s = 0; while (!x.empty()) { s += x[0]; x = x.subspan(1); } return s; }";
  const std::string shifted = locals_of(span, stated);
  EXPECT_NE(shifted.find("] std::span<const float> x ="), std::string::npos) << shifted;
}

TEST(ChangesVariable, SeesTheVariableAlone) {
  for (const char* text : {"*p++ = 0;", "s += *++p;", "p = p + 1;", "p += 4;", "p >>= 1;", "g(&p);", "for (; ; --p)",
                           "std::swap(p, q);", "std::swap(q, p);"})
    EXPECT_TRUE(changes_variable(text, "p")) << text;
  for (const char* text : {"*p = 0;", "*p += 1;", "p[0] = 1;", "p[0]++;", "(*p)++;", "p->x = 2;", "a = p;", "p == q;",
                           "p <= q;", "a & p;", "f(i++, p);", "q.p = 0;", "// p = 0", "p1 = 2;"})
    EXPECT_FALSE(changes_variable(text, "p")) << text;
}

TEST_F(Kinds, InPlace_IsInout) {
  const model::Task task =
      patched("// Scales\n// \"x\".\nvoid f(float* x, float a, int n) { for (int i = 0; i < n; ++i) x[i] = x[i] * a; }",
              "int main() { float x[3] = {1, 2, 3}; f(x, 2.5f, 3); std::printf(\"%g %g %g\\n\", double(x[0]), "
              "double(x[1]), double(x[2])); }",
              {.inouts = {"x=n"}, .axes = {"n=64"}, .inits = {"x=normal(0, 1)", "a=uniform(1, 3)"}});
  ASSERT_EQ(task.definition.outputs.size(), 1U);
  EXPECT_TRUE(task.definition.outputs[0].inout);
  EXPECT_EQ(task.definition.description, "Scales x .");
  EXPECT_EQ(task.definition.op_type, "f");
  EXPECT_EQ(task.definition.cost.bytes, "8*n");
}

TEST_F(Kinds, ReadsBeforeItWrites_AsksForInout) {
  const std::string f = "void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }";
  EXPECT_NE(refusal(f, {.outputs = {"x=n"}}).find("give --inout x instead of --out x"), std::string::npos);
  const std::string g =
      "void f(const float* a, float* x, float* y, int n) { for (int i = 0; i < n; ++i) { x[i] = y[i] = a[i]; } }";
  EXPECT_NE(refusal(g, {.shapes = {"y=n", "a=n"}, .outputs = {"x=n"}}).find("writes y; give --out y, or --inout y"),
            std::string::npos);
  EXPECT_NE(refusal(f, {.outputs = {"x"}, .inouts = {"x"}}).find("--inout says both"), std::string::npos);
}

TEST_F(Kinds, FillsOfTheWhole_CountAsWrites) {
  // Declared here: the library's headers take libclang seconds.
  const auto notes = [](const std::string& body) {
    const Repository repository("kinds.cpp",
                                "extern \"C\" void* memset(void*, int, unsigned long);\n"
                                "namespace std { using ::memset; void fill(int*, int*, int); int* fill_n(int*, int, "
                                "int); }\n"
                                "void clear(int* y);\nvoid f(int* y, const int* v, int m, int n) {\n" +
                                    body + "\nfor (int i = 0; i < n; ++i) y[v[i]]++;\n}\n");
    const auto report =
        made(*load_clang(), repository,
             {.shapes = {"v=n"}, .outputs = {"y=m"}, .axes = {"m=64", "n=500"}, .inits = {"v=integers(0, m)"}});
    if (!report) return report.error().message;
    return report->notes.empty() ? std::string() : report->notes.front();
  };
  for (const char* body : {"memset(y, 0, sizeof(y[0]) * m);", "std::memset(y, 0, m * sizeof(int));",
                           "std::fill(y, y + m, 0);", "std::fill_n(y, m, 0);"})
    EXPECT_EQ(notes(body), "") << body;
  for (const char* body : {"memset(y, 0, m);", "std::fill(y, y + n, 0);", "std::fill(y + 1, y + m, 0);", "clear(y);",
                           "if (n > 1) std::fill(y, y + m, 0);"})
    EXPECT_NE(notes(body).find("init cannot see how f uses y"), std::string::npos) << body << notes(body);
  EXPECT_NE(notes("").find("reads y before it writes it"), std::string::npos);
}

TEST_F(Kinds, RangesOfIndices_FollowTheAxis) {
  const auto init_of = [](const std::string& body, const std::string& init) {
    const Repository repository("kinds.cpp",
                                "void f(const float* x, const int* p, float* y, int V, int D, int n) {\n"
                                "  for (int i = 0; i < n; ++i) {\n    " +
                                    body + "\n  }\n}\n");
    const auto report = made(*load_clang(), repository,
                             {.shapes = {"x=V,D", "p=n"},
                              .outputs = {"y=n,D"},
                              .axes = {"V=1000", "D=64", "n=512"},
                              .inits = {"x=normal(0, 1)", "p=" + init}});
    EXPECT_TRUE(report.has_value()) << report.error().message;
    const std::string toml = repository.read("task/task.toml");
    EXPECT_EQ(!report->notes.empty() && report->notes.front().find("p indexes x: ") == 0,
              toml.find(", V)\"") != std::string::npos);
    const std::size_t begin = toml.find("integers");
    return toml.substr(begin, toml.find('"', begin) - begin);
  };
  const std::string direct = "for (int d = 0; d < D; ++d) y[i * D + d] = x[p[i] * D + d];";
  EXPECT_EQ(init_of(direct, "integers(0, 1000)"), "integers(0, V)");
  EXPECT_EQ(init_of(direct, "integers(0, 900)"), "integers(0, 900)") << "a range of its own";
  EXPECT_EQ(init_of("const int at = p[i]; const float* row = x + at * D; for (int d = 0; d < D; ++d) y[i * D + d] = "
                    "row[d];",
                    "integers(0, 1000)"),
            "integers(0, V)");
  EXPECT_EQ(init_of("for (int d = 0; d < D; ++d) y[i * D + d] = x[d] * p[i];", "integers(0, 1000)"),
            "integers(0, 1000)")
      << "numbers, no places";
}

TEST_F(Kinds, HeadersThatAreNotFound_AreNamedInErrors) {
  const std::string why = refusal(
      "#include \"d.h\"\nvoid f(const float* RESTRICT x, float* RESTRICT y, int n) "
      "{ for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }",
      {.shapes = {"x=n"}, .outputs = {"y=n"}, .axes = {"n=64"}});
  EXPECT_NE(why.find("a header that is not found (d.h)"), std::string::npos) << why;
  EXPECT_NE(why.find("compile_commands.json"), std::string::npos) << why;
}

TEST_F(Kinds, Wrappers_TakeWhatTheParameterHolds) {
  const StatedTexts stated{.outputs = {"y=n"}, .axes = {"n=64"}};
  const std::string rest = ", float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 1; }";
  const auto advised = [&](const std::string& parameter) {
    const std::string text = refusal(
        "namespace std { template <class T, int N> struct array { T at[N]; T operator[](int) const; }; }\nvoid f(" +
            parameter + rest,
        stated);
    const std::size_t begin = text.find("f_flat(");
    return begin == std::string::npos ? text : text.substr(begin + 7, text.find(", ...") - begin - 7);
  };
  EXPECT_EQ(advised("const float& k"), "float k");
  EXPECT_EQ(advised("double& k"), "double* k");
  EXPECT_EQ(advised("const std::array<float, 16>& m"), "const float* m");
  EXPECT_EQ(advised("std::array<int, 4>& m"), "int* m");
}

const std::string kLargest =
    "void f(const float* x, int* places, float* values, int rows, int n) {\n"
    "  for (int r = 0; r < rows; ++r) {\n    places[r] = 0;\n    for (int i = 0; i < n; ++i) {\n"
    "      values[r * n + i] = 2 * x[r * n + i];\n"
    "      if (x[r * n + i] > x[r * n + places[r]]) places[r] = i;\n    }\n  }\n}\n";

TEST_F(Kinds, Ties_OfAnotherOutput) {
  const model::Task task = patched(
      kLargest,
      "int main() { float x[4] = {1, 3, 2, 3}, v[4]; int p[1]; f(x, p, v, 1, 4); std::printf(\"%d\\n\", p[0]); }",
      {.shapes = {"x=rows,n"},
       .outputs = {"places=rows", "values=rows,n"},
       .axes = {"rows=8", "n=64"},
       .inits = kDrawX,
       .ties = {"places=values"}});
  ASSERT_EQ(task.definition.outputs.size(), 2U);
  EXPECT_EQ(task.definition.outputs[0].ties, "values");
  EXPECT_TRUE(task.definition.ties.empty());
}

TEST_F(Kinds, Ties_OfWhatTheReferenceWrites_AreLeftOpenThere) {
  const auto clang = load_clang();
  const Repository repository("kinds.cpp",
                              "void f(const float* x, int* places, int n) {\n  places[0] = 0;\n"
                              "  for (int i = 0; i < n; ++i) if (x[i] > x[places[0]]) places[0] = i;\n}\n");
  const auto report = made(*clang, repository,
                           {.shapes = {"x=n", "keys=one,n", "places=one"},
                            .outputs = {"places"},
                            .axes = {"n=64", "one=1"},
                            .inits = kDrawX,
                            .ties = {"places=keys"}});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->notes.empty()) << report->notes.front();
  ASSERT_EQ(report->open.size(), 1U);
  EXPECT_EQ(report->open[0], "reference.cpp: what is to be written to keys");
  const std::string toml = repository.read("task/task.toml");
  EXPECT_NE(toml.find("dtype = \"int32\"\nties = \"keys\"\n"), std::string::npos) << toml;
  EXPECT_NE(toml.find("[[ties]]\nname = \"keys\"\nshape = [\"one\", \"n\"]\n"), std::string::npos) << toml;
  const std::string reference = repository.read("task/reference.cpp");
  EXPECT_NE(reference.find("int* places, real* keys, "), std::string::npos) << reference;
  EXPECT_NE(reference.find("#error \"write to keys"), std::string::npos) << reference;
  EXPECT_EQ(repository.read("task/baseline.cpp").find("keys"), std::string::npos);
}

TEST_F(Kinds, Ties_OfWhatTheReferenceWrites_HaveTheTypeOfTheInputs) {
  const auto clang = load_clang();
  const Repository repository("kinds.cpp",
                              "void f(const double* x, int* places, int n) {\n  places[0] = 0;\n"
                              "  for (int i = 0; i < n; ++i) if (x[i] > x[places[0]]) places[0] = i;\n}\n");
  ASSERT_TRUE(made(*clang, repository,
                   {.shapes = {"x=n", "keys=one,n", "places=one"},
                    .outputs = {"places"},
                    .axes = {"n=64", "one=1"},
                    .inits = kDrawX,
                    .ties = {"places=keys"}}));
  const std::string toml = repository.read("task/task.toml");
  EXPECT_NE(toml.find("shape = [\"one\", \"n\"]\ndtype = \"float64\"\n"), std::string::npos) << toml;
}

TEST_F(Kinds, Ties_OfWhatIsNoIndexOrNoValue_AreRefused) {
  EXPECT_NE(refusal(kLargest, {.outputs = {"places", "values"}, .ties = {"values=x"}}).find("output of integers"),
            std::string::npos);
  EXPECT_NE(refusal(kLargest, {.outputs = {"places", "values"}, .ties = {"places=x"}}).find("no floating-point output"),
            std::string::npos);
  EXPECT_NE(refusal(kLargest, {.outputs = {"places", "values"}, .ties = {"places=keys"}}).find("add --shape keys="),
            std::string::npos);
  EXPECT_NE(refusal(kLargest, {.outputs = {"places", "values"}, .ties = {"places"}}).find("INDICES=VALUES"),
            std::string::npos);
}

TEST_F(Kinds, SpansAndVectors_GiveTheirSizes) {
  const model::Task task = patched(
      "void f(std::span<const float> x, const std::vector<float>& a, std::vector<float>& y) {\n"
      "  for (std::size_t i = 0; i < y.size(); ++i) {\n    y[i] = a[i];\n"
      "    for (std::size_t r = 0; r < x.size() / y.size(); ++r) y[i] += x.data()[r * y.size() + i];\n  }\n}",
      "int main() { std::vector<float> x{1, 2, 3, 4, 5, 6}, a{7, 8}, y(2); f(x, a, y); std::vector<float> none; f({}, "
      "none, none);\n"
      "  std::printf(\"%g %g\\n\", double(y[0]), double(y[1])); }",
      {.shapes = {"x=rows,cols", "a=cols"},
       .outputs = {"y=cols"},
       .axes = {"rows=20", "cols=30"},
       .inits = {"x=normal(0, 1)", "a=normal(0, 1)"}});
  EXPECT_EQ(model::variable_axes(task.definition), (std::vector<std::string>{"rows", "cols"}));
}

TEST_F(Kinds, SizesWithoutSign_AreComparedWithSignedOnes) {
  const auto clang = load_clang();
  const Repository repository("kinds.cpp",
                              "#include <vector>\n"
                              "void f(const std::vector<float>& x, std::vector<float>& y, std::size_t n) {\n"
                              "  for (std::size_t i = 0; i < n; ++i) {\n    y[i] = 0;\n"
                              "    for (std::size_t r = 0; r < x.size() / n; ++r) y[i] += x[r * n + i];\n  }\n}\n");
  const auto report = made(*clang, repository,
                           {.shapes = {"x=rows,n"}, .outputs = {"y=n"}, .axes = {"rows=5", "n=20"}, .inits = kDrawX});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const model::Task task = suites::load_task(repository.path() / "task").value();
  const auto patch = make_winner_patch({{task, task.baseline, repository.path() / "task", {}}});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  const std::string& after = patch->files.front().after;
  EXPECT_NE(after.find(" && static_cast<int64_t>(y.size()) == int64_t(n) && "), std::string::npos) << after;
  EXPECT_NE(after.find(" && static_cast<int64_t>(x.size()) / int64_t(n) >= "), std::string::npos) << after;
}

TEST_F(Kinds, WholeContainers_BecomeSpans) {
  patched(
      "void f(const std::vector<float>& x, std::span<float> y) {\n"
      "  std::size_t i = 0;\n  for (const float value : x) y[i++] = value + 1;\n}",
      "int main() { std::vector<float> x{1, 2}, y(2); f(x, y); std::printf(\"%g %g\\n\", double(y[0]), double(y[1])); "
      "}",
      {.shapes = {"x=n"}, .outputs = {"y=n"}, .axes = {"n=64"}, .inits = kDrawX});
}

TEST_F(Kinds, Arrays_BringTheirExtents) {
  const model::Task task = patched(
      "void f(const float (&x)[4][8], float y[4], const double w[2][8]) {\n"
      "  for (int i = 0; i < 4; ++i) {\n    y[i] = 0;\n"
      "    for (int j = 0; j < 8; ++j) y[i] += x[i][j] * static_cast<float>(w[1][j]);\n  }\n}",
      "int main() { float x[4][8] = {{1, 2}, {3}}, y[4]; double w[2][8] = {{5}, {7, 2}}; f(x, y, w); std::printf(\"%g "
      "%g\\n\",\n"
      "  double(y[0]), double(y[1])); }",
      {.outputs = {"y"}, .inits = {"x=normal(0, 1)", "w=normal(0, 1)"}});
  ASSERT_EQ(task.definition.axes.size(), 5U);
  EXPECT_EQ(task.definition.axes[1].value, 8);
}

TEST_F(Kinds, Results_AreOutputs) {
  const model::Task task = patched(
      "using Scalar = double;\nScalar f(const double* x, int n) {\n  if (n < 0) return -1;\n  double sum = 0;\n"
      "  for (int i = 0; i < n; ++i) sum += x[i];\n  return sum;\n}",
      "int main() { const double x[3] = {1, 2, 4}; std::printf(\"%g %g\\n\", f(x, 3), f(x, -2)); }",
      {.shapes = {"x=n"}, .axes = {"n=64"}, .inits = kDrawX});
  ASSERT_TRUE(task.entry.has_value());
  EXPECT_EQ(task.entry->returns, "result");
}

TEST_F(Kinds, ExtentsThatFollowFromOthers_AreAxes) {
  const model::Task task = patched(
      "void f(const float* x, std::span<float> y, const float* h, int n, int C) {\n"
      "  for (int i = 0; i < n; ++i) {\n    for (int c = 0; c < C; ++c)\n      y[std::size_t(i * C + c)] = x[i * 3 * C "
      "+ 3 * c] * "
      "h[0] + h[1];\n  }\n}",
      "int main() { float x[36] = {1, 2, 3, 4, 5, 6}, y[12]; const float h[2] = {2, 1}; f(x, y, h, 6, 2); "
      "std::printf(\"%g %g\\n\", double(y[0]), double(y[1])); }",
      {.shapes = {"x=n,3*C", "h=2"},
       .outputs = {"y=n*C"},
       .axes = {"n=64", "C=4"},
       .inits = {"x=normal(0, 1)", "h=normal(0, 1)"}});
  EXPECT_EQ(task.definition.inputs[0].shape, (std::vector<std::string>{"n", "x_extent1"}));
  EXPECT_EQ(model::variable_axes(task.definition), (std::vector<std::string>{"n", "C", "x_extent1", "y_extent"}));
  EXPECT_EQ(task.workloads[0].axes.at("x_extent1"), 12);
}

TEST_F(Kinds, StructsOfFloats_AreOneMoreAxis) {
  const model::Task task = patched(
      "struct Point {\n  float x, y;  // plane\n  float z;\n};\n"
      "void f(const Point* p, float* out, unsigned n) {\n"
      "  for (unsigned i = 0; i < n; ++i) out[i] = p[i].x * p[i].y + p[i].z;\n}",
      "int main() { const Point p[2] = {{1, 2, 3}, {4, 5, 6}}; float y[2]; f(p, y, 2); std::printf(\"%g %g\\n\", "
      "double(y[0]), double(y[1])); }",
      {.shapes = {"p=n"}, .outputs = {"out=n"}, .axes = {"n=64"}, .inits = {"p=normal(0, 1)"}});
  ASSERT_FALSE(task.definition.inputs.empty());
  EXPECT_EQ(task.definition.inputs[0].shape, (std::vector<std::string>{"n", "p_fields"}));
}

TEST_F(Kinds, HalfAndUnsigned_KeepTheirTypes) {
  const model::Task task = patched(
      "void f(const _Float16* x, const unsigned short* a, unsigned long long* y, std::size_t n, unsigned k) {\n"
      "  for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<unsigned long long>(static_cast<float>(x[i])) + a[i] + "
      "k;\n}",
      "int main() { const _Float16 x[1] = {3}; const unsigned short a[1] = {65535}; unsigned long long y[1]; f(x, a, "
      "y, 1, 9);\n"
      "  std::printf(\"%llu\\n\", y[0]); }",
      {.shapes = {"x=n", "a=n"},
       .outputs = {"y=n"},
       .axes = {"n=64"},
       .inits = {"x=uniform(0, 100)", "a=integers(0, 65536)", "k=integers(0, 10)"}});
  EXPECT_EQ(task.definition.small_floats, model::SmallFloats::native);
  EXPECT_EQ(task.definition.outputs[0].dtype, model::DType::uint64);
}

TEST_F(Kinds, ParametersCalledKernel_GetAnotherName) {
  const model::Task task = patched(
      "void f(const float* x, const float* kernel, float* y, int n) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = x[i] * kernel[0] + kernel[1];\n}",
      "int main() { const float x[1] = {3}, k[2] = {2, 1}; float y[1]; f(x, k, y, 1); std::printf(\"%g\\n\", "
      "double(y[0])); }",
      {.shapes = {"x=n", "kernel=two"},
       .outputs = {"y=n"},
       .axes = {"n=64", "two=2"},
       .inits = {"x=normal(0, 1)", "kernel=normal(0, 1)"}});
  ASSERT_EQ(task.definition.inputs.size(), 2U);
  EXPECT_EQ(task.definition.inputs[1].name, "kernel_values");
}

TEST_F(Kinds, WhatAViewOfElementsCannotDo_IsRefused) {
  const StatedTexts stated{.shapes = {"x=n"}, .outputs = {"y=n"}};
  const std::string parameters = "#include <vector>\nvoid f(const std::vector<float>& x, std::vector<float>& y) ";
  EXPECT_NE(
      refusal(parameters + "{ y.resize(x.size()); for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i]; }", stated)
          .find("f calls y.resize()"),
      std::string::npos);
  EXPECT_NE(refusal(parameters + "{ for (std::size_t i = 0; i < x.size(); ++i) y[i] = x.at(i); }", stated)
                .find("write x[i] there"),
            std::string::npos);
}

TEST_F(Kinds, WhatNoKernelTakes_IsRefused) {
  EXPECT_NE(
      refusal("#include <map>\nvoid f(std::map<int, int>& m, float* y, int n) { y[0] = 0; }", {.outputs = {"y=n"}})
          .find("Give the work to a function of pointers"),
      std::string::npos);
  EXPECT_NE(refusal("enum class Mode { one, two };\nvoid f(float* y, Mode mode) { y[0] = mode == Mode::one ? 1 : 2; }",
                    {.outputs = {"y=n"}})
                .find("f_flat(int mode, ...)"),
            std::string::npos);
  EXPECT_NE(refusal("void f(float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 1; }",
                    {.outputs = {"y=n"}, .axes = {"n=4", "m=8"}})
                .find("--axis m: no shape names it"),
            std::string::npos);
  EXPECT_NE(
      refusal("float table[4];\nvoid fill() { table[0] = 1; }\n"
              "void f(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = x[i] + table[i % 4]; }",
              {.shapes = {"x=n"}, .outputs = {"y=n"}})
          .find("uses the variable table"),
      std::string::npos);
  EXPECT_NE(
      refusal("#include <vector>\nvoid f(const std::vector<float>& x, float* y) { y[0] = x[0]; }", {.outputs = {"y"}})
          .find("add --shape x=n"),
      std::string::npos);
  EXPECT_NE(refusal("void f(const float (&x)[8], float* y) { y[0] = x[0]; }",
                    {.shapes = {"x=K"}, .outputs = {"y=K"}, .axes = {"K=9"}})
                .find("declared with 8"),
            std::string::npos);
}

}  // namespace
}  // namespace accelopt::scaffold

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "scaffold/build_compiler.hpp"
#include "scaffold/cmake_patch.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/patch_check.hpp"
#include "scaffold/programs.hpp"
#include "scaffold/scaffold.hpp"
#include "scaffold/user_build.hpp"
#include "scaffold/winner_patch.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::scaffold {
namespace {

namespace fs = std::filesystem;

/// Functions of one name in several scopes, and a class whose static member a program calls.
constexpr const char* kScopedProgram = R"(#include <cstdio>

namespace app {

inline namespace v1 {
void twice(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
}  // namespace v1

namespace { namespace detail {
void third(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] / 3;
}
} }

class Filter {
 public:
  explicit Filter(const char* name) : name_(name) {}
  static void smooth(const float* x, float* y, int n) {
    for (int i = 0; i < n; ++i) y[i] = weighted(x[i]) + kShift;
  }
  void member(const float* x, float* y, int n) { smooth(x, y, n); }

 private:
  static float weighted(float v) { return v * kWeight; }
  static constexpr float kWeight = 0.25f, kShift = 1;
  const char* name_;
};

void all(const float* x, float* y, int n) {
  twice(x, y, n);
  detail::third(y, y, n);
  Filter("f").member(y, y, n);
}

}  // namespace app

namespace app::other {
void twice(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] + x[i];
}
}  // namespace app::other

int main() {
  float x[3] = {1, 2, 3}, y[3];
  app::all(x, y, 3);
  app::other::twice(y, y, 3);
  for (float v : y) std::printf("%.4f\n", double(v));
}
)";

model::Task scoped(const syntax::Clang& clang, const Repository& repository, const std::string& function,
                   const std::string& folder, const std::string& file = {}) {
  ScaffoldOptions options;
  options.file = file.empty() ? repository.file() : repository.path() / file;
  options.function = function;
  options.stated.shapes = {"x=n"};
  options.stated.outputs = {"y=n"};
  options.stated.axes = {"n=64"};
  options.stated.inits = {"x=normal(0, 1)"};
  options.folder = repository.path() / folder;
  const auto report = scaffold_task(clang, options);
  EXPECT_TRUE(report.has_value()) << function << ": " << report.error().message;
  if (!report) return {};
  EXPECT_TRUE(report->notes.empty()) << report->notes.front();
  auto task = suites::load_task(options.folder);
  EXPECT_TRUE(task.has_value()) << task.error().message;
  return std::move(*task);
}

TEST(Scaffold, LeavesTheCallersOut) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("scopes.cpp",
                              "#include <cstdio>\n"
                              "void f(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = x[i]; }\n"
                              "struct Unknown; void g(Unknown& u, const float* x) { f(x, u.values, 8); }\n"
                              "int main() { float x[8] = {}, y[8]; f(x, y, 8); std::printf(\"%g\", y[0]); }\n");
  const model::Task task = scoped(*clang, repository, "f", "task");
  EXPECT_EQ(model::main_text(task.baseline).find("main"), std::string::npos);
  EXPECT_EQ(model::main_text(task.baseline).find("Unknown"), std::string::npos);
}

TEST(Scaffold, NamesTheCandidatesOfAnAmbiguousName) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const auto unit = read_unit(*clang, kScopedProgram, model::Language::cpp);
  const auto found = [&](const std::string& name) {
    const auto function = find_function(*unit, name);
    return function ? (*function)->qualified_name() : function.error().message;
  };
  EXPECT_NE(found("twice").find("app::v1::twice (line 6), app::other::twice (line 40)"), std::string::npos)
      << found("twice");
  EXPECT_EQ(found("v1::twice"), "app::v1::twice");
  EXPECT_EQ(found("::app::other::twice"), "app::other::twice");
  EXPECT_EQ(found("smooth"), "app::Filter::smooth");
  EXPECT_NE(found("Filter::member").find("not static"), std::string::npos);
  EXPECT_NE(found("third::f").find("it defines"), std::string::npos);
}

TEST(WinnerPatch, ComposesFunctionsOfScopesInAnyOrder) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("scopes.cpp", kScopedProgram);
  std::vector<model::Task> tasks;
  for (const char* function : {"v1::twice", "detail::third", "Filter::smooth", "other::twice"}) {
    tasks.push_back(scoped(*clang, repository, function, "task" + std::to_string(tasks.size())));
    ASSERT_TRUE(tasks.back().entry.has_value());
  }
  EXPECT_EQ(tasks[2].entry->function, "app::Filter::smooth");
  EXPECT_EQ(tasks[2].baseline.sources[0].text.find("name_"), std::string::npos) << "only what it needs";
  std::vector<PatchRequest> requests;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    requests.push_back({tasks[i], tasks[i].baseline, repository.path() / ("task" + std::to_string(i)), {}});
  }
  const auto patch = make_winner_patch(requests);
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  const std::vector<PatchRequest> turned(requests.rbegin(), requests.rend());
  EXPECT_EQ(diff_of(*make_winner_patch(turned)), diff_of(*patch));
  repository.write("winner.patch", diff_of(*patch));
  const std::string build = "g++ -std=c++17 -Wall -Wextra -O2 src/scopes.cpp -o program && ./program";
  const auto before = repository.run(build);
  const auto check = repository.run("git apply winner.patch");
  ASSERT_EQ(check.first, 0) << check.second;
  const auto after = repository.run(build);
  EXPECT_EQ(after.first, 0) << after.second << diff_of(*patch);
  EXPECT_EQ(after.second, before.second);
  EXPECT_NE(repository.read("src/scopes.cpp").find("::app_Filter_smooth_accelopt::app::Filter::kernel(x, y, n);"),
            std::string::npos);

  requests.push_back(requests.front());
  const auto twice = make_winner_patch(requests);
  ASSERT_FALSE(twice.has_value());
  EXPECT_NE(twice.error().message.find("app::v1::twice"), std::string::npos) << twice.error().message;
}

TEST(WinnerPatch, AFileOfItsOwnHasItsFlagsInCMake) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("scopes.cpp", kScopedProgram);
  repository.write("CMakeLists.txt", "# src/scopes.cpp is all\nadd_executable(program src/scopes.cpp)\n");
  const model::Task task = scoped(*clang, repository, "detail::third", "task");
  const PatchForm form{FlagsBy::own_file, {"-O3", "-ffast-math"}};
  auto patch = make_winner_patch({{task, task.baseline, repository.path() / "task", form}});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  const auto by_hand = add_to_cmake(*patch);
  ASSERT_TRUE(by_hand.has_value());
  EXPECT_EQ(*by_hand, "");
  repository.write("winner.patch", diff_of(*patch));
  const std::string build = "g++ -std=c++17 -Wall -Wextra -O2 src/*.cpp -o program && ./program";
  const auto before = repository.run(build);
  const auto applied = repository.run("git apply winner.patch");
  ASSERT_EQ(applied.first, 0) << applied.second << diff_of(*patch);
  EXPECT_EQ(repository.run(build), before) << diff_of(*patch);
  const std::string cmake = repository.read("CMakeLists.txt");
  EXPECT_NE(cmake.find("add_executable(program src/scopes.cpp src/app_detail_third_accelopt.cpp)"), std::string::npos)
      << cmake;
  EXPECT_NE(cmake.find("COMPILE_OPTIONS \"-O3;-ffast-math\""), std::string::npos) << cmake;
}

TEST(WinnerPatch, AFileOfItsOwn_GoesIntoEveryTargetThatNeedsIt) {
  const Repository repository("k.cpp", "");
  const std::filesystem::path file = std::filesystem::weakly_canonical(repository.file());
  const auto patched = [&](const std::string& cmake) {
    repository.write("CMakeLists.txt", cmake);
    WinnerPatch patch{{{file, "", "", {}, {}}, {file.parent_path() / "k_accelopt.cpp", "", "", file, {"-O3"}}}};
    const auto by_hand = add_to_cmake(patch);
    EXPECT_TRUE(by_hand.has_value());
    return patch.files.size() == 3 ? patch.files.back().after : "by hand: " + *by_hand;
  };
  EXPECT_FALSE(is_named_by_cmake(file)) << "there is no CMakeLists.txt";
  const std::string both = patched(
      "set_source_files_properties(src/k.cpp PROPERTIES COMPILE_OPTIONS -O1)\n"
      "#[[ add_library(old src/k.cpp) ]]\n"
      "add_executable(app # with src/k.cpp\n  src/main.cpp\n  src/k.cpp)\n"
      "Set(SOURCES \"${CMAKE_CURRENT_SOURCE_DIR}/src/k.cpp\" src/other_k.cpp)\n"
      "install(FILES src/k.cpp DESTINATION share)\n");
  EXPECT_TRUE(both.starts_with(
      "set_source_files_properties(src/k.cpp PROPERTIES COMPILE_OPTIONS -O1)\n"
      "#[[ add_library(old src/k.cpp) ]]\n"
      "add_executable(app # with src/k.cpp\n  src/main.cpp\n  src/k.cpp src/k_accelopt.cpp)\n"
      "Set(SOURCES \"${CMAKE_CURRENT_SOURCE_DIR}/src/k.cpp\" \"${CMAKE_CURRENT_SOURCE_DIR}/src/k_accelopt.cpp\" "
      "src/other_k.cpp)\n"
      "install(FILES src/k.cpp DESTINATION share)\n"))
      << both;
  EXPECT_TRUE(is_named_by_cmake(file));
  for (const char* command : {"pybind11_add_module(m ", "cuda_add_library(m ", "list(APPEND SOURCES "}) {
    EXPECT_TRUE(patched(std::string(command) + "src/k.cpp)\n").starts_with(std::string(command) + "src/k.cpp src/k_"))
        << command;
  }
  EXPECT_TRUE(patched("list(FIND SOURCES src/k.cpp place)\n").starts_with("by hand: "));
  EXPECT_TRUE(patched("install(FILES src/k.cpp DESTINATION share)\n").starts_with("by hand: add k_accelopt.cpp"));
}

TEST(WinnerPatch, FlagsInPragmasHoldForTheWinnerAlone) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "names an instruction set of x86-64";
#endif
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("scopes.cpp", kScopedProgram);
  const model::Task task = scoped(*clang, repository, "detail::third", "task");
  // Compiles only where the pragma is in force.
  const std::string guard =
      "\n__attribute__((used)) static void absolute(int* p) {\n"
      "  _mm256_storeu_si256((__m256i*)p, _mm256_abs_epi32(_mm256_loadu_si256((__m256i*)p)));\n}\n";
  const std::string kernel = "#include <immintrin.h>\n" + model::main_text(task.baseline);
  std::string guarded = kernel;
  guarded.insert(guarded.rfind('}') + 1, guard);
  const auto applied = [&](const std::string& text, const std::string& program, const PatchForm& form) {
    repository.write("src/scopes.cpp", program);
    const model::Solution winner{model::Language::cpp, {{"kernel.cpp", text}}};
    const auto patch = make_winner_patch({{task, winner, repository.path() / "task", form}});
    EXPECT_TRUE(patch.has_value()) << patch.error().message;
    repository.write("winner.patch", diff_of(*patch));
    return repository.run("git apply winner.patch && g++ -std=c++17 -O1 -c src/scopes.cpp -o s.o");
  };
  const PatchForm pragmas{FlagsBy::pragmas, {"-O3", "-ffast-math", "-mavx2"}};
  const auto taken = applied(guarded, kScopedProgram, pragmas);
  EXPECT_EQ(taken.first, 0) << taken.second << repository.read("winner.patch");
  EXPECT_NE(repository.read("src/scopes.cpp").find("#pragma GCC optimize(\"O3\", \"fast-math\")"), std::string::npos);
  const std::string mismatch = "target specific option mismatch";
  EXPECT_NE(applied(guarded, kScopedProgram, {}).second.find(mismatch), std::string::npos);
  const auto elsewhere = applied(kernel, kScopedProgram + guard, pragmas);
  EXPECT_NE(elsewhere.second.find(mismatch), std::string::npos)
      << elsewhere.second << "the user's code has its own flags";
}

TEST(WinnerPatch, TakesWinnersOfSeveralFiles) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("scopes.cpp", kScopedProgram);
  repository.write("src/half.cpp",
                   "void half(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = x[i] / 2; }\n");
  const model::Task third = scoped(*clang, repository, "detail::third", "third");
  const model::Task half = scoped(*clang, repository, "half", "half", "src/half.cpp");
  const PatchRequest first{third, third.baseline, repository.path() / "third", {}};
  const PatchRequest second{half, half.baseline, repository.path() / "half", {}};
  const auto patch = make_winner_patch({first, second});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  EXPECT_EQ(diff_of(*make_winner_patch({second, first})), diff_of(*patch));
  repository.write("winner.patch", diff_of(*patch));
  const std::string build = "g++ -std=c++17 -O2 src/*.cpp -o program && ./program";
  const auto before = repository.run(build);
  const auto applied =
      repository.run("git apply winner.patch && git diff --stat -- src/scopes.cpp && cat src/half.cpp");
  ASSERT_EQ(applied.first, 0) << applied.second;
  EXPECT_NE(applied.second.find("half_accelopt"), std::string::npos) << applied.second;
  EXPECT_NE(repository.read("src/scopes.cpp").find("third_accelopt"), std::string::npos);
  EXPECT_EQ(repository.run(build), before);
}

TEST(UserBuild, DeclarationsBeforeStatements_ByWarningOrStandard) {
  const auto declarations = [](const std::vector<std::string>& flags) {
    return user_build_of(flags, "/", "a build").declarations;
  };
  for (const auto& flags : std::vector<std::vector<std::string>>{
           {"-Werror=declaration-after-statement"}, {"-std=gnu89", "-Wpedantic"}, {"-ansi", "-pedantic-errors"}}) {
    EXPECT_EQ(declarations(flags), Declarations::before_statements) << flags.front();
  }
  EXPECT_EQ(declarations({"-std=c99", "-pedantic"}), Declarations::anywhere);
  EXPECT_EQ(declarations({"-std=c90"}), Declarations::anywhere);
  EXPECT_EQ(declarations({"-Wdeclaration-after-statement", "-Wno-declaration-after-statement"}),
            Declarations::anywhere);
}

TEST(UserBuild, FlagsComeFromCompileCommandsOrTheTask) {
  const Repository repository("scopes.cpp", kScopedProgram);
  repository.write("compile_commands.json",
                   R"([{"directory": ")" + repository.path().string() +
                       R"(", "command": "g++ -DX=1 -Iinclude -O2 -mavx2 -fplugin=evil.so -g -o s.o -c src/scopes.cpp",)"
                       R"( "file": "src/scopes.cpp"}])");
  const auto found = find_user_build(std::nullopt, repository.file(), {});
  ASSERT_TRUE(found.has_value() && *found) << found.error().message;
  EXPECT_EQ((*found)->flags, (std::vector<std::string>{"-march=x86-64", "-O2", "-mavx2"}));
  EXPECT_EQ((*found)->left_out, std::vector<std::string>{"-fplugin=evil.so"});
  EXPECT_EQ((*found)->search, (std::vector<std::string>{"-DX=1", "-I", (repository.path() / "include").string()}));
  const auto stated = find_user_build(std::vector<std::string>{"-Os", "-march=native"}, repository.file(), {});
  EXPECT_EQ((*stated)->flags, (std::vector<std::string>{"-Os", "-march=native"}));
  const auto missing = find_user_build(std::nullopt, repository.path() / "src" / "other.cpp",
                                       repository.path() / "compile_commands.json");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, base::ErrorCode::not_found);
}

TEST(Scaffold, ReadsHeadersAsTheUsersBuildFindsThem) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("model.cpp",
                              "#include \"filters/shift.hpp\"\n"
                              "void filters::Shift::all(const float* x, float* y, index_t n) {\n"
                              "  for (index_t i = 0; i < n; ++i) y[i] = x[i] + kShift;\n}\n");
  repository.write(
      "include/filters/shift.hpp",
      "#pragma once\n#include <base/types.hpp>\n#include <elsewhere.hpp>\n"
      "namespace filters {\nstruct Shift {\n"
      "  static constexpr float kShift = 3;\n  static void all(const float* x, float* y, index_t n);\n};\n}\n");
  repository.write("include/base/types.hpp", "#pragma once\nusing index_t = int;\n");
  const base::TemporaryFolder elsewhere = *base::TemporaryFolder::create("accelopt-elsewhere");
  ASSERT_TRUE(base::write_file(elsewhere.path() / "elsewhere.hpp", "inline int of_others() { return 1; }\n"));
  repository.write("compile_commands.json", R"([{"directory": ")" + repository.path().string() +
                                                R"(", "command": "g++ -Iinclude -I)" + elsewhere.path().string() +
                                                R"( -c src/model.cpp", "file": "src/model.cpp"}])");
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "Shift::all";
  options.stated = {{"x=n"}, {"y=n"}, {}, {"n=64"}, {}, {"x=normal(0, 1)"}};
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  const std::string& baseline = model::main_text(task->baseline);
  EXPECT_NE(baseline.find("kShift = 3"), std::string::npos) << baseline;
  EXPECT_EQ(baseline.find("of_others"), std::string::npos) << "what others wrote is not copied\n" << baseline;
  const auto patch = make_winner_patch({{*task, task->baseline, options.folder, {}}});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
}

TEST(Scaffold, TakesTheCodeThatTheUsersBuildCompiles) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository(
      "gain.cpp",
      "#include <cstdio>\n#ifdef USE_FAST\n"
      "void gain(const float* x, float* y, int n) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = x[i] * SCALE;\n}\n#else\n"
      "void gain(const float* x, float* y, int n) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = x[i] / 3;\n}\n#endif\n"
      "#ifdef USE_SLOW\nvoid slow(float* y, int n) { y[n] = 1; }\n#endif\n"
      "int main() { float x[1] = {3}, y[1]; gain(x, y, 1); std::printf(\"%g\\n\", double(y[0])); }\n");
  const std::string options = "-std=c++17 -DUNUSED -DUSE_FAST -DSCALE=7.0f -DUSE_SLOW -UUSE_SLOW";
  repository.write("compile_commands.json", R"([{"directory": ")" + repository.path().string() +
                                                R"(", "command": "g++ )" + options +
                                                R"( -c src/gain.cpp", "file": "src/gain.cpp"}])");
  const model::Task task = scoped(*clang, repository, "gain", "task");
  const std::string& baseline = model::main_text(task.baseline);
  EXPECT_NE(baseline.find("#define USE_FAST 1\n#define SCALE 7.0f\n"), std::string::npos) << baseline;
  EXPECT_EQ(baseline.find("UNUSED"), std::string::npos) << baseline;
  EXPECT_NE(baseline.find("y[i] = x[i] * SCALE;"), std::string::npos) << baseline;
  EXPECT_NE(task.reference.text.find("#define USE_FAST 1\n#define SCALE real(7.0f)\n"), std::string::npos)
      << task.reference.text;
  ScaffoldOptions absent;
  absent.file = repository.file();
  absent.function = "slow";
  absent.folder = repository.path() / "slow";
  const auto refused = scaffold_task(*clang, absent);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("as your build compiles it, with"), std::string::npos);
  const auto patch = make_winner_patch({{task, task.baseline, repository.path() / "task", {}}});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  const std::string build = "g++ " + options + " -Werror src/gain.cpp -o program && ./program";
  const auto before = repository.run(build);
  repository.write("src/gain.cpp", patch->files.front().after);
  EXPECT_EQ(repository.run(build), before) << patch->files.front().after;
  EXPECT_EQ(patch->files.front().after.find("#undef"), std::string::npos) << patch->files.front().after;
}

TEST(Scaffold, ReadsWhatTheUsersBuildIncludesFirst) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("gain.c",
                              "#ifdef HAVE_GAIN\nvoid gain(const float* x, float* y, int n) {\n"
                              "  for (int i = 0; i < n; ++i) y[i] = x[i] * GAIN;\n}\n#else\n"
                              "void gain(const float* x, float* y, int n) {\n"
                              "  for (int i = 0; i < n; ++i) y[i] = x[i] / 3;\n}\n#endif\n");
  repository.write("build/config.h", "/* Made by configure. */\n#define HAVE_GAIN 1\n#define UNUSED 1\n");
  repository.write("include/more.h", "#define GAIN 7.0f\n");
  repository.write("compile_commands.json", R"([{"directory": ")" + (repository.path() / "build").string() +
                                                R"(", "command": "gcc -include config.h -imacros more.h -I../include )"
                                                R"(-c ../src/gain.c", "file": "../src/gain.c"}])");
  const model::Task task = scoped(*clang, repository, "gain", "task");
  const std::string& baseline = model::main_text(task.baseline);
  EXPECT_NE(baseline.find("#define HAVE_GAIN 1\n"), std::string::npos) << baseline;
  EXPECT_NE(baseline.find("#define GAIN 7.0f\n"), std::string::npos) << baseline;
  EXPECT_NE(baseline.find("y[i] = x[i] * GAIN;"), std::string::npos) << baseline;
  EXPECT_EQ(baseline.find("UNUSED"), std::string::npos) << baseline;
  const auto patch = make_winner_patch({{task, task.baseline, repository.path() / "task", {}}});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  repository.write("src/gain.c", patch->files.front().after);
  const auto built = repository.run("cd build && gcc -include config.h -imacros more.h -I../include -c ../src/gain.c");
  EXPECT_EQ(built.first, 0) << built.second << patch->files.front().after;
}

TEST(UserBuild, ItsCompiler_IsNamedBehindLaunchers) {
  const auto compiler_of = [](const std::vector<std::string>& command) {
    return user_build_of(command, "/build", "a build").compiler;
  };
  EXPECT_EQ(compiler_of({"/usr/bin/clang", "-O2", "-c", "x.c"}), "/usr/bin/clang");
  EXPECT_EQ(compiler_of({"env", "CCACHE_DIR=/x", "/usr/bin/ccache", "../bin/g++-12", "-c", "x.cpp"}), "/bin/g++-12");
  EXPECT_EQ(compiler_of({"-O2", "-c", "x.cpp"}), "");
}

TEST(UserBuild, TheCompilerThatMeasures_IsOfTheSameFamily) {
  const auto cpp_of = [](const std::vector<std::string>& command) {
    const auto found = cpp_compiler_of(user_build_of(command, "/build", "a build"), "/nowhere");
    return found ? *found : "refused: " + found.error().message;
  };
  EXPECT_EQ(cpp_of({"/opt/llvm/bin/clang-14", "-O2"}), "/opt/llvm/bin/clang++-14");
  EXPECT_EQ(cpp_of({"ccache", "gcc", "-O2"}), "g++");
  EXPECT_EQ(cpp_of({"-O2"}), "") << "any";
  EXPECT_NE(cpp_of({"sparc-elf-gcc", "-O2"}).find("another kind of machine"), std::string::npos);
  EXPECT_NE(cpp_of({"clang", "--target=sparc-elf"}).find("another kind of machine"), std::string::npos);
  EXPECT_NE(cpp_of({"icx", "-O2"}).find("not known as GCC or Clang"), std::string::npos);
}

TEST(UserBuild, ItsCompiler_IsFoundBehindALauncherInDisguise) {
  const auto made = base::TemporaryFolder::create("accelopt-scaffold");
  ASSERT_TRUE(made.has_value());
  const fs::path folder = fs::canonical(made->path());
  for (const char* program : {"launchers/ccache", "tools/g++-12", "own/c++"}) {
    ASSERT_TRUE(base::make_folders((folder / program).parent_path()).has_value());
    ASSERT_TRUE(base::write_file(folder / program, "").has_value());
    fs::permissions(folder / program, fs::perms::owner_all);
  }
  for (const char* name : {"c++", "g++-12"}) fs::create_symlink("ccache", folder / "launchers" / name);
  fs::create_symlink("g++-12", folder / "tools/c++");
  const auto cpp_of = [&](const std::string& program, const std::string& search_path) {
    const auto found = cpp_compiler_of(user_build_of({program, "-O2"}, "/build", "a build"), search_path);
    return found ? *found : "refused: " + found.error().message;
  };
  const std::string launchers = (folder / "launchers").string();
  const std::string tools = (folder / "tools").string();
  for (const std::string& name : {std::string("c++"), launchers + "/c++", launchers + "/g++-12"})
    EXPECT_EQ(cpp_of(name, launchers + ":" + tools), tools + "/g++-12") << name;
  EXPECT_EQ(cpp_of("c++", launchers), "") << "there is none behind it";
  EXPECT_EQ(cpp_of("c++", (folder / "own").string()), "") << "it may be any";
}

TEST(UserBuild, OptionsThatAreNotFollowed_AreNamed) {
  const UserBuild build = user_build_of({"-include", "nowhere.h", "@flags", "-Wp,-DX", "-O2"}, "/nowhere", "a build");
  EXPECT_EQ(build.not_read, (std::vector<std::string>{"@flags", "-Wp,-DX", "-include nowhere.h"}));
  EXPECT_TRUE(build.included.empty());
}

TEST(WinnerPatch, OfAFileThatBeginsWithTheFunction_HasItsIncludesFirst) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("twice.cpp",
                              "// Twice as much.\n// For all.\nvoid twice(const float* x, float* y, int n) {\n"
                              "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n");
  const model::Task task = scoped(*clang, repository, "twice", "task");
  const auto patch = make_winner_patch({{task, task.baseline, repository.path() / "task", {}}});
  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  const std::string& after = patch->files.front().after;
  EXPECT_TRUE(after.starts_with("#include <cstdint>\n")) << after;
  EXPECT_NE(after.find("// Twice as much.\n// For all.\nvoid twice("), std::string::npos) << after;
  repository.write("src/twice.cpp", after);
  const auto built = repository.run("g++ -c src/twice.cpp -o twice.o");
  EXPECT_EQ(built.first, 0) << built.second << after;
}

TEST(WinnerPatch, KeepsTheFilesMarkAndLineEnds) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string mark = "\xEF\xBB\xBF";
  const Repository repository("twice.cpp",
                              mark +
                                  "// Twice as much.\r\nvoid twice(const float* x, float* y, int n)\r\n{\r\n"
                                  "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\r\n}\r\n");
  const model::Task task = scoped(*clang, repository, "twice", "task");
  EXPECT_EQ(model::main_text(task.baseline).find_first_of("\r\xEF"), std::string::npos);
  EXPECT_EQ(task.definition.description, "Twice as much.");
  const PatchForm form{FlagsBy::own_file, {"-O3"}};
  for (const PatchForm& one : {PatchForm{}, form}) {
    const auto patch = make_winner_patch({{task, task.baseline, repository.path() / "task", one}});
    ASSERT_TRUE(patch.has_value()) << patch.error().message;
    const std::string& after = patch->files.front().after;
    EXPECT_TRUE(after.starts_with(mark + "#include <cstdint>\r\n")) << after;
    EXPECT_EQ(after.find(mark, 1), std::string::npos) << after;
    for (const PatchedFile& file : patch->files) {
      EXPECT_EQ(std::count(file.after.begin(), file.after.end(), '\n'),
                std::count(file.after.begin(), file.after.end(), '\r'))
          << file.after;
    }
    repository.write("winner.patch", diff_of(*patch));
    const auto applied = repository.run("git apply --check winner.patch");
    EXPECT_EQ(applied.first, 0) << applied.second;
  }
}

TEST(PatchCheck, TheCompilerThatMeasuresDecides) {
  const auto clang = load_clang();
  const auto compiler = targets::cpu::find_compiler("g++", "/usr/local/bin:/usr/bin:/bin");
  if (!clang || !compiler) GTEST_SKIP() << "libclang or g++ is not installed";
  const std::string program =
      "void twice(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n";
  const std::string kernel =
      "#include \"task.h\"\nextern \"C\" void kernel(const float* x, float* y, int64_t n) {\n"
      "  for (int64_t row = 0; row < n; ++row) y[row] = x[row] + x[row];\n}\n";
  const Repository repository("model.cpp", program);
  const model::Task task = scoped(*clang, repository, "twice", "task");
  const auto fate = [&](const std::string& text, const std::string& before) {
    repository.write("src/model.cpp", before);
    const model::Solution winner{model::Language::cpp, {{"kernel.cpp", text}}};
    const auto patch = make_winner_patch({{task, winner, repository.path() / "task", {}}});
    EXPECT_TRUE(patch.has_value()) << patch.error().message;
    return check_patch(*compiler, *patch, std::nullopt, {})->fate;
  };
  // Of GCC alone: libclang knows neither the header nor the builtin.
  const std::string gcc_only = std::string("#include <immintrin.h>\n") + kernel;
  std::string with_builtin = gcc_only;
  with_builtin.insert(with_builtin.rfind('}'), "  (void)__builtin_has_attribute(n, unused);\n");
  EXPECT_EQ(fate(with_builtin, program), PatchFate::compiles);
  EXPECT_EQ(fate(kernel, std::string("#define row 1 +\n") + program), PatchFate::broken);
  EXPECT_EQ(fate(kernel, std::string("#include \"nowhere.h\"\n") + program), PatchFate::unchecked);
}

TEST(PatchCheck, WhatThePatchLeavesAlone_MustStayTheSame) {
  const auto compiler = targets::cpu::find_compiler("g++", "/usr/local/bin:/usr/bin:/bin");
  if (!compiler) GTEST_SKIP() << "g++ is not installed";
  const std::string before =
      "#include <assert.h>\n#define S 2\nint f(void) { return 1; }\nint g(int v) { assert(v); return v * S; }\n";
  const std::size_t function = before.find("int f");
  const std::size_t body = before.find("{ return 1");
  const auto check = [&](const std::string& block, const std::string& new_body) {
    std::string after = before;
    after.replace(body, 13, new_body);
    after.insert(function, block);
    const std::size_t moved = body + block.size();
    const PatchedFile file{"f.c",
                           before,
                           after,
                           {},
                           {},
                           {{{function, function}, {function, function + block.size()}},
                            {{body, body + 13}, {moved, moved + new_body.size()}}}};
    return *check_patch(*compiler, {{file}}, std::nullopt, {});
  };
  const auto good = check("static int f_accelopt_one(void) {\n  return 1;\n}\n", "{\n  return f_accelopt_one();\n}");
  EXPECT_EQ(good.fate, PatchFate::compiles) << good.reason;
  const auto changed = check("#undef S\n#define S 3\n", "{ return 1; }");
  EXPECT_EQ(changed.fate, PatchFate::broken);
  EXPECT_NE(changed.reason.find("return v * 2 ; }\" would become"), std::string::npos) << changed.reason;
  const auto undeclared = check("", "{ return f_accelopt_one(); }");
  EXPECT_EQ(undeclared.fate, PatchFate::broken);
  EXPECT_NE(undeclared.reason.find("implicit declaration"), std::string::npos) << undeclared.reason;
  const auto undefined = check("int f_accelopt_one(void);\n", "{ return f_accelopt_one(); }");
  EXPECT_EQ(undefined.fate, PatchFate::broken);
  EXPECT_EQ(undefined.reason, "f.c calls f_accelopt_one, which the patch does not define");
}

TEST(PatchCheck, ChangesOneAfterTheOther_AreOne) {
  const std::vector<Change> first{{{10, 10}, {10, 15}}, {{20, 30}, {25, 40}}};
  const std::vector<Change> second{{{5, 5}, {5, 8}}, {{15, 15}, {18, 20}}, {{50, 52}, {55, 56}}};
  const std::vector<Change> both{{{5, 5}, {5, 8}}, {{10, 10}, {13, 20}}, {{20, 30}, {30, 45}}, {{40, 42}, {55, 56}}};
  EXPECT_EQ(composed(first, second), both);
}

TEST(PatchCheck, TheFirstError_IsTheLinkersOwn) {
  EXPECT_EQ(first_error("/usr/bin/ld: f.o: in function `main':\nf.c:3: undefined reference to `gained'\n"
                        "collect2: error: ld returned 1 exit status\n"),
            "f.c:3: undefined reference to `gained'");
}

}  // namespace
}  // namespace accelopt::scaffold

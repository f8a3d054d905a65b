// SPDX-License-Identifier: Apache-2.0
// Which variables of a cubin are constants by a candidate's text.
#include <gtest/gtest.h>

#include "targets/cuda/candidate_check.hpp"
#include "targets/cuda/declarations.hpp"

namespace accelopt::targets::cuda {
namespace {

model::Solution solution_of_text(const std::string& text) {
  model::Solution solution;
  solution.language = model::Language("cuda");
  solution.sources.push_back({"kernel.cu", text});
  return solution;
}

bool is_constant_in(const std::string& text, const DeclaredName& name) {
  return Declarations(solution_of_text(text)).constant(name);
}
bool is_constant_in(const std::string& text, const std::string& name) {
  return is_constant_in(text, DeclaredName{.text = name});
}
bool is_constant_instance_in(const std::string& text, const std::string& name) {
  return is_constant_in(text, DeclaredName{.text = name, .is_instance = true});
}

TEST(DeclaredName, StandsBehindScopesAndBeforeArguments) {
  const auto name = [](const std::string& demangled) {
    const DeclaredName own = declared_name(demangled);
    return own.text + (own.is_instance ? "<>" : "");
  };
  EXPECT_EQ(name("a"), "a");
  EXPECT_EQ(name("(anonymous namespace)::a"), "a");
  EXPECT_EQ(name("table<2>"), "table<>");
  EXPECT_EQ(name("ns::table<ns::Kind, (ns::Kind)1>"), "table<>");
  EXPECT_EQ(name("C<3>::t"), "t");
  EXPECT_EQ(name("C<3>::t<D<4> >"), "t<>");
  EXPECT_EQ(name("f<2>()::table"), "table");
  EXPECT_EQ(name("S::operator<(S const&)::state"), "state");
}

TEST(DeclaredName, WithoutCertainArguments_IsWhole) {
  for (const char* text :
       {"table<&S::operator< >", "table<&S::operator> >", "table>", ">", "table<(1>2)>", "[abi:x]<2>"}) {
    EXPECT_EQ(declared_name(text).text, text);
    EXPECT_FALSE(declared_name(text).is_instance) << text;
  }
}

TEST(Declarations, FurtherDeclaratorsShareTheirConst) {
  const std::string text = "__device__ const float a[4] = {1, 2, f<1, 2>(3), 4}, b[4] = {5, 6}, c{7}, d = 8;";
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_TRUE(is_constant_in(text, name)) << name;
  EXPECT_TRUE(is_constant_in("__device__ const int *p = nullptr, q = 1;", "q"));
  EXPECT_TRUE(is_constant_in("constexpr int n = 3; static auto f(int) -> Vector<n> { return {}; }", "n"));
  EXPECT_TRUE(
      is_constant_in("const float t[2] = {1, 2}; static __device__ float f(const float* t) { return *t; }", "t"));
  EXPECT_TRUE(is_constant_in("static constexpr int a = g(1, 2), *p = nullptr;", "p"));
  EXPECT_TRUE(is_constant_in("void f() { y = ([](int q) { static constexpr int a[2] = {1, 2}; })(k); }", "a"));
}

TEST(Declarations, FurtherDeclaratorsThatKeepAValue_AreVariables) {
  const std::string constant = "namespace other { const int state = 3; }\n";
  for (const char* text :
       {"__device__ int a = 0, state = 1;", "__device__ int a[1] = {0}, state = 1;", "__device__ int a{0}, state{1};",
        "__device__ int a(0), state(1);", "static int a = (1, 2), state;", "__device__ int a, state;",
        "__device__ int * const a = nullptr, state = 1;", "__device__ const int a = 1, *state = nullptr;",
        "__device__ int state, * const a = nullptr;", "__device__ int a = [](int b, int c) { return b; }(1, 2), state;",
        "__device__ decltype(0) state = 1;", "__device__ int (state) = 1;", "__device__ H<const int> state = {1};",
        "namespace n {const int q =\n#if 0\n{\n#endif\n3; }\n__device__ int state = 1;",
        "const int q =\n#if 0\n(\n#endif\n3;\n__device__ int state = 1;", "sta\\\ntic int state = 1;"})
    EXPECT_FALSE(is_constant_in(constant + text, "state")) << text;
  EXPECT_FALSE(is_constant_in("__device__ int state\n#if 0\nconst\n#endif\n= 1;", "state"));
  EXPECT_FALSE(is_constant_in("__device__ int\n#if 0\nconst\n#endif\nstate = 1;", "state"));
  EXPECT_FALSE(is_constant_in("__device__ const int *a = nullptr, *state = nullptr;", "state"));
  EXPECT_FALSE(is_constant_in("__device__ H<const int> state = {1};", "state"));
}

TEST(Declarations, VariableTemplatesAreConstant) {
  for (const char* text :
       {"template <int S> __device__ constexpr float table[4] = {1 * S, 2 * S, 3, 4};",
        "template <class T, int S = sizeof(T)> __device__ const Pair<T> table[S] = {};",
        "template <int S = (3 > 2)> __device__ float const table[4]{1};",
        "struct C { template <int S> static constexpr float table[4] = {S}; };",
        "template <int S> alignas(16) __device__ const float table[4] = {1};\n"
        "template <> __device__ const float table<3>[4] = {2};\n"
        "template <int S> __device__ float f(const float* x, int k) { return x[k] * table<S>[k]; }"}) {
    EXPECT_TRUE(is_constant_instance_in(text, "table")) << text;
  }
  EXPECT_FALSE(is_constant_instance_in("__device__ const float table[4] = {1};", "table"));
}

TEST(Declarations, VariableTemplatesThatKeepAValue_AreRefused) {
  const std::string constant = "namespace other { template <int S> constexpr int state = 3; }\n";
  ASSERT_TRUE(is_constant_instance_in(constant, "state"));
  for (const char* text :
       {"template <int S> __device__ int state = S;",
        "template <const int S> __device__ int state = S;",
        "template <int S = 4> __device__ int state = S;",
        "template <int S> __device__ H<const int> state = {S};",
        "template <int S = (a < b)> __device__ int state = 1;",
        "template <int S> __device__ int state;",
        "template <int S> __device__ decltype(S) state = S;",
        "template <int S> __device__ int (state) = S;",
        "template <int S> __device__ int (H::*state){nullptr};",
        "template <int S> __device__ int state(S);",
        "template <int S> __device__ const int* state = nullptr;",
        "template <> __device__ int state<3> = 1;",
        "template <int S> requires (S > 0) __device__ int state = S;",
        "template <int S> __device__ H<[] { return 1; }()> state = {S};",
        "template <int S> __device__ decltype([] { ; return 1; }()) state = S;",
        "template <int S> __device__ int\n#if 0\nconst\n#endif\nstate = S;",
        "#define KEPT __device__ int\ntemplate <int S> KEPT state = S;",
        "#define OPEN <\n#define SHUT >\ntemplate <int S> __device__ H OPEN const int SHUT state = {S};",
        "#define ANY template <int S>\n#define KEPT __device__ int\nANY KEPT state = S;",
        "%:define ANY template <int S>\nANY state = S;",
        "template <int S> __device__ int sta\\\nte = S;",
        "template <int S> struct H __device__ state = {S};"})
    EXPECT_FALSE(is_constant_instance_in(constant + text, "state")) << text;
}

TEST(RefusedCubin, ConstantsOfTemplatesAndOfZeros) {
  const auto refused = [](const std::string& text, const std::string& name, bool initialised) {
    devices::cuda::Cubin cubin;
    cubin.variables.push_back({name, 16, initialised});
    return refused_cubin(cubin, solution_of_text(text));
  };
  const std::string text = "template <int S> __device__ constexpr float table[4] = {1 * S, 2 * S, 3, 4};";
  EXPECT_EQ(refused(text, "_Z5tableILi2EE", true), "");
  EXPECT_EQ(refused("__device__ const float a[4] = {1, 2}, b[4] = {5, 6};", "b", true), "");
  const std::string zeros = refused("__device__ const float a[4] = {0, 0, 0, 0};", "a", false);
  EXPECT_NE(zeros.find("\"a\" (16 bytes of global memory) is a constant of zeros"), std::string::npos) << zeros;
  EXPECT_NE(zeros.find("declare it __constant__"), std::string::npos) << zeros;
  const std::string state = refused("template <int S> __device__ float state[4] = {S};", "_Z5stateILi2EE", true);
  EXPECT_NE(state.find("\"state\" (16 bytes of global memory) would keep its value"), std::string::npos) << state;
}

}  // namespace
}  // namespace accelopt::targets::cuda

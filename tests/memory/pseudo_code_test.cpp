// SPDX-License-Identifier: Apache-2.0
#include "memory/pseudo_code.hpp"

#include <gtest/gtest.h>

namespace accelopt::memory {
namespace {

model::Definition matmul() {
  model::Definition definition;
  const auto name_all = [](auto& things, std::initializer_list<const char*> names) {
    for (const char* name : names) things.emplace_back().name = name;
  };
  name_all(definition.inputs, {"lhs", "rhs"});
  name_all(definition.outputs, {"y"});
  name_all(definition.axes, {"M", "N"});
  return definition;
}

std::string renamed(const std::string& text, const std::vector<std::string>& sources) {
  return without_names(text, matmul(), sources);
}

TEST(PseudoCode, NamesOfTheDefinitionBecomeRoles) {
  EXPECT_EQ(renamed("for M: y += lhs[M, N] * rhs; lhs2", {}), "for n0: out0 += in0[n0, n1] * in1; lhs2");
}

TEST(PseudoCode, LoopVariablesPointersVariablesAndFunctionsOfTheKernel) {
  const std::string source = R"(
static inline float dot_rows(const float* __restrict left, const float *right, int64_t count) {
  float total = 0.0f, rest = 1;
  for (int64_t q = 0, r = 3; q < count; ++q) total += left[q] * right[q];
  return total * rest;
}
extern "C" void kernel(const float* lhs, const float* rhs, float* y, int64_t M) {
  alignas(64) float panel[8][16];
  for (int64_t row = 0; row < M; ++row) y[row] = dot_rows(lhs, panel[0], other);
})";
  EXPECT_EQ(renamed("for q, r: total += left[q] * right[q] (count, rest)", {source}),
            "for i0, i1: x1 += p0[i0] * p1[i0] (x0, x2)");
  EXPECT_EQ(renamed("for row: y[row] = dot_rows(lhs, panel)", {source}), "for i2: out0[i2] = f0(in0, p2)");
  EXPECT_EQ(renamed("the kernel reads other twice", {source}), "the kernel reads other twice") << "declared by nobody";
}

TEST(PseudoCode, MacrosEnumeratorsTunedValuesAndTypes) {
  const std::string source = R"(
#define ROWS_AT_ONCE 6
//@ tune WIDE in {4, 6, 8}
typedef float lanes __attribute__((vector_size(32)));
enum { kTall = 4, kDeep };
struct Tile { float cells[8]; };
using Index = int64_t;
static lanes sum_of(lanes* from) { return *from; }
)";
  EXPECT_EQ(renamed("tile ROWS_AT_ONCE x WIDE x kTall x kDeep", {source}), "tile c0 x c1 x c2 x c3");
  EXPECT_EQ(renamed("lanes; Tile; Index; cells; sum_of(from)", {source}), "t0; t1; t2; p0; f0(p1)");
}

TEST(PseudoCode, ProductsAndCallsDeclareNothing) {
  const std::string source = "void f() { a = b * c; return d; e(g, h); if (x) else z = 1; while (q * r) ; }";
  EXPECT_EQ(renamed("a b c d e g h x z q r", {source}), "a b c d e g h x z q r");
}

TEST(PseudoCode, TheSecondSourceAddsWhatTheFirstHasNot) {
  EXPECT_EQ(renamed("s += w", {"void kernel() { float s = 0; }", "void kernel() { float s, w = 1; }"}), "x0 += x1");
}

TEST(PseudoCode, SourcesThatAreNoProgramDoNoHarm) {
  for (const std::string& source :
       {std::string("((((({{{ int"), std::string("for (int"), std::string("}}}}))) x; enum {"), std::string("#define"),
        std::string("//@ tune "), std::string("\0int\0", 5)})
    EXPECT_EQ(renamed("lhs plain", {source}), "in0 plain") << source;
}

}  // namespace
}  // namespace accelopt::memory

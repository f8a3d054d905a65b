// SPDX-License-Identifier: Apache-2.0
#include "syntax/loops.hpp"

#include <algorithm>

#include "syntax/parsing.hpp"

namespace accelopt::syntax {
namespace {

constexpr const char* kMatmul = R"(void f(const float* a, const float* b, float* c, long m, long n, long k) {
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
    for (long j = 1; j <= n; j += 2) c[i * n + j] *= 2;
  }
}
)";

TEST(LoopTree, PathsAndNesting) {
  const Unit unit = read(kMatmul);
  const LoopTree tree(unit.functions.at(0));
  std::vector<std::string> paths;
  for (const auto& loop : tree.loops()) paths.push_back(loop->path);
  EXPECT_EQ(paths, (std::vector<std::string>{"i.0", "i.0/j.0", "i.0/j.0/p.0", "i.0/j.1"}));
  const Loop* inner = tree.find("i.0/j.0/p.0");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->depth, 2);
  EXPECT_EQ(inner->parent->path, "i.0/j.0");
  EXPECT_EQ(unit.text(inner->header().end->extent), "k");
  EXPECT_EQ(inner->body.size(), 1U);
  const Loop* second = tree.find("i.0/j.1");
  EXPECT_TRUE(second->header().inclusive);
  EXPECT_EQ(second->header().step, 2);
  EXPECT_EQ(tree.find("j.0"), nullptr);
}

TEST(LoopTree, EffectsOfABody) {
  const Unit unit = read(kMatmul);
  const LoopTree tree(unit.functions.at(0));
  const Loop* columns = tree.find("i.0/j.0");
  const Effects effects = effects_of(*columns->statement, tree.scope());
  EXPECT_FALSE(effects.opaque);
  ASSERT_EQ(effects.accesses.size(), 3U);
  EXPECT_EQ(effects.accesses[0].base.name, "a");
  EXPECT_TRUE(effects.accesses[0].read);
  EXPECT_TRUE(effects.accesses[0].subscript->coefficient(columns->symbol())->is_zero());
  EXPECT_EQ(effects.accesses[1].subscript->coefficient(tree.find("i.0/j.0/p.0")->symbol())->text(), "n");
  EXPECT_TRUE(effects.accesses[2].write);
  EXPECT_FALSE(effects.accesses[2].read);
  ASSERT_EQ(effects.scalars_assigned.size(), 1U);
  EXPECT_EQ(effects.scalars_assigned[0].name, "sum");
  const Effects scaled = effects_of(*tree.find("i.0/j.1")->statement, tree.scope());
  ASSERT_EQ(scaled.accesses.size(), 1U);
  EXPECT_TRUE(scaled.accesses[0].read && scaled.accesses[0].write) << "*= reads what it writes";
}

TEST(LoopTree, WhatIsNotModelledIsOpaque) {
  const auto opaque = [](const std::string& body) {
    const Unit unit = read("void g(float*); void f(float* y, int n) { " + body + " }");
    EXPECT_TRUE(unit.errors.empty());
    const LoopTree tree(unit.functions.back());
    return effects_of(unit.functions.back().block, tree.scope()).opaque;
  };
  EXPECT_FALSE(opaque("for (int i = 0; i < n; ++i) y[i] = 0;"));
  EXPECT_FALSE(opaque("if (n > 2) y[0] = 1; else y[1] = 2;"));
  EXPECT_TRUE(opaque("while (n > 0) { y[n] = 0; --n; }"));
  EXPECT_TRUE(opaque("g(y);"));
  EXPECT_TRUE(opaque("y += 1;"));
  EXPECT_TRUE(opaque("for (int i = 0; i < n; ++i) { if (y[i] > 0) break; }"));
  EXPECT_TRUE(opaque("return;"));
}

TEST(LoopTree, CallsAreListedOnce) {
  const Unit unit =
      read("float e(float); void f(float* y, int n) { for (int i = 0; i < n; ++i) y[i] = e(y[i]) + e(1); }");
  const LoopTree tree(unit.functions.at(0));
  EXPECT_EQ(effects_of(unit.functions[0].block, tree.scope()).calls, (std::vector<std::string>{"e"}));
}

}  // namespace
}  // namespace accelopt::syntax

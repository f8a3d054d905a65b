// SPDX-License-Identifier: Apache-2.0
#include "syntax/affine.hpp"

#include "syntax/parsing.hpp"

namespace accelopt::syntax {
namespace {

const Symbol kI{"i", 1};
const Symbol kN{"N", -1};

TEST(Polynomial, Arithmetic) {
  const Polynomial i(kI);
  const Polynomial n(kN);
  const Polynomial sum = (i + Polynomial(2)) * n - n;
  EXPECT_EQ(sum, i * n + n);
  EXPECT_TRUE((sum - sum).is_zero());
  EXPECT_EQ(*sum.coefficient(kI), n);
  EXPECT_FALSE((i * i).coefficient(kI).has_value());
  EXPECT_EQ(sum.replaced(kI, Polynomial(3)), Polynomial(4) * n);
  EXPECT_EQ(*sum.value({{kI, 5}, {kN, 10}}), 60);
  EXPECT_FALSE(sum.value({{kI, 5}}).has_value());
  EXPECT_EQ((i * n - Polynomial(3) * i + Polynomial(1)).text(), "N * i + 1 - 3 * i");
  EXPECT_EQ(Polynomial().text(), "0");
}

/// The access that the last statement of f writes.
ElementAccess written(const std::string& body, const std::string& before = "") {
  const Unit unit = read(before + "void f(float* y, const float* x, long n, long m, long i) { " + body + " }");
  EXPECT_TRUE(unit.errors.empty());
  const Function& function = unit.functions.back();
  const IndexScope scope = index_scope(function);
  const auto access = element_access(function.block.children.back().expression->operands[0], scope);
  EXPECT_TRUE(access.has_value());
  return access.value_or(ElementAccess{});
}

TEST(ElementAccess, ResolvesPointersAndIndices) {
  EXPECT_EQ(written("y[i * n + 3] = 0;").subscript->text(), "i * n + 3");
  const ElementAccess through = written("const long row = i * n; float* p = y + row; float* q = &p[m]; q[2] = 0;");
  EXPECT_EQ(through.base.name, "y");
  EXPECT_EQ(through.subscript->text(), "i * n + m + 2");
  EXPECT_EQ(written("*(y + i) = 0;").subscript->text(), "i");
  EXPECT_EQ(written("y[(int)i + (long)2] = 0;").subscript->text(), "i + 2");
}

TEST(ElementAccess, WhatChangesOrIsNoPolynomialHasNoSubscript) {
  EXPECT_FALSE(written("long k = 0; k = i; y[k] = 0;").subscript.has_value());
  EXPECT_FALSE(written("y[i / 2] = 0;").subscript.has_value());
  EXPECT_FALSE(written("y[(long)x[i]] = 0;").subscript.has_value());
  const ElementAccess divided = written("float* p = y + (i / 2) * n; p[m] = 0;");
  EXPECT_EQ(divided.base.name, "p") << "the pointer itself is the base";
  EXPECT_EQ(divided.subscript->text(), "m");
}

TEST(ElementAccess, ConstantsHaveValuesAndKeepTheirNames) {
  const Unit unit = read("enum { K = 7 };\nvoid f(float* y, long i) { y[i * K] = 0; }");
  const IndexScope scope = index_scope(unit.functions.at(0));
  const auto access = element_access(unit.functions[0].block.children[0].expression->operands[0], scope);
  EXPECT_EQ(access->subscript->text(), "K * i");
  const Symbol i{"i", unit.functions[0].parameters[1].declaration};
  EXPECT_EQ(access->subscript->coefficient(i)->value(scope.constants), 7);
}

}  // namespace
}  // namespace accelopt::syntax

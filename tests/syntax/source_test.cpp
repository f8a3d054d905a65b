// SPDX-License-Identifier: Apache-2.0
#include "syntax/source.hpp"

#include <thread>

#include "syntax/parsing.hpp"

namespace accelopt::syntax {
namespace {

TEST(Source, SignatureWithTypesAndConstness) {
  const Unit unit = read(
      "void f(const float* x, double *restrict_free, int n, const long m, float w[8]);\n"
      "void f(const float* x, double *restrict_free, int n, const long m, float w[8]) { (void)x; }\n");
  ASSERT_EQ(unit.functions.size(), 1U) << "declarations are no definitions";
  const Function& function = unit.functions.front();
  EXPECT_EQ(function.return_type, "void");
  ASSERT_EQ(function.parameters.size(), 5U);
  EXPECT_EQ(function.parameters[0].name, "x");
  EXPECT_EQ(function.parameters[0].type, "const float *");
  EXPECT_EQ(function.parameters[0].value_type, "float");
  EXPECT_EQ(function.parameters[0].pointer_depth, 1);
  EXPECT_TRUE(function.parameters[0].is_const);
  EXPECT_FALSE(function.parameters[1].is_const);
  EXPECT_EQ(function.parameters[2].pointer_depth, 0);
  EXPECT_FALSE(function.parameters[2].is_const);
  EXPECT_TRUE(function.parameters[3].is_const);
  EXPECT_EQ(function.parameters[3].value_type, "long");
  EXPECT_EQ(function.parameters[4].pointer_depth, 1);
  EXPECT_EQ(unit.text(function.body), "{ (void)x; }");
}

TEST(Source, ResultsHaveTheirCanonicalType) {
  const Unit unit = read("typedef unsigned int word;\nstatic const word f() { return 1; }\n");
  ASSERT_EQ(unit.functions.size(), 1U);
  EXPECT_EQ(unit.functions.front().return_type, "const word");
  EXPECT_EQ(unit.functions.front().return_value_type, "unsigned int");
}

TEST(Source, FindsDefinitionsInLinkageBlocksAndNamespaces) {
  const Unit unit = read(
      "extern \"C\" void a() {}\nextern \"C\" { void b() {} }\nnamespace n { void c() {} }\nstatic inline int d() { "
      "return 1; }");
  ASSERT_EQ(unit.functions.size(), 4U);
  EXPECT_EQ(unit.text(unit.functions[0].extent), "void a() {}");
  EXPECT_NE(unit.find("b"), nullptr);
  EXPECT_NE(unit.find("c"), nullptr);
  EXPECT_EQ(unit.find("nothing"), nullptr);
}

TEST(Source, HeadersInMemoryDeclareConstants) {
  const Unit unit = read("#include \"task.h\"\nvoid kernel(float* y) { for (int i = 0; i < K; ++i) y[i] = 1; }\n",
                         model::Language::c, "enum { K = 12 };\nvoid kernel(float* y);\n");
  EXPECT_TRUE(unit.errors.empty());
  ASSERT_EQ(unit.functions.size(), 1U);
  const Statement& loop = unit.functions[0].block.children.at(0);
  ASSERT_TRUE(loop.loop.has_value());
  EXPECT_EQ(loop.loop->end->value, 12);
  EXPECT_EQ(loop.loop->end->declaration, -1) << "declared elsewhere";
}

TEST(Source, HelpersAreFound) {
  const Unit unit = read(
      "static int a(int x) { return x; }\nstatic int b(int x) { return a(x) + a(1); }\nint unused() { return 0; }\n"
      "int kernel(int x) { return b(x) + a(x) + kernel(x - 1); }");
  EXPECT_EQ(unit.find("kernel")->helpers, (std::vector<std::string>{"b", "a"}));
}

TEST(Source, MissingHeaderLeavesTheRestReadable) {
  const Unit unit = read("#include <no_such_header.h>\nvoid f(float* y) { y[0] = 1; }\n");
  EXPECT_FALSE(unit.errors.empty());
  ASSERT_EQ(unit.functions.size(), 1U);
  EXPECT_EQ(unit.functions[0].block.children.size(), 1U);
}

TEST(Source, ErrorsHavePlaces) {
  const Unit unit = read("void f() {\n  undeclared = 1;\n}\n");
  ASSERT_FALSE(unit.errors.empty());
  EXPECT_EQ(unit.errors[0].line, 2);
  EXPECT_EQ(unit.errors[0].column, 3);
}

TEST(Source, StandardHeadersOfBothLanguages) {
  const Unit cpp =
      read("#include <cmath>\n#include <vector>\nfloat f(const std::vector<float>& v) { return std::exp(v[1]); }\n");
  EXPECT_TRUE(cpp.errors.empty()) << cpp.errors[0].message;
  const Expression& value = *cpp.functions.at(0).block.children.at(0).expression;
  EXPECT_EQ(value.kind, ExpressionKind::call);
  EXPECT_EQ(value.text, "std::exp");
  ASSERT_EQ(value.operands.size(), 1U);
  EXPECT_EQ(value.operands[0].kind, ExpressionKind::subscript);
  EXPECT_EQ(value.operands[0].operands[0].text, "v");
  const Unit c = read("#include <stdint.h>\n#include <math.h>\nfloat f(int64_t n) { return sqrtf((float)n); }\n",
                      model::Language::c);
  EXPECT_TRUE(c.errors.empty()) << c.errors[0].message;
}

TEST(Source, StatementsEndWithTheirSemicolons) {
  const Unit unit = read(
      "void f(float* y, int n) {\n  int a = 1;\n  y[0] = 2 ;\n  if (n) y[1] = 3;\n  for (int i = 0; i < n; ++i)\n    "
      "y[i] = 4;\n}");
  const auto& body = unit.functions.at(0).block.children;
  ASSERT_EQ(body.size(), 4U);
  EXPECT_EQ(unit.text(body[0].extent), "int a = 1;");
  EXPECT_EQ(unit.text(body[1].extent), "y[0] = 2 ;");
  EXPECT_EQ(unit.text(body[2].extent), "if (n) y[1] = 3;");
  EXPECT_EQ(unit.text(body[3].extent), "for (int i = 0; i < n; ++i)\n    y[i] = 4;");
  EXPECT_EQ(unit.text(body[3].loop->extent), "for (int i = 0; i < n; ++i)");
}

TEST(Source, MacrosAreNames) {
  const Unit unit = read("#define LIMIT 3.0f\nvoid f(float* y) { y[0] = -LIMIT; }");
  const Expression& value = unit.functions.at(0).block.children.at(0).expression->operands[1];
  EXPECT_EQ(value.kind, ExpressionKind::unary);
  EXPECT_EQ(value.operands[0].kind, ExpressionKind::name);
  EXPECT_EQ(value.operands[0].text, "LIMIT");
}

TEST(Source, LoopsThatCountInAnotherWayAreNotCanonical) {
  const auto canonical = [](const std::string& header, const std::string& body) {
    const Unit unit = read("void f(float* y, int n) { " + header + " { " + body + " } }");
    return unit.functions.at(0).block.children.at(0).loop->canonical;
  };
  EXPECT_TRUE(canonical("for (int i = 0; i < n; ++i)", "y[i] = 0;"));
  EXPECT_TRUE(canonical("for (int i = 1; i <= n; i += 2)", "y[i] = 0;"));
  EXPECT_FALSE(canonical("for (int i = n; i > 0; --i)", "y[i] = 0;"));
  EXPECT_FALSE(canonical("for (int i = 0; i < n; ++i)", "y[i] = 0; ++i;"));
  EXPECT_FALSE(canonical("for (int i = 0; i < n; i *= 2)", "y[i] = 0;"));
  EXPECT_FALSE(canonical("for (;;)", "y[0] = 0;"));
}

TEST(Source, OtherLanguagesAreRefused) {
  ParseInput input;
  input.language = model::Language("python");
  const auto unit = parse(clang(), input);
  ASSERT_FALSE(unit.has_value());
  EXPECT_EQ(unit.error().code, base::ErrorCode::invalid_argument);
}

TEST(Source, ReadsOnSeveralThreadsAtOnce) {
  std::vector<std::size_t> counts(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < counts.size(); ++t) {
      threads.emplace_back([&counts, t] {
        std::string source;
        for (std::size_t i = 0; i <= t; ++i) source += "void f" + std::to_string(i) + "() {}\n";
        ParseInput input;
        input.source = source;
        if (const auto unit = parse(clang(), input)) counts[t] = unit->functions.size();
      });
    }
  }
  EXPECT_EQ(counts, (std::vector<std::size_t>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace accelopt::syntax

// SPDX-License-Identifier: Apache-2.0
#include "model/directives.hpp"

#include <gtest/gtest.h>

#include "model/special_values.hpp"
#include "model/user_flags.hpp"

namespace accelopt::model {
namespace {

TEST(ParseCpuDirectives, ReadsFlags) {
  const auto directives =
      parse_cpu_directives("//@ flags -ffast-math -funroll-loops\nint x; // flags -O0\n  //@ flags -O2\n");
  ASSERT_TRUE(directives);
  EXPECT_EQ(directives->flags, (std::vector<std::string>{"-ffast-math", "-funroll-loops", "-O2"}));
}

TEST(ParseCpuDirectives, NamesLineAndColumnOfARefusedFlag) {
  const auto directives = parse_cpu_directives("int x;\n//@ flags -ffast-math -fplugin=evil.so\n");
  ASSERT_FALSE(directives);
  EXPECT_EQ(directives.error().line, 2);
  EXPECT_EQ(directives.error().column, 23);
  EXPECT_NE(directives.error().message.find("-fplugin=evil.so"), std::string::npos);
}

TEST(ParseCpuDirectives, RefusesAnUnknownDirective) {
  const auto directives = parse_cpu_directives("//@ launch k grid=(1)\n");
  ASSERT_FALSE(directives);
  EXPECT_EQ(directives.error().line, 1);
  EXPECT_EQ(directives.error().column, 5);
}

TEST(ParseCpuDirectives, ASourceWithoutDirectivesHasNoFlags) {
  EXPECT_TRUE(parse_cpu_directives("int x;")->flags.empty());
  EXPECT_TRUE(parse_cpu_directives("")->flags.empty());
}

TEST(SpecialValues, AreSeenInCodeAndMacros) {
  for (const char* text :
       {"y = std::isnan(x) ? 0 : x;", "float m = -INFINITY;", "m = std::numeric_limits<float>::infinity();",
        "if (x != x) return;", "y = x[i] == x[i] ? x[i] : 0;", "#define IS_NAN(v) ((v) != (v))\n",
        "y = __builtin_isinf(x);"}) {
    EXPECT_NE(special_value_named(text), "") << text;
  }
  for (const char* text : {"y = exp(x); // isnan", "a * b == b", "x == x->next", "x != x[0]", "-x != x", "k == k % 64",
                           "k == k << 1", "\"NAN\""})
    EXPECT_EQ(special_value_named(text), "") << text;
}

TEST(SpecialValues, FunctionsThatOnlyNanNeeds_AreNames) {
  for (const char* text : {"if (isunordered(a, b)) return;", "y = std::isless(a, b) ? a : b;", "y = nanf(\"\");"})
    EXPECT_NE(special_value_named(text), "") << text;
  EXPECT_EQ(special_value_named("m = fmaxf(m, x[i]);"), "") << "most of them take a maximum";
  EXPECT_EQ(special_value_named("y = copysignf(y, signbit(x) ? -1 : 1);"), "") << "true of NaN under any flags";
}

TEST(SpecialValues, CodeThatMayMeanNan_IsSeen) {
  for (const char* text : {"m = std::fmax(m, x[i]);", "m = fminf(m, x);", "y = !(x[i] >= lo) ? 0 : x[i];",
                           "#define MAX(a, b) fmax(a, b)\n", "y[i] = x[i] < 0.0f ? -1.0f : x[i] >= 0.0f ? 1.0f : 0.0f;",
                           "if (a.x[i] > b) f(); else if (a.x[i] <= b) g();", "y = isnan(x) ? 0 : x;"})
    EXPECT_TRUE(may_handle_nan(text)) << text;
  for (const char* text : {"y = x > 0 ? x : 0;", "if (x < lo) x = lo; if (x > hi) x = hi;", "if (!(a == b)) return;",
                           "if (!done(a)) b = c < d;", "for (i = 0; i < n; ++i) if (j >= n) x[i] = a < b ? a : b;"})
    EXPECT_FALSE(may_handle_nan(text)) << text;
}

TEST(SpecialValues, WhatIsAskedOfInputs_IsToldFromConstants) {
  for (const char* text : {"if (std::isnan(v)) v = 0;", "if (v != v) v = 0;", "#define BAD(v) ((v) != (v))\n",
                           "y = x == -INFINITY ? 0 : x;", "if (std::numeric_limits<float>::infinity() > x) y = x;",
                           "if (x < std::numeric_limits<float>::infinity()) y = x;"})
    EXPECT_EQ(special_values_asked(text), SpecialValues::asked) << text;
  for (const char* text : {"m = fmaxf(m, x[i]);", "y = !(v > 0) ? 0 : v;", "y = x < 0 ? -1 : x >= 0 ? 1 : 0;"})
    EXPECT_EQ(special_values_asked(text), SpecialValues::maybe_nan) << text;
  for (const char* text : {"float m = -INFINITY;", "m = std::numeric_limits<float>::infinity();",
                           "y = n ? s / n : NAN;", "y = x > 0 ? x : 0;", "y = exp(x); // isnan"})
    EXPECT_EQ(special_values_asked(text), SpecialValues::not_asked) << text;
}

TEST(SpecialValues, QuestionsWithoutNames_AreSeen) {
  for (const char* text :
       {"memcpy(&u, &v, 4); return (u & 0x7f800000u) == 0x7F800000u;", "if ((u & 0x7fffffffu) >= 0x7f800000UL) v = 0;",
        "const uint32_t kMask = 0x7f800000u; if ((u & kMask) == kMask) v = 0;",
        "#define EXPONENT 0x7ff0000000000000ULL\nif ((u & EXPONENT) == EXPONENT) v = 0;",
        "int e = (u >> 23) & 0xff; if (e == 255) v = 0;", "return (h & 0x7c00) != 0x7c00;",
        "if ((~u & 0x7f800000) == 0) v = 0;", "if (x[i] - x[i] != 0.0f) y = 0;", "float d = v - v; y = d == 0 ? v : 0;",
        "y = v * 0.0f == 0.0f ? v : 0;", "y = fabsf(x[i]) > FLT_MAX ? 0 : x[i];",
        "if (std::numeric_limits<float>::max() < v) v = 0;",
        "if (std::abs(v) <= std::numeric_limits<double>::max()) s += v;", "if (fabsf(v) <= 3.402823466e38f) s += v;",
        "float m = -FLT_MAX; if (x[i] <= FLT_MAX && x[i] > m) m = x[i];", "y = v > FLT_MAX ? FLT_MAX : v;"})
    EXPECT_EQ(special_values_asked(text), SpecialValues::asked) << text;
  for (const char* text :
       {"float best = FLT_MAX; if (d < best) best = d; if (best < FLT_MAX) y = best;",
        "std::fill(best, best + n, std::numeric_limits<float>::max()); float b = best[i]; y = b < FLT_MAX ? b : 0;",
        "int e = ((u & 0x7f800000u) >> 23) - 127;", "if ((u & 0x7f800000u) == 0) u = 0;",
        "q = v > std::numeric_limits<int8_t>::max() ? 127 : v;", "y = v > 255 ? 255 : v; k = u >> 23;",
        "d = a * x - x; e = p->x - x; n = n - n % 8;", "if (x * 0.5f == 0) y = 1;"})
    EXPECT_EQ(special_values_asked(text), SpecialValues::not_asked) << text;
}

TEST(SpecialValues, WhatIsAsked_IsFollowedToWhereItComesFrom) {
  const auto asked = [](const char* text, const char* name) {
    return names_asked_for_special_values(text).contains(name);
  };
  const char* direct = "q[i] = std::isnan(x[i]) ? 0 : (int8_t)(x[i] * s[0]);";
  EXPECT_TRUE(asked(direct, "x"));
  for (const char* name : {"s", "i", "q"}) EXPECT_FALSE(asked(direct, name)) << name;
  for (const char* text : {"const float* row = x + r * n; float v = row[i]; if (v != v) v = 0;",
                           "float v = 2.0f * f(x[i], s); if (v == -INFINITY) v = 0;",
                           "float fix(float v) { return isnan(v) ? 0 : v; }\nvoid kernel() { q[i] = fix(x[i]); }",
                           "if (x[i] < std::numeric_limits<float>::infinity()) q[i] = x[i] + s[i];",
                           "uint32_t u; memcpy(&u, &x[i], 4); q[i] = (u & 0x7f800000) == 0x7f800000 ? 0 : s[i];",
                           "q[i] = x[i] - x[i] != 0 ? 0 : s[i];", "q[i] = fabsf(x[i]) > FLT_MAX ? 0 : s[i];"})
    EXPECT_TRUE(asked(text, "x")) << text;
  for (const char* text : {"float m = -INFINITY; q[i] = x[i];", "v = fmaxf(x[i], 0);",
                           "float fix(float v) { return isnan(v) ? 0 : v; }\nvoid kernel() { q[i] = x[i]; y[i] = "
                           "fix(s[i]); }"})
    EXPECT_FALSE(asked(text, "x")) << text;
}

TEST(SpecialValues, FiniteMath_ComesFromFlagsTextAndTheUsersBuild) {
  const auto of = [](const std::string& text) { return Solution{Language::cpp, {{"kernel.cpp", text}}}; };
  EXPECT_TRUE(is_built_with_finite_math(of("//@ flags -ffast-math\nint x;")));
  EXPECT_TRUE(is_built_with_finite_math(of("#pragma GCC optimize(\"fast-math\")\nint x;")));
  EXPECT_TRUE(is_built_with_finite_math(with_user_flags(of("int x;"), {"-Ofast"})));
  EXPECT_FALSE(is_built_with_finite_math(with_user_flags(of("//@ flags -fno-finite-math-only\nint x;"), {"-Ofast"})));
  EXPECT_FALSE(is_built_with_finite_math(of("int x;")));
}

TEST(SpecialValues, TheLastFlagDecides) {
  EXPECT_TRUE(assumes_finite_math({"-O3", "-ffast-math"}));
  EXPECT_TRUE(assumes_finite_math({"-fno-finite-math-only", "-ffinite-math-only"}));
  EXPECT_FALSE(assumes_finite_math({"-ffast-math", "-fno-finite-math-only", "-mno-recip"}));
  EXPECT_FALSE(assumes_finite_math({"-fassociative-math"}));
  EXPECT_TRUE(asks_for_finite_math("#pragma GCC optimize(\"fast-math\")\nint x;"));
  EXPECT_TRUE(asks_for_finite_math("#pragma GCC optimize(\"no-finite-math-only\", \"fast-math\")\nint x();"));
  EXPECT_FALSE(asks_for_finite_math("#pragma GCC optimize(\"fast-math\", \"no-finite-math-only\")\nint x();"));
  EXPECT_FALSE(asks_for_finite_math("__attribute__((optimize(\"fast-math\", \"no-finite-math-only\"))) int x();"));
  EXPECT_TRUE(asks_for_finite_math("__attribute__((optimize(\"fast-math\"))) int x();"));
  EXPECT_FALSE(asks_for_finite_math("__attribute__((optimize(\"no-finite-math-only\"))) int x(); // fast-math"));
}

TEST(SpecialValues, OptionsMadeByMacros_MayBeFiniteMath) {
  for (const char* text :
       {"#define S(x) #x\n__attribute__((optimize(S(fast-math)))) int x();",
        "#define FAST __attribute__((noinline, __optimize__(S(fast-math))))\nFAST int x();",
        "#define O optimize\n__attribute__((O(S(fast-math)))) int x();", "[[gnu::optimize(FAST)]] int x();",
        "__attribute__((optimize(\"fast\" \"-math\"))) int x();", "[[gnu::optimize(\"fast\\055math\")]] int x();",
        "_Pragma(S(GCC optimize FAST)) int x();", "_Pragma(\"GCC optimize (\\\"fast\\\" \\\"-math\\\")\") int x();"})
    EXPECT_TRUE(asks_for_finite_math(text)) << text;
  for (const char* text :
       {"__attribute__((optimize(3, \"no-math-errno\"))) int x();", "#pragma GCC optimize \"O3\"\nint x();",
        "#define UNROLL(n) _Pragma(S(GCC unroll n))\nint x();", "_Pragma(\"GCC optimize (\\\"O3\\\")\") int x();",
        "void optimize(float* x) { step(x, optimize); }", "void Model::optimize(float* x) { x[0] = 0; }"})
    EXPECT_FALSE(asks_for_finite_math(text)) << text;
}

}  // namespace
}  // namespace accelopt::model

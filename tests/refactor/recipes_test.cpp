// SPDX-License-Identifier: Apache-2.0
#include "refactor/recipes.hpp"

#include <gtest/gtest.h>

namespace accelopt::refactor {
namespace {

std::vector<Proposal> proposals(const std::string& source) {
  return propose(*language_of_file("m.py"), source, "f");
}

TEST(Recipes, ListAsQueue_BecomesDeque) {
  const auto found = proposals("def f(x):\n    q = [x]\n    while q:\n        y = q.pop(0)\n        q.append(y)\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "def f(x):\n    from collections import deque\n    q = deque([x])\n    while q:\n        y = q.popleft()\n"
            "        q.append(y)\n");
}

TEST(Recipes, QueueThatIsSliced_StaysAList) {
  EXPECT_TRUE(proposals("def f(x):\n    q = [x]\n    while q:\n        y = q.pop(0)\n    return q[1:]\n").empty());
}

TEST(Recipes, MembershipInAList_GetsASetBesideIt) {
  const auto found = proposals(
      "def f(xs):\n    \"\"\"Doc.\"\"\"\n    seen = []\n    for x in xs:\n        if x in seen:\n            continue\n"
      "        seen.append(x)\n    return seen\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "def f(xs):\n    \"\"\"Doc.\"\"\"\n    seen = []\n    seen_set = set()\n    for x in xs:\n"
            "        if x in seen_set:\n            continue\n        seen.append(x)\n        seen_set.add(x)\n"
            "    return seen\n");
}

TEST(Recipes, ListThatAlsoShrinks_IsLeftAlone) {
  EXPECT_TRUE(
      proposals("def f(xs):\n    seen = []\n    for x in xs:\n        if x in seen:\n            seen.remove(x)\n"
                "        seen.append(x)\n    return seen\n")
          .empty());
}

TEST(Recipes, PatternInALoop_IsHoisted) {
  const auto found =
      proposals("import re\ndef f(xs):\n    for x in xs:\n        if re.match(r\"a+\", x):\n            g(x)\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "import re\ndef f(xs):\n    compiled_pattern = re.compile(r\"a+\")\n    for x in xs:\n"
            "        if compiled_pattern.match(x):\n            g(x)\n");
}

TEST(Recipes, Concatenation_BecomesJoin) {
  const auto found =
      proposals("def f(xs):\n    out = \"\"\n    for x in xs:\n        out += x + \",\"\n    return out\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "def f(xs):\n    out_parts = []\n    for x in xs:\n        out_parts.append(x + \",\")\n"
            "    return \"\".join(out_parts)\n");
}

TEST(Recipes, TextThatIsReadMeanwhile_StaysAsItIs) {
  EXPECT_TRUE(proposals("def f(xs):\n    out = \"\"\n    for x in xs:\n        if x in g(out):\n            out += x\n "
                        "   return out\n")
                  .empty());
}

/// The only proposal for `f` in this language; empty: there is none.
std::string proposed(const std::string& language, const std::string& source) {
  const auto found = propose(code_language(language), source, "f");
  EXPECT_LE(found.size(), 1U);
  return found.empty() ? "" : found.front().text;
}

TEST(Recipes, LinesOfAMegabyte_HaveNone) {
  const std::string line(1 << 20, 'x');
  EXPECT_TRUE(proposals("def f(y):\n    for x in y:\n        z = '" + line + "'\n").empty());
  EXPECT_TRUE(
      propose(*language_of_file("m.js"), "function f(y) {\n  for (const x of y) { z = '" + line + "'; }\n}\n", "f")
          .empty());
}

TEST(BraceRecipes, JavaScriptIncludes_GetsASet) {
  EXPECT_EQ(proposed("javascript",
                     "function f(xs) {\n  const out = [];\n  for (const x of xs) {\n    if (!out.includes(x)) {\n"
                     "      out.push(x);\n    }\n  }\n  return out;\n}\n"),
            "function f(xs) {\n  const out = [];\n  const outSet = new Set();\n  for (const x of xs) {\n"
            "    if (!outSet.has(x)) {\n      outSet.add(x);\n      out.push(x);\n    }\n  }\n  return out;\n}\n");
}

TEST(BraceRecipes, TypeScriptIncludes_GetsASet) {
  EXPECT_EQ(proposed("typescript",
                     "function f(xs: string[]): string[] {\n  const out: string[] = [];\n  xs.forEach((x) => {\n"
                     "    if (out.includes(x)) return;\n    out.push(x);\n  });\n  return out;\n}\n"),
            "function f(xs: string[]): string[] {\n  const out: string[] = [];\n  const outSet = new Set<unknown>();\n"
            "  xs.forEach((x) => {\n    if (outSet.has(x)) return;\n    outSet.add(x);\n    out.push(x);\n  });\n"
            "  return out;\n}\n");
}

TEST(BraceRecipes, ListThatAlsoShrinks_IsLeftAlone) {
  EXPECT_EQ(
      proposed("javascript",
               "function f(xs) {\n  const out = [];\n  for (const x of xs) {\n    if (out.includes(x)) out.pop();\n"
               "    out.push(x);\n  }\n}\n"),
      "");
  EXPECT_EQ(proposed("c++",
                     "void f() {\n  std::vector<int> v;\n  for (;;) {\n    v.push_back(1);\n"
                     "    if (std::find(v.begin(), v.end(), x) != v.end()) v[0] = 2;\n  }\n}\n"),
            "");
}

TEST(BraceRecipes, SearchOutsideOfLoops_IsLeftAlone) {
  EXPECT_EQ(
      proposed("javascript", "function f(x) {\n  const out = [];\n  out.push(x);\n  return out.includes(1);\n}\n"), "");
}

TEST(BraceRecipes, CxxFind_GetsASet) {
  EXPECT_EQ(proposed("c++",
                     "#include <vector>\nint f(const V& in) {\n  std::vector<std::string> v;\n  for (auto& x : in) {\n"
                     "    if (std::find(v.begin(), v.end(), x) == v.end())\n      v.push_back(x);\n  }\n}\n"),
            "#include <unordered_set>\n#include <vector>\nint f(const V& in) {\n  std::vector<std::string> v;\n"
            "  std::unordered_set<std::string> v_set;\n  for (auto& x : in) {\n    if (v_set.count(x) == 0)\n"
            "      { v_set.insert(x); v.push_back(x); }\n  }\n}\n");
}

TEST(BraceRecipes, StrlenInALoop_IsAskedOnce) {
  EXPECT_EQ(proposed("c", "void f(char *s) {\n  for (size_t i = 0; i < strlen(s); i++) out[i] = s[i] ^ 1;\n}\n"),
            "void f(char *s) {\n  const size_t s_length = strlen(s);\n"
            "  for (size_t i = 0; i < s_length; i++) out[i] = s[i] ^ 1;\n}\n");
}

/// The proposal for a loop over `s` with this body.
std::string asked_once(const std::string& body, const std::string& before = "") {
  return proposed("c++",
                  "void f(char *s) {\n" + before + "  for (size_t i = 0; i < strlen(s); i++)\n    " + body + "\n}\n");
}

TEST(BraceRecipes, StringThatTheLoopMayChange_IsAskedInEachTurn) {
  for (const char* body :
       {"s[i] = 0;", "s[i] ^= 1;", "{ if (x) { s[i + 1] <<= 2; } }", "s[i]++;", "--s[i];", "*s = 0;", "s++;",
        "s = g();", "g(s);", "strcpy(s, x);", "g(s + 1);", "g(&s[i]);", "{ char *p = s; *p = 0; }",
        "{ char &c = s[i]; c = 0; }", "for (char *p = s; *p; ++p) if (x) *p = 0; else break;",
        "if (x) y(); else s[i] = 0;", "do s[i] = 0; while (x);"})
    EXPECT_EQ(asked_once(body), "") << body;
  EXPECT_EQ(asked_once("*p = 0;", "  char *p = strchr(s, 'x');\n"), "");
  EXPECT_EQ(asked_once("*p++ = 0;", "  char *p = &s[1];\n"), "");
  EXPECT_EQ(asked_once("p[i] = 0;", "  s = p;\n"), "");
  EXPECT_EQ(asked_once("x->p[i] = 0;", "  x->p = s;\n"), "");
}

TEST(BraceRecipes, StringThatTheLoopReads_IsAskedOnce) {
  for (const char* body :
       {"x += s[i] == 'a' && s[i] >= y && y & s[i];", "out[i] = s[i] << 1;", "if (strcmp(s, x) != 0) y = 1;",
        "g(s[i]);", "y.s = 0;", "*out++ = s[i];", "{ char c = s[i]; c = 0; }", "x = s[i] <= y;"})
    EXPECT_NE(asked_once(body), "") << body;
  EXPECT_NE(asked_once("out[i] = s[i];\n  s[0] = 0;", "  s[0] = 'a';\n  long n = strlen(s);\n  n++;\n"), "");
}

TEST(BraceRecipes, GoConcatenation_GetsABuilder) {
  EXPECT_EQ(proposed("go",
                     "package p\n\nfunc f(xs []string) string {\n\tout := \"\"\n\tfor _, x := range xs {\n"
                     "\t\tout += x + \",\"\n\t}\n\treturn out\n}\n"),
            "package p\n\nimport \"strings\"\n\nfunc f(xs []string) string {\n\tvar outBuilder strings.Builder\n"
            "\tfor _, x := range xs {\n\t\toutBuilder.WriteString(x + \",\")\n\t}\n\treturn outBuilder.String()\n}\n");
  EXPECT_EQ(proposed("go",
                     "package p\n\nfunc f(xs []string) string {\n\tout := \"\"\n\tfor _, x := range xs {\n"
                     "\t\tif len(out) > 3 { g() }\n\t\tout += x\n\t}\n\treturn out\n}\n"),
            "");
}

TEST(BraceRecipes, GoContains_GetsAMapAndDropsTheImport) {
  EXPECT_EQ(proposed("go",
                     "package p\n\nimport (\n\t\"fmt\"\n\t\"slices\"\n)\n\nfunc f(xs []int) {\n\tvar out []int\n"
                     "\tfor _, x := range xs {\n\t\tif !slices.Contains(out, x) {\n\t\t\tout = append(out, x)\n\t\t}\n"
                     "\t}\n\tfmt.Println(out)\n}\n"),
            "package p\n\nimport (\n\t\"fmt\"\n)\n\nfunc f(xs []int) {\n\tvar out []int\n\toutSet := map[int]bool{}\n"
            "\tfor _, x := range xs {\n\t\tif !outSet[x] {\n\t\t\toutSet[x] = true\n\t\t\tout = append(out, x)\n\t\t}\n"
            "\t}\n\tfmt.Println(out)\n}\n");
}

TEST(BraceRecipes, RustContains_GetsASet) {
  EXPECT_EQ(proposed("rust",
                     "fn f(xs: &[String]) -> Vec<String> {\n    let mut out = Vec::new();\n    for x in xs {\n"
                     "        if !out.contains(x) {\n            out.push(x.clone());\n        }\n    }\n    out\n}\n"),
            "fn f(xs: &[String]) -> Vec<String> {\n    let mut out = Vec::new();\n"
            "    let mut out_set = std::collections::HashSet::new();\n    for x in xs {\n"
            "        if !out_set.contains(x) {\n            out_set.insert((x.clone()).clone());\n"
            "            out.push(x.clone());\n        }\n    }\n    out\n}\n");
}

TEST(Recipes, OtherLanguages_GetNothing) {
  EXPECT_TRUE(propose(code_language("other"), "def f(x):\n    q = [x]\n    q.pop(0)\n", "").empty());
}

}  // namespace
}  // namespace accelopt::refactor

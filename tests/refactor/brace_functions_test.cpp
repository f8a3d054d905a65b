// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "refactor/functions.hpp"

namespace accelopt::refactor {
namespace {

/// The functions, each as "name first-last", lines from 0.
std::string functions(std::string_view language, std::string_view source) {
  return base::joined(functions_of(code_language(language), source), ", ", [](const FunctionPlace& place) {
    return place.name + " " + std::to_string(place.first) + "-" + std::to_string(place.last - 1);
  });
}

TEST(BraceFunctions, JavaScriptDeclarations_AreFound) {
  EXPECT_EQ(functions("javascript",
                      "export async function load(a, b = {x: 1}) {\n"  // 0
                      "  return a;\n"                                  // 1
                      "}\n"                                            // 2
                      "const pick = (xs) => {\n"                       // 3
                      "  if (xs.length) { return xs[0]; }\n"           // 4
                      "};\n"                                           // 5
                      "const one = x => {\n"                           // 6
                      "};\n"                                           // 7
                      "module.exports.words = function (text) {\n"     // 8
                      "  function* inner() { yield 1 }\n"              // 9
                      "};\n"                                           // 10
                      "Box.prototype.size = function size() {\n"       // 11
                      "};\n"),
            "load 0-2, pick 3-5, one 6-7, words 8-10, words.inner 9-9, Box.prototype.size 11-12");
}

TEST(BraceFunctions, JavaScriptMethods_HaveTheirClass) {
  EXPECT_EQ(functions("javascript",
                      "class Diff extends Base {\n"                // 0
                      "  static async run(old, now) {\n"           // 1
                      "    for (const x of old) { f(x); }\n"       // 2
                      "  }\n"                                      // 3
                      "  #hidden() { while (true) { break; } }\n"  // 4
                      "  handler = (event) => {\n"                 // 5
                      "  }\n"                                      // 6
                      "}\n"                                        // 7
                      "const api = { get(x) {\n"                   // 8
                      "}, put: function (x) {\n"                   // 9
                      "} };\n"),
            "Diff.run 1-3, Diff.#hidden 4-4, Diff.handler 5-6, api.get 8-9, api.put 9-10");
}

TEST(BraceFunctions, BracesInTexts_AreNoBraces) {
  EXPECT_EQ(functions("javascript",
                      "function f(a) {\n"                                   // 0
                      "  const s = `}${a ? '}' : `}`}`;\n"                  // 1
                      "  const r = /[/}]\\}/.test(s) ? 1 : 4 / 2;  // }\n"  // 2
                      "  /* } */ return \"}\" + '}';\n"                     // 3
                      "}\n"                                                 // 4
                      "function g() {\n}\n"),
            "f 0-4, g 5-6");
}

TEST(BraceFunctions, TypeScriptTypes_AreNoBodies) {
  EXPECT_EQ(functions("typescript",
                      "export function f<T extends { id: number }>(x: T): { id: number } {\n"  // 0
                      "  return x;\n"                                                          // 1
                      "}\n"                                                                    // 2
                      "const g: (a: number) => number = (a: number): number => {\n"            // 3
                      "  return a;\n"                                                          // 4
                      "};\n"                                                                   // 5
                      "interface Shape { area(): number; }\n"                                  // 6
                      "class Box implements Shape {\n"                                         // 7
                      "  private readonly at: Map<string, { n: number }> = new Map();\n"       // 8
                      "  public area(): number {\n"                                            // 9
                      "    return 1;\n"                                                        // 10
                      "  }\n}\n"),
            "f 0-2, g 3-5, Box.area 9-11");
}

TEST(BraceFunctions, C_IsRead) {
  EXPECT_EQ(functions("c",
                      "#define BLOCK(x) { x\n"                       // 0
                      "struct point { int x; };\n"                   // 1
                      "enum kind { a, b };\n"                        // 2
                      "static const int table[] = {1, 2};\n"         // 3
                      "int declared(int x);\n"                       // 4
                      "__attribute__((noinline)) static int\n"       // 5
                      "count(const char *text, int (*test)(int))\n"  // 6
                      "{\n"                                          // 7
                      "  char c = '}'; // }\\\n"                     // 8
                      "}\n"                                          // 9
                      "  return c;\n"                                // 10
                      "}\n"                                          // 11
                      "struct point make(int x) {\n"                 // 12
                      "  struct point p = {x}; return p;\n"          // 13
                      "}\n"),
            "count 5-11, make 12-14");
}

TEST(BraceFunctions, TypesInsideOfMacros_AreNoNames) {
  EXPECT_EQ(functions("c",
                      "EXPORT(const char *) version(void)\n{\n}\n"                   // 0
                      "static API(int) * both(int (*test)(int)) REQUIRES(x) {\n}\n"  // 3
                      "DEFINE_TEST(name) {\n}\n"                                     // 5
                      "EXPORT(void) guarded(int x) __attribute__((cold)) {\n}\n"),
            "version 0-2, both 3-4, DEFINE_TEST 5-6, guarded 7-8");
  EXPECT_EQ(functions("c++",
                      "struct Box {\n"                                             // 0
                      "  explicit Box(int n) REQUIRES(mutex) : size_(n) {\n  }\n"  // 1
                      "  Box(long n) REQUIRES(mutex) {\n  }\n"                     // 3
                      "  int size() const REQUIRES(mutex) { return 1; }\n};\n"     // 5
                      "Box::Box(char n) REQUIRES(mutex) : size_(n) {\n}\n"),
            "Box::Box 1-2, Box::Box 3-4, Box::size 5-5, Box::Box 7-8");
}

TEST(BraceFunctions, Cxx_IsRead) {
  EXPECT_EQ(functions("c++",
                      "namespace a::b {\n"                                        // 0
                      "class Box final : public Base<int> {\n"                    // 1
                      " public:\n"                                                // 2
                      "  Box(int n) : size_{n}, more_(n) {\n"                     // 3
                      "  }\n"                                                     // 4
                      "  bool operator==(const Box& o) const { return true; }\n"  // 5
                      "  int operator()(int x) {\n  }\n"                          // 6
                      "  ~Box() {}\n"                                             // 8
                      "};\n"                                                      // 9
                      "template <class T>\n"                                      // 10
                      "auto Box::twice(T x) const noexcept -> T {\n"              // 11
                      "  auto f = [&](int y) { return y; };\n"                    // 12
                      "  return R\"(})\"[0] + 1'000;\n"                           // 13
                      "}\n"                                                       // 14
                      "}  // namespace\n"),
            "a::b::Box::Box 3-4, a::b::Box::operator== 5-5, a::b::Box::operator() 6-7, a::b::Box::~Box 8-8, "
            "a::b::Box::twice 10-14");
}

TEST(BraceFunctions, Go_IsRead) {
  EXPECT_EQ(functions("go",
                      "type Shape interface { Area() int }\n"                           // 0
                      "func declared(x int) int\n"                                      // 1
                      "func (b *Box[T]) Size(f func(int) bool) (n int, err error) {\n"  // 2
                      "\ts := `}`\n"                                                    // 3
                      "\tif len(s) > 0 { return }\n"                                    // 4
                      "}\n"                                                             // 5
                      "func Map[K any](in map[string]interface{}) struct{ x int } {\n"  // 6
                      "\tgo func() { f() }()\n"                                         // 7
                      "}\n"),
            "Box.Size 2-5, Map 6-8");
}

TEST(BraceFunctions, Rust_IsRead) {
  EXPECT_EQ(functions("rust",
                      "pub(crate) fn f<'a, T: Into<String>>(x: &'a T) -> Vec<u8> where T: Copy {\n"  // 0
                      "    let c = '}'; let s = r#\"}\"#; /* /* } */ } */\n"                         // 1
                      "    let closure: fn(u8) -> u8 = |x| { x };\n"                                 // 2
                      "}\n"                                                                          // 3
                      "impl<T> Shape for Box<T> {\n"                                                 // 4
                      "    pub const unsafe fn area(&self) -> f64 {\n"                               // 5
                      "        1.0\n"                                                                // 6
                      "    }\n"                                                                      // 7
                      "}\n"                                                                          // 8
                      "trait Other { fn declared(&self); fn given(&self) {} }\n"                     // 9
                      "mod tests { fn t() {\n} }\n"),
            "f 0-3, Box.area 5-7, Other.given 9-9, tests.t 10-11");
}

TEST(FindFunction, NamespacesOfCxx_MayBeLeftOut) {
  const auto place = find_function(code_language("c++"), "namespace a {\nint f() {\n}\n}\n", "f");
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->name, "a::f");
  EXPECT_EQ(place->body, 2U);
}

TEST(FindFunction, LineWithOtherCode_IsRefused) {
  const auto refusal = [](std::string_view source) {
    const auto place = find_function(code_language("c"), source, "f");
    return place ? "" : place.error().message;
  };
  EXPECT_NE(refusal("int f() {\n} int x;\n").find("shares a line"), std::string::npos);
  EXPECT_NE(refusal("int f() {\n} /*\nint x;\n// */\n").find("shares a line"), std::string::npos);
  EXPECT_NE(refusal("int f() {\n} // \\\nint x;\n").find("shares a line"), std::string::npos);
  EXPECT_NE(refusal("int x; int f() {\n}\n").find("shares a line"), std::string::npos);
  EXPECT_EQ(refusal("int f() {\n}; // f\n"), "");
}

}  // namespace
}  // namespace accelopt::refactor

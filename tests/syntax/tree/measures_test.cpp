// SPDX-License-Identifier: Apache-2.0
// Functions whose cognitive complexity was counted by hand, as the numbers behind their lines say, and a few that
// clang-tidy counts as well.
#include "syntax/tree/measures.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <regex>

#include "base/files.hpp"
#include "syntax/tree/library.hpp"

namespace accelopt::syntax::tree {
namespace {

using Complexities = std::map<std::string, int>;

class MeasuresTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::filesystem::path(ACCELOPT_GRAMMARS) / "rust.so"))
      GTEST_SKIP() << "there are no grammars in build/grammars; scripts/fetch-grammars.sh builds them";
    auto opened = Reader::open({ACCELOPT_GRAMMARS});
    if (!opened) GTEST_SKIP() << opened.error().message;
    reader_.emplace(*opened);
  }

  Measures measured(std::string_view language, std::string_view text) {
    auto measures = reader_->measure(language, text);
    EXPECT_TRUE(measures) << measures.error().message;
    return measures ? *measures : Measures{};
  }

  /// Of functions with a name.
  Complexities complexities(std::string_view language, std::string_view text) {
    Complexities out;
    for (const FunctionMeasure& one : measured(language, text).functions) {
      if (!one.name.empty()) out[one.name] = one.cognitive;
    }
    return out;
  }

  std::string refused(std::string_view language, std::string_view text) {
    const auto measures = reader_->measure(language, text);
    return measures ? "measured" : measures.error().message;
  }

  std::optional<Reader> reader_;
};

TEST_F(MeasuresTest, Python_IsCountedAsByHand) {
  EXPECT_EQ(complexities("python", R"code(import os

def plain(a, b):
    return a + b

def sum_of_primes(limit):
    total = 0
    for i in range(1, limit):          # 1
        for j in range(2, i):          # 2
            if i % j == 0:             # 3
                break
        else:                          # 1
            total += i
    return total                       # 7

def words(kind, flag, other):
    if kind == 1 and flag and other:   # 1 + 1
        return "a"
    elif kind == 2 or flag and other:  # 1 + 2
        return "b"
    else:                              # 1
        return "c" if flag else "d"    # 2   -> 8

def caught(path):
    try:
        with open(path) as file:
            if not (file and path):     # 1 + 1
                return None
    except OSError:                    # 1
        if path:                       # 2
            raise
    return [x for x in path if x]      # 1 + 1   -> 7

def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)   # 1 + 1 recursion -> 2

class Tree:
    def walk(self, node):
        def inner(one):
            if one:                    # 2
                return one
        key = lambda it: it and node   # 1
        return inner(node), key        # 3
)code"),
            (Complexities{
                {"plain", 0}, {"sum_of_primes", 7}, {"words", 8}, {"caught", 7}, {"factorial", 2}, {"Tree.walk", 3}}));
}

TEST_F(MeasuresTest, C_IsCountedAsByHand) {
  EXPECT_EQ(complexities("c", R"code(#ifndef GUARD
#define GUARD
int max_of(const int *values, int count) {
  int best = 0;
  for (int i = 0; i < count; ++i) {            // 1
    if (values[i] > best && values[i] < 1000)  // 2 + 1
      best = values[i];
    else if (values[i] == 7)                   // 1
      continue;
    else                                       // 1
      best += values[i] > 3 ? 1 : 0;           // 3
  }
  return best;                                 // 9
}
static int classify(int a, int b) {
  switch (a) {             // 1
    case 1:
      while (b > 0) --b;   // 2
      break;
    default:
      do { b--; } while (b > 10 || b < -10);  // 2 + 1
  }
  if (a || (b && a)) goto end;   // 1 + 1 + 1 + 1
  b = 3;
end:
  return b;   // 10
}
int *pointer(int *p) { return p ? p : 0; }  // 1
#endif
)code"),
            (Complexities{{"max_of", 9}, {"classify", 10}, {"pointer", 1}}));
}

TEST_F(MeasuresTest, JavaScript_IsCountedAsByHand) {
  EXPECT_EQ(complexities("javascript", R"code(function pick(list, wanted) {
  outer: for (const one of list) {        // 1
    for (const part of one) {             // 2
      if (part === wanted) continue outer; // 3 + 1
      if (!part) break;                   // 3
    }
  }
  return list.map((one) => one ? 1 : 2);  // 2 (nested in a function)
}                                         // 12
class Box {
  open(key) {
    try { return key && this.a || this.b; }  // 2
    catch (error) { if (error) throw error; } // 1 + 2
    finally { this.done = true; }
  }
}                                        // 5
const arrow = (a) => { while (a) { a -= 1; } };  // 1
export default function later(x) { if (x) { return 1; } else if (x === 0) { return 2; } else { return 3; } } // 3
)code"),
            (Complexities{{"pick", 12}, {"Box.open", 5}, {"arrow", 1}, {"later", 3}}));
}

TEST_F(MeasuresTest, TypeScript_IsCountedAsByHand) {
  EXPECT_EQ(complexities("typescript", R"code(export function f(a: number, b?: string): number {
  if (a > 1) { return 1; }  // 1
  return b ? 2 : 3; // 1
}
)code"),
            (Complexities{{"f", 2}}));
}

TEST_F(MeasuresTest, Go_IsCountedAsByHand) {
  EXPECT_EQ(complexities("go", R"code(package a

func Walk(items []int, limit int) int {
	total := 0
outer:
	for _, item := range items { // 1
		switch { // 2
		case item > limit && item%2 == 0: // 1
			continue outer // 1
		case item < 0:
			break
		}
		if item == 3 { // 2
			total++
		} else if item == 4 { // 1
			total += 2
		} else { // 1
			total--
		}
	}
	f := func() { // nests
		if total > 3 { // 2
			total = 3
		}
	}
	f()
	return total // 11
}

func (b *Box) Again(n int) int {
	if n > 0 { // 1, and 1 for the recursion
		return b.Again(n - 1)
	}
	return 0
}
)code"),
            (Complexities{{"Walk", 11}, {"Again", 2}}));
}

TEST_F(MeasuresTest, Rust_IsCountedAsByHand) {
  EXPECT_EQ(complexities("rust", R"code(impl Store {
    pub fn find(&self, key: u32) -> Option<u32> {
        for (index, one) in self.all.iter().enumerate() { // 1
            if *one == key && index > 0 { // 2 + 1
                return Some(index as u32);
            } else if let Some(x) = self.get(key) { // 1
                return Some(x);
            }
        }
        match key { // 1
            0 => None,
            _ => { if self.open { Some(1) } else { None } } // 2 + 1
        }
    }
}
fn count(n: u32) -> u32 {
    let mut i = 0;
    'all: loop { // 1
        while i < n { i += 1; if i == 7 { break 'all; } } // 2 + 3 + 1
    }
    let f = |x: u32| if x > 1 { x } else { 0 }; // 2 + 1
    f(i)
}
)code"),
            (Complexities{{"Store.find", 9}, {"count", 10}}));
}

TEST_F(MeasuresTest, Cpp_IsCountedAsByHand) {
  EXPECT_EQ(complexities("c++", R"code(namespace n {
struct S {
  int f(int a) { return a > 0 && a < 9 ? 1 : 2; }  // 1 + 1
  int g(int a);
};
int S::g(int a) {
  try {
    for (int x : {1, 2}) { if (x == a) return x; }  // 1 + 2
  } catch (int) {    // 1
    return 3;
  }
  auto h = [&](int y) { if (y) a = 2; };  // 2
  h(3);
  return a;  // 6
}
}
)code"),
            (Complexities{{"n.S.f", 2}, {"n.S::g", 6}}));
}

TEST_F(MeasuresTest, NestingAndStatements_AreThoseOfTheDeepestAndAll) {
  const Measures measures =
      measured("python", "x = 1\ndef f(a):\n    for b in a:\n        if b:\n            return b\n");
  ASSERT_EQ(measures.functions.size(), 2U);
  EXPECT_EQ(measures.functions[1].nesting, 2);
  EXPECT_EQ(measures.functions[1].statements, 3);
  EXPECT_EQ(measures.statements(), 5);  // the assignment and the definition stand outside
  EXPECT_EQ(measures.cognitive(), 3);
  EXPECT_EQ(measures.nesting(), 2);
}

TEST_F(MeasuresTest, LayoutAndComments_CountNothing) {
  const auto of = [&](const char* text) {
    const Measures measures = measured("javascript", text);
    return std::pair(measures.cognitive(), measures.statements());
  };
  EXPECT_EQ(of("function f(a) { if (a) { return 1; } return 2; }"),
            of("// a comment\nfunction f(a) {\n  /* and one */\n  if (a) {\n    return 1;\n  }\n\n  return 2;\n}\n"));
  // What a comma puts on one line is a step as well.
  EXPECT_EQ(of("function f(a) { a.b(), a.c(), a.d(); }").second, of("function f(a) { a.b(); a.c(); a.d(); }").second);
}

TEST_F(MeasuresTest, WhatRunsText_IsToldApart) {
  EXPECT_EQ(measured("python", "def f(a):\n    return eval('a + 1')\n").text_runners, 1);
  EXPECT_EQ(measured("python", "def f(a):\n    exec(compile('x', '', 'exec'))\n").text_runners, 3);
  EXPECT_EQ(measured("javascript", "const f = (a) => new Function('a', 'return a')(eval('1'));").text_runners, 2);
  EXPECT_EQ(measured("python", "def f(a):\n    return a.evaluate('x')\n").text_runners, 0);
}

TEST_F(MeasuresTest, WhatRunsTextByAnotherName_IsToldApart) {
  for (const char* text : {"run = eval\n", "from builtins import exec as go\n", "import builtins as b\n",
                           "go = getattr(x, 'ev' + 'al')\n", "go = getattr(x, name)\n", "g = getattr\n"})
    EXPECT_GE(measured("python", text).text_runners, 1) << text;
  for (const char* text : {"import re\nword = re.compile('a')\n", "a = getattr(x, 'size', 0)\n", "f(compile=1)\n"})
    EXPECT_EQ(measured("python", text).text_runners, 0) << text;
  for (const char* text : {"(0, eval)(s);", "new vm.Script(s).runInThisContext();", "const v = require('node:vm');",
                           "[].map.constructor(s)();", "const F = Function;", "x['constructor'];"})
    EXPECT_GE(measured("javascript", text).text_runners, 1) << text;
  EXPECT_EQ(measured("javascript", "class A { constructor(a) { this.a = a; } }").text_runners, 0);
  EXPECT_EQ(measured("c", "int (*go)(const char *) = system;").text_runners, 1);
  EXPECT_EQ(measured("c++", "boost::system::error_code e;").text_runners, 0);
}

TEST_F(MeasuresTest, BranchesInMacros_Count) {
  const auto all = [&](const char* language, const char* text) { return measured(language, text).cognitive(); };
  EXPECT_EQ(all("c", "#define PICK(a, b) if ((a) > (b)) { while (a) { --a; } } else { \"if\"; }\n"), 4);  // 1 + 2 + 1
  EXPECT_EQ(all("c", "#define MOST(a, b) ((a) > (b) && (a) > 0 ? (a) : (b)) // if\n"), 2);
  EXPECT_EQ(all("c", "#define SIZE 3\n"), 0);
  EXPECT_EQ(all("rust", "fn f(a: u32) { write!(if a > 1 { 2 } else { match a { _ => '\"' } }); }"), 4);  // 1 + 1 + 2
  EXPECT_EQ(all("rust", "fn f(a: &'static str) { println!(\"if {} for\", a); }"), 0);
}

TEST_F(MeasuresTest, GuardsAndLetElseOfRust_CountAsIfs) {
  EXPECT_EQ(complexities("rust", R"code(fn f(a: u32) -> u32 {
    match a { // 1
        n if n > 3 => 1, // 2
        _ => 0,
    }
}
fn g(a: Option<u32>, b: bool) -> u32 {
    let Some(x) = a else { if b { return 1; } return 0; }; // 1 + 2
    x
}
)code"),
            (Complexities{{"f", 3}, {"g", 3}}));
}

TEST_F(MeasuresTest, AFunctionInAnother_IsRecursiveByItself) {
  EXPECT_EQ(complexities("python", "def f(a):\n    def go(b):\n        return go(b)\n    return go(a)\n"),
            (Complexities{{"f", 1}}));
  EXPECT_EQ(complexities("python", "def f(a):\n    def go(b):\n        return f(b)\n    return go(f(a))\n"),
            (Complexities{{"f", 1}}));
}

TEST(DefaultFolders, ABuildFoldersGrammars_AreThoseOfABuildTreeAlone) {
  const auto folder = *base::TemporaryFolder::create("accelopt-grammars-test");
  const auto program = folder.path() / "build" / "bin";
  ASSERT_TRUE(base::make_folders(program));
  EXPECT_EQ(Library::default_folders(program).size(), 1U);
  ASSERT_TRUE(base::write_file(folder.path() / "build" / "CMakeCache.txt", ""));
  const auto folders = Library::default_folders(program);
  ASSERT_EQ(folders.size(), 2U);
  EXPECT_EQ(folders[1].lexically_normal(), folder.path() / "grammars");
}

TEST_F(MeasuresTest, WhatCannotBeRead_IsRefused) {
  EXPECT_EQ(refused("python", "def f(:\n"), "it is not all python as the grammar has it");
  EXPECT_EQ(refused("cobol", "x"), "code in cobol cannot be measured yet");
  const std::string deep = "x = " + std::string(20'000, '(') + "1" + std::string(20'000, ')') + "\n";
  EXPECT_NE(refused("python", deep).find("nests deeper"), std::string::npos) << refused("python", deep).substr(0, 200);
  EXPECT_EQ(refused("c", std::string(5UL << 20, ' ')), "it is over 4 MiB");
}

TEST_F(MeasuresTest, WithoutGrammars_SaysHowToGetThem) {
  const auto empty = *base::TemporaryFolder::create("accelopt-grammars-test");
  auto reader = Reader::open({empty.path()});
  ASSERT_TRUE(reader);
  const auto measures = reader->measure("c", "int f;");
  ASSERT_FALSE(measures);
  EXPECT_EQ(measures.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(measures.error().message.find("scripts/fetch-grammars.sh"), std::string::npos);
  ASSERT_TRUE(base::write_file(empty.path() / "c.so", "no library"));
  EXPECT_NE(reader->measure("c", "int f;").error().message.find("cannot be opened: "), std::string::npos);
  std::filesystem::permissions(empty.path() / "c.so", std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_NE(reader->measure("c", "int f;").error().message.find("others may write it"), std::string::npos);
}

/// What clang-tidy says of each function. Lambdas, gotos and recursion it counts otherwise, and says so.
Complexities by_clang_tidy(const std::string& name, const std::string& text) {
  const auto folder = *base::TemporaryFolder::create("accelopt-tidy-test");
  EXPECT_TRUE(base::write_file(folder.path() / name, text));
  const std::string command =
      "clang-tidy --checks='-*,readability-function-cognitive-complexity' --config='{CheckOptions: [{key: "
      "readability-function-cognitive-complexity.Threshold, value: 0}]}' " +
      (folder.path() / name).string() + " -- 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  Complexities out;
  std::array<char, 4096> line{};
  const std::regex told("function '([^']+)' has cognitive complexity of ([0-9]+)");
  while (pipe && std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    std::cmatch match;
    if (std::regex_search(line.data(), match, told)) out[match[1]] = std::stoi(match[2]);
  }
  return out;
}

TEST_F(MeasuresTest, CAndCpp_AreCountedAsByClangTidy) {
  if (std::system("clang-tidy --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "clang-tidy is not installed";
  const std::string c = R"code(
int first(const int *values, int count) {
  int best = 0;
  for (int i = 0; i < count; ++i) {
    if (values[i] > best && values[i] < 1000 || values[i] == 3)
      best = values[i];
    else if (values[i] == 7)
      continue;
    else
      best += values[i] > 3 ? 1 : values[i] > 2 ? 2 : 0;
  }
  return best;
}
int second(int a, int b) {
  switch (a) {
    case 1:
      while (b > 0) {
        --b;
        if (b == 5) break;
      }
      break;
    default:
      do {
        b--;
      } while (b > 10 || b < -10);
  }
  return a && (b || a) && b;
}
)code";
  Complexities tidy = by_clang_tidy("a.c", c);
  EXPECT_EQ(tidy.size(), 2U);
  EXPECT_EQ(complexities("c", c), tidy);
  const std::string cpp = R"code(
struct S {
  int values[4];
  int third(int a) const {
    try {
      for (const int x : values) {
        if (x == a) return x;
      }
    } catch (int) {
      if (a > 2) return 3;
    } catch (...) {
      return 4;
    }
    return a > 0 && a < 9 ? 1 : 2;
  }
};
)code";
  tidy = by_clang_tidy("a.cpp", cpp);
  EXPECT_EQ(tidy.size(), 1U);
  EXPECT_EQ(complexities("c++", cpp), (Complexities{{"S.third", tidy["third"]}}));
}

}  // namespace
}  // namespace accelopt::syntax::tree

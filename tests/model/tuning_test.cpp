// SPDX-License-Identifier: Apache-2.0
#include "model/tuning.hpp"

#include <gtest/gtest.h>

#include "model/kernel.hpp"

namespace accelopt::model {
namespace {

Solution solution(const std::string& text) {
  Solution out;
  out.sources.push_back({"kernel.cpp", text});
  return out;
}

Definition definition() {
  Definition out;
  out.axes = {{"M", std::nullopt}, {"K", 96}};
  TensorSpec x;
  x.name = "x";
  out.inputs = {x};
  TensorSpec y;
  y.name = "y";
  out.outputs = {y};
  return out;
}

std::vector<std::string> texts(const std::string& source) {
  const auto space = Kernel(solution(source)).space(definition());
  EXPECT_TRUE(space) << (space ? "" : space.error().message);
  std::vector<std::string> out;
  if (!space) return out;
  for (const TuningValues& values : space->configurations) out.push_back(configuration_text(space->names, values));
  return out;
}

DirectiveProblem problem(const std::string& source) {
  const auto space = Kernel(solution(source)).space(definition());
  EXPECT_FALSE(space) << source;
  return space ? DirectiveProblem{0, 0, ""} : space.error();
}

TEST(ExpandTuning, GivesEveryCombinationThatRequireAccepts) {
  EXPECT_EQ(texts("//@ tune A in {4, 6}  B in {-1,8}\n//@ require A*B <= 32\n"),
            (std::vector<std::string>{"A=4 B=-1", "A=4 B=8", "A=6 B=-1"}));
  EXPECT_EQ(texts("//@ tune A in {2}\n  //@ tune B in { 1 , 3 }\nint x;\n"),
            (std::vector<std::string>{"A=2 B=1", "A=2 B=3"}));
}

TEST(ExpandTuning, RequireKnowsConstantAxesAndStopsWhereTheAnswerIsClear) {
  EXPECT_EQ(texts("//@ tune A in {0, 32, 36}\n//@ require A != 0 && K % A == 0\n"), (std::vector<std::string>{"A=32"}));
}

TEST(ExpandTuning, CountsBeforeAndAfterRequire) {
  const auto space = Kernel(solution("//@ tune A in {1,2,3} B in {1,2,3}\n//@ require A < B\n")).space(definition());
  ASSERT_TRUE(space);
  EXPECT_EQ(space->combinations, 9);
  EXPECT_EQ(space->configurations.size(), 3U);
  EXPECT_EQ(space->sets[1], (TuningValues{1, 2, 3}));
  EXPECT_TRUE(space->open());
}

TEST(ExpandTuning, AnUntunedSourceHasNoConfigurations) {
  const auto space = Kernel(solution("int x;\n//@ flags -O2\n")).space(definition());
  ASSERT_TRUE(space);
  EXPECT_TRUE(space->names.empty());
  EXPECT_FALSE(space->open());
}

TEST(ExpandTuning, RefusesWithLineColumnAndReason) {
  struct Case {
    const char* source;
    int line;
    int column;
    const char* reason;
  };
  for (const Case& c : {
           Case{"//@ tune\n", 1, 9, "expected NAME in"},
           Case{"//@ tune A\n", 1, 11, "expected \"in\" after A, found the end of the line"},
           Case{"//@ tune A in 4\n", 1, 15, "expected '{' and the values of A, found '4'"},
           Case{"//@ tune A in {}\n", 1, 16, "the set of A is empty"},
           Case{"//@ tune A in {4 6}\n", 1, 18, "expected ',' or '}'"},
           Case{"//@ tune A in {4, x}\n", 1, 19, "expected a whole number"},
           Case{"//@ tune A in {4.5}\n", 1, 17, "expected ',' or '}'"},
           Case{"//@ tune A in {4", 1, 17, "found the end of the line"},
           Case{"//@ tune A in {4, 4}\n", 1, 19, "4 appears twice in the set of A"},
           Case{"//@ tune A in {99999999999}\n", 1, 16, "does not fit into 31 bits"},
           Case{"int z;\n  //@ tune A in {1} A in {2}\n", 2, 21, "\"A\" is tuned twice"},
           Case{"//@ tune 4 in {1}\n", 1, 10, "expected a name, found '4'"},
           Case{"//@ tune while in {1}\n", 1, 10, "keyword of C or C++"},
           Case{"//@ tune size_t in {1}\n", 1, 10, "task.h"},
           Case{"//@ tune K in {1, 2}\n", 1, 10, "is an axis of the task"},
           Case{"//@ tune M in {1, 2}\n", 1, 10, "is an axis of the task"},
           Case{"//@ tune x in {1, 2}\n", 1, 10, "is an input or output of the task"},
           Case{"//@ tune f16_to_float in {1}\n", 1, 10, "taken by task.h"},
           Case{"//@ tune _A in {1}\n", 1, 10, "taken by task.h"},
           Case{"//@ tune low in {1}\n", 1, 10, "taken by task.h"},
           Case{"//@ tune max in {1}\n", 1, 10, "taken by task.h"},
           Case{"//@ tune A in {1}\n//@ require\n", 2, 12, "expected an expression"},
           Case{"//@ tune A in {1}\n//@ require A <\n", 2, 16, "expected a number, a name or '('"},
           Case{"//@ tune A in {1}\n//@ require 0 < A < 2\n", 2, 19, "expected an operator or the end"},
           Case{"//@ tune A in {1}\n//@ require AA*A > B\n", 2, 13, "\"AA\" is neither tuned nor a constant axis"},
           Case{"//@ tune A in {1}\n//@ require A*M > 1\n", 2, 15, "\"M\" is a variable axis"},
           Case{"//@ tune A in {0}\n//@ require 4 / A > 1\n", 2, 13, "division by zero (with A=0)"},
           Case{"//@ tune A in {1,2}\n//@ require A > 0\n//@ require A > 2\n", 3, 13,
                "no configuration is left: //@ require A > 2 rejects 2 of 2"},
           Case{"//@ require K > 2\n", 1, 13, "//@ require without //@ tune"},
           Case{"int z;  //@ tune A in {1}\n", 1, 9, "must begin its line"},
           Case{"//@ tuned A in {1}\n", 1, 5, "unknown directive \"//@ tuned\""},
       }) {
    const DirectiveProblem found = problem(c.source);
    EXPECT_NE(found.message.find(c.reason), std::string::npos) << c.source << ": " << found.message;
    EXPECT_EQ(found.line, c.line) << c.source << ": " << found.message;
    EXPECT_EQ(found.column, c.column) << c.source << ": " << found.message;
  }
}

TEST(ExpandTuning, RefusesSpacesThatAreTooLarge) {
  std::string set = "{0";
  for (int i = 1; i < 17; ++i) set += "," + std::to_string(i);
  set += "}";
  EXPECT_NE(
      problem("//@ tune A in " + set + " B in " + set + " C in " + set + "\n").message.find("4913 configurations"),
      std::string::npos);
  EXPECT_NE(problem("//@ tune A in " + set + " B in " + set + " C in " + set + " D in " + set + "\n")
                .message.find("more than 65536 combinations"),
            std::string::npos);
  const auto pruned =
      Kernel(solution("//@ tune A in " + set + " B in " + set + " C in " + set + "\n//@ require A < B\n"))
          .space(definition());
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_EQ(pruned->configurations.size(), 17U * 16 / 2 * 17);
}

TEST(ParseCpuDirectives, CommentsAndStringsHoldNoDirectives) {
  const auto directives = parse_cpu_directives(
      "/*\n//@ flags -O1\n*/\nconst char* s = R\"x(\n//@ launch\n)x\";\nint n = 1'000;\nchar q = '\"';\n"
      "const char* t = \"//@ tune\";\n// a \\\n//@ flags -O2\n//@ flags -O3\n");
  ASSERT_TRUE(directives) << directives.error().line << ": " << directives.error().message;
  EXPECT_EQ(directives->flags, (std::vector<std::string>{"-O3"}));
}

TEST(WithValues, FixesTheValuesAndMakesAnotherSolution) {
  const Solution open = solution("//@ tune A in {4, 6}  B in {8,16}\n//@ require A < B\nint a[A*B];\n");
  const Solution chosen = with_values(open, {6, 16});
  EXPECT_EQ(main_text(chosen), "//@ tune A in {6}  B in {16}\n//@ require A < B\nint a[A*B];\n");
  EXPECT_NE(source_id(chosen), source_id(open));
  EXPECT_NE(source_id(chosen), source_id(with_values(open, {6, 8})));
  const auto directives = parse_cpu_directives(main_text(with_values(open, {6, 16})));
  ASSERT_TRUE(directives);
  EXPECT_EQ(macro_flags(*directives), (std::vector<std::string>{"-DA=6", "-DB=16"}));
}

TEST(StandingAlone, DefinesTheValuesAtTheTop) {
  const Solution fixed = solution(
      "// SPDX\n\n#include \"task.h\"\n//@ tune A in {6}  B in {-2}\n//@ flags -O2\n//@ require A > B\nint a[A];\n");
  EXPECT_EQ(main_text(standing_alone(fixed)),
            "// SPDX\n\n#define A 6\n#define B (-2)\n#include \"task.h\"\n//@ flags -O2\nint a[A];\n");
  EXPECT_EQ(main_text(standing_alone(solution("//@ tune A in {6}\nint a[A];"))), "#define A 6\nint a[A];");
}

TEST(StandingAlone, LeavesOpenAndUntunedSolutionsAlone) {
  for (const char* text : {"//@ tune A in {6, 7}\nint a[A];\n", "int a;\n", "//@ nonsense\n"}) {
    EXPECT_EQ(main_text(standing_alone(solution(text))), text);
  }
}

}  // namespace
}  // namespace accelopt::model

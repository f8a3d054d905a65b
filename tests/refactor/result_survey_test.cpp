// SPDX-License-Identifier: Apache-2.0
#include "refactor/result_survey.hpp"

#include <gtest/gtest.h>

#include "refactor/task.hpp"

namespace accelopt::refactor {
namespace {

using Texts = std::vector<std::string>;

TEST(ResultSurvey, ErrorsAlone_AreRefusedWithTheFirst) {
  ResultSurvey survey;
  survey.add("[[1], [2]]", R"([{"error": "TypeError", "arguments": [1]}, {"error": "KeyError", "arguments": [2]}])",
             "");
  EXPECT_EQ(survey.refusal(),
            "each of 2 results of the old code is an error, so that nothing is compared; the first: "
            R"({"arguments":[1],"error":"TypeError"})");
}

TEST(ResultSurvey, LinesOfErrors_AreRefused) {
  ResultSurvey survey;
  survey.add("1\n2\n", "error St9bad_alloc 1\npanic index out of range 2\n", "");
  EXPECT_NE(survey.refusal(), "");
}

TEST(ResultSurvey, ValuesNamedError_AreNone) {
  ResultSurvey survey;
  survey.add("[[1], [2]]", R"([{"error": false, "data": 4}, {"error": 0.3, "coefficients": [1]}])", "");
  survey.add("1\n", "error 404 /index.html\n", "");
  EXPECT_EQ(survey.refusal(), "");
  EXPECT_EQ(survey.warnings(), Texts{});
}

TEST(ResultSurvey, IteratorThatGaveSomethingBeforeItsError_IsNoError) {
  const auto refusal = [](const std::string& gave) {
    ResultSurvey survey;
    survey.add("[[1]]", R"([{"error": "ValueError", "gave": {"generator": )" + gave + "}}]", "");
    return survey.refusal();
  };
  EXPECT_EQ(refusal("[1]"), "");
  EXPECT_NE(refusal("[]"), "");
}

TEST(ResultSurvey, HalfErrors_AreAWarning) {
  ResultSurvey survey;
  survey.add("[[1], [2]]", R"([{"error": "TypeError"}, {"value": 3}])", "");
  EXPECT_EQ(survey.refusal(), "");
  EXPECT_EQ(survey.warnings(), Texts{R"(1 of 2 results of the old code are errors; the first: {"error":"TypeError"})"});
}

TEST(ResultSurvey, IteratorsWhoseReadsAreNotKnown_AreAWarning) {
  const auto warnings = [](const std::string& first, const std::string& said) {
    ResultSurvey survey;
    survey.add("[[1], [2]]", "[{\"value\": " + first + "}, {\"value\": 3}]", "", said);
    return survey.warnings().size();
  };
  EXPECT_EQ(warnings(R"({"generator": [1]})", ""), 1);
  EXPECT_EQ(warnings(R"({"iterator": [1]})", "reads before results: [null]\n"), 1);
  EXPECT_EQ(warnings(R"({"generator": [1]})", "reads before results: [[[17, 1, 2, true]]]\n"), 0);
  EXPECT_EQ(warnings("[1]", ""), 0);
}

TEST(ResultSurvey, ConstantResults_AreAWarning) {
  ResultSurvey survey;
  survey.add("[[1], [2]]", R"([{"value": null, "arguments": [1]}, {"value": null, "arguments": [2]}])", "");
  EXPECT_EQ(survey.warnings(), Texts{"each of 2 results is the same, whatever the case, so that they tell nothing: "
                                     R"({"value":null})"});
  EXPECT_EQ(survey.constant(), survey.warnings().front());
  ResultSurvey lines;
  lines.add("1 2\n3\n", "0 1 2\n0 3\n", "");
  EXPECT_EQ(lines.warnings(), Texts{"each of 2 results is the same, whatever the case, so that they tell nothing: 0"});
}

TEST(ResultSurvey, ChangedArguments_TellSomething) {
  ResultSurvey survey;
  survey.add("[[[2, 1]], [[3, 0]]]",
             R"([{"value": null, "arguments": [[1, 2]]}, {"value": null, "arguments": [[0, 3]]}])", "");
  EXPECT_EQ(survey.warnings(), Texts());
  EXPECT_EQ(survey.constant(), "");
}

TEST(ResultSurvey, WrittenDictionaries_AreTheGivenArguments) {
  ResultSurvey survey;
  survey.add(R"([[{"a": [1]}], [{"b": {"c": 2}}]])",
             R"([{"value": 0, "arguments": [{"dict": [["a", [1]]]}]},)"
             R"( {"value": 0, "arguments": [{"Object": [["b", {"Object": [["c", 2]]}]]}]}])",
             "");
  EXPECT_EQ(survey.warnings().size(), 1U);
  ResultSurvey changed;
  changed.add(R"([[{"a": 1}], [{"b": 2}]])",
              R"([{"value": 0, "arguments": [{"dict": []}]}, {"value": 0, "arguments": [{"dict": [[2, 2]]}]}])", "");
  EXPECT_EQ(changed.warnings(), Texts{});
}

TEST(ResultSurvey, EqualCasesAndNoResults_AreWarnings) {
  ResultSurvey survey;
  survey.add("[[1], [1]]", "", "");
  EXPECT_EQ(survey.warnings(), (Texts{"the driver writes no results, so that nothing is compared",
                                      "all cases of a file are the same input; draw each of them"}));
}

int arguments_in(const char* language, const char* signature) {
  return arguments_of({.signature = signature, .language = code_language(language)});
}

TEST(NewTask, Header_GivesTheArguments) {
  EXPECT_EQ(arguments_in("python", "def common(a, b):\n"), 2);
  EXPECT_EQ(arguments_in("python", "def f(self, a: dict[str, int], /, b=(1, 2), *rest, c):\n"), 1);
  EXPECT_EQ(arguments_in("python", "def f(\n    a,  # one, two\n    b,\n):\n"), 2);
  EXPECT_EQ(arguments_in("python", "def f():\n"), 0);
  EXPECT_EQ(arguments_in("javascript", "function f(a, { b, c }, d = 3, ...rest)"), 2);
  EXPECT_EQ(arguments_in("typescript", "function f(a: Map<string, number>, b: (x: number) => void, c?: string)"), 2);
  EXPECT_EQ(arguments_in("python", ""), 1);
}

std::string driver_of(const char* language, const char* function, const char* signature) {
  return new_task({.path = "lib/a \"b\".x",
                   .function = function,
                   .signature = signature,
                   .language = code_language(language)})[2]
      .text;
}

TEST(NewTask, Methods_HaveAnObject) {
  const auto has = [](const std::string& driver, const char* text) { return driver.find(text) != std::string::npos; };
  EXPECT_TRUE(has(driver_of("python", "f", "def f(self):"), " subject.f(*arguments)"));
  EXPECT_TRUE(has(driver_of("python", "A.f", "def f(self: A, b):"), " return subject.A()  # the object"));
  EXPECT_TRUE(has(driver_of("python", "A.f", "def f(self: A, b):"), " receiver.f(*arguments)"));
  EXPECT_TRUE(has(driver_of("python", "A.f", "def f(cls, b):"), " subject.A.f(*arguments)"));
  EXPECT_TRUE(has(driver_of("javascript", "A.f", "f ( a )"), " return new subject.A();"));
  EXPECT_TRUE(has(driver_of("javascript", "A.f", "f ( a )"), " receiver.f(...args)"));
  EXPECT_TRUE(has(driver_of("typescript", "A.f", "static f ( a )"), " subject.A.f(...args)"));
  EXPECT_TRUE(has(driver_of("go", "T.F", "func ( t * T ) F ( )"), " new(subject.T).F(line)"));
  EXPECT_TRUE(has(driver_of("rust", "A::f", "fn f ( & self )"), "subject::A::f(line)"));
  EXPECT_TRUE(has(driver_of("rust", "A.f", "fn f ( & self )"), " subject::A::default().f(line)"));
}

TEST(NewTask, GoResults_AreWrittenWithTypes) {
  const std::string driver = driver_of("go", "F", "func F ( s string ) [ ] string");
  EXPECT_NE(driver.find("fmt.Fprintln(out, told(value), line)"), std::string::npos);
  EXPECT_NE(driver.find("fmt.Fprintln(out, \"panic\", told(problem), line)"), std::string::npos);
}

TEST(NewTask, QuotesInAPath_AreEscaped) {
  EXPECT_NE(driver_of("python", "f", "").find(R"(import_module("lib.a \"b\""))"), std::string::npos);
}

TEST(NewTask, Generator_MakesEachArgument) {
  const auto files = new_task({.path = "graph.py",
                               .function = "common",
                               .signature = "def common(a, b):",
                               .language = code_language("python")});
  const std::string one = "[random.randrange(int(size) + 1) for _ in range(int(size))]";
  EXPECT_NE(files[1].text.find("cases.append([" + one + ", " + one + "])"), std::string::npos) << files[1].text;
}

}  // namespace
}  // namespace accelopt::refactor

// SPDX-License-Identifier: Apache-2.0
#include "app/build_trial.hpp"

#include <gtest/gtest.h>

namespace accelopt::app {
namespace {

TEST(CompilerProblems, Errors_AreToldByTheirLines) {
  const auto problems = compiler_problems(
      "reference.cpp:2:9: warning: unused\n"
      "reference.cpp:7:51: error: 'sqroot' was not declared in this scope\n"
      "    7 | real half(int) { return sqroot(2); }\n"
      "reference.cpp:9:1: fatal error: x.h: No such file or directory\n",
      "task/reference.cpp");
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(base::to_string(problems[0], ""), "task/reference.cpp:7: 'sqroot' was not declared in this scope");
  EXPECT_EQ(problems[1].line, 9);
}

TEST(CompilerProblems, AnErrorWithoutALine_IsStillOne) {
  const auto problems = compiler_problems(
      "the task's reference does not build:\nlink error: undefined reference to `reference'\n", "task/reference.cpp");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(base::to_string(problems[0], ""),
            "task/reference.cpp: does not build: link error: undefined reference to `reference'");
}

}  // namespace
}  // namespace accelopt::app

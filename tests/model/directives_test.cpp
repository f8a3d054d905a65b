// SPDX-License-Identifier: Apache-2.0
#include "model/directives.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace accelopt::model

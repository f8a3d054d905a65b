// SPDX-License-Identifier: Apache-2.0
// Headers that were read already change nothing about what is read after them.
#include <gtest/gtest.h>

#include <thread>

#include "syntax/parsing.hpp"
#include "syntax/source.hpp"

namespace accelopt::syntax {
namespace {

constexpr const char* kHeaders = "#include <vector>\n#include \"task.h\"\n";

ParseInput versions(const std::string& body, const std::string& task_header) {
  return {kHeaders + body, model::Language::cpp, {{"task.h", task_header}}, {}};
}

std::string value_type(const Unit& unit) {
  return unit.functions.at(0).parameters.at(0).value_type;
}

TEST(Preambles, AnotherBody_IsReadAnew) {
  const Clang shared = clang();
  const auto first = parse(shared, versions("int one(number x) { return x; }\n", "using number = int;\n"));
  const auto second =
      parse(shared, versions("\nint two(std::vector<number> v) { return v[0]; }\n", "using number = int;\n"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->functions.at(0).name, "one");
  ASSERT_EQ(second->functions.size(), 1U);
  EXPECT_EQ(second->functions[0].name, "two");
  EXPECT_EQ(second->text(second->functions[0].body), "{ return v[0]; }");
  EXPECT_TRUE(second->errors.empty());
  EXPECT_EQ(second->files_read, first->files_read);
}

TEST(Preambles, AnotherHeaderInMemory_IsReadAnew) {
  const Clang shared = clang();
  const std::string body = "void f(number* x) { *x = 0; }\n";
  const auto narrow = parse(shared, versions(body, "using number = float;\n"));
  const auto wide = parse(shared, versions(body, "using number = double;\n"));
  ASSERT_TRUE(narrow && wide);
  EXPECT_EQ(value_type(*narrow), "float");
  EXPECT_EQ(value_type(*wide), "double");
}

TEST(Preambles, AnErrorAndItsMend_AreBothSeen) {
  const Clang shared = clang();
  const auto broken = parse(shared, versions("int f() { return missing; }\n", ""));
  const auto mended = parse(shared, versions("int f() { return 0; }\n", ""));
  ASSERT_TRUE(broken && mended);
  ASSERT_EQ(broken->errors.size(), 1U);
  EXPECT_EQ(broken->errors[0].line, 3);
  EXPECT_TRUE(mended->errors.empty());
}

TEST(Preambles, ManyThreads_GetTheirOwnSources) {
  const Clang shared = clang();
  std::vector<std::thread> threads;
  std::array<std::string, 4> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto unit = parse(shared, versions("int f" + std::to_string(i) + "() { return 0; }\n", ""));
      if (unit && !unit->functions.empty()) names[i] = unit->functions[0].name;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(names, (std::array<std::string, 4>{"f0", "f1", "f2", "f3"}));
}

}  // namespace
}  // namespace accelopt::syntax

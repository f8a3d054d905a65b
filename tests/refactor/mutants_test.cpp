// SPDX-License-Identifier: Apache-2.0
#include "refactor/mutants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace accelopt::refactor {
namespace {

std::vector<std::string> faults(const char* language, const std::string& source, const std::string& function) {
  const auto mutants = mutants_of(code_language(language), source, function, 100);
  EXPECT_TRUE(mutants.has_value());
  std::vector<std::string> out;
  for (const Mutant& one : *mutants) {
    EXPECT_NE(one.text, source);
    out.push_back(std::to_string(one.line) + ": " + one.what);
  }
  return out;
}

TEST(Mutants, Python_MarksWordsNumbersAndStatements) {
  const std::string source =
      "def g(x):\n    return x < 1\n\n\ndef f(a):\n    \"\"\"a < b and 3\"\"\"\n    seen = set()  # x == y\n"
      "    if a == 2 and not seen:\n        seen.add(\"1 == 2\")\n    return -a\n";
  const auto found = faults("python", source, "f");
  const std::vector<std::string> wanted{"7: seen = set()  # x == y became pass",
                                        "8: == became !=",
                                        "8: 2 became 3",
                                        "8: and became or",
                                        "8: not became nothing",
                                        "9: seen.add(\"1 == 2\") became pass"};
  EXPECT_EQ(found, wanted);
}

TEST(Mutants, Braces_NeitherArrowsNorTemplatesNorComments) {
  const std::string source =
      "int f(const T* p, std::vector<int> v) {\n  // a < b\n  for (int i = 0; i < p->n && v[0] != 'x'; i++) {\n"
      "    g(\"a && b\");\n  }\n  return a << 2;\n}\n";
  const auto found = faults("c++", source, "f");
  const std::vector<std::string> wanted{"3: 0 became 1", "3: < became <=",  "3: && became ||",
                                        "3: 0 became 1", "3: != became ==", "4: g(\"a && b\"); became ;",
                                        "6: 2 became 3"};
  EXPECT_EQ(found, wanted);
}

TEST(Mutants, TooMany_AreSpreadEvenly) {
  std::string source = "def f(x):\n";
  for (int i = 0; i < 50; ++i) source += "    x.add(1)\n";
  const auto mutants = mutants_of(code_language("python"), source, "f", 10);
  ASSERT_TRUE(mutants.has_value());
  ASSERT_EQ(mutants->size(), 10U);
  EXPECT_LT(mutants->front().line, 5U);
  EXPECT_GT(mutants->back().line, 40U);
  EXPECT_FALSE(mutants_of(code_language("python"), source, "g", 10).has_value());
}

TEST(SpreadOrder, AnyBeginningIsSpreadOverAll) {
  const std::vector<std::size_t> order = spread_order(24);
  ASSERT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 24U);
  std::set<std::size_t> quarters;
  for (std::size_t i = 0; i < 8; ++i) quarters.insert(order[i] / 6);
  EXPECT_EQ(quarters.size(), 4U);
  EXPECT_TRUE(spread_order(0).empty());
}

}  // namespace
}  // namespace accelopt::refactor

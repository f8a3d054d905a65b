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

TEST(Recipes, OtherLanguages_GetNothing) {
  EXPECT_TRUE(propose(code_language("go"), "def f(x):\n    q = [x]\n    q.pop(0)\n", "").empty());
}

}  // namespace
}  // namespace accelopt::refactor

// SPDX-License-Identifier: Apache-2.0
#include "recipes/reach.hpp"

#include <algorithm>

#include "kernels.hpp"

namespace accelopt::recipes {
namespace {

/// The kernel with the first applications of these recipes, one after another.
std::string made_by(KernelSource kernel, const std::vector<std::string>& recipes) {
  for (const std::string& recipe : recipes) {
    const auto offered = enumerate(clang(), kernel).value();
    const auto found = std::ranges::find(offered, recipe, &Application::recipe);
    if (found == offered.end()) {
      ADD_FAILURE() << recipe << " does not fit";
      return {};
    }
    kernel.source = apply(clang(), kernel, *found).value();
  }
  return kernel.source;
}

std::vector<std::string> recipes_of(const std::optional<std::vector<Application>>& route) {
  std::vector<std::string> names;
  for (const Application& step : route.value_or(std::vector<Application>())) names.push_back(step.recipe);
  return names;
}

TEST(Reach, OneRecipe_IsFound) {
  const KernelSource from = matmul().kernel;
  EXPECT_EQ(recipes_of(route_between(clang(), from, made_by(from, {"packing"}))), std::vector<std::string>{"packing"});
}

TEST(Reach, SeveralRecipes_AreFoundInOrder) {
  const KernelSource from = matmul().kernel;
  for (const std::vector<std::string>& recipes :
       {std::vector<std::string>{"packing", "restrict"}, {"packing", "restrict", "unroll"}}) {
    const std::string to = made_by(from, recipes);
    const auto route = route_between(clang(), from, to);
    ASSERT_TRUE(route) << recipes.back();
    EXPECT_LE(route->size(), recipes.size());
    KernelSource again = from;
    for (const Application& step : *route) again.source = apply(clang(), again, step).value();
    EXPECT_EQ(again.source, to);
  }
}

TEST(Reach, FewerStepsThanNeeded_GiveNone) {
  const KernelSource from = matmul().kernel;
  const std::string to = made_by(from, {"interchange", "restrict"});
  EXPECT_FALSE(route_between(clang(), from, to, {.steps = 1}));
}

TEST(Reach, AChangeThatNoRecipeMakes_GivesNone) {
  const KernelSource from = matmul().kernel;
  std::string to = from.source;
  to.insert(to.rfind("      c[i"), "      acc += 1.0f;\n");
  EXPECT_FALSE(route_between(clang(), from, to, {.kernels = 60}));
  EXPECT_FALSE(route_between(clang(), {.source = "not C at all {", .task_header = ""}, to));
}

}  // namespace
}  // namespace accelopt::recipes

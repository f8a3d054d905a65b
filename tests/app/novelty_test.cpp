// SPDX-License-Identifier: Apache-2.0
#include "app/novelty.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/solution.hpp"
#include "recipes/engine.hpp"
#include "syntax/clang.hpp"

namespace accelopt::app {
namespace {

constexpr const char* kHeader = "#include <stdint.h>\nenum { K = 37, N = 53 };\n";
constexpr const char* kMatmul = R"(#include "task.h"

extern "C" void kernel(const float* a, const float* b, float* c, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float acc = 0.0f;
      for (int64_t k = 0; k < K; ++k) acc += a[i * K + k] * b[k * N + j];
      c[i * N + j] = acc;
    }
  }
}
)";

std::string with(const std::string& source, const std::string& recipe) {
  const auto clang = syntax::Clang::load().value();
  const recipes::KernelSource kernel{.source = source, .task_header = kHeader};
  const auto offered = recipes::enumerate(clang, kernel).value();
  return recipes::apply(clang, kernel, *std::ranges::find(offered, recipe, &recipes::Application::recipe)).value();
}

model::Solution solution_of(const std::string& source) {
  return {.language = model::Language::cpp, .sources = {{"kernel.cpp", source}}};
}

report::StoryAttempt step(int iteration, const model::Identity& parent, const std::string& source,
                          const std::string& author) {
  report::StoryAttempt attempt;
  attempt.identity = {iteration, 0, 0, 0, 0};
  attempt.parent = parent;
  attempt.author = author;
  attempt.kernel = model::Kernel(solution_of(source));
  return attempt;
}

/// A line of three steps: by recipes, as two recipes would have made it, and one that no recipe makes.
report::RunStory story() {
  report::RunStory story;
  story.run.task.baseline = solution_of(kMatmul);
  story.task_header = kHeader;
  const std::string packed = with(kMatmul, "packing");
  const std::string further = with(with(packed, "restrict"), "unroll");
  std::string own = further;
  own.insert(own.find("float acc"), "if (M < 0) return; ");
  story.attempts.push_back(step(0, {}, packed, "recipes"));
  story.attempts.push_back(step(1, story.attempts[0].identity, further, "a model"));
  story.attempts.push_back(step(2, story.attempts[1].identity, own, "a model"));
  story.attempts.back().is_winner = true;
  return story;
}

TEST(Novelty, EachStep_IsJudgedByItself) {
  const auto novelty = novelty_of(story(), {.kernels = 60});
  ASSERT_TRUE(novelty) << novelty.error().message;
  ASSERT_TRUE(*novelty);
  ASSERT_EQ((*novelty)->steps.size(), 3U);
  EXPECT_EQ((*novelty)->steps[0].reach, report::Reach::recipes);
  EXPECT_EQ((*novelty)->steps[1].reach, report::Reach::route);
  EXPECT_EQ((*novelty)->steps[1].route.size(), 2U);
  EXPECT_EQ((*novelty)->steps[2].reach, report::Reach::beyond);
  EXPECT_EQ((*novelty)->beyond(), 1U);
}

TEST(Novelty, WithoutAWinner_ThereIsNone) {
  report::RunStory without = story();
  without.attempts.back().is_winner = false;
  EXPECT_FALSE(*novelty_of(without));
}

TEST(Novelty, ALanguageWithoutRecipes_IsBeyondThem) {
  report::RunStory other = story();
  other.run.task.baseline.language = model::Language("cuda");
  EXPECT_EQ((*novelty_of(other))->beyond(), 2U);
}

}  // namespace
}  // namespace accelopt::app

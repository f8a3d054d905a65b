// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <thread>

#include "kernels.hpp"

namespace accelopt::recipes {
namespace {

std::vector<Application> listed(const Sample& sample) {
  auto found = enumerate(clang(), sample.kernel);
  if (!found) {
    ADD_FAILURE() << found.error().message;
    return {};
  }
  return *found;
}

TEST(Engine, LineCarriesAnApplicationExactly) {
  Application application;
  application.recipe = "register tile";
  application.location = "kernel:i.0/j.0";
  application.parameters = {{"flags", "-ffast-math -funroll-loops"}, {"rows", "6"}};
  application.shape = "d3.reduction.strided";
  const auto read = route_from_text("Some words.\n\n" + to_line(application) + "\nmore\n");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].recipe, application.recipe);
  EXPECT_EQ(read[0].location, application.location);
  EXPECT_EQ(read[0].parameters, application.parameters);
  EXPECT_EQ(read[0].shape, application.shape);
}

TEST(Engine, TextWithoutALineCarriesNone) {
  EXPECT_TRUE(route_from_text("").empty());
  EXPECT_TRUE(route_from_text("a good Recipe: soup | at: home | with:").empty()) << "the line begins a line";
  EXPECT_TRUE(route_from_text("Recipe: soup").empty());
  EXPECT_TRUE(route_from_text("Recipe: soup | at: home | with: salt").empty());
}

TEST(Engine, BestFirstAndTitlesUnique) {
  const auto found = listed(matmul());
  ASSERT_GT(found.size(), 10U);
  EXPECT_EQ(found.front().recipe, "register tile");
  EXPECT_TRUE(
      std::is_sorted(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.prior > b.prior; }));
  std::set<std::string> titles;
  std::set<std::string> recipes;
  for (const Application& application : found) {
    EXPECT_TRUE(titles.insert(application.title).second) << application.title;
    EXPECT_FALSE(application.text.empty());
    EXPECT_FALSE(application.shape.empty());
    recipes.insert(application.recipe);
  }
  for (const char* name : {"interchange", "unroll", "packing", "flags", "restrict"})
    EXPECT_TRUE(recipes.contains(name)) << name;
  EXPECT_FALSE(recipes.contains("parallelize")) << "one thread";
}

TEST(Engine, EverythingListedAppliesAndCompiles) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i) {\n    float squares = 0;\n    for (int64_t k = 0; k < K; ++k) squares += a[i "
      "* K + k] * a[i * K + k];\n"
      "    const float rms = sqrtf(squares / (float)K);\n    for (int64_t j = 0; j < N; ++j) {\n      float acc = 0;\n"
      "      for (int64_t k = 0; k < K; ++k) acc += a[i * K + k] / rms * b[k * N + j];\n      c[i * N + j] = acc;\n    "
      "}\n"
      "    for (int64_t j = 0; j < N; ++j) c[i * N + j] = expf(c[i * N + j] * 0.1f);\n  }\n",
      "#include <math.h>\n");
  int count = 0;
  for (const Application& application : listed(sample)) {
    // Variants of one recipe differ in numbers; every kind is compiled, one in three of the rest.
    if (++count > 12 && count % 3 != 0) continue;
    SCOPED_TRACE(to_line(application));
    expect_same(sample, applied(sample, application));
  }
}

TEST(Engine, AppliesToItsOwnResults) {
  Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i) {\n    for (int64_t j = 0; j < N; ++j) {\n      float acc = 0;\n"
      "      for (int64_t k = 0; k < K; ++k) acc += a[i * K + k] * b[k * N + j];\n      c[i * N + j] = acc;\n    }\n   "
      " float total = 0;\n"
      "    for (int64_t j = 0; j < N; ++j) total += c[i * N + j] * c[i * N + j];\n    for (int64_t j = 0; j < N; ++j) "
      "c[i * N + j] /= total;\n  }\n");
  const Sample original = sample;
  std::vector<std::string> recipes;
  for (int round = 0; round < 3; ++round) {
    const auto found = listed(sample);
    ASSERT_FALSE(found.empty());
    recipes.push_back(found.front().recipe);
    sample.kernel.source = applied(sample, found.front());
    expect_same(original, sample.kernel.source);
  }
  EXPECT_EQ(recipes[0], "register tile");
  EXPECT_EQ(recipes[1], "vectorize") << "what is left is what counts next";
}

TEST(Engine, Deterministic) {
  const Sample sample = matmul();
  const auto lines = [&] {
    std::vector<std::string> result;
    for (const Application& application : listed(sample)) result.push_back(application.title + to_line(application));
    return result;
  };
  const auto first = lines();
  std::vector<std::vector<std::string>> others(3);
  {
    std::vector<std::jthread> threads;
    for (auto& other : others) threads.emplace_back([&other, &lines] { other = lines(); });
  }
  for (const auto& other : others) EXPECT_EQ(other, first);
}

TEST(Engine, UnknownRecipesPlacesAndLanguages) {
  EXPECT_EQ(refused(matmul(), application("magic", "*")), base::ErrorCode::invalid_argument);
  EXPECT_EQ(refused(matmul(), application("interchange", "kernel:q.0")), base::ErrorCode::invalid_argument);
  KernelSource cuda = matmul().kernel;
  cuda.language = model::Language("cuda");
  EXPECT_FALSE(rewrites(cuda.language));
  const auto found = enumerate(clang(), cuda);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, base::ErrorCode::invalid_argument);
}

TEST(Engine, KernelsWithoutLoopsOrWithErrorsGiveNoNests) {
  Sample empty = with_body("  c[0] = a[0];\n");
  for (const Application& application : listed(empty)) EXPECT_EQ(application.recipe, "flags") << application.title;
  Sample broken = with_body("  for (int64_t i = 0; i < ; ++i) c[i] = a[i];\n");
  for (const Application& application : listed(broken)) EXPECT_NE(application.recipe, "register tile");
}

}  // namespace
}  // namespace accelopt::recipes

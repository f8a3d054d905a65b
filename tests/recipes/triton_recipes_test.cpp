// SPDX-License-Identifier: Apache-2.0
// Recipes for Triton kernels: what they find in a text, and what they make of it. Whether that computes the same, an
// interpreter says (tests/targets/triton).
#include "recipes/triton_recipes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "recipes/evidence.hpp"
#include "recipes/route.hpp"

namespace accelopt::recipes {
namespace {

constexpr const char* kAdd = R"(import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    left = tl.load(x + at, mask=mask)
    right = tl.load(y + tl.arange(0, BLOCK))
    count = tl.load(z + n)
    tl.store(z + at, left + right + count, mask=mask)


def run(x, y, z):
    add[(triton.cdiv(x.numel(), 256),)](x, y, z, x.numel(), BLOCK=256, num_warps=2)
)";

constexpr const char* kSums = R"(import triton
import triton.language as tl


@triton.jit
def sums(x, y, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x + row[:, None] * n + at[None, :], mask=at[None, :] < n, other=0.0), axis=1)
    tl.store(y + row, total)


def run(x, y):
    size = 64
    sums[(y.shape[0] // 16,)](x, y, x.shape[1], ROWS=16, BLOCK=size)
)";

KernelSource program_of(const std::string& text) {
  return {.source = text, .task_header = "", .language = model::Language("python")};
}

std::vector<Application> all_of(const std::string& text, const std::string& recipe) {
  std::vector<Application> out = enumerate_triton(program_of(text));
  std::erase_if(out, [&](const Application& one) { return one.recipe != recipe; });
  return out;
}

/// What the recipe's first proposal makes; empty: it has none.
std::string rewritten(const std::string& text, const std::string& recipe) {
  const auto all = all_of(text, recipe);
  return all.empty() ? "" : apply_triton(program_of(text), all.front()).value_or("");
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TritonRecipes, OpenWarps_BeginWithThoseThatThereWere) {
  const std::string text = rewritten(kAdd, "open warps and stages");
  EXPECT_TRUE(holds(
      text, "configs=[\n        triton.Config({}, num_warps=2, num_stages=3),\n        triton.Config({}, num_warps=1"))
      << text;
  EXPECT_TRUE(holds(text, ")\n@triton.jit\ndef add(")) << text;
  EXPECT_TRUE(holds(text, "add[(triton.cdiv(x.numel(), 256),)](x, y, z, x.numel(), BLOCK=256)\n")) << text;
}

TEST(TritonRecipes, OpenWarps_NeedNumbers) {
  EXPECT_EQ(rewritten(replaced(kAdd, "num_warps=2", "num_warps=x.dim()"), "open warps and stages"), "");
}

TEST(TritonRecipes, OpenTiles_TakeTheGridAlong) {
  const std::string text = rewritten(kAdd, "open tile sizes");
  EXPECT_TRUE(holds(text, "triton.Config({\"BLOCK\": 512}, num_warps=2, num_stages=3)")) << text;
  EXPECT_TRUE(holds(text, "add[lambda META: (triton.cdiv(x.numel(), META[\"BLOCK\"]),)](x, y, z, x.numel())")) << text;
}

TEST(TritonRecipes, OpenTiles_OfOneNumberForTwoTilesAreLeftAlone) {
  const std::string text = replaced(kSums, "size = 64", "size = 16");
  EXPECT_TRUE(holds(rewritten(text, "open tile sizes"), "META[\"ROWS\"]")) << "one of them has a name on the host";
  EXPECT_EQ(rewritten(replaced(text, "BLOCK=size", "BLOCK=16"), "open tile sizes"), "");
}

TEST(TritonRecipes, OpenTiles_ThatTheHostUsesElsewhereAreLeftAlone) {
  const std::string text = replaced(kSums, "    sums[", "    print(size)\n    sums[");
  EXPECT_FALSE(holds(rewritten(text, "open tile sizes"), "\"BLOCK\""));
}

TEST(TritonRecipes, Hints_TellWhatAllProgramsLoad) {
  std::string found;
  for (const Application& one : all_of(kAdd, "cache hint"))
    found += one.location + " " + one.parameters.at("policy") + "\n";
  EXPECT_EQ(found, "add:left evict_first\nadd:right evict_last\nadd:store evict_first\n")
      << "a single element needs none";
  EXPECT_TRUE(
      holds(rewritten(kAdd, "cache hint"), "left = tl.load(x + at, mask=mask, eviction_policy=\"evict_first\")"));
}

TEST(TritonRecipes, Hints_AreFoundInTunedKernels) {
  const std::string tuned = rewritten(kAdd, "open warps and stages");
  EXPECT_EQ(all_of(tuned, "cache hint").size(), 3U);
  EXPECT_EQ(all_of(tuned, "open tile sizes").size(), 0U) << "it has configurations";
}

TEST(TritonRecipes, SplitLoop_MakesAKernelOfPartsAndOneThatAddsThem) {
  const std::string text = rewritten(kSums, "split loop");
  EXPECT_TRUE(holds(text, "def sums_part(x, y, n, ROWS: tl.constexpr, BLOCK: tl.constexpr, accelopt_total, ")) << text;
  EXPECT_TRUE(holds(text, "accelopt_part = tl.program_id(1)\n")) << text;
  EXPECT_TRUE(holds(text, "sums_part[(y.shape[0] // 16, 8)](x, y, x.shape[1], ROWS=16, BLOCK=size, ")) << text;
  EXPECT_TRUE(holds(text, "accelopt_total = torch.empty(((y.shape[0] // 16) * (8) * (16),), dtype=torch.float32"))
      << text;
  EXPECT_TRUE(holds(text, "\n        total += tl.load(accelopt_total")) << text;
  EXPECT_EQ(rewritten(text, "split loop"), "") << "its parts are no longer split";
}

TEST(TritonRecipes, SplitLoop_IsOnlyForWhatCanBePutTogether) {
  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
           {"        total += ", "        tl.store(y, total)\n        total += "},  // it stores before its end
           {"        total += ", "        total *= 2\n        total += "},          // another operation
           {"        total += tl", "        total = total - tl"},                   // order matters
           {"    tl.store(y + row, total)", "    tl.store(y + row, total + at)"},   // needs the last iteration
           {"ROWS=16", "ROWS=x.shape[0]"},                                          // fine; the control
           {"(y.shape[0] // 16,)", "(1, 1, y.shape[0] // 16)"},                     // no extent is left
           {"dtype=tl.float32", "dtype=tl.bfloat16"},                               // rounded at every part
           {"    size = 64\n", "    size = 64\n    sums[(1,)](x, y, 0, ROWS=16, BLOCK=64)\n"}}) {
    const bool control = std::string(from) == "ROWS=16";
    EXPECT_EQ(rewritten(replaced(kSums, from, to), "split loop").empty(), !control) << to;
  }
}

TEST(TritonRecipes, Comments_HideNothingThatIsAdded) {
  const std::string text =
      replaced(replaced(kSums, "BLOCK: tl.constexpr):", "BLOCK: tl.constexpr,  # columns, at once\n):"), "BLOCK=size)",
               "BLOCK=size,  # 64, not more\n    )");
  EXPECT_TRUE(holds(rewritten(text, "split loop"), "BLOCK: tl.constexpr, accelopt_total, "));
  EXPECT_TRUE(holds(rewritten(text, "split loop"), "BLOCK=size, accelopt_total=accelopt_total, "));
  EXPECT_EQ(all_of(replaced(kAdd, "right = tl.load(y", "right = tl.load(  # all\n        y"), "cache hint").size(), 2U);
}

TEST(TritonRecipes, UnknownPlacesAndNumbers_AreErrors) {
  Application one = all_of(kSums, "split loop").front();
  for (const char* parts : {"0", "1", "x", "65", "99999999999"}) {
    one.parameters["parts"] = parts;
    EXPECT_FALSE(apply_triton(program_of(kSums), one)) << parts;
  }
  one.parameters["parts"] = "2";
  EXPECT_TRUE(apply_triton(program_of(kSums), one));
  one.location = "products:start";
  EXPECT_FALSE(apply_triton(program_of(kSums), one));
  Application hint = all_of(kAdd, "cache hint").front();
  hint.parameters["policy"] = "\"), print(1";
  EXPECT_FALSE(apply_triton(program_of(kAdd), hint));
}

TEST(TritonRecipes, TextsOfNobody_AreLeftAlone) {
  for (const std::string& text : {std::string(), std::string("@triton.jit"), std::string("@triton.jit\ndef"),
                                  std::string("@triton.jit\ndef f(:\n x["), std::string("@triton.jit\ndef f():\n"),
                                  std::string("f[(1,)](") + std::string(1000, '('), std::string(kSums).substr(0, 300)})
    EXPECT_TRUE(all_of(text, "split loop").empty()) << text;
}

TEST(TritonRecipes, EngineKnowsTheLanguage) {
  EXPECT_TRUE(rewrites(model::Language("python")));
  EXPECT_FALSE(reads_with_clang(model::Language("python")));
  const auto all = enumerate(syntax::Clang::none(), program_of(kAdd));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->front().recipe, "open warps and stages");
}

TEST(TritonRecipes, WithoutAMemoryAPlanHasOneStep) {
  const KernelSource program = program_of(kSums);
  const syntax::Clang clang = syntax::Clang::none();
  const auto applications = enumerate(clang, program);
  ASSERT_TRUE(applications) << applications.error().message;
  const std::vector<Route> routes = extended(clang, program, ranked(*applications, Evidence({}), {}), Evidence({}), {});
  EXPECT_EQ(routes.size(), applications->size());
  for (const Route& route : routes) EXPECT_EQ(route.steps.size(), 1U) << route.title();
}

}  // namespace
}  // namespace accelopt::recipes

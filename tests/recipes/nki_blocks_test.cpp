// SPDX-License-Identifier: Apache-2.0
// Recipes that relieve DMA and VectorE of NKI kernels: iterations side by side, rows stored whole, tiles of several
// pieces made before loops, subtraction within an exponential.
#include <gtest/gtest.h>

#include <algorithm>

#include "recipes/nki_texts.hpp"

namespace accelopt::recipes {
namespace {

constexpr const char* kProduct = R"(@nki.jit
def kernel(a, b):
    K, M = a.shape
    N = b.shape[1]
    y = nl.ndarray((M, N), dtype=a.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    inner = nl.arange(128)[None, :]
    columns = nl.arange(512)[None, :]
    for i in nl.affine_range((M + 127) // 128):
        hidden = nl.ndarray((N // 512, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.affine_range(N // 512):
            sums = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            largest = nl.full((128, 1), -3.0e38, dtype=nl.float32, buffer=nl.sbuf)
            for k in nl.affine_range(K // 128):
                stationary = nl.load(a[128 * k + rows, 128 * i + inner], mask=128 * i + inner < M)
                doubled = nl.multiply(stationary, 2.0)
                moving = nl.load(b[128 * k + rows, 512 * j + columns])
                sums += nisa.nc_matmul(doubled, moving)
            largest[...] = nl.maximum(largest, 0.0)
            hidden[j] = nl.multiply(sums, largest)
        for j in nl.affine_range(N // 512):
            result = nl.copy(hidden[j])
            nl.store(y[128 * i + rows, 512 * j + columns], result, mask=(128 * i + rows < M) & (512 * j + columns < N))
    return y
)";

/// The text that the recipe gives with these parameters; empty: it is not proposed or does not apply.
std::string recipe_made(const std::string& text, const std::string& recipe,
                        const std::map<std::string, std::string>& parameters = {}) {
  for (const Application& one : enumerate_nki(kernel_of(text))) {
    if (one.recipe == recipe && one.parameters == parameters) return apply_nki(kernel_of(text), one).value_or("");
  }
  return "";
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(NkiBlocks, LoadWhatIterationsShareOnceForAll) {
  const std::string text = recipe_made(kProduct, "blocks of iterations", {{"parts", "4"}});
  ASSERT_FALSE(text.empty());
  EXPECT_TRUE(has(text,
                  "    i_parts = 4 if ((M + 127) // 128) % 4 == 0 else 2 if ((M + 127) // 128) % 2 == 0 else 1\n"
                  "    for i_block in nl.affine_range(((M + 127) // 128) // i_parts):\n"))
      << text;
  EXPECT_TRUE(has(text,
                  "                moving = nl.load(b[128 * k + rows, 512 * j + columns])\n"
                  "                for i_part in nl.affine_range(i_parts):\n"
                  "                    sums[i_part] += nisa.nc_matmul(kept_doubled[i_part, k], moving)\n"))
      << text;
  EXPECT_TRUE(has(text, "128 * (i_parts * i_block + i_part) + inner < M")) << text;
}

TEST(NkiBlocks, GiveEachIterationItsOwnTilesWhereGroupsOfStatementsShareThem) {
  const std::string text = recipe_made(kProduct, "blocks of iterations", {{"parts", "2"}});
  EXPECT_TRUE(has(text, "sums = nl.zeros((i_parts, nl.par_dim(128), 512), ")) << text;
  EXPECT_TRUE(has(text, "hidden = nl.ndarray((i_parts, N // 512, nl.par_dim(128), 512), ")) << text;
  EXPECT_TRUE(has(text, "hidden[i_part, j] = nl.multiply(sums[i_part], largest)\n")) << text;
  EXPECT_TRUE(has(text, "result = nl.copy(hidden[i_part, j])\n")) << "used within one group: " << text;
  EXPECT_FALSE(has(text, "result[i_part]")) << text;
  EXPECT_FALSE(has(text, "% 4")) << text;
}

TEST(NkiBlocks, GiveTilesThatAreWrittenWholeTheirPlacesToo) {
  const std::string text = recipe_made(with(kProduct, "            largest[...] = nl.maximum(largest, 0.0)\n",
                                            "                largest[...] = nl.maximum(largest, 128 * i)\n"),
                                       "blocks of iterations", {{"parts", "4"}});
  EXPECT_TRUE(has(text, "largest = nl.full((i_parts, nl.par_dim(128), 1), -3.0e38,")) << text;
  EXPECT_TRUE(has(text, "largest[i_part] = nl.maximum(largest[i_part], 128 * (i_parts * i_block + i_part))\n")) << text;
}

TEST(NkiBlocks, AreNotProposedWhereIterationsMayDependOnEachOther) {
  EXPECT_EQ(recipe_made(with(kProduct, "i in nl.affine_range", "i in nl.sequential_range"), "blocks of iterations",
                        {{"parts", "4"}}),
            "");
  const std::string outside =
      with(with(kProduct, "    for i in", "    total = nl.zeros((128, 512), dtype=nl.float32)\n    for i in"),
           "            hidden[j] =", "            total += sums\n            hidden[j] =");
  EXPECT_EQ(recipe_made(outside, "blocks of iterations", {{"parts", "4"}}), "") << "a sum over the iterations";
}

TEST(NkiBlocks, AreNotProposedWhereNothingIsShared) {
  EXPECT_EQ(recipe_made(with(kProduct, "b[128 * k + rows,", "b[128 * (k + i) + rows,"), "blocks of iterations",
                        {{"parts", "4"}}),
            "");
}

TEST(NkiBlocks, AreNotProposedForWhatIsNotUnderstood) {
  for (const char* line : {"if N > 4:", "left, right = nl.mgrid[0:128, 0:512]", "record(sums)"}) {
    const std::string text =
        with(kProduct, "            hidden[j] =", std::string("            ") + line + "\n            hidden[j] =");
    EXPECT_EQ(recipe_made(text, "blocks of iterations", {{"parts", "4"}}), "") << line;
  }
}

TEST(NkiBlocks, AreMadeOnceOfALoop) {
  const std::string text = recipe_made(kProduct, "blocks of iterations", {{"parts", "2"}});
  EXPECT_FALSE(has(recipe_made(text, "blocks of iterations", {{"parts", "2"}}), "i_block_block")) << text;
}

TEST(NkiRows, AreStoredWholeAfterTheirLoop) {
  const std::string text = recipe_made(kProduct, "rows stored whole");
  EXPECT_TRUE(has(text,
                  "        row_of_result = nl.ndarray((nl.par_dim(128), 512 * (N // 512)), dtype=nl.float32, "
                  "buffer=nl.sbuf)\n        for j in"))
      << text;
  EXPECT_TRUE(has(text, "            row_of_result[rows, 512 * j + columns] = nl.copy(hidden[j])\n")) << text;
  EXPECT_TRUE(has(text,
                  "        nl.store(y[128 * i + rows, nl.arange(512 * (N // 512))[None, :]], row_of_result, "
                  "mask=(128 * i + rows < M) & (nl.arange(512 * (N // 512))[None, :] < N))\n    return y"))
      << text;
}

TEST(NkiRows, AreNotStoredWholeWherePiecesAreNoNeighboursOrReadAgain) {
  EXPECT_EQ(recipe_made(with(kProduct, "nl.store(y[128 * i + rows, 512 * j", "nl.store(y[128 * i + rows, 1024 * j"),
                        "rows stored whole"),
            "");
  EXPECT_EQ(recipe_made(
                with(kProduct, "            nl.store(y", "            again = nl.copy(result)\n            nl.store(y"),
                "rows stored whole"),
            "");
  EXPECT_EQ(recipe_made(with(kProduct, "mask=(128 * i + rows < M)", "mask=(128 * j + rows < M)"), "rows stored whole"),
            "");
}

TEST(NkiRows, AreNotStoredWholeWhereTilesMayBeWiderThemselves) {
  const std::string elementwise = with(with(kProduct, "                sums += nisa.nc_matmul(doubled, moving)\n", ""),
                                       "nl.multiply(sums, largest)", "nl.copy(largest)");
  EXPECT_EQ(recipe_made(elementwise, "rows stored whole"), "");
  EXPECT_EQ(recipe_made(elementwise, "all at once", {{"stores", "whole"}}), "");
}

constexpr const char* kScores = R"(@nki.jit
def kernel(k, q):
    y = nl.ndarray((4, 512, 512), dtype=k.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    inner = nl.arange(128)[None, :]
    for i in nl.affine_range(4):
        largest = nl.full((128, 1), -3.0e38, dtype=nl.float32, buffer=nl.sbuf)
        queries = nl.load(q[rows, 128 * i + inner])
        for j in nl.affine_range(4):
            keys = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
            for t in nl.affine_range(4):
                key = nl.load(k[512 * j + 128 * t + rows, inner])
                turned = nisa.nc_transpose(key)
                keys[rows, 128 * t + inner] = nl.copy(turned)
            product = nisa.nc_matmul(queries, keys)
            shifted = nl.subtract(product, largest)
            powers = nl.exp(shifted)
            nl.store(y[i, 128 * j + rows, nl.arange(512)[None, :]], powers)
    return y
)";

TEST(NkiKeeping, MakesTilesOfSeveralPiecesBeforeTheLoop) {
  const std::string text = recipe_made(kScores, "hoisting of tiles");
  const auto keeping = text.find("        kept_keys[j] = keys\n");
  ASSERT_NE(keeping, std::string::npos) << text;
  EXPECT_LT(text.find("keys[rows, 128 * t + inner] = nl.copy(turned)"), keeping) << "filled first: " << text;
  EXPECT_LT(keeping, text.find("for i in")) << text;
  EXPECT_TRUE(has(text, "product = nisa.nc_matmul(queries, kept_keys[j])")) << text;
}

TEST(NkiKeeping, LeavesTilesWhereOthersWriteThemToo) {
  for (const char* line : {"keys[rows, inner] = nl.copy(queries)", "keys += queries"}) {
    const std::string text =
        with(kScores, "            product =", std::string("            ") + line + "\n            product =");
    EXPECT_FALSE(has(recipe_made(text, "hoisting of tiles"), "kept_keys")) << line;
  }
  EXPECT_FALSE(
      has(recipe_made(with(kScores, "128 * t + rows, inner]", "128 * (t + i) + rows, inner]"), "hoisting of tiles"),
          "kept_keys"));
}

TEST(NkiPatterns, BiasFusion_SubtractsWithinTheExponential) {
  const std::string text = recipe_made(kScores, "bias fusion");
  EXPECT_TRUE(has(text, "negative_largest = nl.multiply(largest, -1.0)\n")) << text;
  EXPECT_TRUE(has(text, "powers = nisa.activation(nl.exp, product, bias=negative_largest)\n")) << text;
  EXPECT_FALSE(has(text, "shifted")) << text;
}

TEST(NkiPatterns, BiasFusion_IsForColumnsThatStay) {
  EXPECT_EQ(recipe_made(with(kScores, "nl.full((128, 1)", "nl.full((128, 512)"), "bias fusion"), "") << "no column";
  EXPECT_EQ(recipe_made(with(kScores, "            powers =",
                             "            largest[...] = nl.add(largest, 1.0)\n            powers ="),
                        "bias fusion"),
            "");
}

TEST(NkiPatterns, EvictionFusion_LeavesOneOfTwoOperandsInSbuf) {
  const std::string text = with(kScores, "            powers = nl.exp(shifted)\n",
                                "            other = nisa.nc_matmul(queries, keys)\n"
                                "            dense = nl.copy(product)\n"
                                "            powers = nl.add(dense, other)\n");
  EXPECT_EQ(recipe_made(text, "eviction fusion"), "") << "VectorE reads one tile of PSUM at most";
}

}  // namespace
}  // namespace accelopt::recipes

// SPDX-License-Identifier: Apache-2.0
// Recipes for NKI kernels: what they find in a text, and what they make of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "recipes/nki_texts.hpp"

namespace accelopt::recipes {
namespace {

constexpr const char* kElementwise = R"(@nki.jit
def kernel(x):
    M, N = x.shape
    y = nl.ndarray((M, N), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    columns = nl.arange(512)[None, :]
    for i in nl.sequential_range(M // 128):
        for j in nl.affine_range((N + 511) // 512):
            inside = 512 * j + columns < N
            tile = nl.load(x[128 * i + rows, 512 * j + columns], mask=inside)
            power = nisa.activation(nl.exp, tile, scale=-1.0, mask=inside)
            divisor = nl.add(power, 1.0, mask=inside)
            share = nisa.reciprocal(divisor, mask=inside)
            half = nl.multiply(share, 0.5, mask=inside)
            result = nl.add(half, 2.0, mask=inside)
            nl.store(y[128 * i + rows, 512 * j + columns], result, mask=inside)
    return y
)";

constexpr const char* kMatmul = R"(@nki.jit
def kernel(a, b):
    M, K = a.shape
    N = b.shape[1]
    y = nl.ndarray((M, N), dtype=a.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    inner = nl.arange(128)[None, :]
    columns = nl.arange(512)[None, :]
    for i in nl.affine_range(M // 128):
        for j in nl.affine_range(N // 512):
            sums = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                left = nl.load(a[128 * i + rows, 128 * k + inner])
                turned = nisa.nc_transpose(left)
                stationary = nl.copy(turned)
                moving = nl.load(b[128 * k + rows, 512 * j + columns])
                sums += nisa.nc_matmul(stationary, moving)
            result = nl.copy(sums)
            scaled = nl.multiply(result, 2.0)
            nl.store(y[128 * i + rows, 512 * j + columns], scaled)
    return y
)";

std::optional<Application> named(const std::vector<Application>& all, const std::string& recipe,
                                 const std::string& location = "") {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Application& one) {
    return one.recipe == recipe && (location.empty() || one.location == location);
  });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

/// The text that the recipe gives at that place; empty: it is not proposed or does not apply.
std::string made(const char* text, const std::string& recipe, const std::string& location = "") {
  const auto application = named(enumerate_nki(kernel_of(text)), recipe, location);
  return application ? apply_nki(kernel_of(text), *application).value_or("") : "";
}

TEST(NkiRecipes, WiderTiles_ChangeEveryPlaceOfTheWidth) {
  const std::string text = made(kElementwise, "wider tiles");
  EXPECT_TRUE(has(text, "nl.arange(1024)[None, :]")) << text;
  EXPECT_TRUE(has(text, "(N + 1023) // 1024")) << text;
  EXPECT_TRUE(has(text, "1024 * j + columns < N")) << text;
  EXPECT_FALSE(has(text, "512")) << text;
  EXPECT_TRUE(has(text, "128 * i + rows")) << text;
}

TEST(NkiRecipes, WiderTiles_OfMultiplicationsEndAtABank) {
  for (const Application& one : enumerate_nki(kernel_of(kMatmul))) EXPECT_NE(one.location, "kernel:512") << one.title;
}

TEST(NkiRecipes, HoistingOfTiles_MakesTransposesBeforeTheLoop) {
  const std::string text = made(kMatmul, "hoisting of tiles", "kernel:j/k");
  const auto kept = text.find("kept_stationary = nl.ndarray((K // 128, nl.par_dim(128), 128)");
  const auto loop = text.find("for j in");
  ASSERT_NE(kept, std::string::npos) << text;
  EXPECT_LT(kept, loop) << text;
  EXPECT_LT(text.find("turned = nisa.nc_transpose(left)"), loop) << text;
  EXPECT_TRUE(has(text, "kept_stationary[k] = stationary\n")) << text;
  EXPECT_TRUE(has(text, "nisa.nc_matmul(kept_stationary[k], moving)")) << text;
  EXPECT_GT(text.find("moving = nl.load"), loop) << "it depends on j: " << text;
}

TEST(NkiRecipes, ChoiceOfEngine_ComputesASigmoid) {
  const std::string text = made(kElementwise, "choice of engine");
  EXPECT_TRUE(has(text, "share = nl.sigmoid(tile, mask=inside)")) << text;
  EXPECT_FALSE(has(text, "reciprocal")) << text;
  EXPECT_FALSE(has(text, "power")) << text;
}

TEST(NkiRecipes, ScalarFusion_TakesTwoOperands) {
  const std::string text = made(kElementwise, "scalar fusion", "kernel:result");
  EXPECT_TRUE(has(text, "result = nisa.tensor_scalar(share, nl.multiply, 0.5, False, nl.add, 2.0, False, mask=inside)"))
      << text;
}

TEST(NkiRecipes, EvictionFusion_ReadsPsum) {
  const std::string text = made(kMatmul, "eviction fusion", "kernel:result");
  EXPECT_TRUE(has(text, "scaled = nl.multiply(sums, 2.0)")) << text;
  EXPECT_EQ(made(kMatmul, "eviction fusion", "kernel:stationary"), "") << "operands of a multiplication lie in SBUF";
}

TEST(NkiRecipes, AffineLoop_IsProposedForOthersAlone) {
  EXPECT_TRUE(has(made(kElementwise, "affine loop", "kernel:i"), "for i in nl.affine_range(M // 128):"));
  EXPECT_EQ(made(kElementwise, "affine loop", "kernel:j"), "");
}

constexpr const char* kRotation = R"(@nki.jit
def kernel(x, cos, sin):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(64)[:, None]
    columns = nl.arange(512)[None, :]
    for j in nl.affine_range(8):
        low = nl.load(x[rows, 512 * j + columns])
        high = nl.load(x[64 + rows, 512 * j + columns])
        cosine = nl.load(cos[rows, 512 * j + columns], mask=512 * j + columns < 4000)
        sine = nl.load(sin[rows, 512 * j + columns])
        low_cosine = nl.multiply(low, cosine)
        high_sine = nl.multiply(high, sine)
        first = nl.subtract(low_cosine, high_sine)
        nl.store(y[rows, 512 * j + columns], first)
        high_cosine = nl.multiply(high, cosine)
        nl.store(y[64 + rows, 512 * j + columns], high_cosine)
    return y
)";

TEST(NkiRecipes, OperandsInPsum_LeavesResultsThere) {
  const std::string text = made(kRotation, "operands in PSUM", "kernel:results");
  EXPECT_TRUE(has(text, "low_cosine = nl.ndarray((nl.par_dim(64), 512), dtype=nl.float32, buffer=nl.psum)\n")) << text;
  EXPECT_TRUE(has(text, "low_cosine[...] = nl.multiply(low, cosine)\n")) << text;
  EXPECT_TRUE(has(text, "        high_sine = nl.multiply(high, sine)\n")) << "not both of them: " << text;
  EXPECT_TRUE(has(text, "        high_cosine = nl.multiply(high, cosine)\n")) << "it is stored: " << text;
}

TEST(NkiRecipes, OperandsInPsum_CopiesThoseThatAreReadMost) {
  const std::string text = made(kRotation, "operands in PSUM", "kernel:operands");
  EXPECT_TRUE(has(text, "psum_cosine[...] = nl.copy(cosine, mask=512 * j + columns < 4000)\n")) << text;
  EXPECT_TRUE(has(text, "low_cosine[...] = nl.multiply(low, psum_cosine)\n")) << text;
  EXPECT_TRUE(has(text, "high_cosine = nl.multiply(high, psum_cosine)\n")) << text;
  EXPECT_TRUE(has(text, "first = nl.subtract(low_cosine, high_sine)\n")) << text;
}

TEST(NkiRecipes, OperandsInPsum_AreABankAtMost) {
  std::string text = kRotation;
  for (std::size_t at = text.find("512"); at != std::string::npos; at = text.find("512", at))
    text.replace(at, 3, "1024");
  EXPECT_FALSE(named(enumerate_nki(kernel_of(text.c_str())), "operands in PSUM"));
}

TEST(NkiRecipes, ReuseOnChip_LoadsRowsWholeAndKeepsWhatIsMadeOfThem) {
  const std::string text = made(kMatmul, "reuse on chip");
  const auto row = text.find("row_of_left = nl.load(a[128 * i + rows, nl.arange(128 * (K // 128))[None, :]]");
  const auto turned = text.find("turned = nisa.nc_transpose(row_of_left[rows, 128 * k + inner])");
  const auto loop = text.find("for j in");
  ASSERT_NE(row, std::string::npos) << text;
  EXPECT_LT(row, turned) << text;
  EXPECT_LT(turned, loop) << text;
  EXPECT_TRUE(has(text, "nisa.nc_matmul(kept_stationary[k], moving)")) << text;
}

TEST(NkiRecipes, ReuseOnChip_IsNotProposedForOneChangeAlone) {
  EXPECT_EQ(made(kElementwise, "reuse on chip"), "");
}

TEST(NkiRecipes, ReuseOnChip_KeepsBroadcastsToo) {
  const std::string text = made(R"(@nki.jit
def kernel(x, g):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    one = nl.arange(1)[:, None]
    rows = nl.arange(128)[:, None]
    columns = nl.arange(512)[None, :]
    for i in nl.affine_range(4):
        for j in nl.affine_range(8):
            tile = nl.load(x[128 * i + rows, 512 * j + columns])
            gain = nl.load(g[one, 512 * j + columns])
            every_row = gain.broadcast_to((128, 512))
            nl.store(y[128 * i + rows, 512 * j + columns], nl.multiply(tile, every_row))
    return y
)",
                                "hoisting of tiles", "kernel:i/j");
  EXPECT_TRUE(has(text, "kept_every_row = nl.ndarray((8, nl.par_dim(128), 512)")) << text;
  EXPECT_TRUE(has(text, "nl.multiply(tile, kept_every_row[j])")) << text;
}

TEST(NkiRecipes, WiderTiles_LeaveSingleColumnsAlone) {
  std::string text = kElementwise;
  text.replace(text.find("    for i"), 0, "    single = nl.arange(1)[None, :]\n");
  for (const Application& one : enumerate_nki(kernel_of(text.c_str())))
    EXPECT_NE(one.location, "kernel:1") << one.title;
}

constexpr const char* kStates = R"(@nki.jit
def kernel(x, w):
    y = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    columns = nl.arange(512)[None, :]
    states = nl.zeros((4, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
    total = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    for s in nl.sequential_range(4):
        step = nl.load(x[rows, columns])
        factor = nl.load(w[rows, 512 * s + columns])
        states[s] = nl.add(states[s], 1.0)
        part = nl.multiply(step, factor)
        total[...] = nl.add(total, part)
    nl.store(y[rows, columns], total)
    return y
)";

TEST(NkiRecipes, AffineLoop_WritesSumsAsSuch) {
  const std::string text = made(kStates, "affine loop", "kernel:s");
  EXPECT_TRUE(has(text, "for s in nl.affine_range(4):")) << text;
  EXPECT_TRUE(has(text, "        total += part\n")) << text;
}

TEST(NkiRecipes, AffineLoop_IsNotProposedWhereIterationsNeedEachOther) {
  for (const char* line : {"states[s] = nl.add(states[s - 1], 1.0)", "states[0] = nl.add(part, 1.0)",
                           "step = nl.add(total, 1.0)", "total[...] = nl.maximum(total, part)"}) {
    std::string text = kStates;
    text.replace(text.find("states[s] = nl.add(states[s], 1.0)"), 34, line);
    EXPECT_FALSE(named(enumerate_nki(kernel_of(text.c_str())), "affine loop")) << line;
  }
}

TEST(NkiRecipes, AllAtOnce_CombinesWhatApplies) {
  const std::string text = made(kStates, "all at once");
  EXPECT_TRUE(has(text, "for s in nl.affine_range(4):")) << text;
  EXPECT_TRUE(has(text, "row_of_factor = nl.load(")) << text;
  EXPECT_TRUE(has(text, "psum_part[...] = nl.copy(part)")) << text;
  EXPECT_LT(text.find("step = nl.load"), text.find("for s in")) << text;
}

TEST(NkiRecipes, ResultReadTwice_IsNotFused) {
  std::string text = kElementwise;
  text.replace(text.find("result = nl.add(half"), 0, "other = nl.multiply(divisor, power)\n            ");
  EXPECT_FALSE(named(enumerate_nki(kernel_of(text.c_str())), "choice of engine"));
}

TEST(NkiRecipes, UnknownPlace_IsRefused) {
  for (const char* recipe : {"wider tiles", "hoisting of tiles", "choice of engine", "tile", ""}) {
    Application one;
    one.recipe = recipe;
    one.location = "kernel:nowhere";
    EXPECT_EQ(apply_nki(kernel_of(kMatmul), one).error().code, base::ErrorCode::invalid_argument) << recipe;
  }
}

TEST(NkiRecipes, TextThatIsNoKernel_GivesNothing) {
  for (const char* text :
       {"", "(((", "\"\"\"", "for", "for i in", "x =", "x = nl.copy(", "a = nl.add(a, 1.0)", "\\", "for i in f(:"})
    EXPECT_LE(enumerate_nki(kernel_of(text)).size(), 1U) << text;
}

}  // namespace
}  // namespace accelopt::recipes

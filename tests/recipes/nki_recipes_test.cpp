// SPDX-License-Identifier: Apache-2.0
// Recipes for NKI kernels: what they find in a text, and what they make of it.
#include "recipes/nki_recipes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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

KernelSource kernel_of(const char* text) {
  return {.source = text, .task_header = "", .language = model::Language("nki")};
}

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

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
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

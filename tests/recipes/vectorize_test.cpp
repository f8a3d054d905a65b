// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

namespace accelopt::recipes {
namespace {

Application vectorize(const std::string& vectors, const std::string& location = "*") {
  return application("vectorize", location, {{"vectors", vectors}});
}

TEST(Vectorize, MapWithExponentialAndOverflow) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M * K; ++i) c[i] = a[i] / (1.0f + expf(-a[i] * 40.0f));\n  for (int64_t i = M * K; i "
      "< M * N; ++i) c[i] = expf(a[i - M * K] * 100.0f);\n",
      "#include <math.h>\n");
  const Loaded before(sample.kernel);
  ASSERT_EQ(before.problem(), "");
  KernelSource kernel = sample.kernel;
  kernel.source = applied(sample, vectorize("2"));
  const Loaded after(kernel);
  ASSERT_EQ(after.problem(), "");
  const auto expected = before.run(sample);
  const auto actual = after.run(sample);
  int infinities = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(std::isinf(expected[i]), std::isinf(actual[i])) << i;
    if (std::isinf(expected[i])) {
      ++infinities;
    } else {
      ASSERT_NEAR(actual[i], expected[i], 3e-7 * std::fabs(expected[i]) + 1e-44) << i;
    }
  }
  EXPECT_GT(infinities, 10) << "the inputs reach beyond what float can hold";
}

TEST(Vectorize, SumsMaximaAndMinima) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i) {\n    float largest = b[0];\n    float smallest = b[0];\n    float total = "
      "0;\n"
      "    for (int64_t k = 0; k < K; ++k) {\n      largest = fmaxf(largest, a[i * K + k]);\n      if (a[i * K + k] < "
      "smallest) smallest = a[i * K + k];\n"
      "      total += a[i * K + k] * a[i * K + k];\n    }\n    float other = 9;\n    for (int64_t k = 0; k < K; ++k) "
      "other = other > a[i * K + k] ? a[i * K + k] : other;\n"
      "    for (int64_t j = 0; j < N; ++j) c[i * N + j] = largest - smallest * 2 + total + other;\n  }\n",
      "#include <math.h>\n");
  const std::string text = applied(sample, vectorize("1"));
  EXPECT_NE(text.find("simd_largest_number"), std::string::npos);
  EXPECT_NE(text.find("simd_smallest"), std::string::npos);
  EXPECT_NE(text.find("simd_sum"), std::string::npos);
  expect_same(sample, text);
  expect_same(sample, applied(sample, vectorize("4")));
}

TEST(Vectorize, MaximaOfNumbersPassOverNan) {
  // The root of a negative value is NaN.
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i) {\n    for (int64_t j = 0; j < N; ++j) c[i * N + j] = fmaxf(0.5f, "
      "sqrtf(b[j]));\n    float largest = sqrtf(-1.0f - b[0] * b[0]);\n    float smallest = largest;\n"
      "    for (int64_t k = 0; k < K; ++k) {\n      largest = fmaxf(largest, sqrtf(a[i * K + k]));\n      smallest = "
      "fminf(sqrtf(a[i * K + k]), smallest);\n    }\n    c[i * N] = largest - smallest;\n  }\n",
      "#include <math.h>\n");
  const std::string text = applied(sample, vectorize("2"));
  EXPECT_NE(text.find("simd_fmax("), std::string::npos) << text;
  EXPECT_NE(text.find("simd_smallest_number("), std::string::npos) << text;
  EXPECT_EQ(text.find("simd_max("), std::string::npos) << text;
  const Loaded before(sample.kernel);
  KernelSource kernel = sample.kernel;
  kernel.source = text;
  const Loaded after(kernel);
  ASSERT_EQ(before.problem() + after.problem(), "");
  const auto expected = before.run(sample);
  const auto actual = after.run(sample);
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(actual[i], expected[i]) << i;
}

TEST(Vectorize, ConditionsBecomeSelections) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M * K; ++i) {\n    float t = a[i];\n    if (t < 0.25f) t = t * 0.5f;\n    c[i] = t > "
      "1.0f ? 1.0f : fabsf(t);\n  }\n"
      "  for (int64_t i = M * K; i < M * N; ++i) {\n    if (a[i - M * K] > 0) c[i] = 1; else c[i] = -1;\n  }\n",
      "#include <math.h>\n");
  expect_same(sample, applied(sample, vectorize("2")));
}

TEST(Vectorize, RootsNeedNoErrno) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M * N; ++i) c[i] = 1.0f / (sqrtf(a[i % (M * K)] * 0 + 2.0f) + 1);\n"
      "  for (int64_t i = 0; i < M * K; ++i) c[i] = sqrtf(a[i] * a[i]) + 1;\n",
      "#include <math.h>\n");
  const std::string text = applied(sample, vectorize("2"));
  EXPECT_TRUE(text.starts_with("//@ flags -fno-math-errno\n"));
  expect_same(sample, text);
}

TEST(Vectorize, RefusesDependentIterations) {
  EXPECT_EQ(refused(with_body("  for (int64_t i = 1; i < M * N; ++i) c[i] = c[i - 1] + 1;\n"), vectorize("2")),
            base::ErrorCode::unsupported);
  EXPECT_EQ(refused(with_body("  for (int64_t i = 0; i < M; ++i) c[i * N] = a[i];\n"), vectorize("2")),
            base::ErrorCode::unsupported);
  EXPECT_EQ(refused(with_body("  float p = 1;\n  for (int64_t i = 0; i < M; ++i) { p *= a[i]; c[i] = p; }\n"),
                    vectorize("2")),
            base::ErrorCode::unsupported);
  EXPECT_EQ(refused(with_body("  for (int64_t i = 0; i < M; ++i) c[i] = (float)i;\n"), vectorize("2")),
            base::ErrorCode::unsupported);
}

TEST(Vectorize, StoresPastTheCachesOnlyWhatIsNotReadAgain) {
  Application streaming = vectorize("2");
  streaming.parameters["stream"] = "1";
  const Sample output = with_body("  for (int64_t i = 0; i < M * K; ++i) c[i] = a[i] * 2;\n");
  const std::string text = applied(output, streaming);
  EXPECT_NE(text.find("simd_stream(&c["), std::string::npos);
  EXPECT_NE(text.find("    simd_stream_end();"), std::string::npos);
  expect_same(output, text);
  const Sample read_again = with_body(
      "  for (int64_t i = 0; i < M * K; ++i) c[i] = a[i] * 2;\n  for (int64_t i = 0; i < M * K; ++i) c[i] = c[i] + "
      "1;\n");
  EXPECT_EQ(applied(read_again, streaming).find("simd_stream("), std::string::npos);
}

TEST(Vectorize, PartsOfOneArrayThatLieApart) {
  const Sample halves = with_body(
      "  const int64_t L = M * 3;\n  for (int64_t d = 0; d < 4; ++d)\n    for (int64_t l = 0; l < L; ++l) {\n"
      "      c[d * L + l] = a[l] * 2;\n      c[(d + 4) * L + l] = a[l] + 1;\n    }\n");
  expect_same(halves, applied(halves, vectorize("2")));
  const Sample neighbours =
      with_body("  for (int64_t l = 0; l < M; ++l) {\n    c[l] = a[l];\n    c[l + 1] = b[l];\n  }\n");
  EXPECT_EQ(refused(neighbours, vectorize("2")), base::ErrorCode::unsupported);
}

TEST(Vectorize, PacksWhatItsLanesWalkWithAStride) {
  Application packing = vectorize("2");
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j) {\n      float s = 0;\n"
      "      for (int64_t k = 0; k < K; ++k) s += expf(a[i * K + k] * 0.1f) * b[k * N + j];\n      c[i * N + j] = s;\n "
      "   }\n",
      "#include <math.h>\n");
  EXPECT_EQ(refused(sample, packing), base::ErrorCode::unsupported);
  packing.parameters["pack"] = "1";
  const std::string text = applied(sample, packing);
  EXPECT_NE(text.find("simd_load(&b_packed["), std::string::npos) << text;
  expect_same(sample, text);
}

TEST(Vectorize, WhatIsWrittenForVectorsIsLeftAlone) {
  Sample sample = with_body("  for (int64_t i = 0; i < M * K; ++i) c[i] = a[i] * 2;\n");
  sample.kernel.source = applied(sample, vectorize("2"));
  EXPECT_EQ(refused(sample, vectorize("2")), base::ErrorCode::unsupported);
}

}  // namespace
}  // namespace accelopt::recipes

// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

namespace accelopt::recipes {
namespace {

Application tile(const std::string& rows, const std::string& vectors, const std::string& pack,
                 const std::string& location = "*", const std::string& block = "16") {
  return application("register tile", location,
                     {{"rows", rows}, {"vectors", vectors}, {"pack", pack}, {"block", block}});
}

TEST(RegisterTile, MatmulOfOddSizes) {
  const Sample sample = matmul();
  const std::string text = applied(sample, tile("6", "2", "2"));
  EXPECT_NE(text.find("acc[tile_rows][tile_vectors]"), std::string::npos);
  EXPECT_NE(text.find("b_panel"), std::string::npos);
  expect_same(sample, text);
}

TEST(RegisterTile, FewerRowsAndColumnsThanATile) {
  const Sample sample = matmul(3, 5, 4);
  expect_same(sample, applied(sample, tile("6", "2", "2")));
}

TEST(RegisterTile, WithoutPacking) {
  const Sample sample = matmul();
  const std::string text = applied(sample, tile("4", "1", "0", "kernel:i.0/j.0"));
  EXPECT_EQ(text.find("panel"), std::string::npos);
  expect_same(sample, text);
}

TEST(RegisterTile, TransposedOperandsOnEitherSide) {
  const Sample left = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j) {\n      float s = 0;\n"
      "      for (int64_t k = 0; k < K; ++k) s += a[k * M + i] * b[k * N + j];\n      c[i * N + j] = s;\n    }\n");
  expect_same(left, applied(left, tile("6", "2", "2")));
  const Sample right = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j) {\n      float s = 0;\n"
      "      for (int64_t k = 0; k < K; ++k) s += a[i * K + k] * b[j * K + k];\n      c[i * N + j] = s;\n    }\n");
  const std::string text = applied(right, tile("6", "2", "1"));
  EXPECT_NE(text.find("b_panel"), std::string::npos) << "strided lanes have to be packed";
  expect_same(right, text);
  EXPECT_EQ(refused(right, tile("6", "2", "0")), base::ErrorCode::unsupported);
}

TEST(RegisterTile, AccumulatesInTheOutputItself) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j) {\n      c[i * N + j] = 1.5f;\n"
      "      for (int64_t k = 0; k < K; ++k) c[i * N + j] += a[i * K + k] * b[k * N + j];\n    }\n");
  const std::string text = applied(sample, tile("6", "2", "2"));
  EXPECT_NE(text.find("kept[tile_rows][tile_vectors]"), std::string::npos);
  expect_same(sample, text);
}

TEST(RegisterTile, InterchangesWhereTheSumRunsOutside) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i) {\n    for (int64_t j = 0; j < N; ++j) c[i * N + j] = 0;\n"
      "    for (int64_t k = 0; k < K; ++k)\n      for (int64_t j = 0; j < N; ++j) c[i * N + j] += a[i * K + k] * b[k * "
      "N + j];\n  }\n");
  const std::string text = applied(sample, tile("6", "2", "2"));
  EXPECT_NE(text.find("kept[tile_rows][tile_vectors]"), std::string::npos);
  expect_same(sample, text);
}

TEST(RegisterTile, InterchangesPastAHoistedValue) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j) c[i * N + j] = 0;\n"
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t k = 0; k < K; ++k) {\n      const float x = a[i * K + k];\n"
      "      const float y = x * 2;\n      for (int64_t j = 0; j < N; ++j) c[i * N + j] += (x + y) * b[k * N + j];\n   "
      " }\n");
  const std::string text = applied(sample, tile("6", "2", "2"));
  EXPECT_NE(text.find("kept[tile_rows][tile_vectors]"), std::string::npos);
  expect_same(sample, text);
}

TEST(RegisterTile, StandardVectorsAsRowBuffers) {
  const Sample sample = with_body(
      "  std::vector<float> row(K);\n  for (int i = 0; i < M; i++) {\n    for (int k = 0; k < K; k++) row[k] = a[i * K "
      "+ k] * 2;\n"
      "    for (int j = 0; j < N; j++) {\n      float s = 0;\n      for (int k = 0; k < K; k++) s += row[k] * b[k * N "
      "+ j];\n"
      "      c[i * N + j] = s;\n    }\n  }\n",
      "#include <vector>\n");
  const std::string text = applied(sample, tile("6", "2", "2"));
  EXPECT_NE(text.find("row_all"), std::string::npos);
  expect_same(sample, text);
}

TEST(TileSize, ChangesEveryTile) {
  Sample sample = matmul();
  EXPECT_EQ(refused(sample, application("tile size", "*", {{"change", "-1"}})), base::ErrorCode::unsupported);
  const Sample original = sample;
  sample.kernel.source = applied(sample, tile("6", "2", "2"));
  const std::string text = applied(sample, application("tile size", "*", {{"change", "-1"}}));
  EXPECT_NE(text.find("tile_rows = 5,"), std::string::npos);
  expect_same(original, text);
}

TEST(RegisterTile, TwoSumsAndAnEpilogueWithExponential) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j) {\n      float up = 0, gate = 0;\n"
      "      for (int64_t k = 0; k < K; ++k) {\n        up += a[i * K + k] * b[k * N + j];\n        gate += a[i * K + "
      "k] * (b[k * N + j] - 0.5f);\n"
      "      }\n      c[i * N + j] = gate / (1.0f + expf(-gate)) * up;\n    }\n",
      "#include <math.h>\n");
  const std::string text = applied(sample, tile("6", "2", "2"));
  EXPECT_NE(text.find("tile_rows = 3"), std::string::npos) << "two sums share the registers";
  EXPECT_NE(text.find("simd_exp("), std::string::npos);
  expect_same(sample, text);
}

TEST(RegisterTile, SplitsPhasesAndKeepsRowBuffers) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i) {\n    float row[K];\n    float squares = 0;\n    for (int64_t k = 0; k < K; "
      "++k) {\n"
      "      row[k] = a[i * K + k] + 1;\n      squares += row[k] * row[k];\n    }\n    const float rms = sqrtf(squares "
      "/ (float)K + 1e-5f);\n"
      "    for (int64_t k = 0; k < K; ++k) row[k] = row[k] / rms;\n    for (int64_t j = 0; j < N; ++j) {\n      float "
      "acc = 0;\n"
      "      for (int64_t k = 0; k < K; ++k) acc += row[k] * b[k * N + j];\n      c[i * N + j] = acc;\n    }\n    "
      "float total = 0;\n"
      "    for (int64_t j = 0; j < N; ++j) total += c[i * N + j];\n    for (int64_t j = 0; j < N; ++j) c[i * N + j] -= "
      "total / rms;\n  }\n",
      "#include <math.h>\n");
  const std::string text = applied(sample, tile("6", "2", "2"));
  EXPECT_NE(text.find("row_all"), std::string::npos);
  EXPECT_NE(text.find("rms_all"), std::string::npos) << "a scalar that crosses the cut is kept for every row";
  expect_same(sample, text);
}

TEST(RegisterTile, HeapBufferThatEveryRowFillsAnew) {
  const Sample sample = with_body(
      "  float* scores = static_cast<float*>(malloc(static_cast<size_t>(N) * sizeof(float)));\n  for (int64_t i = 0; i "
      "< M; ++i) {\n"
      "    for (int64_t j = 0; j < N; ++j) {\n      float acc = 0;\n      for (int64_t k = 0; k < K; ++k) acc += a[i * "
      "K + k] * b[j * K + k];\n"
      "      scores[j] = acc;\n    }\n    float largest = scores[0];\n    for (int64_t j = 1; j < N; ++j) largest = "
      "fmaxf(largest, scores[j]);\n"
      "    for (int64_t j = 0; j < N; ++j) c[i * N + j] = expf(scores[j] - largest);\n  }\n  free(scores);\n",
      "#include <math.h>\n#include <stdlib.h>\n");
  const std::string text = applied(sample, tile("6", "2", "2"));
  EXPECT_NE(text.find("scores_all"), std::string::npos);
  expect_same(sample, text);
}

TEST(RegisterTile, KernelsInC) {
  Sample sample = matmul();
  sample.kernel.language = model::Language::c;
  sample.kernel.source.replace(sample.kernel.source.find("extern \"C\" "), 11, "");
  expect_same(sample, applied(sample, tile("6", "2", "2")));
}

TEST(RegisterTile, DoublePrecision) {
  Sample sample = matmul(31, 29, 23);
  std::string& source = sample.kernel.source;
  for (std::size_t at = source.find("float"); at != std::string::npos; at = source.find("float", at))
    source.replace(at, 5, "double");
  source.replace(source.find("0.0f"), 4, "0.0");
  const std::string text = applied(sample, tile("4", "2", "2"));
  EXPECT_NE(text.find("simd_f64"), std::string::npos);
  KernelSource kernel = sample.kernel;
  kernel.source = text;
  EXPECT_EQ(Loaded(kernel).problem(), "");
}

TEST(RegisterTile, RefusesWhatIterationsShare) {
  const Sample carried = with_body(
      "  for (int64_t i = 1; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j) {\n      float s = 0;\n"
      "      for (int64_t k = 0; k < K; ++k) s += b[k * N + j];\n      c[i * N + j] = c[(i - 1) * N + j] + s;\n    "
      "}\n");
  EXPECT_EQ(refused(carried, tile("6", "2", "2")), base::ErrorCode::unsupported);
  const Sample triangle = with_body(
      "  for (int64_t i = 0; i < N; ++i)\n    for (int64_t j = 0; j < i; ++j) {\n      float s = 0;\n"
      "      for (int64_t k = 0; k < K; ++k) s += a[i * K + k] * b[k * N + j];\n      c[i * N + j] = s;\n    }\n");
  EXPECT_EQ(refused(triangle, tile("6", "2", "2")), base::ErrorCode::unsupported);
}

TEST(RegisterTile, ImpossibleTilesAreInvalid) {
  EXPECT_EQ(refused(matmul(), tile("0", "2", "2")), base::ErrorCode::invalid_argument);
  EXPECT_EQ(refused(matmul(), tile("six", "2", "2")), base::ErrorCode::invalid_argument);
  EXPECT_EQ(refused(matmul(), application("register tile", "*")), base::ErrorCode::invalid_argument);
  EXPECT_EQ(refused(matmul(), tile("6", "2", "2", "kernel:i.0/j.7")), base::ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace accelopt::recipes

// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

namespace accelopt::recipes {
namespace {

TEST(Interchange, SumMovesIntoTheOutput) {
  const Sample sample = matmul();
  const std::string text = applied(sample, application("interchange", "kernel:i.0/j.0"));
  EXPECT_LT(text.find("for (int64_t k"), text.rfind("for (int64_t j")) << "k is outside of j now";
  EXPECT_NE(text.find("c[i * N + j] += a[i * K + k] * b[k * N + j];"), std::string::npos);
  expect_same(sample, text);
}

TEST(Interchange, SumWithAnEpilogue) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j) {\n      float s = 1;\n"
      "      for (int64_t k = 0; k < K; ++k) s += a[i * K + k] * b[k * N + j];\n      c[i * N + j] = s * 0.5f + "
      "b[j];\n    }\n");
  expect_same(sample, applied(sample, application("interchange", "kernel:i.0/j.0")));
}

TEST(Interchange, PerfectNest) {
  const Sample sample = with_body(
      "  for (int64_t j = 0; j < N; ++j)\n    for (int64_t i = 0; i < M; ++i)\n      c[i * N + j] = a[i] + b[j];\n");
  const std::string text = applied(sample, application("interchange", "kernel:j.0"));
  EXPECT_LT(text.find("for (int64_t i"), text.find("for (int64_t j"));
  expect_same(sample, text);
}

TEST(Interchange, RefusesDependences) {
  const Sample carried = with_body(
      "  for (int64_t j = 1; j < N; ++j)\n    for (int64_t i = 1; i < M; ++i)\n      c[i * N + j] = c[(i - 1) * N + j "
      "- 1];\n");
  EXPECT_EQ(refused(carried, application("interchange", "kernel:j.0")), base::ErrorCode::unsupported);
  const Sample triangle =
      with_body("  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = i; j < N; ++j)\n      c[i * N + j] = a[i];\n");
  EXPECT_EQ(refused(triangle, application("interchange", "kernel:i.0")), base::ErrorCode::unsupported);
}

TEST(Tile, StripsMoveOutside) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j)\n      c[i * N + j] = a[i] * b[j];\n");
  const std::string text = applied(sample, application("tile", "kernel:i.0/j.0", {{"size", "16"}}));
  EXPECT_LT(text.find("j_tile"), text.find("for (int64_t i"));
  expect_same(sample, text);
  EXPECT_EQ(refused(sample, application("tile", "kernel:i.0", {{"size", "16"}})), base::ErrorCode::unsupported);
  EXPECT_EQ(refused(sample, application("tile", "kernel:i.0/j.0", {{"size", "1"}})), base::ErrorCode::invalid_argument);
}

TEST(Unroll, PragmaBeforeTheLoop) {
  const Sample sample = matmul();
  const std::string text = applied(sample, application("unroll", "kernel:i.0/j.0/k.0", {{"factor", "4"}}));
  EXPECT_NE(text.find("#pragma GCC unroll 4\n      for (int64_t k"), std::string::npos) << text;
  expect_same(sample, text);
  EXPECT_EQ(refused(sample, application("unroll", "kernel:i.0/j.0/k.0", {{"factor", "1000"}})),
            base::ErrorCode::invalid_argument);
}

TEST(UnrollAndJam, CopiesRunSideBySide) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j) {\n      const float t = b[j];\n      "
      "c[i * N + j] = a[i] * t;\n    }\n");
  const std::string text = applied(sample, application("unroll-and-jam", "kernel:i.0", {{"factor", "4"}}));
  EXPECT_NE(text.find("c[(i + 3) * N + j]"), std::string::npos);
  expect_same(sample, text);
  EXPECT_EQ(refused(matmul(), application("unroll-and-jam", "kernel:i.0", {{"factor", "4"}})),
            base::ErrorCode::unsupported);
}

TEST(ScalarReplacement, ElementStaysInAVariable) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M * N; ++i) {\n    c[i] = 0;\n    for (int64_t k = 0; k < K; ++k) c[i] += b[k] * "
      "a[k];\n  }\n");
  const std::string text = applied(sample, application("scalar replacement", "kernel:i.0/k.0"));
  EXPECT_NE(text.find("kept_c += b[k] * a[k];"), std::string::npos);
  expect_same(sample, text);
  EXPECT_EQ(refused(matmul(), application("scalar replacement", "kernel:i.0/j.0/k.0")), base::ErrorCode::unsupported);
}

TEST(Hoisting, ReciprocalsAndInvariantValues) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i) {\n    const float d = a[i * K] * a[i * K] + 1;\n"
      "    for (int64_t j = 0; j < N; ++j) c[i * N + j] = b[j] / (d) + sqrtf(d * 3);\n"
      "    for (int64_t j = 0; j < N; ++j) c[i * N + j] /= d;\n  }\n",
      "#include <math.h>\n");
  Sample once = sample;
  once.kernel.source = applied(sample, application("hoisting", "kernel:i.0/j.0"));
  EXPECT_NE(once.kernel.source.find("= 1.0f / (d)"), std::string::npos);
  EXPECT_NE(once.kernel.source.find("= sqrtf(d * 3);"), std::string::npos);
  expect_same(sample, once.kernel.source);
  const std::string twice = applied(once, application("hoisting", "kernel:i.0/j.1"));
  EXPECT_NE(twice.find("c[i * N + j] *= reciprocal"), std::string::npos) << twice;
  expect_same(sample, twice);
  EXPECT_EQ(refused(matmul(), application("hoisting", "kernel:i.0/j.0/k.0")), base::ErrorCode::unsupported);
}

TEST(Packing, TransposedCopyBeforeTheNest) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j) {\n      float s = 0;\n"
      "      for (int64_t k = 0; k < K; ++k) s += a[i * K + k] * b[k * N + j];\n      c[i * N + j] = s;\n    }\n");
  const std::string text = applied(sample, application("packing", "kernel:i.0/j.0/k.0"));
  EXPECT_NE(text.find("b_packed[j * (K) + k]"), std::string::npos);
  EXPECT_NE(text.find("free(b_packed);"), std::string::npos);
  expect_same(sample, text);
}

TEST(Fusion, NeighboursOfEqualRange) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M * K; ++i) {\n    const float t = a[i];\n    c[i] = t * 2;\n  }\n"
      "  for (int64_t j = 0; j < M * K; ++j) {\n    const float t = c[j];\n    c[j] = t + 1;\n  }\n");
  const std::string text = applied(sample, application("fusion", "kernel:i.0"));
  EXPECT_EQ(text.find("for (int64_t j"), std::string::npos);
  expect_same(sample, text);
  const Sample carried = with_body(
      "  for (int64_t i = 0; i < K; ++i) c[i] = a[i];\n  for (int64_t i = 0; i < K; ++i) c[i + K] = c[K - i];\n");
  EXPECT_EQ(refused(carried, application("fusion", "kernel:i.0")), base::ErrorCode::unsupported);
  const Sample total = with_body(
      "  float s = 0;\n  for (int64_t i = 0; i < K; ++i) s += a[i];\n  for (int64_t i = 0; i < K; ++i) c[i] = a[i] / "
      "s;\n");
  EXPECT_EQ(refused(total, application("fusion", "kernel:i.0")), base::ErrorCode::unsupported);
}

TEST(Fission, BlocksKeepWhatCrossesTheCut) {
  const Sample sample = with_body(
      "  for (int64_t i = 0; i < M; ++i) {\n    const float* row = a + i * K;\n    float s = 0;\n"
      "    for (int64_t k = 0; k < K; ++k) s += row[k];\n    for (int64_t j = 0; j < N; ++j) c[i * N + j] = s + row[0] "
      "+ b[j];\n  }\n");
  const std::string text = applied(sample, application("fission", "kernel:i.0", {{"cut", "3"}, {"block", "8"}}));
  EXPECT_NE(text.find("s_all[i - i_block]"), std::string::npos);
  expect_same(sample, text);
  expect_same(sample, applied(sample, application("fission", "kernel:i.0", {{"cut", "3"}, {"block", "0"}})));
  const Sample carried = with_body(
      "  float t = 0;\n  for (int64_t i = 0; i < M; ++i) {\n    for (int64_t k = 0; k < K; ++k) t += a[i * K + k];\n   "
      " c[i] = t;\n  }\n");
  EXPECT_EQ(refused(carried, application("fission", "kernel:i.0", {{"cut", "1"}, {"block", "8"}})),
            base::ErrorCode::unsupported);
}

TEST(Restrict, PointersOfTheSignature) {
  const Sample sample = matmul();
  const std::string text = applied(sample, application("restrict", "kernel"));
  EXPECT_NE(text.find("const float* __restrict a, const float* __restrict b, float* __restrict c, int64_t M"),
            std::string::npos);
  expect_same(sample, text);
  Sample again = sample;
  again.kernel.source = text;
  EXPECT_EQ(refused(again, application("restrict", "kernel")), base::ErrorCode::unsupported);
}

TEST(Parallelize, OnlyWithThreads) {
  Sample sample = matmul();
  EXPECT_EQ(refused(sample, application("parallelize", "kernel:i.0")), base::ErrorCode::unsupported);
  sample.kernel.threads = 2;
  const std::string text = applied(sample, application("parallelize", "kernel:i.0"));
  EXPECT_NE(text.find("#pragma omp parallel for schedule(static) num_threads(2)\n  for (int64_t i"), std::string::npos);
  EXPECT_EQ(refused(sample, application("parallelize", "kernel:i.0/j.0/k.0")), base::ErrorCode::unsupported)
      << "a sum is no parallel loop";
}

TEST(Flags, DirectiveInTheFirstLine) {
  Sample sample = matmul();
  sample.kernel.source = applied(sample, application("flags", "*", {{"flags", "-fno-math-errno -fno-trapping-math"}}));
  EXPECT_TRUE(sample.kernel.source.starts_with("//@ flags -fno-math-errno -fno-trapping-math\n"));
  const std::string more = applied(sample, application("flags", "*", {{"flags", "-fno-math-errno -funroll-loops"}}));
  EXPECT_TRUE(more.starts_with("//@ flags -fno-math-errno -fno-trapping-math -funroll-loops\n"))
      << "no flag twice, one line";
  expect_same(matmul(), more);
  EXPECT_EQ(refused(sample, application("flags", "*")), base::ErrorCode::invalid_argument);
}

std::vector<std::string> flags_proposed(const Sample& sample) {
  std::vector<std::string> flags;
  const auto all = enumerate(clang(), sample.kernel);
  EXPECT_TRUE(all) << all.error().message;
  for (const Application& one : *all) {
    if (one.recipe == "flags") flags.push_back(one.parameters.at("flags"));
  }
  return flags;
}

TEST(Flags, KernelsThatAskForNan_KeepIt) {
  const std::string plain = "-ffast-math -mno-recip";
  const std::string kept = "-ffast-math -fno-finite-math-only -mno-recip";
  const auto holds = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  const Sample guarded = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j)\n"
      "      c[i * N + j] = a[i] != a[i] ? 0.0f : a[i] * b[j];\n");
  EXPECT_FALSE(holds(flags_proposed(guarded), plain));
  EXPECT_TRUE(holds(flags_proposed(guarded), kept));
  EXPECT_EQ(refused(guarded, application("flags", "*", {{"flags", plain}})), base::ErrorCode::unsupported)
      << "as a plan that another kernel's memory made";
  expect_same(guarded, applied(guarded, application("flags", "*", {{"flags", kept}})));
  EXPECT_TRUE(holds(flags_proposed(matmul()), kept)) << "a sum gains nothing from finite math";
  const Sample chooses = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j)\n"
      "      c[i * N + j] = a[i] > b[j] ? a[i] : b[j];\n");
  EXPECT_TRUE(holds(flags_proposed(chooses), plain));
  EXPECT_FALSE(holds(flags_proposed(chooses), kept));
  const Sample may_mean_it = with_body(
      "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j)\n"
      "      c[i * N + j] = a[i] < b[j] ? 1.0f : a[i] >= b[j] ? 2.0f : 0.0f;\n");
  EXPECT_TRUE(holds(flags_proposed(may_mean_it), kept)) << "whether it is meant a call with NaN tells";
}

}  // namespace
}  // namespace accelopt::recipes

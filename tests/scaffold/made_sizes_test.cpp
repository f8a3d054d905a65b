// SPDX-License-Identifier: Apache-2.0
#include "scaffold/made_sizes.hpp"

#include <gtest/gtest.h>

#include "scaffold/extract.hpp"
#include "scaffold/programs.hpp"
#include "scaffold/scaffold.hpp"
#include "scaffold/winner_patch.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::scaffold {
namespace {

/// "race n=64; check n=61": the workloads of a function over these axes.
std::string made(const std::vector<std::pair<std::string, std::int64_t>>& axes, const std::string& baseline) {
  Signature signature;
  for (const auto& [name, extent] : axes) {
    KernelParameter parameter;
    parameter.role = ParameterRole::axis;
    parameter.name = parameter.axis = name;
    signature.parameters.push_back(parameter);
    signature.axes.push_back({name, true, true, std::nullopt, extent});
  }
  std::string text;
  for (const MadeWorkload& workload : made_workloads(signature, baseline)) {
    text += (text.empty() ? "" : "; ") + workload.name;
    for (const auto& [axis, extent] : workload.extents) text += " " + axis + "=" + std::to_string(extent);
  }
  return text;
}

TEST(MadeSizes, AreSmallWhereTheFunctionLoopsOverEveryAxis) {
  EXPECT_EQ(made({}, "y[0] = x[0];"), "race");
  EXPECT_EQ(made({{"n", 64}}, "for (int i = 0; i < n; ++i) y[i] = x[i];"),
            "race n=64; check n=61; small n=7; large n=1025; held_out n=97");
  EXPECT_EQ(made({{"n", 4}}, "for (int i = 0; i < n; ++i) y[i] = x[i];"),
            "race n=4; check n=1; large n=65; held_out n=7");
  EXPECT_EQ(made({{"n", 64}}, "for (int i = 1; i < n - 1; ++i) { if (i == n) y[i] = x[i + 1]; }"),
            "race n=64; check n=61; held_out n=97");
  EXPECT_EQ(made({{"n", 64}}, "for (size_t i = 0; i < n - 9; ++i) t += i; for (; i < n; ++i) t += 2;"),
            "race n=64; check n=61; large n=1025; held_out n=97");
  EXPECT_EQ(made({{"n", 65}, {"taps", 16}, {"padded", 80}},
                 "for (int i = 0; i < n; ++i) for (int t = 0; t < taps; ++t) y[i] += h[t] * x[i + t];"),
            "race n=65 taps=16 padded=80; check n=63 taps=13 padded=77; held_out n=97 taps=25 padded=121");
}

TEST(MadeSizes, StayMultiplesOfWhatTheFunctionDividesThemBy) {
  const std::string loop = " for (int i = 0; i < k; ++i) y[i] = x[i];";
  EXPECT_EQ(made({{"k", 320}}, "assert(k % 32 == 0);" + loop),
            "race k=320; check k=224; small k=32; large k=5152; held_out k=480");
  EXPECT_EQ(made({{"k", 320}}, "#define QK 32\nconst int nb = k / QK;" + loop),
            "race k=320; check k=224; small k=32; large k=5152; held_out k=480");
  EXPECT_EQ(made({{"k", 64}}, "int rest = k & 3;" + loop),
            "race k=64; check k=52; small k=4; large k=1028; held_out k=100");
  EXPECT_EQ(made({{"k", 63}}, "int blocks = k / 32;" + loop),
            "race k=63; check k=61; small k=7; large k=1009; held_out k=95");
}

TEST(MadeSizes, AxesWithRoomInAnOwnArray_AreNotMadeLonger) {
  const std::string loops = " for (int i = 0; i < n; ++i) for (int k = 0; k < order; ++k) c[k] += x[i];";
  for (const char* array : {"#define MAX_ORDER 24 /* at most */\ndouble c[MAX_ORDER + 1] = {0};", "double c[25] = {0};",
                            "constexpr int kMost = 24;\nconst int kHalf = kMost / 2;\nfloat e[2], c[2 * kHalf + 1]{};",
                            "static float c[4][25u];", "float* c[25];", "std::array<double, 24 + 1> c;"}) {
    EXPECT_EQ(made({{"n", 480}, {"order", 16}}, array + loops),
              "race n=480 order=16; check n=477 order=13; small n=7 order=7; held_out n=721 order=11")
        << array;
  }
  EXPECT_EQ(made({{"n", 480}, {"order", 24}}, "double c[25];" + loops),
            "race n=480 order=24; check n=477 order=21; small n=7 order=7; held_out n=721 order=17");
  EXPECT_EQ(
      made({{"n", 480}, {"order", 16}},
           "// double c[25];\ndouble c[8], d[UNKNOWN + 25]; return c[100]; c[0] = 2 * d[100];" + loops),
      "race n=480 order=16; check n=477 order=13; small n=7 order=7; large n=1921 order=65; held_out n=721 order=25")
      << "none of these has room";
}

TEST(MadeSizes, AreLargeAsFarAsThatIsCheap) {
  const std::string product = "for (i = 0; i < m; ++i) for (j = 0; j < n; ++j) for (k = 0; k < K; ++k) c += a * b;";
  const auto large = [&](std::int64_t m, std::int64_t n, std::int64_t k, const std::string& more = "") {
    const std::string text = made({{"m", m}, {"n", n}, {"K", k}}, product + more);
    const std::size_t begin = text.find("large");
    return begin == std::string::npos ? "none" : text.substr(begin, text.find(';', begin) - begin);
  };
  EXPECT_EQ(large(64, 64, 64), "large m=129 n=131 K=133") << "without tensors, all axes are counted";
  EXPECT_EQ(large(256, 256, 256), "none");
  EXPECT_EQ(large(64, 64, 64, "float row[64];"), "none") << "a longer row may not fit";
  EXPECT_EQ(large(64, 64, 64, "float row[32];"), "large m=129 n=131 K=133");
  EXPECT_EQ(made({{"n", 1 << 24}}, "for (int i = 0; i < n; ++i) y[i] = x[i];").find("large"), std::string::npos);
}

TEST(MadeSizes, OfAxesThatAreRacedEqual_Differ) {
  const std::string loops = "for (i = 0; i < M; ++i) for (j = 0; j < N; ++j) y[j * M + i] = x[i * N + j];";
  EXPECT_EQ(made({{"M", 64}, {"N", 64}}, loops),
            "race M=64 N=64; check M=61 N=63; small M=7 N=9; large M=257 N=259; held_out M=97 N=99");
  EXPECT_EQ(
      made({{"M", 64}, {"lda", 64}, {"N", 64}}, "for (i = 0; i < M; ++i) for (j = 0; j < N; ++j) s += x[i * lda + j];"),
      "race M=64 lda=64 N=64; check M=61 lda=65 N=63; held_out M=97 lda=101 N=99");
  EXPECT_EQ(
      made({{"M", 64}, {"N", 64}, {"ld", 65}}, "for (i = 0; i < M; ++i) for (j = 0; j < N; ++j) s += x[i * ld + j];"),
      "race M=64 N=64 ld=65; check M=61 N=63 ld=63; held_out M=97 N=99 ld=99");
  EXPECT_EQ(made({{"M", 64}, {"N", 64}}, "assert(N % 32 == 0);" + loops),
            "race M=64 N=64; check M=61 N=32; small M=7 N=32; large M=193 N=224; held_out M=97 N=96");
}

TEST(MadeSizes, OfAxesThatMayHaveToBeEqual_StayEqual) {
  EXPECT_EQ(made({{"n", 64}, {"m", 64}}, "for (i = 0; i < n; ++i) y[i] = x[i];"),
            "race n=64 m=64; check n=61 m=61; held_out n=97 m=97");
  EXPECT_EQ(made({{"n", 64}, {"m", 64}}, "if (n != m) return; for (i = 0; i < n; ++i) for (j = 0; j < m; ++j) f();"),
            "race n=64 m=64; check n=61 m=61; small n=7 m=7; large n=257 m=257; held_out n=97 m=97");
}

TEST(MadeSizes, AxesThatWereNeverDifferent_HaveToBeEqualInAPatch) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("copy.c",
                              "void copy(const float* restrict x, float* restrict y, int rows, int ld, long n) {\n"
                              "  for (int i = 0; i < rows; ++i)\n"
                              "    for (int j = 0; j < n; ++j) y[i * n + j] = x[i * ld + j];\n}\n");
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "copy";
  options.stated = {{"x=rows,ld"}, {"y=rows,n"}, {}, {"rows=64", "ld=64", "n=64"}, {}, {"x=normal(0, 1)"}};
  options.folder = repository.path() / "task";
  ASSERT_TRUE(scaffold_task(*clang, options).has_value());
  auto task = suites::load_task(options.folder);
  ASSERT_TRUE(task.has_value()) << task.error().message;
  const auto apart = make_winner_patch({{*task, task->baseline, options.folder, {}}});
  ASSERT_TRUE(apart.has_value()) << apart.error().message;
  EXPECT_EQ(diff_of(*apart).find("ld == "), std::string::npos) << "init lets them differ\n" << diff_of(*apart);
  for (model::Workload& workload : task->workloads) workload.axes["ld"] = workload.axes["n"] = workload.axes["rows"];
  const auto equal = make_winner_patch({{*task, task->baseline, options.folder, {}}});
  ASSERT_TRUE(equal.has_value()) << equal.error().message;
  EXPECT_NE(diff_of(*equal).find(" && ld == rows && (int64_t)n == (int64_t)rows"), std::string::npos)
      << diff_of(*equal);
}

}  // namespace
}  // namespace accelopt::scaffold

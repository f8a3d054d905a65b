// SPDX-License-Identifier: Apache-2.0
#include "scaffold/bit_tricks.hpp"

#include <gtest/gtest.h>

#include "scaffold/programs.hpp"
#include "scaffold/scaffold.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::scaffold {
namespace {

TEST(BitTricks, AreSeenInUnionsCopiesCastsAndFunctions) {
  EXPECT_EQ(bit_trick("union { uint32_t i; float f; } v = {bits};"), "union");
  EXPECT_EQ(bit_trick("float x = 1; int32_t i; std::memcpy(&i, &x, sizeof(float));"), "memcpy(&i, &x,");
  EXPECT_EQ(bit_trick("float f(float x) { int i = *(int*)&x; return i; }"), "(int*)&x");
  EXPECT_EQ(bit_trick("uint32_t b = 1; return *reinterpret_cast<const float*>(&b);"),
            "reinterpret_cast<const float*>(&b");
  EXPECT_EQ(bit_trick("const auto i = std::bit_cast<uint32_t>(x);"), "bit_cast<");
  EXPECT_EQ(bit_trick("int i = __float_as_int(x);"), "__float_as_int(");
}

TEST(BitTricks, AreNotCopiesOfOneKind) {
  EXPECT_EQ(bit_trick("union { float f[4]; struct { float x, y; } p; } v;"), "");
  EXPECT_EQ(bit_trick("float x = 1, y; memcpy(&y, &x, sizeof(float)); memcpy(a, b, n * sizeof(float));"), "");
  EXPECT_EQ(bit_trick("int i = (int)x; const float* p = (const float*)&x[0]; float x = 2;"), "");
}

TEST(BitTricks, LeaveTheReferenceOpen) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository(
      "bits.c",
      "static float twice(float x) {\n  union { unsigned i; float f; } v;\n  v.f = x;\n  v.i += 1u << 23;\n"
      "  return v.f;\n}\nvoid all(const float *x, float *y, int n) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = twice(x[i]);\n}\n");
  ScaffoldOptions options;
  options.file = repository.file();
  options.function = "all";
  options.stated = {{"x=n"}, {"y=n"}, {}, {"n=64"}, {}, {"x=normal(0, 1)"}};
  options.folder = repository.path() / "task";
  const auto report = scaffold_task(*clang, options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_EQ(report->open.size(), 1U);
  EXPECT_NE(report->open.front().find("reference.c: what is meant in place of the bits of a float (union)"),
            std::string::npos);
  const auto task = suites::load_task(options.folder);
  ASSERT_FALSE(task.has_value());
  EXPECT_NE(task.error().message.find("has to be filled in"), std::string::npos) << task.error().message;
}

}  // namespace
}  // namespace accelopt::scaffold

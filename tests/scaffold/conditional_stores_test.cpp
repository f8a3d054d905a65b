// SPDX-License-Identifier: Apache-2.0
#include "scaffold/conditional_stores.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "scaffold/programs.hpp"

namespace accelopt::scaffold {
namespace {

class ConditionalStores : public testing::Test {
 protected:
  void SetUp() override {
    if (!clang_) GTEST_SKIP() << "libclang is not installed";
  }

  /// Of a function with this body, which writes y.
  [[nodiscard]] std::string condition(const std::string& body) const {
    const std::string source =
        "void f(const float* x, const int* places, float a, float* y, int n) {\n" + body + "\n}\n";
    const auto unit = syntax::parse(*clang_, {source, model::Language::cpp, {}, {}});
    EXPECT_TRUE(unit.has_value() && unit->errors.empty()) << body;
    if (!unit) return "no unit";
    return condition_of_store(*unit, *unit->find("f"), "y", {"x", "places", "a"});
  }

  [[nodiscard]] bool leaves_unread(const std::string& body, const std::string& before = "") const {
    const std::string source =
        before + "int f(const float* x, const int* places, float a, float* y, int n) {\n" + body + "\n}\n";
    const auto unit = syntax::parse(*clang_, {source, model::Language::cpp, {}, {}});
    EXPECT_TRUE(unit.has_value() && unit->errors.empty()) << body;
    return unit && may_leave_inputs_unread(*unit, *unit->find("f"), {"x", "places", "a"});
  }

  std::unique_ptr<syntax::Clang> clang_ = load_clang();
};

TEST_F(ConditionalStores, StoresThatDataLeavesOut_HaveACondition) {
  EXPECT_EQ(condition("for (int i = 0; i < n; ++i) { if (x[i] == 0) continue; y[i] = 1 / x[i]; }"), "x[i] == 0");
  EXPECT_EQ(condition("for (int i = 0; i < n; ++i) if (x[i] > 0) y[i] = x[i];"), "x[i] > 0");
  EXPECT_EQ(condition("int k = 0; for (int i = 0; i < n; ++i) { float v = x[i]; if (v > 0) { y[k] = v; ++k; } }"),
            "v > 0");
  EXPECT_EQ(condition("for (int i = 0; i < n; ++i) { if (x[i] > 0) { y[i] = 1; continue; } if (x[i] < 0) y[i] = 2; }"),
            "x[i] < 0");
  EXPECT_EQ(condition("if (a == 0) return; for (int i = 0; i < n; ++i) y[i] = a * x[i];"), "a == 0");
  EXPECT_EQ(
      condition("float m = x[0]; for (int i = 1; i < n; ++i) { const float* p = x + i; if (*p > m) { m = *p; y[0] "
                "= i; } }"),
      "*p > m");
  EXPECT_EQ(condition("float* row = y; for (int i = 0; i < n; ++i) { if (places[i] < 0) continue; row[i] = 0; }"),
            "places[i] < 0");
  EXPECT_EQ(condition("int i = 0; while (i < n) { if (x[i] != 0) y[i] = 1; ++i; }"), "x[i] != 0");
}

TEST_F(ConditionalStores, StoresOnEveryPath_HaveNone) {
  EXPECT_EQ(condition("for (int i = 0; i < n; ++i) { if (x[i] < 0) y[i] = 0; else y[i] = x[i]; }"), "");
  EXPECT_EQ(condition("for (int i = 0; i < n; ++i) { if (x[i] < 0) { y[i] = 0; continue; } y[i] = x[i]; }"), "");
  EXPECT_EQ(condition("for (int i = 0; i < n; ++i) { y[i] = 0; if (x[i] < 0) y[i] = 1; }"), "");
  EXPECT_EQ(
      condition("for (int i = 0; i < n; ++i) y[i] = 0; for (int i = 0; i < n; ++i) if (x[i] > 0) y[places[i]] = 1;"),
      "");
  EXPECT_EQ(condition("y[0] = -1; for (int i = 0; i < n; ++i) if (x[i] > a) { y[0] = i; break; }"), "");
  EXPECT_EQ(condition("float s = 0; for (int i = 0; i < n; ++i) { if (x[i] == 0) continue; s += x[i]; } y[0] = s;"),
            "");
  EXPECT_EQ(condition("int found = 0; for (int i = 0; i < n; ++i) if (x[i] == a) { found = i; break; } y[0] = found;"),
            "");
}

TEST_F(ConditionalStores, SizesAndPlaces_AreNoConditions) {
  EXPECT_EQ(condition("if (n <= 0) return; for (int i = 0; i < n; ++i) y[i] = x[i];"), "");
  EXPECT_EQ(condition("if (!x || y == nullptr) return; y[0] = x[0];"), "");
  EXPECT_EQ(condition("for (int i = 0; i < n; ++i) { if (i == 0) continue; y[i] = x[i]; } if (x[0] > 1) n = 1;"), "");
  EXPECT_EQ(
      condition("for (int i = 0; i < n; ++i) { float v = x[i]; if (v < 0) v = 0; if (i < 4) y[i] = v; if (i >= 4) "
                "y[i] = -v; }"),
      "");
}

TEST_F(ConditionalStores, WhatACallMayDo_IsAStore) {
  EXPECT_EQ(condition("void fill(float*, int); fill(y, n); for (int i = 0; i < n; ++i) if (x[i] > 0) y[i] = 1;"), "");
}

TEST_F(ConditionalStores, LoopsThatEndEarlyAndIndicesOfData_LeaveInputsUnread) {
  EXPECT_TRUE(leaves_unread("for (int i = 0; i < n; ++i) if (x[i] == a) return i; return -1;"));
  EXPECT_TRUE(leaves_unread("int k = -1; for (int i = 0; i < n; ++i) { if (x[i] < 0) { k = i; break; } } return k;"));
  EXPECT_TRUE(leaves_unread("int i = 0; while (i < n && x[i] > 0) ++i; return i;"));
  EXPECT_TRUE(leaves_unread("int i = 0; for (; i < n && x[i] > 0; ++i) {} return i;"));
  EXPECT_TRUE(leaves_unread("for (int i = 0; i < n; ++i) y[i] = x[places[i]]; return 0;"));
  EXPECT_TRUE(leaves_unread("for (int i = 0; i < n; ++i) { int k = places[i]; y[i] = x[k]; } return 0;"));
  EXPECT_TRUE(
      leaves_unread("return has(x, n);",
                    "int has(const float* v, int n) { for (int i = 0; i < n; ++i) if (v[i] < 0) return 1; return "
                    "0; }\n"));
}

TEST_F(ConditionalStores, LoopsOverAll_ReadEverything) {
  EXPECT_FALSE(leaves_unread("if (n <= 0) return 0; for (int i = 0; i < n; ++i) y[i] = a * x[i]; return n;"));
  EXPECT_FALSE(
      leaves_unread("for (int i = 0; i < n; ++i) { if (x[i] < 0) continue; y[i] = x[i] + places[i]; } return 0;"));
  EXPECT_FALSE(leaves_unread("float s = 0; for (int i = 0; i < n; ++i) s += x[n - 1 - i]; y[0] = s; return 0;"));
}

}  // namespace
}  // namespace accelopt::scaffold

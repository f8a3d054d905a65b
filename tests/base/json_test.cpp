// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace accelopt::base {
namespace {

/// As the library writes it.
std::string by_library(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TEST(Canonical, EveryByte_IsWrittenAsByTheLibrary) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = "before " + std::string(1, static_cast<char>(byte)) + " behind";
    EXPECT_EQ(canonical(text), by_library(text)) << byte;
    EXPECT_EQ(canonical(Json{{text, 1}}), by_library(Json{{text, 1}})) << byte;
  }
}

TEST(Canonical, Values_AreWrittenAsByTheLibrary) {
  const Json values = {nullptr,
                       true,
                       false,
                       0,
                       -1,
                       std::numeric_limits<std::int64_t>::min(),
                       std::numeric_limits<std::uint64_t>::max(),
                       0.1,
                       1e300,
                       -0.0,
                       std::numeric_limits<double>::infinity(),
                       Json::object(),
                       Json::array(),
                       "",
                       "é → 中 \xff\xc3",
                       "a\n\tb\\\"\x7f",
                       {{"z", 1}, {"a", {{"nested", {1, 2, Json::array({"x"})}}}}}};
  EXPECT_EQ(canonical(values), by_library(values));
  for (const Json& value : values) EXPECT_EQ(canonical(value), by_library(value));
}

TEST(Canonical, AnyText_IsWrittenAsByTheLibrary) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (auto at = random() % 40; at > 0; --at) text += static_cast<char>(i % 2 == 0 ? random() % 128 : random() % 256);
    ASSERT_EQ(canonical(text), by_library(text)) << "seed 7, text " << i;
  }
}

TEST(Canonical, AnyNumber_IsWrittenAsByTheLibrary) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random() >> (random() % 64);
    for (const Json& value : {Json(std::bit_cast<double>(random())), Json(static_cast<double>(bits) / 1000), Json(bits),
                              Json(static_cast<std::int64_t>(bits))}) {
      ASSERT_EQ(canonical(value), by_library(value)) << "seed 7, number " << i;
    }
  }
}

TEST(Canonical, ASpecialByteAnywhere_IsWrittenAsByTheLibrary) {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < 33; ++at) {
      std::string text(33, 'x');
      text[at] = static_cast<char>(byte);
      ASSERT_EQ(canonical(text), by_library(text)) << byte << " at " << at;
    }
  }
}

TEST(Json, NestingIsLimited) {
  const auto nested = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '[') + std::string(static_cast<std::size_t>(levels), ']');
  };
  EXPECT_TRUE(parse_json(nested(kDeepestJson), "a text"));
  const auto deep = parse_json(nested(kDeepestJson + 1), "a text");
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().message, "a text: nested too deeply");
  EXPECT_TRUE(json_or_discarded(nested(1'000'000)).is_discarded());
  EXPECT_FALSE(json_or_discarded(nested(kDeepestJson)).is_discarded());
  EXPECT_TRUE(nests_deeper(R"({"a": [[]]})", 2));
  EXPECT_FALSE(nests_deeper(R"({"a": [[]]})", 3));
  EXPECT_FALSE(nests_deeper(R"(["[[[[", "\"[[[[", [], [], []])", 2)) << "in a text they are none";
}

TEST(Json, WholeNumbers_ThatDoNotFit_AreAnError) {
  EXPECT_FALSE(decode<int>(Json(std::int64_t{5000000000}), "a number"));
  EXPECT_FALSE(decode<int>(Json(std::int64_t{-5000000000}), "a number"));
  EXPECT_FALSE(decode<std::int64_t>(Json(std::numeric_limits<std::uint64_t>::max()), "a number"));
  EXPECT_FALSE(decode<std::uint64_t>(Json(-1), "a number"));
  EXPECT_FALSE(decode<std::optional<std::uint8_t>>(Json(256), "a number"));
  EXPECT_EQ(decode<int>(Json(std::numeric_limits<int>::min()), "a number"), std::numeric_limits<int>::min());
  EXPECT_EQ(decode<std::uint64_t>(Json(std::numeric_limits<std::uint64_t>::max()), "a number"),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(Json, Fractions_ThatDoNotFitAWholeNumber_AreAnError) {
  struct Case {
    double value;
    bool fits_int;
    bool fits_unsigned;
  };
  for (const Case& one :
       {Case{1e168, false, false}, Case{-1e168, false, false}, Case{-1.0, true, false}, Case{2147483647.5, true, true},
        Case{2147483648.0, false, true}, Case{-2147483648.5, true, false}, Case{-2147483649.0, false, false},
        Case{2.5, true, true}, Case{18446744073709551616.0, false, false}}) {
    EXPECT_EQ(decode<int>(Json(one.value), "a number").has_value(), one.fits_int) << one.value;
    EXPECT_EQ(decode<std::uint64_t>(Json(one.value), "a number").has_value(), one.fits_unsigned) << one.value;
  }
  EXPECT_EQ(decode<int>(Json(2.5), "a number").value(), 2);
  EXPECT_FALSE(decode<std::vector<int>>(Json::array({1, 1e168}), "numbers"));
  EXPECT_FALSE(decode<std::optional<int>>(Json(1e168), "a number"));
}

}  // namespace
}  // namespace accelopt::base

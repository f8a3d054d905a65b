// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/dtype_codec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace accelopt::evaluation {
namespace {

using model::DType;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(Codec, KnowsTheNarrowFormats) {
  EXPECT_EQ(float16_to_float(0x3c00), 1.0F);
  EXPECT_EQ(float16_to_float(0x7bff), 65504.0F);
  EXPECT_EQ(float16_to_float(0x0001), 0x1p-24F);
  EXPECT_EQ(float16_to_float(0xfc00), -kInfinite);
  EXPECT_EQ(bfloat16_to_float(0x3f80), 1.0F);
  EXPECT_EQ(bfloat16_to_float(0xc040), -3.0F);
  EXPECT_EQ(float8_e4m3fn_to_float(0x7e), 448.0F);
  EXPECT_EQ(float8_e4m3fn_to_float(0x01), 0x1p-9F);
  EXPECT_TRUE(std::isnan(float8_e4m3fn_to_float(0x7f)));
  EXPECT_EQ(float8_e5m2_to_float(0x7b), 57344.0F);
  EXPECT_EQ(float8_e5m2_to_float(0x7c), kInfinite);
}

TEST(Codec, RoundsToNearestTiesToEven) {
  EXPECT_EQ(float_to_float16(1 + 0x1p-11), 0x3c00);            // tie: even below
  EXPECT_EQ(float_to_float16(1 + 3 * 0x1p-11), 0x3c02);        // tie: even above
  EXPECT_EQ(float_to_float16(1 + 0x1p-11 + 0x1p-30), 0x3c01);  // over the tie, seen only in double
  EXPECT_EQ(float_to_float16(65519.9), 0x7bff);
  EXPECT_EQ(float_to_float16(65520), 0x7c00);
  EXPECT_EQ(float_to_float16(0x1p-25), 0x0000);
  EXPECT_EQ(float_to_float16(0x1.8p-25), 0x0001);
  EXPECT_EQ(float_to_float16(-0.0), 0x8000);
  EXPECT_EQ(float_to_bfloat16(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(1e39), 0x7f80);
  EXPECT_EQ(float_to_float8_e4m3fn(463.9), 0x7e);
  EXPECT_EQ(float_to_float8_e4m3fn(464.1), 0x7f);
  EXPECT_EQ(float_to_float8_e4m3fn(-kInfinite), 0xff);
  EXPECT_EQ(float_to_float8_e5m2(1e9), 0x7c);
}

template <class Bits, class Decode, class Encode>
void expect_round_trip(std::uint32_t count, Decode decode_bits, Encode encode_value) {
  for (std::uint32_t bits = 0; bits < count; ++bits) {
    const float value = decode_bits(static_cast<Bits>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(decode_bits(encode_value(static_cast<double>(value)))));
    } else {
      EXPECT_EQ(encode_value(static_cast<double>(value)), bits);
    }
  }
}

TEST(Codec, EveryNarrowValueSurvives) {
  expect_round_trip<std::uint16_t>(1U << 16, float16_to_float, float_to_float16);
  expect_round_trip<std::uint16_t>(1U << 16, bfloat16_to_float, float_to_bfloat16);
  expect_round_trip<std::uint8_t>(1U << 8, float8_e4m3fn_to_float, float_to_float8_e4m3fn);
  expect_round_trip<std::uint8_t>(1U << 8, float8_e5m2_to_float, float_to_float8_e5m2);
}

TEST(Codec, IntegersSaturateAndRound) {
  const std::vector<double> values{-1e30, -1.5, 0.4, 200.6, 1e30};
  std::vector<std::byte> bytes(values.size());
  encode(DType::int8, values, bytes);
  EXPECT_EQ(decode_integers(DType::int8, bytes), (std::vector<std::int64_t>{-128, -2, 0, 127, 127}));
  encode(DType::uint8, values, bytes);
  EXPECT_EQ(decode_integers(DType::uint8, bytes), (std::vector<std::int64_t>{0, 0, 0, 201, 255}));
  encode(DType::boolean, values, bytes);
  EXPECT_EQ(decode_integers(DType::boolean, bytes), (std::vector<std::int64_t>{1, 1, 1, 1, 1}));
  std::vector<std::byte> wide(values.size() * 8);
  encode(DType::int64, values, wide);
  EXPECT_EQ(decode_integers(DType::int64, wide).back(), std::numeric_limits<std::int64_t>::max());
}

TEST(Codec, RangesAreThoseOfTheFormats) {
  for (const DType dtype :
       {DType::float16, DType::bfloat16, DType::float8_e4m3fn, DType::float8_e5m2, DType::float32}) {
    const FloatRange range = range_of(dtype);
    for (const double value : {range.largest, range.smallest_normal, range.smallest}) {
      std::vector<std::byte> bytes(model::size_of(dtype));
      encode(dtype, std::vector<double>{value}, bytes);
      EXPECT_EQ(decode_element(dtype, bytes, 0), value) << model::to_string(dtype);
    }
  }
}

}  // namespace
}  // namespace accelopt::evaluation

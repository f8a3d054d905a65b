// SPDX-License-Identifier: Apache-2.0
// Elements of every dtype to and from double. Rounding is to nearest, ties to even; integers saturate and are rounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/dtype.hpp"

namespace accelopt::evaluation {

float float16_to_float(std::uint16_t bits);
float bfloat16_to_float(std::uint16_t bits);
float float8_e4m3fn_to_float(std::uint8_t bits);
float float8_e5m2_to_float(std::uint8_t bits);
std::uint16_t float_to_float16(double value);
std::uint16_t float_to_bfloat16(double value);
/// This type has no infinity: what is too large becomes NaN.
std::uint8_t float_to_float8_e4m3fn(double value);
std::uint8_t float_to_float8_e5m2(double value);

/// Any dtype as double. int64 beyond 2^53 is rounded; use decode_integers for exact ones. Requires bytes.size() to be a
/// multiple of the element's size.
std::vector<double> decode(model::DType dtype, std::span<const std::byte> bytes);
void decode(model::DType dtype, std::span<const std::byte> bytes, std::span<double> out);
/// Integer dtypes and bool exactly; of uint64 the bits.
std::vector<std::int64_t> decode_integers(model::DType dtype, std::span<const std::byte> bytes);
/// One element, floating or not.
double decode_element(model::DType dtype, std::span<const std::byte> bytes, std::size_t index);
/// Doubles as elements of `dtype`; out.size() must be values.size() * size_of(dtype).
void encode(model::DType dtype, std::span<const double> values, std::span<std::byte> out);

/// Largest finite value, smallest normal and smallest positive value of a floating type.
struct FloatRange {
  double largest = 0;
  double smallest_normal = 0;
  double smallest = 0;
};
FloatRange range_of(model::DType dtype);

}  // namespace accelopt::evaluation

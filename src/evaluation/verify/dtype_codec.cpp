// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/dtype_codec.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/result.hpp"

namespace accelopt::evaluation {
namespace {

using model::DType;

/// 2^exponent of a normal double.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// A binary floating format of at most 16 bits with `kMantissa` stored bits and a biased exponent.
template <int kMantissa, int kBias, int kExponentBits, bool kHasInfinity>
struct SmallFloat {
  static constexpr std::uint32_t kMantissaMask = (1U << kMantissa) - 1;
  static constexpr std::uint32_t kExponentMask = (1U << kExponentBits) - 1;
  static constexpr int kSign = kMantissa + kExponentBits;
  static constexpr std::uint32_t kInfinity = kExponentMask << kMantissa;  ///< or, without one, the last binade
  static constexpr std::uint32_t kNan = kHasInfinity ? kInfinity | (1U << (kMantissa - 1)) : kInfinity | kMantissaMask;

  static float to_float(std::uint32_t bits) {
    const std::uint32_t exponent = (bits >> kMantissa) & kExponentMask;
    const std::uint32_t mantissa = bits & kMantissaMask;
    const float sign = ((bits >> kSign) & 1U) != 0 ? -1.0F : 1.0F;
    if (kHasInfinity && exponent == kExponentMask) {
      return mantissa == 0 ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    }
    if (!kHasInfinity && (bits & (kInfinity | kMantissaMask)) == kNan) return std::numeric_limits<float>::quiet_NaN();
    const auto whole = static_cast<float>(exponent == 0 ? mantissa : mantissa | (1U << kMantissa));
    return sign * std::ldexp(whole, std::max(static_cast<int>(exponent), 1) - kBias - kMantissa);
  }

  static std::uint32_t from_double(double value) {
    const std::uint32_t sign = std::signbit(value) ? 1U << kSign : 0U;
    if (std::isnan(value)) return sign | kNan;
    const double magnitude = std::abs(value);
    constexpr std::uint32_t kTooLarge = kHasInfinity ? kInfinity : kNan;
    if (std::isinf(value)) return sign | kTooLarge;
    const int own = static_cast<int>(std::bit_cast<std::uint64_t>(magnitude) >> 52) - 1023;
    const int exponent = std::max(own, 1 - kBias);
    if (exponent > static_cast<int>(kExponentMask) - kBias) return sign | kTooLarge;
    // Rounds to units of the last place as an addition does: to nearest, ties to even. A carry runs on into the
    // exponent.
    const double rounder = 1.5 * power_of_two(52 + exponent - kMantissa);
    const double rounded = (magnitude + rounder) - rounder;
    const auto units = static_cast<std::uint32_t>(rounded * power_of_two(kMantissa - exponent));
    const std::uint32_t biased = static_cast<std::uint32_t>(exponent + kBias);
    return sign | std::min(kTooLarge, units + ((biased - 1) << kMantissa));
  }
};

using Half = SmallFloat<10, 15, 5, true>;
using Brain = SmallFloat<7, 127, 8, true>;
using E4m3 = SmallFloat<3, 7, 4, false>;
using E5m2 = SmallFloat<2, 15, 5, true>;

/// All 65536 values: a look-up costs less than taking the format apart.
const std::vector<float>& half_table() {
  static const std::vector<float> table = [] {
    std::vector<float> values(1U << 16);
    for (std::uint32_t bits = 0; bits < values.size(); ++bits) values[bits] = Half::to_float(bits);
    return values;
  }();
  return table;
}

template <class T>
T load(const std::byte* bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
  return value;
}

template <class T, class Convert, class Out>
void decode_as(std::span<const std::byte> bytes, std::span<Out> out, Convert convert) {
  ACCELOPT_ASSERT(bytes.size() == out.size() * sizeof(T), "a buffer holds whole elements, one for each value");
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] =
        static_cast<Out>(convert(load<T>(bytes.data(), i)));  // NOLINT(bugprone-signed-char-misuse): int8 is a number
}

template <class T, class Convert>
void encode_as(std::span<const double> values, std::span<std::byte> out, Convert convert) {
  ACCELOPT_ASSERT(out.size() == values.size() * sizeof(T), "a buffer holds whole elements, one for each value");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T element = convert(values[i]);
    std::memcpy(out.data() + i * sizeof(T), &element, sizeof(T));
  }
}

template <class T>
T saturate(double value) {
  if (std::isnan(value)) return 0;
  // Of int64, the largest value is no double: 2^63 itself must not be converted.
  if (value >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
  return static_cast<T>(std::min(std::nearbyint(value), static_cast<double>(std::numeric_limits<T>::max())));
}

template <class Out>
void decode_plain(DType dtype, std::span<const std::byte> bytes, std::span<Out> out) {
  const auto same = [](auto value) { return value; };
  switch (dtype) {
    case DType::float64:
      return decode_as<double>(bytes, out, same);
    case DType::float32:
      return decode_as<float>(bytes, out, same);
    case DType::float16: {
      const float* table = half_table().data();
      return decode_as<std::uint16_t>(bytes, out, [table](std::uint16_t bits) { return table[bits]; });
    }
    case DType::bfloat16:
      return decode_as<std::uint16_t>(bytes, out, bfloat16_to_float);
    case DType::float8_e4m3fn:
      return decode_as<std::uint8_t>(bytes, out, float8_e4m3fn_to_float);
    case DType::float8_e5m2:
      return decode_as<std::uint8_t>(bytes, out, float8_e5m2_to_float);
    case DType::int64:
      return decode_as<std::int64_t>(bytes, out, same);
    case DType::int32:
      return decode_as<std::int32_t>(bytes, out, same);
    case DType::int16:
      return decode_as<std::int16_t>(bytes, out, same);
    case DType::int8:
      return decode_as<std::int8_t>(bytes, out, same);
    case DType::uint64:
      return decode_as<std::uint64_t>(bytes, out, same);
    case DType::uint32:
      return decode_as<std::uint32_t>(bytes, out, same);
    case DType::uint16:
      return decode_as<std::uint16_t>(bytes, out, same);
    case DType::uint8:
    case DType::boolean:
      return decode_as<std::uint8_t>(bytes, out, same);
  }
}

}  // namespace

float float16_to_float(std::uint16_t bits) {
  return Half::to_float(bits);
}
float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
float float8_e4m3fn_to_float(std::uint8_t bits) {
  return E4m3::to_float(bits);
}
float float8_e5m2_to_float(std::uint8_t bits) {
  return E5m2::to_float(bits);
}
std::uint16_t float_to_float16(double value) {
  return static_cast<std::uint16_t>(Half::from_double(value));
}
std::uint16_t float_to_bfloat16(double value) {
  return static_cast<std::uint16_t>(Brain::from_double(value));
}
std::uint8_t float_to_float8_e4m3fn(double value) {
  return static_cast<std::uint8_t>(E4m3::from_double(value));
}
std::uint8_t float_to_float8_e5m2(double value) {
  return static_cast<std::uint8_t>(E5m2::from_double(value));
}

void decode(DType dtype, std::span<const std::byte> bytes, std::span<double> out) {
  decode_plain(dtype, bytes, out);
}

std::vector<double> decode(DType dtype, std::span<const std::byte> bytes) {
  std::vector<double> values(bytes.size() / model::size_of(dtype));
  decode_plain<double>(dtype, bytes, values);
  return values;
}

std::vector<std::int64_t> decode_integers(DType dtype, std::span<const std::byte> bytes) {
  ACCELOPT_ASSERT(!model::is_floating(dtype), "integers are decoded from integer dtypes");
  std::vector<std::int64_t> values(bytes.size() / model::size_of(dtype));
  decode_plain<std::int64_t>(dtype, bytes, values);
  return values;
}

double decode_element(DType dtype, std::span<const std::byte> bytes, std::size_t index) {
  const std::size_t size = model::size_of(dtype);
  double value = 0;
  decode(dtype, bytes.subspan(index * size, size), std::span(&value, 1));
  return value;
}

void encode(DType dtype, std::span<const double> values, std::span<std::byte> out) {
  switch (dtype) {
    case DType::float64:
      return encode_as<double>(values, out, [](double value) { return value; });
    case DType::float32:
      return encode_as<float>(values, out, [](double value) { return static_cast<float>(value); });
    case DType::float16:
      return encode_as<std::uint16_t>(values, out, float_to_float16);
    case DType::bfloat16:
      return encode_as<std::uint16_t>(values, out, float_to_bfloat16);
    case DType::float8_e4m3fn:
      return encode_as<std::uint8_t>(values, out, float_to_float8_e4m3fn);
    case DType::float8_e5m2:
      return encode_as<std::uint8_t>(values, out, float_to_float8_e5m2);
    case DType::int64:
      return encode_as<std::int64_t>(values, out, saturate<std::int64_t>);
    case DType::int32:
      return encode_as<std::int32_t>(values, out, saturate<std::int32_t>);
    case DType::int16:
      return encode_as<std::int16_t>(values, out, saturate<std::int16_t>);
    case DType::int8:
      return encode_as<std::int8_t>(values, out, saturate<std::int8_t>);
    case DType::uint64:
      return encode_as<std::uint64_t>(values, out, saturate<std::uint64_t>);
    case DType::uint32:
      return encode_as<std::uint32_t>(values, out, saturate<std::uint32_t>);
    case DType::uint16:
      return encode_as<std::uint16_t>(values, out, saturate<std::uint16_t>);
    case DType::uint8:
      return encode_as<std::uint8_t>(values, out, saturate<std::uint8_t>);
    case DType::boolean:
      return encode_as<std::uint8_t>(values, out, [](double value) { return static_cast<std::uint8_t>(value != 0); });
  }
}

FloatRange range_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return {std::numeric_limits<double>::max(), 0x1p-1022, 0x1p-1074};
    case DType::float32:
      return {std::numeric_limits<float>::max(), 0x1p-126, 0x1p-149};
    case DType::float16:
      return {65504, 0x1p-14, 0x1p-24};
    case DType::bfloat16:
      return {0x1.fep127, 0x1p-126, 0x1p-133};
    case DType::float8_e4m3fn:
      return {448, 0x1p-6, 0x1p-9};
    case DType::float8_e5m2:
      return {57344, 0x1p-14, 0x1p-16};
    default:
      ACCELOPT_ASSERT(false, "only floating types have a floating range");
  }
}

}  // namespace accelopt::evaluation

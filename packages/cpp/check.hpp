// Inputs as the task draws them, and what counts as right: what the test knows of tensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

enum class Type {
  float64,
  float32,
  float16,
  bfloat16,
  float8_e4m3fn,
  float8_e5m2,
  int64,
  int32,
  int16,
  int8,
  uint64,
  uint32,
  uint16,
  uint8,
  boolean
};
enum class Part { input, scalar, output, inout };  // inout: an output whose contents the kernel reads

struct Init {
  std::string kind;  // as task.toml spells it; empty: what an output holds before the call, which means nothing
  double first = 0;
  double second = 1;
  std::vector<double> values{};
};

struct Tensor {
  std::string name;
  Type type;
  Part part;
  std::vector<int64_t> shape;
  Init init;
};

struct Workload {
  std::string name;
  bool quick;                   // run without --all
  std::vector<int64_t> axes;    // the variable ones
  std::vector<Tensor> tensors;  // in the order of the kernel's arguments
};

struct Tolerance {
  double normwise = 0;  // of the task; 0: measured from the reference in single precision
  double least = 0;     // for tasks that allow arithmetic in a lower precision
};

inline size_t count_of(const Tensor& tensor) {
  size_t out = 1;
  for (int64_t extent : tensor.shape) out *= static_cast<size_t>(extent);
  return out;
}

inline bool is_floating(Type type) {
  return type <= Type::float8_e5m2;
}

inline size_t size_of(Type type) {
  constexpr size_t kSizes[] = {8, 4, 2, 2, 1, 1, 8, 4, 2, 1, 8, 4, 2, 1, 1};
  return kSizes[static_cast<int>(type)];
}

/// Unit roundoff of a floating type.
inline double roundoff_of(Type type) {
  constexpr double kRoundoffs[] = {0x1p-53, 0x1p-24, 0x1p-11, 0x1p-8, 0x1p-4, 0x1p-3};
  return kRoundoffs[static_cast<int>(type)];
}

/// A small float: bits of exponent and fraction; without infinity the largest exponent holds numbers, too.
struct SmallFloat {
  int exponent;
  int fraction;
  bool infinity;
};
inline SmallFloat small_float(Type type) {
  if (type == Type::float16) return {5, 10, true};
  if (type == Type::bfloat16) return {8, 7, true};
  return type == Type::float8_e5m2 ? SmallFloat{5, 2, true} : SmallFloat{4, 3, false};
}

inline double decode_small(uint32_t bits, SmallFloat f) {
  const int bias = (1 << (f.exponent - 1)) - 1;
  const uint32_t exponent = (bits >> f.fraction) & ((1U << f.exponent) - 1);
  const uint32_t fraction = bits & ((1U << f.fraction) - 1);
  const double sign = (bits >> (f.exponent + f.fraction)) != 0 ? -1 : 1;
  if (exponent == (1U << f.exponent) - 1) {
    if (f.infinity) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    if (fraction == (1U << f.fraction) - 1) return std::nan("");
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - f.fraction);
  return sign * std::ldexp(fraction + (1U << f.fraction), static_cast<int>(exponent) - bias - f.fraction);
}

inline uint32_t encode_small(double value, SmallFloat f) {
  const int bias = (1 << (f.exponent - 1)) - 1;
  const uint32_t sign = (std::signbit(value) ? 1U : 0U) << (f.exponent + f.fraction);
  const uint32_t top = ((1U << f.exponent) - 1) << f.fraction;
  if (std::isnan(value)) return sign | top | ((1U << f.fraction) - 1);
  if (value == 0) return sign;
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);
  const double units = std::nearbyint(std::ldexp(std::fabs(value), f.fraction - exponent));  // ties to even
  const double bits = std::isinf(value) ? top : units + (static_cast<double>(exponent + bias - 1) * (1U << f.fraction));
  const uint32_t largest = f.infinity ? top : top + (1U << f.fraction) - 1;
  return sign | static_cast<uint32_t>(std::min<double>(bits, largest));
}

template <class T>
void put(std::vector<unsigned char>& bytes, size_t at, T value) {
  std::memcpy(&bytes[at * sizeof(T)], &value, sizeof(T));
}
template <class T>
double get(const std::vector<unsigned char>& bytes, size_t at) {
  T value;
  std::memcpy(&value, &bytes[at * sizeof(T)], sizeof(T));
  return static_cast<double>(value);
}

inline std::vector<unsigned char> encode(const std::vector<double>& values, Type type) {
  std::vector<unsigned char> out(values.size() * size_of(type));
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    switch (type) {
      case Type::float64:
        put<double>(out, i, value);
        break;
      case Type::float32:
        put<float>(out, i, static_cast<float>(value));
        break;
      case Type::float16:
      case Type::bfloat16:
        put<uint16_t>(out, i, static_cast<uint16_t>(encode_small(value, small_float(type))));
        break;
      case Type::float8_e4m3fn:
      case Type::float8_e5m2:
        put<uint8_t>(out, i, static_cast<uint8_t>(encode_small(value, small_float(type))));
        break;
      case Type::uint64:
      case Type::int64:
        put<int64_t>(out, i, static_cast<int64_t>(value));
        break;
      case Type::uint32:
      case Type::int32:
        put<uint32_t>(out, i, static_cast<uint32_t>(static_cast<int64_t>(value)));
        break;
      case Type::uint16:
      case Type::int16:
        put<uint16_t>(out, i, static_cast<uint16_t>(static_cast<int64_t>(value)));
        break;
      case Type::uint8:
      case Type::int8:
        put<uint8_t>(out, i, static_cast<uint8_t>(static_cast<int64_t>(value)));
        break;
      case Type::boolean:
        put<uint8_t>(out, i, value != 0 ? 1 : 0);
        break;
    }
  }
  return out;
}

inline std::vector<double> decode(const std::vector<unsigned char>& bytes, Type type) {
  std::vector<double> out(bytes.size() / size_of(type));
  for (size_t i = 0; i < out.size(); ++i) {
    switch (type) {
      case Type::float64:
        out[i] = get<double>(bytes, i);
        break;
      case Type::float32:
        out[i] = get<float>(bytes, i);
        break;
      case Type::float16:
      case Type::bfloat16:
        out[i] = decode_small(static_cast<uint32_t>(get<uint16_t>(bytes, i)), small_float(type));
        break;
      case Type::float8_e4m3fn:
      case Type::float8_e5m2:
        out[i] = decode_small(static_cast<uint32_t>(get<uint8_t>(bytes, i)), small_float(type));
        break;
      case Type::int64:
        out[i] = get<int64_t>(bytes, i);
        break;
      case Type::int32:
        out[i] = get<int32_t>(bytes, i);
        break;
      case Type::int16:
        out[i] = get<int16_t>(bytes, i);
        break;
      case Type::int8:
        out[i] = get<int8_t>(bytes, i);
        break;
      case Type::uint64:
        out[i] = get<uint64_t>(bytes, i);
        break;
      case Type::uint32:
        out[i] = get<uint32_t>(bytes, i);
        break;
      case Type::uint16:
        out[i] = get<uint16_t>(bytes, i);
        break;
      case Type::uint8:
      case Type::boolean:
        out[i] = get<uint8_t>(bytes, i);
        break;
    }
  }
  return out;
}

inline void draw_row(const Init& init, double* row, size_t length, std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  if (init.kind == "permutation") {
    for (size_t i = 0; i < length; ++i) row[i] = static_cast<double>(i);
    std::shuffle(row, row + length, random);
  } else if (init.kind == "distinct") {
    std::vector<double> all;
    for (double value = init.first; value < init.second; ++value) all.push_back(value);
    std::shuffle(all.begin(), all.end(), random);
    std::copy_n(all.begin(), std::min(length, all.size()), row);
  } else if (init.kind == "indptr") {
    for (size_t i = 0; i < length; ++i) row[i] = std::floor(unit(random) * (init.first + 1));
    std::sort(row, row + length);
    row[0] = 0;
    row[length - 1] = init.first;
  } else {  // sorted
    for (size_t i = 0; i < length; ++i) row[i] = init.first + unit(random) * (init.second - init.first);
    std::sort(row, row + length);
  }
}

/// Values that the tensor's type holds exactly.
inline std::vector<double> draw(const Tensor& tensor, std::mt19937_64& random) {
  const Init& init = tensor.init;
  std::vector<double> out(count_of(tensor));
  std::normal_distribution<double> normal(0, 1);
  std::uniform_real_distribution<double> unit(0, 1);
  const size_t length = tensor.shape.empty() ? 1 : static_cast<size_t>(tensor.shape.back());
  if (init.kind == "values") {
    out = init.values;
  } else if (init.kind == "permutation" || init.kind == "indptr" || init.kind == "sorted" || init.kind == "distinct") {
    for (size_t at = 0; at < out.size(); at += length) draw_row(init, &out[at], length, random);
  } else {
    for (double& value : out) {
      if (init.kind == "normal")
        value = init.first + init.second * normal(random);
      else if (init.kind == "abs_normal")
        value = std::fabs(init.first + init.second * normal(random));
      else if (init.kind == "uniform")
        value = init.first + (init.second - init.first) * unit(random);
      else if (init.kind == "integers")
        value = init.first + std::floor((init.second - init.first) * unit(random));
      else if (init.kind == "ones")
        value = 1;
      else if (init.kind == "constant")
        value = init.first;
    }
  }
  return decode(encode(out, tensor.type), tensor.type);
}

/// Whether the output is right: `exact` is the reference in double precision, `single` in single precision.
inline bool compare(const Tensor& tensor, const std::vector<double>& exact, const std::vector<double>& single,
                    const std::vector<double>& actual, const Tolerance& tolerance) {
  double error = 0, single_error = 0, norm = 0, worst = 0, single_worst = 0;
  for (double value : exact) norm += std::isfinite(value) ? value * value : 0;
  const double typical = std::sqrt(norm / static_cast<double>(std::max<size_t>(exact.size(), 1)));
  for (size_t i = 0; i < exact.size(); ++i) {
    const bool same = exact[i] == actual[i] || (std::isnan(exact[i]) && std::isnan(actual[i]));
    if (same) {
      if (!std::isfinite(exact[i])) continue;
    } else if (!is_floating(tensor.type) || !std::isfinite(exact[i]) || !std::isfinite(actual[i])) {
      std::printf("  %s[%zu] is %.9g, and %.9g is right\n", tensor.name.c_str(), i, actual[i], exact[i]);
      return false;
    }
    const double scale = std::max(std::fabs(exact[i]), typical);
    const double off = std::fabs(actual[i] - exact[i]), single_off = std::fabs(single[i] - exact[i]);
    error += off * off;
    single_error += single_off * single_off;
    if (scale > 0) worst = std::max(worst, off / scale), single_worst = std::max(single_worst, single_off / scale);
  }
  if (!is_floating(tensor.type)) return true;
  norm = std::max(std::sqrt(norm), std::numeric_limits<double>::min());
  error = std::sqrt(error) / norm;
  const double least = std::max(4 * roundoff_of(tensor.type), tolerance.least);
  const double allowed = tolerance.normwise > 0 ? std::max(tolerance.normwise, least)
                                                : std::max(4 * std::sqrt(single_error) / norm, least);
  const double allowed_worst = std::max({8 * single_worst, 8 * least, 8 * tolerance.normwise});
  std::printf("  %s: error %.2g of %.2g allowed, of a single element %.2g of %.2g\n", tensor.name.c_str(), error,
              allowed, worst, allowed_worst);
  return error <= allowed && worst <= allowed_worst;
}

// SPDX-License-Identifier: Apache-2.0
// Trusted kernels that draw inputs, with the rules of evaluation/verify/inputs.cpp, and what they share with
// check_kernels.cu: random bits by place, and storing elements. elements.cuh stands in front of this text.

// In the order of model::InitKind.
enum InitKind { kNormal, kAbsNormal, kUniform, kIntegers, kZeros, kOnes, kConstant, kPermutation, kIndptr, kSorted };
// In the order of model::Family.
enum Family {
  kAsDeclared,
  kPositive,
  kScaledUp,
  kScaledDown,
  kHeavy,
  kSparse,
  kRows,
  kLate,
  kBlocks,
  kSignedZeros,
  kNearTies,
  kExtremes,
  kOutliers,
  kCoarse
};
#define ACCELOPT_GOLDEN 0x9e3779b97f4a7c15ULL

__device__ inline u64 mix(u64 bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}
__device__ inline u64 key_of(u64 seed, u64 stream) { return mix(mix(seed) + stream * ACCELOPT_GOLDEN); }
__device__ inline u64 bits_at(u64 key, u64 index) { return mix(key + (index + 1) * ACCELOPT_GOLDEN); }
__device__ inline double uniform_at(u64 key, u64 index) {
  return (as_double((bits_at(key, index) >> 12) | 0x3ff0000000000000ULL) - 1) + 0x1p-53;
}

// ---- elements of every dtype, stored ----

__device__ inline i64 saturate(double value, double low, double high, i64 lowest, i64 highest) {
  if (is_nan(value)) return 0;
  if (value >= high) return highest;
  if (value <= low) return lowest;
  const double rounded = nearbyint(value);
  return rounded >= high ? highest : (i64)rounded;
}

__device__ inline void store_element(int dtype, void* to, u64 i, double value) {
  switch (dtype) {
    case kFloat64:
      ((double*)to)[i] = value;
      return;
    case kFloat32:
      ((float*)to)[i] = (float)value;
      return;
    case kFloat16:
      ((u16*)to)[i] = (u16)double_to_small(value, 10, 15, 5, true);
      return;
    case kBfloat16:
      ((u16*)to)[i] = (u16)double_to_small(value, 7, 127, 8, true);
      return;
    case kE4m3:
      ((u8*)to)[i] = (u8)double_to_small(value, 3, 7, 4, false);
      return;
    case kE5m2:
      ((u8*)to)[i] = (u8)double_to_small(value, 2, 15, 5, true);
      return;
    case kInt64:
      ((i64*)to)[i] = saturate(value, -0x1p63, 0x1p63, (i64)0x8000000000000000ULL, 0x7fffffffffffffffLL);
      return;
    case kInt32:
      ((int*)to)[i] = (int)saturate(value, -0x1p31, 0x1p31, -2147483647LL - 1, 2147483647LL);
      return;
    case kInt16:
      ((short*)to)[i] = (short)saturate(value, -32768.0, 32768.0, -32768, 32767);
      return;
    case kInt8:
      ((signed char*)to)[i] = (signed char)saturate(value, -128.0, 128.0, -128, 127);
      return;
    case kUint8:
      ((u8*)to)[i] = (u8)saturate(value, 0.0, 256.0, 0, 255);
      return;
    case kUint32:
      ((u32*)to)[i] = (u32)saturate(value, 0.0, 0x1p32, 0, 0xffffffffLL);
      return;
    case kUint16:
      ((u16*)to)[i] = (u16)saturate(value, 0.0, 65536.0, 0, 65535);
      return;
    default:
      ((u8*)to)[i] = value != 0 ? 1 : 0;
  }
}

// ---- inputs, drawn ----

__device__ inline double portable_log(double x) {
  const u64 shifted = as_bits(x) + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL);
  const double exponent = as_double((shifted >> 52) | 0x4330000000000000ULL) - 0x1p52 - 1023;
  const double m = as_double((shifted & 0x000fffffffffffffULL) + 0x3fe6a09e667f3bcdULL);
  const double f = (m - 1) / (m + 1);
  const double s = f * f;
  const double series =
      1 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9 + s * (1.0 / 11 + s * (1.0 / 13 + s / 15))))));
  return exponent * 0.69314718055994530942 + 2 * f * series;
}

__device__ inline double normal_at(u64 seed, u64 index) {
  const u64 pair = index / 2;
  const double radius = sqrt(-2 * portable_log(uniform_at(key_of(seed, 1), pair)));
  const u64 angle = bits_at(key_of(seed, 2), pair);
  const u64 quarter = angle >> 62;
  const double within = as_double(((angle << 2) >> 12) | 0x3ff0000000000000ULL) - 1.5;
  const double x = (within + 0x1p-53) * 1.57079632679489661923;
  const double s = x * x;
  const double sine =
      x * (1 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880 + s * (-1.0 / 39916800))))));
  const double cosine =
      1 + s * (-1.0 / 2 + s * (1.0 / 24 + s * (-1.0 / 720 + s * (1.0 / 40320 + s * (-1.0 / 3628800 + s / 479001600)))));
  const u64 sine_bits = as_bits(sine);
  const u64 cosine_bits = as_bits(cosine);
  const u64 swapped = (sine_bits ^ cosine_bits) & (0 - (quarter & 1));
  const u64 first_sign = ((quarter + 1) & 2) << 62;
  const u64 second_sign = (quarter & 2) << 62;
  return radius * (index % 2 == 0 ? as_double(cosine_bits ^ swapped ^ first_sign)
                                  : as_double(sine_bits ^ swapped ^ second_sign));
}

__device__ inline double declared_at(int kind, double first, double second, u64 seed, u64 i) {
  switch (kind) {
    case kNormal:
      return first + second * normal_at(seed, i);
    case kAbsNormal:
      return size_of_value(first + second * normal_at(seed, i));
    case kUniform:
      return first + (second - first) * uniform_at(key_of(seed, 1), i);
    case kIntegers:
      return first + floor((second - first) * uniform_at(key_of(seed, 1), i));
    case kZeros:
      return 0;
    case kOnes:
      return 1;
    default:
      return first;
  }
}

__device__ inline u64 late_place(u64 key, u64 row, u64 length) {
  return length / 2 + bits_at(key, 2 * row + 1) % (length - length / 2);
}

/// The element whose declared value element i takes.
__device__ inline u64 place_of(int family, u64 i, u64 row_length, u64 seed) {
  if (family != kRows && family != kLate && family != kBlocks && family != kNearTies) return i;
  const u64 row = i / row_length;
  const u64 column = i % row_length;
  if (family == kRows || family == kNearTies) return row * row_length;
  const u64 key = key_of(seed, 7);
  if (column == late_place(key, row, row_length)) return i;
  if (family == kLate) return row * row_length;
  const u64 shown = row / 2 * 2;
  if (column == late_place(key, shown, row_length)) return shown * row_length + column;
  return shown * row_length + column % (4ULL << bits_at(key, 2 * shown) % 5);
}

/// Whether it is one of the few that are out of line.
__device__ inline bool is_outlier(u64 i, u64 count, u64 row_length, u64 seed) {
  const u64 key = key_of(seed, 11);
  const u64 row = i / row_length;
  const u64 rows = count / row_length;
  if (i % row_length != bits_at(key, 2 * row + 1) % row_length) return false;
  return bits_at(key, 2 * row) >> 61 == 0 || (row + rows - bits_at(key, 2 * rows) % rows) % rows < 2;
}

/// The value on its grid.
__device__ inline double coarse_value(double value, int kind, double first, double second) {
  const bool is_normal = kind == kNormal || kind == kAbsNormal;
  const double spread = is_normal ? 6 * size_of_value(second) : second - first;
  if (!(spread >= 0x1p-1000) || !(is_normal || kind == kUniform)) return value;
  const double step = as_double(as_bits(spread) & 0x7ff0000000000000ULL) / 8;
  const double steps = value / step;
  value = step * (kind == kAbsNormal ? ceil(steps) : floor(is_normal ? steps + 0.5 : steps));
  return !is_normal && value < first ? first : value;
}

/// A unit in the last place of 1.
__device__ inline double unit_at_one(int dtype) {
  switch (dtype) {
    case kFloat64:
      return 0x1p-52;
    case kFloat32:
      return 0x1p-23;
    case kFloat16:
      return 0x1p-10;
    case kBfloat16:
      return 0x1p-7;
    case kE4m3:
      return 0x1p-3;
    case kE5m2:
      return 0x1p-2;
    default:
      return 0;
  }
}

/// Every generator but permutation, indptr and sorted.
extern "C" __global__ void accelopt_draw(void* out, int dtype, u64 count, u64 row_length, int kind, double first,
                                         double second, int family, u64 seed) {
  ACCELOPT_EACH(i, count) {
    double value = declared_at(kind, first, second, seed, place_of(family, i, row_length, seed));
    if (family == kPositive) value = size_of_value(value);
    if (family == kScaledUp) value *= 1000;
    if (family == kScaledDown) value /= 1000;
    if (family == kHeavy) value /= 0x1p-8 + (1 - 0x1p-8) * uniform_at(key_of(seed, 3), i);
    if (family == kSparse && bits_at(key_of(seed, 4), i) >> 61 != 0) value = 0;
    if (family == kSignedZeros && bits_at(key_of(seed, 8), i) >> 62 < 2) {
      value = bits_at(key_of(seed, 8), i) >> 62 == 0 ? 0.0 : -0.0;
    }
    if (family == kNearTies) {
      const u64 levels = dtype == kFloat64 || dtype == kFloat32 ? 64 : 8;
      value *= 1 + unit_at_one(dtype) * (double)(bits_at(key_of(seed, 9), i) % levels);
    }
    if (family == kExtremes) {
      const u64 drawn = bits_at(key_of(seed, 10), i) >> 62;
      if (drawn < 2) value = first + ceil(second - first) - 1;
      if (drawn == 2) value = first;
    }
    if (family == kOutliers && is_outlier(i, count, row_length, seed)) value *= 1000;
    if (family == kCoarse) value = coarse_value(value, kind, first, second);
    store_element(dtype, out, i, value);
  }
}

/// Elements as `real` of a reference; with `step` over 0 each is perturbed as evaluation::perturb does it.
extern "C" __global__ void accelopt_to_real(void* out, int out_dtype, const void* in, int dtype, u64 count, double step,
                                            u64 seed) {
  const u64 key = key_of(seed, 6);
  ACCELOPT_EACH(i, count) {
    double value = load_element(dtype, in, i);
    if (step > 0) value *= bits_at(key, i) >> 63 == 0 ? 1 + step : 1 - step;
    store_element(out_dtype, out, i, value);
  }
}

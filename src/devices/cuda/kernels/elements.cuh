// SPDX-License-Identifier: Apache-2.0
// What all trusted kernels begin with: names of types, loops over a grid, elements of every dtype. Stands in front of
// their text.
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

// In the order of model::DType.
enum DType {
  kFloat64,
  kFloat32,
  kFloat16,
  kBfloat16,
  kE4m3,
  kE5m2,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUint8,
  kBool,
  kUint64,
  kUint32,
  kUint16
};

#define ACCELOPT_EACH(i, count) \
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (u64)(count); i += (u64)gridDim.x * blockDim.x)

__device__ inline double as_double(u64 bits) { return __longlong_as_double((i64)bits); }
__device__ inline u64 as_bits(double value) { return (u64)__double_as_longlong(value); }
__device__ inline double size_of_value(double value) { return as_double(as_bits(value) & 0x7fffffffffffffffULL); }
__device__ inline bool is_nan(double value) { return value != value; }
__device__ inline bool is_finite(double value) { return (as_bits(value) & 0x7ff0000000000000ULL) != 0x7ff0000000000000ULL; }
__device__ inline bool is_infinite(double value) { return !is_finite(value) && !is_nan(value); }
__device__ inline double larger(double left, double right) { return left > right ? left : right; }
__device__ inline double power_of_two(int exponent) { return as_double((u64)(exponent + 1023) << 52); }

// ---- elements of every dtype ----

__device__ inline double small_to_double(u32 bits, int mantissa_bits, int bias, int exponent_bits, bool has_infinity) {
  const u32 exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const u32 mantissa = bits & ((1u << mantissa_bits) - 1);
  const double sign = ((bits >> (mantissa_bits + exponent_bits)) & 1u) != 0 ? -1.0 : 1.0;
  const u32 last = (1u << exponent_bits) - 1;
  if (has_infinity && exponent == last) {
    return mantissa == 0 ? sign * as_double(0x7ff0000000000000ULL) : as_double(0x7ff8000000000000ULL);
  }
  if (!has_infinity && exponent == last && mantissa == (1u << mantissa_bits) - 1) return as_double(0x7ff8000000000000ULL);
  const double whole = (double)(exponent == 0 ? mantissa : mantissa | (1u << mantissa_bits));
  return sign * whole * power_of_two((exponent > 1 ? (int)exponent : 1) - bias - mantissa_bits);
}

__device__ inline u32 double_to_small(double value, int mantissa_bits, int bias, int exponent_bits, bool has_infinity) {
  const u32 last = (1u << exponent_bits) - 1;
  const u32 infinity = last << mantissa_bits;
  const u32 nan = has_infinity ? infinity | (1u << (mantissa_bits - 1)) : infinity | ((1u << mantissa_bits) - 1);
  const u32 too_large = has_infinity ? infinity : nan;
  const u32 sign = (as_bits(value) >> 63) != 0 ? 1u << (mantissa_bits + exponent_bits) : 0u;
  if (is_nan(value)) return sign | nan;
  const double magnitude = size_of_value(value);
  if (is_infinite(value)) return sign | too_large;
  const int own = (int)(as_bits(magnitude) >> 52) - 1023;
  const int exponent = own > 1 - bias ? own : 1 - bias;
  if (exponent > (int)last - bias) return sign | too_large;
  // Rounds to units of the last place as an addition does: to nearest, ties to even. A carry runs on into the exponent.
  const double rounder = 1.5 * power_of_two(52 + exponent - mantissa_bits);
  const double rounded = (magnitude + rounder) - rounder;
  const u32 units = (u32)(rounded * power_of_two(mantissa_bits - exponent));
  const u32 result = units + (((u32)(exponent + bias) - 1) << mantissa_bits);
  return sign | (result < too_large ? result : too_large);
}

__device__ inline double load_element(int dtype, const void* from, u64 i) {
  switch (dtype) {
    case kFloat64:
      return ((const double*)from)[i];
    case kFloat32:
      return (double)((const float*)from)[i];
    case kFloat16:
      return small_to_double(((const u16*)from)[i], 10, 15, 5, true);
    case kBfloat16:
      return (double)__int_as_float((int)((u32)((const u16*)from)[i] << 16));
    case kE4m3:
      return small_to_double(((const u8*)from)[i], 3, 7, 4, false);
    case kE5m2:
      return small_to_double(((const u8*)from)[i], 2, 15, 5, true);
    case kInt64:
      return (double)((const i64*)from)[i];
    case kInt32:
      return (double)((const int*)from)[i];
    case kInt16:
      return (double)((const short*)from)[i];
    case kInt8:
      return (double)((const signed char*)from)[i];
    case kUint64:
      return (double)((const u64*)from)[i];
    case kUint32:
      return (double)((const u32*)from)[i];
    case kUint16:
      return (double)((const u16*)from)[i];
    default:
      return (double)((const u8*)from)[i];
  }
}

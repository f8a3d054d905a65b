// SPDX-License-Identifier: Apache-2.0
// Trusted kernels: they lay out and check what candidates are called with, and measure what an honest kernel may be off
// by, with the rules of evaluation/verify/numerics.cpp. Built with --fmad=false, so that a seed gives the same bytes here
// and there. No thread waits for another one: every result is the same whatever the order. elements.cuh and
// input_kernels.cu stand in front of this text.

// In the order of evaluation::NumericalRule.
enum Rule { kRight, kSize, kPattern, kNormwise, kElementwise, kExact, kBand };

// ---- memory ----

/// Adds up a keyed hash of every word and its place: the same in any order.
extern "C" __global__ void accelopt_fingerprint(const u64* words, u64 count, u64 key, u64* sum) {
  u64 own = 0;
  ACCELOPT_EACH(i, count) own += mix(words[i] + bits_at(key, i));
  atomicAdd(sum, own);
}

/// Fills with `fixed` bits and random ones where `random` has ones.
extern "C" __global__ void accelopt_poison(u8* to, u64 count, u64 fixed, u64 random, u64 seed) {
  ACCELOPT_EACH(i, count / 8) ((u64*)to)[i] = fixed | (bits_at(seed, i) & random);
  ACCELOPT_EACH(rest, count % 8) {
    const u64 word = fixed | (bits_at(seed, count / 8) & random);
    to[count / 8 * 8 + rest] = (u8)(word >> (8 * rest));
  }
}

__device__ inline i64 load_integer(const void* from, int bytes, u64 i, int is_unsigned) {
  switch (bytes) {
    case 8:
      return ((const i64*)from)[i];
    case 4:
      return ((const int*)from)[i];
    case 2:
      return ((const short*)from)[i];
    default:
      return is_unsigned != 0 ? (i64)((const u8*)from)[i] : (i64)((const signed char*)from)[i];
  }
}
__device__ inline void store_integer(void* to, int bytes, u64 i, i64 value) {
  switch (bytes) {
    case 8:
      ((i64*)to)[i] = value;
      return;
    case 4:
      ((int*)to)[i] = (int)value;
      return;
    case 2:
      ((short*)to)[i] = (short)value;
      return;
    default:
      ((u8*)to)[i] = (u8)value;
  }
}

/// Fills with right values of other places; with `complement`, integers with the complement of their own (`flip`: the
/// bits that it turns over).
extern "C" __global__ void accelopt_poison_from(void* to, int dtype, int bytes, int is_floating, const void* right,
                                                u64 count, int complement, u64 flip, u64 seed) {
  ACCELOPT_EACH(i, count) {
    const u64 other = count < 2 ? i : (i + 1 + bits_at(seed, i) % (count - 1)) % count;
    if (is_floating != 0) {
      store_element(dtype, to, i, ((const double*)right)[other]);
    } else if (complement != 0) {
      store_integer(to, bytes, i, (i64)((u64)load_integer(right, bytes, i, 1) ^ flip));
    } else {
      store_integer(to, bytes, i, load_integer(right, bytes, other, 1));
    }
  }
}

__device__ inline u8 canary_at(u64 seed, u64 at) { return (u8)(bits_at(seed, at / 8) >> (8 * (at % 8))); }

extern "C" __global__ void accelopt_canary_write(u8* base, u64 begin, u64 end, u64 seed) {
  ACCELOPT_EACH(i, end - begin) base[begin + i] = canary_at(seed, begin + i);
}

extern "C" __global__ void accelopt_canary_check(const u8* base, u64 begin, u64 end, u64 seed, u32* flag) {
  ACCELOPT_EACH(i, end - begin) {
    if (base[begin + i] != canary_at(seed, begin + i)) *flag = 1;
  }
}

extern "C" __global__ void accelopt_zero(u8* to, u64 count) {
  ACCELOPT_EACH(i, count / 8) ((u64*)to)[i] = 0;
  ACCELOPT_EACH(rest, count % 8) to[count / 8 * 8 + rest] = 0;
}

extern "C" __global__ void accelopt_flush(u64* to, u64 words, u64 value) {
  ACCELOPT_EACH(i, words) to[i] = value + i;
}

/// Drops the flushed lines without writing them back: that would go on during the timed call.
extern "C" __global__ void accelopt_discard(u8* lines, u64 count) {
  ACCELOPT_EACH(i, count / 128) {
#ifdef __CUDA_ARCH__
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(lines + i * 128) : "memory");
#else
    (void)lines;
#endif
  }
}

/// Reads a word every `stride` bytes of each of the spans, {address, bytes}: the first look at memory that was just
/// mapped, or just flushed, is not the candidate's to pay for.
extern "C" __global__ void accelopt_touch(const u64* spans, u64 count, u64 stride) {
  for (u64 s = 0; s < count; ++s) {
    ACCELOPT_EACH(i, (spans[2 * s + 1] + stride - 1) / stride) {
      const u32 seen = *(const volatile u32*)(spans[2 * s] + i * stride);
      (void)seen;
    }
  }
}

/// One block a multiprocessor takes all of its shared memory and nearly all of its registers, and leaves noise there.
extern "C" __global__ __launch_bounds__(512, 1) void accelopt_scrub(u32 seed, u32 words, u32* never) {
#ifdef __CUDA_ARCH__
  extern __shared__ u32 shared[];
  u32 registers[114];
#pragma unroll
  for (int i = 0; i < 114; ++i) asm volatile("mov.u32 %0, %1;" : "=r"(registers[i]) : "r"(seed + i));
  for (u32 i = threadIdx.x; i < words; i += blockDim.x) shared[i] = seed + i;
  __syncthreads();
  u32 sum = shared[threadIdx.x];
#pragma unroll
  for (int i = 0; i < 114; ++i) {
    asm volatile("" : "+r"(registers[i]));
    sum ^= registers[i];
  }
  if (sum == seed && words == 0) *never = sum;
#else
  (void)seed, (void)words, (void)never;
#endif
}

/// Every thread that the device holds at once overwrites a frame of local memory, where a kernel's stack lies.
template <u32 bytes>
__device__ inline void scrub_local(u32 seed, u32 at, u32* never) {
#ifdef __CUDA_ARCH__
  volatile u32 frame[bytes / 4];
  for (u32 i = 0; i < bytes / 4; ++i) frame[i] = seed + i;
  if (frame[at % (bytes / 4)] == seed - 1) *never = at;
#if __CUDA_ARCH__ == 900
  // What lies above the frames is within reach, too.
  for (u32 top = 0xfffc00; top < 0x1000000; top += 4) asm volatile("st.local.u32 [%0], %1;" ::"r"(top), "r"(seed) : "memory");
#endif
#else
  (void)seed, (void)at, (void)never;
#endif
}
extern "C" __global__ __launch_bounds__(512, 3) void accelopt_scrub_local_1k(u32 seed, u32 at, u32* never) {
  scrub_local<1024>(seed, at, never);
}
extern "C" __global__ __launch_bounds__(512, 3) void accelopt_scrub_local_4k(u32 seed, u32 at, u32* never) {
  scrub_local<4096>(seed, at, never);
}
extern "C" __global__ __launch_bounds__(512, 3) void accelopt_scrub_local_16k(u32 seed, u32 at, u32* never) {
  scrub_local<16384>(seed, at, never);
}

// ---- time ----

__device__ inline u64 nanoseconds() {
  u64 now;
#ifdef __CUDA_ARCH__
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
#else
  now = accelopt_nanoseconds();
#endif
  return now;
}

/// Holds the stream back until the host writes the flag, or the limit has passed.
extern "C" __global__ void accelopt_block(volatile u32* flag, u64 limit_ns) {
  const u64 begin = nanoseconds();
  while (flag[0] == 0) {
    if (nanoseconds() - begin > limit_ns) return;
  }
}

/// Cycles and nanoseconds of about `span_ns`, between two ticks of the nanosecond clock.
extern "C" __global__ void accelopt_clock(u64* out, u64 span_ns) {
  u64 first = nanoseconds();
  u64 begin = first;
  while (begin == first) begin = nanoseconds();
  const i64 cycles = clock64();
  u64 now = begin;
  while (now - begin < span_ns) now = nanoseconds();
  out[0] = (u64)(clock64() - cycles);
  out[1] = now - begin;
}

// ---- what honest kernels may be off by ----

__device__ inline double loaded_run(const void* run, int is_float, u64 i) {
  return is_float ? (double)((const float*)run)[i] : ((const double*)run)[i];
}
/// The largest of non-negative numbers: their bits are in the same order.
__device__ inline void raise(u64* to, double value) {
  const u64 bits = as_bits(value);
  if (bits > *(volatile u64*)to) atomicMax(to, bits);
}

/// Of every row the largest |expected| under the threshold; `sizes` begins as zeros.
extern "C" __global__ void accelopt_row_sizes(const double* expected, u64 count, u64 row_length, double threshold,
                                              u64* sizes) {
  ACCELOPT_EACH(i, count) {
    const double size = size_of_value(expected[i]);
    if (size < threshold) raise(&sizes[i / row_length], size);
  }
}

/// Sums of (scale * expected)^2 over what is under the threshold, one a thread.
extern "C" __global__ void accelopt_norm(const double* expected, u64 count, double scale, double threshold,
                                         double* partial) {
  double sum = 0;
  ACCELOPT_EACH(i, count) {
    const double value = expected[i];
    if (size_of_value(value) < threshold) sum += value * scale * (value * scale);
  }
  partial[(u64)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// One honest run: raises row_errors, sums squares a thread, sets the flag where it is not finite and should be.
extern "C" __global__ void accelopt_run_error(const double* expected, const void* run, int is_float, u64 count,
                                              u64 row_length, double scale, double threshold, double share,
                                              u64* row_errors, double* partial, u32* flag) {
  double sum = 0;
  ACCELOPT_EACH(i, count) {
    const double wanted = expected[i];
    const double value = loaded_run(run, is_float, i);
    if (!(size_of_value(wanted) < threshold)) {
      if (is_finite(wanted) && !is_finite(value)) *flag = 1;
      continue;
    }
    const double difference = size_of_value(value - wanted) * share;
    if (!is_finite(difference)) {
      *flag = 1;
      continue;
    }
    raise(&row_errors[i / row_length], difference);
    sum += difference * scale * (difference * scale);
  }
  partial[(u64)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// out[i]: the sum of `each` of the values, from i * each on.
extern "C" __global__ void accelopt_sum(const double* values, u64 each, u64 sums, double* out) {
  ACCELOPT_EACH(i, sums) {
    double sum = 0;
    for (u64 k = 0; k < each; ++k) sum += values[i * each + k];
    out[i] = sum;
  }
}

// ---- is it right? ----

struct Judged {
  const void* actual;
  const double* expected;
  const double* rows;  // their bounds
  u64 count;
  u64 row_length;
  double relative;
  double scale;
  double threshold;
  int dtype;
  int has_infinity;
};

__device__ inline double wanted_at(const Judged& it, u64 i) { return it.expected[i]; }
__device__ inline double bound_at(const Judged& it, u64 i, double wanted) {
  return larger(it.rows[i / it.row_length], size_of_value(wanted) * it.relative);
}

__device__ inline int judge_element(double wanted, double got, double bound, double threshold, bool has_infinity) {
  const bool wants_nan = is_nan(wanted);
  if (wants_nan || is_nan(got)) {
    const bool overflowed = !has_infinity && is_nan(got) && size_of_value(wanted) + bound >= threshold;
    return (wants_nan && is_nan(got)) || overflowed ? kRight : kPattern;
  }
  if (is_infinite(got)) {
    const bool same_side =
        (as_bits(got) >> 63) == (as_bits(wanted) >> 63) && size_of_value(wanted) + bound >= threshold;
    return same_side ? kRight : kPattern;
  }
  if (is_infinite(wanted)) return kPattern;
  if (size_of_value(got - wanted) <= bound) return kRight;
  return size_of_value(wanted) >= threshold ? kPattern : kElementwise;
}

/// first_bad: least index of an element that is not right; sums of the finite differences' scaled squares, one a thread.
extern "C" __global__ void accelopt_compare(Judged it, double* partial, u64* first_bad) {
  double sum = 0;
  ACCELOPT_EACH(i, it.count) {
    const double wanted = wanted_at(it, i);
    const double got = load_element(it.dtype, it.actual, i);
    const double difference = got - wanted;
    const double bound = bound_at(it, i, wanted);
    if (!(size_of_value(difference) <= bound) || !is_finite(difference)) {
      if (judge_element(wanted, got, bound, it.threshold, it.has_infinity != 0) != kRight) atomicMin(first_bad, i);
    }
    if (is_finite(difference)) sum += difference * it.scale * (difference * it.scale);
  }
  partial[(u64)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// The largest share of its bound that an element uses up, and the least index of such an element: two launches.
extern "C" __global__ void accelopt_worst(Judged it, u64* share, u64* index, int second) {
  ACCELOPT_EACH(i, it.count) {
    const double wanted = wanted_at(it, i);
    const double used = size_of_value(load_element(it.dtype, it.actual, i) - wanted) / bound_at(it, i, wanted);
    if (!is_finite(used)) continue;
    if (second == 0) raise(share, used);
    if (second != 0 && as_bits(used) == *share) atomicMin(index, i);
  }
}

// ---- errors by magnitude: evaluation/verify/bands.cpp ----

#define ACCELOPT_BANDS 16
/// What is summed up over each band.
enum BandSum { kElements, kNorms, kErrors, kRounding };

__device__ inline int band_of(double wanted, double scale) {
  const double size = size_of_value(wanted) * scale;
  const int exponent = (int)(as_bits(size) >> 52) - 1023;
  return exponent >= 0 ? 0 : exponent <= -(ACCELOPT_BANDS - 1) ? ACCELOPT_BANDS - 1 : -exponent;
}

/// Sums a thread, band after band. `other`: of kErrors, as `other_dtype`.
extern "C" __global__ void accelopt_bands(const double* expected, const void* other, int other_dtype, int sum, int dtype,
                                          u64 count, double scale, double threshold, double* partial) {
  double sums[ACCELOPT_BANDS];
  for (int band = 0; band < ACCELOPT_BANDS; ++band) sums[band] = 0;
  ACCELOPT_EACH(i, count) {
    const double wanted = expected[i];
    if (!(size_of_value(wanted) < threshold)) continue;
    double got = wanted;
    if (sum == kErrors) got = load_element(other_dtype, other, i);
    if (sum == kRounding) {
      u64 rounded = 0;
      store_element(dtype, &rounded, 0, wanted);
      got = load_element(dtype, &rounded, 0);
    }
    const double difference = (sum == kNorms ? wanted : got - wanted) * scale;
    // A zero is no small number: nobody rounds it.
    if (is_finite(difference)) sums[band_of(wanted, scale)] += sum == kElements ? (wanted != 0 ? 1 : 0) : difference * difference;
  }
  const u64 threads = (u64)gridDim.x * blockDim.x;
  for (int band = 0; band < ACCELOPT_BANDS; ++band) {
    partial[band * threads + (u64)blockIdx.x * blockDim.x + threadIdx.x] = sums[band];
  }
}

/// The least index of an element of the band that is off by more than `bound`.
extern "C" __global__ void accelopt_band_example(Judged it, int band, double bound, u64* first) {
  ACCELOPT_EACH(i, it.count) {
    const double wanted = wanted_at(it, i);
    if (!(size_of_value(wanted) < it.threshold) || band_of(wanted, it.scale) != band) continue;
    if (size_of_value(load_element(it.dtype, it.actual, i) - wanted) > bound) atomicMin(first, i);
  }
}

/// One element: {expected, actual, rule}.
extern "C" __global__ void accelopt_examine(Judged it, u64 i, double* out) {
  const double wanted = wanted_at(it, i);
  const double got = load_element(it.dtype, it.actual, i);
  out[0] = wanted;
  out[1] = got;
  out[2] = judge_element(wanted, got, bound_at(it, i, wanted), it.threshold, it.has_infinity != 0);
}

/// Integers: the least index of one that differs.
extern "C" __global__ void accelopt_exact(const void* actual, const void* expected, u64 count, int bytes,
                                          int is_unsigned, u64* first_bad) {
  ACCELOPT_EACH(i, count) {
    if (load_integer(actual, bytes, i, is_unsigned) != load_integer(expected, bytes, i, is_unsigned)) {
      atomicMin(first_bad, i);
    }
  }
}

extern "C" __global__ void accelopt_examine_exact(const void* actual, const void* expected, u64 i, int bytes,
                                                  int is_unsigned, double* out) {
  out[0] = (double)load_integer(expected, bytes, i, is_unsigned);
  out[1] = (double)load_integer(actual, bytes, i, is_unsigned);
  out[2] = kExact;
}

/// Two outputs of one kernel: the least index in which they differ by more than right ones may.
extern "C" __global__ void accelopt_agree(Judged it, const void* kept, u64* first_bad) {
  ACCELOPT_EACH(i, it.count) {
    const double one = load_element(it.dtype, kept, i);
    const double other = load_element(it.dtype, it.actual, i);
    if (one == other || (is_nan(one) && is_nan(other))) continue;
    if (!(size_of_value(one - other) <= bound_at(it, i, wanted_at(it, i)))) atomicMin(first_bad, i);
  }
}

/// The element of both as numbers.
extern "C" __global__ void accelopt_examine_kept(int dtype, const void* kept, u64 i, const void* actual, double* out) {
  out[0] = load_element(dtype, kept, i);
  out[1] = load_element(dtype, actual, i);
  out[2] = kElementwise;
}

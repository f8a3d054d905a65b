// SPDX-License-Identifier: Apache-2.0
//@ scratch halves float16 [B, N/128, 2, K, 128]
//@ scratch inverses float32 [B, N/128]
//@ launch split_right grid=(N/128, B) block=(256) args=(rhs, halves, inverses)
//@ launch bmm grid=(N/128, cdiv(M, 64), B) block=(256) smem=53504 args=(lhs, halves, inverses, y, M)

#include <cuda_fp16.h>

/// Biased exponent that stands for a group with this largest absolute value.
__device__ __forceinline__ uint32_t exponent_of(float largest) {
  const uint32_t e = __float_as_uint(largest) >> 23;
  return e < 15u ? 15u : e;
}
/// Powers of two: what makes the group's largest less than 2^15, and its inverse.
__device__ __forceinline__ float scale_of(uint32_t e) { return __uint_as_float((268u - e) << 23); }
__device__ __forceinline__ float inverse_of(uint32_t e) { return __uint_as_float((e - 14u) << 23); }

/// Two scaled numbers as hi and lo, packed.
__device__ __forceinline__ void pair_of(float x, float y, uint32_t& hi, uint32_t& lo) {
  const __half2 h = __floats2half2_rn(x, y);
  const float2 back = __half22float2(h);
  const __half2 l = __floats2half2_rn(x - back.x, y - back.y);
  hi = *reinterpret_cast<const uint32_t*>(&h);
  lo = *reinterpret_cast<const uint32_t*>(&l);
}

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void copy16(uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void load_four(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

__device__ __forceinline__ void load_four_across(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

/// d (16 x 8) += a (16 x 16) times b (16 x 8).
__device__ __forceinline__ void multiply_add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

enum { ROWS = 64, COLUMNS = 128, LEFT = 144, RIGHT = 272, LEFT_BYTES = ROWS * LEFT, RIGHT_BYTES = K * RIGHT };  // bytes a row

/// A block for a tile of 128 columns of one batch: its halves, hi then lo, [K][128] each, and the inverse of its scale.
extern "C" __global__ void __launch_bounds__(256) split_right(const float* rhs, __half* halves, float* inverses) {
  __shared__ float found[8];
  const int tile = blockIdx.x, batch = blockIdx.y;
  const float* const from = rhs + static_cast<int64_t>(batch) * K * N + tile * COLUMNS;
  float4 x[8];
  float largest = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int at = i * 256 + threadIdx.x;
    x[i] = *reinterpret_cast<const float4*>(from + static_cast<int64_t>(at >> 5) * N + (at & 31) * 4);
    largest = fmaxf(largest, fmaxf(fmaxf(fabsf(x[i].x), fabsf(x[i].y)), fmaxf(fabsf(x[i].z), fabsf(x[i].w))));
  }
#pragma unroll
  for (int other = 16; other > 0; other /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, other));
  if ((threadIdx.x & 31) == 0) found[threadIdx.x >> 5] = largest;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i) largest = fmaxf(largest, found[i]);
  const uint32_t e = exponent_of(largest);
  const float scale = scale_of(e);
  __half* const to = halves + static_cast<int64_t>(batch * (N / COLUMNS) + tile) * (2 * K * COLUMNS);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int at = i * 256 + threadIdx.x;
    uint2 hi, lo;
    pair_of(x[i].x * scale, x[i].y * scale, hi.x, lo.x);
    pair_of(x[i].z * scale, x[i].w * scale, hi.y, lo.y);
    *reinterpret_cast<uint2*>(to + at * 4) = hi;
    *reinterpret_cast<uint2*>(to + K * COLUMNS + at * 4) = lo;
  }
  if (threadIdx.x == 0) inverses[batch * (N / COLUMNS) + tile] = inverse_of(e);
}

/// Splits the left tile, a scale a row, into shared memory.
__device__ __forceinline__ void split_left(unsigned char* left, float* row_inverses, const float* lefts, int64_t first_row, int64_t M) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int at = i * 256 + threadIdx.x;
    const int row = at >> 4, column = (at & 15) * 4;
    float4 x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (first_row + row < M) x = *reinterpret_cast<const float4*>(lefts + (first_row + row) * K + column);
    float largest = fmaxf(fmaxf(fabsf(x.x), fabsf(x.y)), fmaxf(fabsf(x.z), fabsf(x.w)));
#pragma unroll
    for (int other = 8; other > 0; other /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, other));
    const uint32_t e = exponent_of(largest);
    const float scale = scale_of(e);
    uint2 hi, lo;
    pair_of(x.x * scale, x.y * scale, hi.x, lo.x);
    pair_of(x.z * scale, x.w * scale, hi.y, lo.y);
    *reinterpret_cast<uint2*>(left + row * LEFT + column * 2) = hi;
    *reinterpret_cast<uint2*>(left + LEFT_BYTES + row * LEFT + column * 2) = lo;
    if ((at & 15) == 0) row_inverses[row] = inverse_of(e);
  }
}

/// Begins to copy a tile's halves.
__device__ __forceinline__ void begin_right(uint32_t right, const __half* halves) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int at = i * 256 + threadIdx.x;  // of 2 x 64 rows of 16 pieces
    copy16(right + (at >> 4) * RIGHT + (at & 15) * 16, halves + at * 8, 16);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// A warp's 32 x 32 of the product, without the scales.
__device__ __forceinline__ void product(float (&part)[2][4][4], uint32_t left, uint32_t right, int warp_row, int warp_column) {
  const int lane = threadIdx.x & 31;
  float low[2][4][4];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) part[i][j][c] = low[i][j][c] = 0.0f;
  const uint32_t from_left = left + (warp_row + (lane & 15)) * LEFT + (lane >> 4) * 16;
  const uint32_t from_right = right + (lane & 15) * RIGHT + (warp_column + (lane >> 4) * 8) * 2;
#pragma unroll
  for (int k = 0; k < K; k += 16) {
    uint32_t a_hi[2][4], a_lo[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      load_four(a_hi[i], from_left + 16 * i * LEFT + k * 2);
      load_four(a_lo[i], from_left + LEFT_BYTES + 16 * i * LEFT + k * 2);
    }
#pragma unroll
    for (int j = 0; j < 4; j += 2) {
      uint32_t b_hi[4], b_lo[4];
      load_four_across(b_hi, from_right + k * RIGHT + j * 16);
      load_four_across(b_lo, from_right + RIGHT_BYTES + k * RIGHT + j * 16);
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          multiply_add(low[i][j + half], a_hi[i], b_lo[2 * half], b_lo[2 * half + 1]);
          multiply_add(low[i][j + half], a_lo[i], b_hi[2 * half], b_hi[2 * half + 1]);
          multiply_add(part[i][j + half], a_hi[i], b_hi[2 * half], b_hi[2 * half + 1]);
        }
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) part[i][j][c] += low[i][j][c];
}

extern "C" __global__ void __launch_bounds__(256, 2) bmm(const float* lhs, const __half* halves, const float* inverses, float* y, int64_t M) {
  extern __shared__ __align__(128) unsigned char bytes[];
  unsigned char* const left = bytes;
  unsigned char* const right = bytes + 2 * LEFT_BYTES;
  float* const row_inverses = reinterpret_cast<float*>(right + 2 * RIGHT_BYTES);
  const int tile = static_cast<int>(blockIdx.z) * (N / COLUMNS) + static_cast<int>(blockIdx.x);
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * ROWS;
  begin_right(shared_address(right), halves + static_cast<int64_t>(tile) * (2 * K * COLUMNS));
  const float tile_inverse = inverses[tile];
  split_left(left, row_inverses, lhs + blockIdx.z * (M * K), first_row, M);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  const int warp = threadIdx.x >> 5;
  const int warp_row = (warp & 1) * 32, warp_column = (warp >> 1) * 32;
  float x[2][4][4];
  product(x, shared_address(left), shared_address(right), warp_row, warp_column);
  const int g = (threadIdx.x & 31) >> 2, q = threadIdx.x & 3;
  float* const products = y + blockIdx.z * (M * N) + blockIdx.x * COLUMNS + warp_column + 2 * q;
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int local = warp_row + 16 * i + 8 * h + g;
      const int64_t row = first_row + local;
      if (row >= M) continue;
      const float inverse = row_inverses[local];
#pragma unroll
      for (int j = 0; j < 4; ++j)
        __stcs(reinterpret_cast<float2*>(products + row * N + 8 * j),
               make_float2(x[i][j][2 * h] * inverse * tile_inverse, x[i][j][2 * h + 1] * inverse * tile_inverse));
    }
}

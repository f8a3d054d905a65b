// SPDX-License-Identifier: Apache-2.0
//@ scratch left_largest int32 [M] zero
//@ scratch right_largest int32 [N] zero
//@ scratch left float16 [2, cdiv(M, 128)*128, K]
//@ scratch right float16 [2, cdiv(N, 128)*128, K]
//@ launch largest_left grid=(cdiv(M, 256), K/64) block=(256) args=(lhs, left_largest, M)
//@ launch largest_right grid=(cdiv(N, 256), K/64) block=(256) args=(rhs, right_largest)
//@ launch image_left grid=(cdiv(M, 128)*2, K/64) block=(256) args=(lhs, left_largest, left, M)
//@ launch image_right grid=(cdiv(N, 128)*2, K/64) block=(256) args=(rhs, right_largest, right)
//@ launch matmul grid=(cdiv(M, 128)*cdiv(N, 128)) block=(256) smem=131072 args=(left, right, left_largest, right_largest, y, M)

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

enum { TILE = 128, DEPTH = 32, STAGES = 4, OPERAND = TILE * DEPTH * 2, STAGE = 4 * OPERAND, COLUMN_TILES = (N + TILE - 1) / TILE, GROUP = 8 };

/// The largest absolute value of each column, as the bits of a float, over 64 rows.
__device__ __forceinline__ void find_largest(const float* from, int32_t* largest, int64_t columns) {
  const int64_t column = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (column >= columns) return;
  const float* const first = from + static_cast<int64_t>(blockIdx.y) * 64 * columns + column;
  float most = 0.0f;
#pragma unroll 16
  for (int k = 0; k < 64; ++k) most = fmaxf(most, fabsf(first[k * columns]));
  atomicMax(largest + column, __float_as_int(most));
}

extern "C" __global__ void __launch_bounds__(256) largest_left(const float* lhs, int32_t* largest, int64_t M) { find_largest(lhs, largest, M); }
extern "C" __global__ void __launch_bounds__(256) largest_right(const float* rhs, int32_t* largest) { find_largest(rhs, largest, N); }

/// 64 columns and 64 of K: hi and lo with K innermost; zeros beyond the columns.
__device__ __forceinline__ void make_image(const float* from, const int32_t* largest, __half* to, int64_t columns, int64_t padded) {
  __shared__ float tile[64][65];
  const int64_t first = static_cast<int64_t>(blockIdx.x) * 64;
  const int first_k = static_cast<int>(blockIdx.y) * 64;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int k = i * 4 + (threadIdx.x >> 6), column = threadIdx.x & 63;
    tile[k][column] = first + column < columns ? from[(first_k + k) * columns + first + column] : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int at = i * 256 + threadIdx.x;
    const int piece = at & 7, column = at >> 3;
    const float scale = scale_of(exponent_of(first + column < columns ? __int_as_float(largest[first + column]) : 0.0f));
    uint32_t hi[4], lo[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) pair_of(tile[piece * 8 + 2 * j][column] * scale, tile[piece * 8 + 2 * j + 1][column] * scale, hi[j], lo[j]);
    __half* const place = to + (first + column) * K + first_k + piece * 8;
    *reinterpret_cast<uint4*>(place) = make_uint4(hi[0], hi[1], hi[2], hi[3]);
    *reinterpret_cast<uint4*>(place + padded * K) = make_uint4(lo[0], lo[1], lo[2], lo[3]);
  }
}

extern "C" __global__ void __launch_bounds__(256) image_left(const float* lhs, const int32_t* largest, __half* left, int64_t M) {
  make_image(lhs, largest, left, M, (M + TILE - 1) / TILE * TILE);
}
extern "C" __global__ void __launch_bounds__(256) image_right(const float* rhs, const int32_t* largest, __half* right) {
  make_image(rhs, largest, right, N, static_cast<int64_t>(COLUMN_TILES) * TILE);
}

/// Where a row's 16-byte piece of the four along K lies.
__device__ __forceinline__ uint32_t place_of(int row, int piece) { return row * 64 + ((piece ^ ((row >> 1) & 3)) << 4); }

extern "C" __global__ void __launch_bounds__(256, 1) matmul(const __half* left, const __half* right, const int32_t* left_largest,
                                                            const int32_t* right_largest, float* y, int64_t M) {
  extern __shared__ __align__(128) unsigned char bytes[];
  const int row_tiles = static_cast<int>((M + TILE - 1) / TILE);
  const int number = static_cast<int>(blockIdx.x);
  const int group = number / (GROUP * COLUMN_TILES);
  const int rows_here = min(GROUP, row_tiles - group * GROUP);
  const int rest = number % (GROUP * COLUMN_TILES);
  const int64_t first_row = static_cast<int64_t>(group * GROUP + rest % rows_here) * TILE;
  const int first_column = rest / rows_here * TILE;
  const int64_t left_padded = static_cast<int64_t>(row_tiles) * TILE, right_padded = static_cast<int64_t>(COLUMN_TILES) * TILE;
  const uint32_t base = shared_address(bytes);
  const auto begin = [&](int step) {
    const uint32_t stage = base + step % STAGES * STAGE;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = i * 256 + threadIdx.x;
      const int row = at >> 2, piece = at & 3;
      const uint32_t place = place_of(row, piece);
      const int64_t a = (first_row + row) * K + step * DEPTH + piece * 8, b = static_cast<int64_t>(first_column + row) * K + step * DEPTH + piece * 8;
      copy16(stage + place, left + a, 16);
      copy16(stage + OPERAND + place, left + left_padded * K + a, 16);
      copy16(stage + 2 * OPERAND + place, right + b, 16);
      copy16(stage + 3 * OPERAND + place, right + right_padded * K + b, 16);
    }
  };
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    begin(s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int warp_row = (warp & 1) * 64, warp_column = (warp >> 1) * 32;
  const int left_row = warp_row + (lane & 15), left_piece = lane >> 4;
  const int right_row = warp_column + (lane & 7) + ((lane >> 4) << 3), right_piece = (lane >> 3) & 1;
  float sum[4][4][4] = {};
  constexpr int STEPS = K / DEPTH;
#pragma unroll 1
  for (int twice = 0; twice < STEPS; twice += 2) {
    float part[4][4][4] = {};
#pragma unroll
    for (int step = twice; step < twice + 2; ++step) {
      asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
      __syncthreads();
      if (step + STAGES - 1 < STEPS) begin(step + STAGES - 1);
      asm volatile("cp.async.commit_group;" ::: "memory");
      const uint32_t stage = base + step % STAGES * STAGE;
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        uint32_t b_hi[2][4], b_lo[2][4];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const uint32_t place = place_of(right_row + 16 * j, 2 * k + right_piece);
          load_four(b_hi[j], stage + 2 * OPERAND + place);
          load_four(b_lo[j], stage + 3 * OPERAND + place);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          uint32_t a_hi[4], a_lo[4];
          const uint32_t place = place_of(left_row + 16 * i, 2 * k + left_piece);
          load_four(a_hi, stage + place);
          load_four(a_lo, stage + OPERAND + place);
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            multiply_add(part[i][j], a_lo, b_hi[j >> 1][(j & 1) * 2], b_hi[j >> 1][(j & 1) * 2 + 1]);
            multiply_add(part[i][j], a_hi, b_lo[j >> 1][(j & 1) * 2], b_lo[j >> 1][(j & 1) * 2 + 1]);
            multiply_add(part[i][j], a_hi, b_hi[j >> 1][(j & 1) * 2], b_hi[j >> 1][(j & 1) * 2 + 1]);
          }
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int c = 0; c < 4; ++c) sum[i][j][c] += part[i][j][c];
  }
  const int g = lane >> 2, q = lane & 3;
  float column_inverse[4][2];
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const int column = first_column + warp_column + 8 * j + 2 * q + c;
      column_inverse[j][c] = column < N ? inverse_of(exponent_of(__int_as_float(right_largest[column]))) : 0.0f;
    }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int64_t row = first_row + warp_row + 16 * i + 8 * h + g;
      if (row >= M) continue;
      const float inverse = inverse_of(exponent_of(__int_as_float(left_largest[row])));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int column = first_column + warp_column + 8 * j + 2 * q;
        if (column < N)
          __stcs(reinterpret_cast<float2*>(y + row * N + column),
                 make_float2(sum[i][j][2 * h] * inverse * column_inverse[j][0], sum[i][j][2 * h + 1] * inverse * column_inverse[j][1]));
      }
    }
}

// SPDX-License-Identifier: Apache-2.0
//@ launch attend grid=(cdiv(N, 128), B*QH) block=(256) smem=171008 args=(q, k, v, out, N)

/// x = hi + lo: hi has the bits of tf32, rounded to nearest; of lo the tensor cores read what they can hold.
__device__ __forceinline__ void split(float x, uint32_t& hi, uint32_t& lo) {
  hi = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
  lo = __float_as_uint(x - __uint_as_float(hi));
}

/// d (16 x 8) += a (16 x 8) times b (8 x 8).
__device__ __forceinline__ void multiply_add(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

enum { ROWS = 128, KEYS = 64, QUERY = D + 4, KEY = D + 4, VALUE = D + 8, WEIGHT = KEYS + 4 };

extern "C" __global__ void __launch_bounds__(256, 1) attend(const float* q, const float* k, const float* v, float* out, int64_t N) {
  extern __shared__ __align__(16) float words[];
  float* const queries = words;                    // [ROWS][QUERY]
  float* const keys = queries + ROWS * QUERY;      // [KEYS][KEY]
  float* const values = keys + KEYS * KEY;         // [KEYS][VALUE]
  float* const weights = values + KEYS * VALUE;    // [ROWS][WEIGHT], each warp its own rows
  const int64_t query_head = blockIdx.y;
  const int64_t kv_head = query_head / QH * KH + query_head % QH / (QH / KH);
  const int64_t first_row = static_cast<int64_t>(blockIdx.x) * ROWS;
  const float* const from_keys = k + kv_head * N * D;
  const float* const from_values = v + kv_head * N * D;
  const int warp = threadIdx.x >> 5;
  const int g = (threadIdx.x & 31) >> 2, p = threadIdx.x & 3;
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < ROWS * D / 4 / 256; ++i) {
    const int at = i * 256 + threadIdx.x;
    const int row = at / (D / 4), column = at % (D / 4) * 4;
    *reinterpret_cast<float4*>(queries + row * QUERY + column) =
        first_row + row < N ? *reinterpret_cast<const float4*>(q + (query_head * N + first_row + row) * D + column) : zero;
  }
  const float scale = 1.0f / sqrtf(static_cast<float>(D));
  float largest[2] = {-INFINITY, -INFINITY};  // of rows warp * 16 + g and + 8
  float total[2] = {0.0f, 0.0f};
  float result[16][4] = {};
  for (int64_t first_key = 0; first_key < N; first_key += KEYS) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < KEYS * D / 4 / 256; ++i) {
      const int at = i * 256 + threadIdx.x;
      const int row = at / (D / 4), column = at % (D / 4) * 4;
      const bool inside = first_key + row < N;
      const int64_t from = (first_key + row) * D + column;
      *reinterpret_cast<float4*>(keys + row * KEY + column) = inside ? *reinterpret_cast<const float4*>(from_keys + from) : zero;
      *reinterpret_cast<float4*>(values + row * VALUE + column) = inside ? *reinterpret_cast<const float4*>(from_values + from) : zero;
    }
    __syncthreads();
    float score[8][4];
    {
      float low[8][4] = {};
#pragma unroll
      for (int quarter = 0; quarter < 4; ++quarter) {
        float part[8][4] = {};
#pragma unroll
        for (int step = 0; step < 4; ++step) {
          const int d = quarter * 32 + step * 8;
          uint32_t a_hi[4], a_lo[4];
          const float* const left = queries + (warp * 16 + g) * QUERY + d + p;
          split(left[0], a_hi[0], a_lo[0]);
          split(left[8 * QUERY], a_hi[1], a_lo[1]);
          split(left[4], a_hi[2], a_lo[2]);
          split(left[8 * QUERY + 4], a_hi[3], a_lo[3]);
#pragma unroll
          for (int j = 0; j < 8; ++j) {
            const float* const right = keys + (8 * j + g) * KEY + d + p;
            uint32_t b_hi[2], b_lo[2];
            split(right[0], b_hi[0], b_lo[0]);
            split(right[4], b_hi[1], b_lo[1]);
            multiply_add(low[j], a_hi, b_lo);
            multiply_add(low[j], a_lo, b_hi);
            multiply_add(part[j], a_hi, b_hi);
          }
        }
#pragma unroll
        for (int j = 0; j < 8; ++j)
#pragma unroll
          for (int c = 0; c < 4; ++c) score[j][c] = quarter == 0 ? part[j][c] : score[j][c] + part[j][c];
      }
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const bool inside = first_key + 8 * j + 2 * p + (c & 1) < N;
          score[j][c] = inside ? (score[j][c] + low[j][c]) * scale : -INFINITY;
        }
    }
    float* const mine = weights + (warp * 16 + g) * WEIGHT + 2 * p;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float now = largest[h];
#pragma unroll
      for (int j = 0; j < 8; ++j) now = fmaxf(now, fmaxf(score[j][2 * h], score[j][2 * h + 1]));
      now = fmaxf(now, __shfl_xor_sync(0xffffffffu, now, 1));
      now = fmaxf(now, __shfl_xor_sync(0xffffffffu, now, 2));
      const float kept = expf(largest[h] - now);
      float sum = 0.0f;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float first = expf(score[j][2 * h] - now), second = expf(score[j][2 * h + 1] - now);
        sum += first + second;
        *reinterpret_cast<float2*>(mine + 8 * h * WEIGHT + 8 * j) = make_float2(first, second);
      }
      total[h] = total[h] * kept + sum;
      largest[h] = now;
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        result[j][2 * h] *= kept;
        result[j][2 * h + 1] *= kept;
      }
    }
    __syncwarp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float part[8][4] = {};
#pragma unroll
      for (int step = 0; step < KEYS; step += 8) {
        uint32_t a_hi[4], a_lo[4];
        const float* const left = weights + (warp * 16 + g) * WEIGHT + step + p;
        split(left[0], a_hi[0], a_lo[0]);
        split(left[8 * WEIGHT], a_hi[1], a_lo[1]);
        split(left[4], a_hi[2], a_lo[2]);
        split(left[8 * WEIGHT + 4], a_hi[3], a_lo[3]);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          const float* const right = values + (step + p) * VALUE + half * 64 + 8 * j + g;
          uint32_t b_hi[2], b_lo[2];
          split(right[0], b_hi[0], b_lo[0]);
          split(right[4 * VALUE], b_hi[1], b_lo[1]);
          multiply_add(part[j], a_hi, b_lo);
          multiply_add(part[j], a_lo, b_hi);
          multiply_add(part[j], a_hi, b_hi);
        }
      }
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int c = 0; c < 4; ++c) result[half * 8 + j][c] += part[j][c];
    }
    __syncwarp();
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float sum = total[h];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    const float inverse = 1.0f / sum;
    const int64_t row = first_row + warp * 16 + g + 8 * h;
    if (row >= N) continue;
    float* const to = out + (query_head * N + row) * D + 2 * p;
#pragma unroll
    for (int j = 0; j < 16; ++j) *reinterpret_cast<float2*>(to + 8 * j) = make_float2(result[j][2 * h] * inverse, result[j][2 * h + 1] * inverse);
  }
}

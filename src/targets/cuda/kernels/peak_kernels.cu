// SPDX-License-Identifier: Apache-2.0
// Trusted kernels that find out what the device can do at most: memory, cache, arithmetic.
typedef unsigned long long u64;
typedef unsigned int u32;

/// to = from, 16 bytes a thread and turn.
extern "C" __global__ void accelopt_copy(uint4* to, const uint4* from, u64 count) {
  const u64 step = (u64)gridDim.x * blockDim.x;
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + 3 * step < count; i += 4 * step) {
    const uint4 a = from[i];
    const uint4 b = from[i + step];
    const uint4 c = from[i + 2 * step];
    const uint4 d = from[i + 3 * step];
    to[i] = a;
    to[i + step] = b;
    to[i + 2 * step] = c;
    to[i + 3 * step] = d;
  }
  for (; i < count; i += step) to[i] = from[i];
}

/// Reads everything `turns` times; over little memory that is the cache's rate.
extern "C" __global__ void accelopt_read(const uint4* from, u64 count, u32 turns, uint4* sink) {
  const u64 step = (u64)gridDim.x * blockDim.x;
  u32 sum = 0;
  for (u32 turn = 0; turn < turns; ++turn) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * step < count; i += 4 * step) {
      const uint4 a = __ldcg(from + i);
      const uint4 b = __ldcg(from + i + step);
      const uint4 c = __ldcg(from + i + 2 * step);
      const uint4 d = __ldcg(from + i + 3 * step);
      sum += (a.x ^ a.y ^ a.z ^ a.w) + (b.x ^ b.y ^ b.z ^ b.w) + (c.x ^ c.y ^ c.z ^ c.w) + (d.x ^ d.y ^ d.z ^ d.w);
    }
    for (; i < count; i += step) sum += __ldcg(from + i).x;
  }
  if (sum == 0x12345679u) sink[0].x = sum;
}

template <class T>
__device__ void multiply_add(u32 turns, T factor, T* sink) {
  T a[16];
  for (int k = 0; k < 16; ++k) a[k] = (T)(threadIdx.x + k);
#pragma unroll 1
  for (u32 turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int repeat = 0; repeat < 8; ++repeat) {
#pragma unroll
      for (int k = 0; k < 16; ++k) a[k] = fma(a[k], factor, (T)0.5);
    }
  }
  T sum = 0;
  for (int k = 0; k < 16; ++k) sum += a[k];
  if (sum == (T)12345) sink[0] = sum;
}
/// 256 operations a thread and turn.
extern "C" __global__ void accelopt_fma_float32(u32 turns, float factor, float* sink) { multiply_add(turns, factor, sink); }
extern "C" __global__ void accelopt_fma_float64(u32 turns, double factor, double* sink) {
  multiply_add(turns, factor, sink);
}

/// Products of tiles, 16 x 8 x 16 in bfloat16, by every warp: 8 tiles a turn, 4096 operations each.
extern "C" __global__ void accelopt_mma_bfloat16(u32 turns, u32 seed, float* sink) {
#ifdef __CUDA_ARCH__
  float c[8][4] = {};
  u32 a[4];
  u32 b[2];
  for (int k = 0; k < 4; ++k) a[k] = seed + threadIdx.x;
  for (int k = 0; k < 2; ++k) b[k] = seed + k;
#pragma unroll 1
  for (u32 turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int tile = 0; tile < 8; ++tile) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(c[tile][0]), "+f"(c[tile][1]), "+f"(c[tile][2]), "+f"(c[tile][3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
  }
  float sum = 0;
  for (int tile = 0; tile < 8; ++tile) sum += c[tile][0] + c[tile][1] + c[tile][2] + c[tile][3];
  if (sum == 12345.0f) sink[0] = sum;
#else
  (void)turns;
  (void)seed;
  (void)sink;
#endif
}

/// The same in tf32, 16 x 8 x 8: 2048 operations a tile.
extern "C" __global__ void accelopt_mma_tf32(u32 turns, u32 seed, float* sink) {
#ifdef __CUDA_ARCH__
  float c[8][4] = {};
  u32 a[4];
  u32 b[2];
  for (int k = 0; k < 4; ++k) a[k] = seed + threadIdx.x;
  for (int k = 0; k < 2; ++k) b[k] = seed + k;
#pragma unroll 1
  for (u32 turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int tile = 0; tile < 8; ++tile) {
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(c[tile][0]), "+f"(c[tile][1]), "+f"(c[tile][2]), "+f"(c[tile][3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
  }
  float sum = 0;
  for (int tile = 0; tile < 8; ++tile) sum += c[tile][0] + c[tile][1] + c[tile][2] + c[tile][3];
  if (sum == 12345.0f) sink[0] = sum;
#else
  (void)turns;
  (void)seed;
  (void)sink;
#endif
}

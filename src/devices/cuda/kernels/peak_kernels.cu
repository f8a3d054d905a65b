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

// Hopper's own matrix instructions, from shared memory and asynchronously: up to twice as fast as mma.sync. The tiles
// are 64 x 256 x 16 (tf32: 8); every warpgroup gives its matrix unit eight of them at a time, and while one warpgroup
// waits for its last the other keeps the units busy. What is in the tiles does not matter but for not being zero.
#define ACCELOPT_EIGHT(c, i) \
  "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), "+f"(c[i + 7])
#define ACCELOPT_WGMMA(c, instruction, transposed)                                                                     \
  asm volatile(                                                                                                        \
      "{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\nwgmma.mma_async.sync.aligned." instruction " {"                     \
      "%0, %1, %2, %3, %4, %5, %6, %7, " \
      "%8, %9, %10, %11, %12, %13, %14, %15, " \
      "%16, %17, %18, %19, %20, %21, %22, %23, " \
      "%24, %25, %26, %27, %28, %29, %30, %31, " \
      "%32, %33, %34, %35, %36, %37, %38, %39, " \
      "%40, %41, %42, %43, %44, %45, %46, %47, " \
      "%48, %49, %50, %51, %52, %53, %54, %55, " \
      "%56, %57, %58, %59, %60, %61, %62, %63, " \
      "%64, %65, %66, %67, %68, %69, %70, %71, " \
      "%72, %73, %74, %75, %76, %77, %78, %79, " \
      "%80, %81, %82, %83, %84, %85, %86, %87, " \
      "%88, %89, %90, %91, %92, %93, %94, %95, " \
      "%96, %97, %98, %99, %100, %101, %102, %103, " \
      "%104, %105, %106, %107, %108, %109, %110, %111, " \
      "%112, %113, %114, %115, %116, %117, %118, %119, " \
      "%120, %121, %122, %123, %124, %125, %126, %127}, " \
      "%128, %129, add, 1, 1" transposed ";\n}\n"                                                                       \
      : ACCELOPT_EIGHT(c, 0), ACCELOPT_EIGHT(c, 8), \
        ACCELOPT_EIGHT(c, 16), ACCELOPT_EIGHT(c, 24), \
        ACCELOPT_EIGHT(c, 32), ACCELOPT_EIGHT(c, 40), \
        ACCELOPT_EIGHT(c, 48), ACCELOPT_EIGHT(c, 56), \
        ACCELOPT_EIGHT(c, 64), ACCELOPT_EIGHT(c, 72), \
        ACCELOPT_EIGHT(c, 80), ACCELOPT_EIGHT(c, 88), \
        ACCELOPT_EIGHT(c, 96), ACCELOPT_EIGHT(c, 104), \
        ACCELOPT_EIGHT(c, 112), ACCELOPT_EIGHT(c, 120) \
      : "l"(a), "l"(b))

/// A tile of rows of 32 bytes: pieces of 8 rows x 16 bytes, two of them a group of eight rows. Addresses and distances
/// in units of 16 bytes: the address, from one piece to the next along the row (bit 16), and along the rows (bit 32).
__device__ u64 tile_of(const void* place) {
  return (u64)((__cvta_generic_to_shared(place) & 0x3ffffu) >> 4) | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32;
}

#define ACCELOPT_WGMMA_PEAK(name, instruction, transposed)                                             \
  extern "C" __global__ void __launch_bounds__(256, 1) name(u32 turns, u32 seed, float* sink) {        \
    __shared__ __align__(128) u32 tiles[(2 * 64 + 256) * 8];                                           \
    for (u32 i = threadIdx.x; i < sizeof tiles / sizeof tiles[0]; i += blockDim.x) tiles[i] = seed + i; \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                       \
    __syncthreads();                                                                                   \
    const u64 a = tile_of(tiles + threadIdx.x / 128 * 64 * 8);                                         \
    const u64 b = tile_of(tiles + 2 * 64 * 8);                                                         \
    float c[128];                                                                                      \
    for (int k = 0; k < 128; ++k) c[k] = 0;                                                            \
    _Pragma("unroll 1") for (u32 turn = 0; turn < turns; ++turn) {                                     \
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                          \
      _Pragma("unroll") for (int tile = 0; tile < 8; ++tile) ACCELOPT_WGMMA(c, instruction, transposed); \
      asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory"); \
    }                                                                                                  \
    float sum = 0;                                                                                     \
    for (int k = 0; k < 128; ++k) sum += c[k];                                                         \
    if (sum == 12345.0f) sink[0] = sum;                                                                \
  }

// Elsewhere these kernels are not there.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
ACCELOPT_WGMMA_PEAK(accelopt_wgmma_bfloat16, "m64n256k16.f32.bf16.bf16", ", 0, 0")
ACCELOPT_WGMMA_PEAK(accelopt_wgmma_float16, "m64n256k16.f32.f16.f16", ", 0, 0")
ACCELOPT_WGMMA_PEAK(accelopt_wgmma_tf32, "m64n256k8.f32.tf32.tf32", "")
#endif

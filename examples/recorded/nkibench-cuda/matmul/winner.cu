// SPDX-License-Identifier: Apache-2.0
#ifndef BN
#define BN 128
#endif
#ifndef STAGES
#define STAGES 6
#endif
//@ tune BN in {128}  STAGES in {6}
//@ require (BN == 192 && STAGES == 5) || (BN == 128 && STAGES == 6)
//@ scratch a_split float16 [cdiv(M, 256) * 256, K * 2]
//@ scratch b_split float16 [N, K * 2]
//@ scratch a_max float32 [cdiv(M, 256) * 256]
//@ scratch b_max float32 [N]
//@ tensormap a_map of a_split box=(64, 128) swizzle=128B
//@ tensormap b_map of b_split box=(64, BN) swizzle=128B
//@ launch split_lhs grid=(cdiv(M, 256) * 256) block=(256) args=(lhs, a_split, a_max, M)
//@ launch split_rhs grid=(8, N / 32) cluster=(8) block=(512) smem=84560 args=(rhs, b_max, b_split)
//@ launch product grid=(min(132, cdiv(M, 128) * (N / BN))) block=(384) smem=STAGES * (128 + BN) * 128 + 1024 args=(a_map, b_map, a_max, b_max, y, M)

#include <cuda_fp16.h>

// Each float32 is split into hi + lo (fp16 halves of a value that was scaled by a power of two). The scratch tensors are K-major and hold, for every
// 32 values along K, 32 hi and then 32 lo: one 128-byte row of the swizzle.
constexpr int BM = 128;
constexpr int PIECE = 32;  // values along K a stage
constexpr int STEPS = K / (2 * PIECE);  // float32 promotions
constexpr int STAGE_A = BM * 128;
constexpr int STAGE_BYTES = (BM + BN) * 128;
constexpr int RHS_K = K / 8;  // values along K a block of split_rhs
constexpr int GROUP = 8;  // row tiles a group
constexpr int REGS = BN / 2;

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}

__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// The scale 2^s of a row or column whose largest finite |x| is `largest`: the scaled maximum is in [2^14, 2^15).
__device__ __forceinline__ int scale_exponent(float largest) {
  const int s = 141 - static_cast<int>(__float_as_uint(largest) >> 23);
  return s < 126 ? s : 126;
}

__device__ __forceinline__ float power_of_two(int e) {  // e in [-126, 127]
  return __uint_as_float(static_cast<uint32_t>(e + 127) << 23);
}

__device__ __forceinline__ uint32_t finite_magnitude(float x) {
  const uint32_t bits = __float_as_uint(x) & 0x7fffffffu;
  return bits < 0x7f800000u ? bits : 0u;
}

__device__ __forceinline__ void split(float x, float scale, uint32_t& high, uint32_t& low) {
  const float v = x * scale;
  const __half h = __float2half_rn(v);
  const bool finite = (__float_as_uint(x) & 0x7f800000u) != 0x7f800000u;
  const __half l = __float2half_rn(finite ? v - __half2float(h) : 0.0f);
  high = __half_as_ushort(h);
  low = __half_as_ushort(l);
}

// Four neighbouring values along K: `to` is the place of the hi halves, the lo halves are PIECE on.
__device__ __forceinline__ void split_four(__half* to, float x0, float x1, float x2, float x3, float scale) {
  uint32_t h0, h1, h2, h3, l0, l1, l2, l3;
  split(x0, scale, h0, l0);
  split(x1, scale, h1, l1);
  split(x2, scale, h2, l2);
  split(x3, scale, h3, l3);
  *reinterpret_cast<uint2*>(to) = make_uint2(h0 | (h1 << 16), h2 | (h3 << 16));
  *reinterpret_cast<uint2*>(to + PIECE) = make_uint2(l0 | (l1 << 16), l2 | (l3 << 16));
}

extern "C" __global__ void __launch_bounds__(256) split_lhs(const float* lhs, __half* a_split, float* a_max, int64_t M) {
  __shared__ uint32_t found[8];
  const int64_t row = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  float4 x[5];
#pragma unroll
  for (int i = 0; i < 5; ++i) {
    x[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row < M) x[i] = *reinterpret_cast<const float4*>(lhs + row * K + (i * 256 + thread) * 4);
  }
  uint32_t most = 0;
#pragma unroll
  for (int i = 0; i < 5; ++i) {
    most = max(most, max(max(finite_magnitude(x[i].x), finite_magnitude(x[i].y)),
                         max(finite_magnitude(x[i].z), finite_magnitude(x[i].w))));
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, d));
  if (thread % 32 == 0) found[thread / 32] = most;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i) most = max(most, found[i]);
  const float largest = __uint_as_float(most);
  if (thread == 0) a_max[row] = largest;
  const float scale = power_of_two(scale_exponent(largest));
#pragma unroll
  for (int i = 0; i < 5; ++i) {
    const int k = (i * 256 + thread) * 4;
    split_four(a_split + row * (2 * K) + (k / PIECE) * (2 * PIECE) + k % PIECE, x[i].x, x[i].y, x[i].z, x[i].w, scale);
  }
}

// A cluster of eight blocks holds 32 whole columns: rank r has RHS_K values along K of each. The maxima are exchanged over the cluster, rhs is read once.
extern "C" __global__ void __launch_bounds__(512, 2) split_rhs(const float* rhs, float* b_max, __half* b_split) {
  extern __shared__ float panel[];  // (k, n) at k * 33 + k / 32 + n: no conflicts when written or read
  __shared__ uint32_t found[16][32];
  __shared__ uint32_t mine[32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int k0 = static_cast<int>(blockIdx.x) * RHS_K;
  const int n0 = static_cast<int>(blockIdx.y) * 32;
  const int c = lane % 8 * 4;
  const int r = warp * 4 + lane / 8;
  const float* source = rhs + static_cast<int64_t>(k0 + r) * N + n0 + c;
  float4 x[RHS_K / 64];
#pragma unroll
  for (int i = 0; i < RHS_K / 64; ++i) x[i] = *reinterpret_cast<const float4*>(source + static_cast<int64_t>(i) * 64 * N);
  uint32_t m0 = 0, m1 = 0, m2 = 0, m3 = 0;
#pragma unroll
  for (int i = 0; i < RHS_K / 64; ++i) {
    m0 = max(m0, finite_magnitude(x[i].x));
    m1 = max(m1, finite_magnitude(x[i].y));
    m2 = max(m2, finite_magnitude(x[i].z));
    m3 = max(m3, finite_magnitude(x[i].w));
    const int k = r + i * 64;
    float* to = panel + k * 33 + k / 32 + c;
    to[0] = x[i].x;
    to[1] = x[i].y;
    to[2] = x[i].z;
    to[3] = x[i].w;
  }
#pragma unroll
  for (int d = 8; d < 32; d *= 2) {
    m0 = max(m0, __shfl_xor_sync(0xffffffffu, m0, d));
    m1 = max(m1, __shfl_xor_sync(0xffffffffu, m1, d));
    m2 = max(m2, __shfl_xor_sync(0xffffffffu, m2, d));
    m3 = max(m3, __shfl_xor_sync(0xffffffffu, m3, d));
  }
  if (lane < 8) {
    found[warp][c] = m0;
    found[warp][c + 1] = m1;
    found[warp][c + 2] = m2;
    found[warp][c + 3] = m3;
  }
  __syncthreads();
  if (warp == 0) {
    uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) most = max(most, found[i][lane]);
    mine[lane] = most;
  }
  cluster_arrive();
  cluster_wait();

  // Columns warp and warp + 16: lanes 0 to 7 and 8 to 15 read the maxima of the eight ranks.
  uint32_t most = 0;
  if (lane < 16) {
    const uint32_t local = shared_address(&mine[warp + lane / 8 * 16]);
    asm volatile(
        "{\n.reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %1, %2;\n"
        "ld.shared::cluster.u32 %0, [remote];\n}\n"
        : "=r"(most)
        : "r"(local), "r"(lane % 8)
        : "memory");
  }
#pragma unroll
  for (int d = 1; d < 8; d *= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, d));
  float largest[2];
  largest[0] = __uint_as_float(__shfl_sync(0xffffffffu, most, 0));
  largest[1] = __uint_as_float(__shfl_sync(0xffffffffu, most, 8));
  cluster_arrive();  // the other blocks' maxima have been read
  if (blockIdx.x == 0 && lane == 0) {
    b_max[n0 + warp] = largest[0];
    b_max[n0 + warp + 16] = largest[1];
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int n = warp + h * 16;
    const float scale = power_of_two(scale_exponent(largest[h]));
    __half* column = b_split + static_cast<int64_t>(n0 + n) * (2 * K) + k0 * 2;
#pragma unroll
    for (int i = 0; i < RHS_K / 128; ++i) {
      const int k = i * 128 + lane * 4;
      const float* from = panel + k * 33 + k / 32 + n;
      split_four(column + (k / PIECE) * (2 * PIECE) + k % PIECE, from[0], from[33], from[66], from[99], scale);
    }
  }
  cluster_wait();
}

__device__ __forceinline__ void barrier_init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}\n"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (done == 0);
}

__device__ __forceinline__ void load_tile(uint32_t to, const CUtensorMap* map, int inner, int outer, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(reinterpret_cast<uint64_t>(map)), "r"(barrier), "r"(inner), "r"(outer)
      : "memory");
}

__device__ __forceinline__ void store_pair(float* to, float x, float y) {  // streaming
  asm volatile("st.global.cs.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(x), "f"(y) : "memory");
}

// K-major, 128-byte swizzle, 8 rows are 1024 bytes.
__device__ __forceinline__ uint64_t descriptor(uint32_t address) {
  return (static_cast<uint64_t>(1) << 62) | (static_cast<uint64_t>(1024 >> 4) << 32) | (static_cast<uint64_t>(1) << 16) |
         static_cast<uint64_t>((address & 0x3ffffu) >> 4);
}

// d (64 x BN) = a * b + (keep ? d : 0)
__device__ __forceinline__ void multiply(float (&d)[REGS], uint64_t a, uint64_t b, int keep) {
#if BN == 128
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b), "r"(keep));
#elif BN == 192
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
      "%96, %97, p, 1, 1, 0, 0;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
        "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
        "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
        "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
        "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
      : "l"(a), "l"(b), "r"(keep));
#else
#error "BN has to be 128 or 192"
#endif
}

// One stage, the small products first. Byte offsets in a row of 128: hi at 0 and 32, lo at 64 and 96.
__device__ __forceinline__ void multiply_stage(float (&d)[REGS], uint64_t a, uint64_t b, int keep) {
  multiply(d, a + 4, b, keep);
  multiply(d, a + 6, b + 2, 1);
  multiply(d, a, b + 4, 1);
  multiply(d, a + 2, b + 6, 1);
  multiply(d, a, b, 1);
  multiply(d, a + 2, b + 2, 1);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void hold(float (&d)[REGS]) {
#pragma unroll
  for (int i = 0; i < REGS; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

__device__ __forceinline__ void release_stage(uint32_t barrier, uint32_t lane) {
  if (lane == 0) barrier_arrive(barrier);
}

__device__ __forceinline__ float unscale(float x, int t) {  // x * 2^t for t in [-252, 226]
  const int first = t / 2;
  return x * power_of_two(first) * power_of_two(t - first);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    product(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const float* a_max, const float* b_max, float* y,
            int64_t M) {
  extern __shared__ unsigned char dynamic_memory[];
  __shared__ alignas(8) uint64_t full[STAGES];
  __shared__ alignas(8) uint64_t empty[STAGES];

  const uint32_t stages = (shared_address(dynamic_memory) + 1023u) & ~1023u;
  const uint32_t full0 = shared_address(full);
  const uint32_t empty0 = shared_address(empty);
  const int warpgroup = static_cast<int>(threadIdx.x) / 128;

  // Tiles: groups of GROUP row tiles, the row tile fastest.
  constexpr int column_tiles = N / BN;
  const int row_tiles = static_cast<int>((M + BM - 1) / BM);
  const int tiles = row_tiles * column_tiles;

  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      barrier_init(full0 + s * 8, 1);
      barrier_init(empty0 + s * 8, 8);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();

  if (warpgroup == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      int stage = 0;
      uint32_t phase = 0;
      for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
        const int first = tile / (GROUP * column_tiles) * GROUP;
        const int high = row_tiles - first < GROUP ? row_tiles - first : GROUP;
        const int within = tile - first * column_tiles;
        const int row0 = (first + within % high) * BM;
        const int column0 = within / high * BN;
        for (int piece = 0; piece < K / PIECE; ++piece) {
          barrier_wait(empty0 + stage * 8, phase ^ 1u);
          const uint32_t barrier = full0 + stage * 8;
          const uint32_t base = stages + stage * STAGE_BYTES;
          barrier_expect(barrier, STAGE_BYTES);
          load_tile(base, &a_map, piece * 2 * PIECE, row0, barrier);
          load_tile(base + STAGE_A, &b_map, piece * 2 * PIECE, column0, barrier);
          if (++stage == STAGES) {
            stage = 0;
            phase ^= 1u;
          }
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int consumer = warpgroup - 1;
    const int thread = static_cast<int>(threadIdx.x) % 128;
    const uint32_t lane = threadIdx.x % 32;

    float sum[REGS];
    float part[REGS];
#pragma unroll
    for (int i = 0; i < REGS; ++i) part[i] = 0.0f;

    const uint64_t a0 = descriptor(stages + consumer * (64 * 128));
    const uint64_t b0 = descriptor(stages + STAGE_A);
    int stage = 0;
    uint32_t phase = 0;
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
        const int first = tile / (GROUP * column_tiles) * GROUP;
        const int high = row_tiles - first < GROUP ? row_tiles - first : GROUP;
        const int within = tile - first * column_tiles;
        const int row0 = (first + within % high) * BM;
        const int column0 = within / high * BN;

#pragma unroll
      for (int i = 0; i < REGS; ++i) sum[i] = 0.0f;

#pragma unroll 1
      for (int step = 0; step < STEPS; ++step) {
        const int stage1 = stage;
        barrier_wait(full0 + stage1 * 8, phase);
        if (++stage == STAGES) {
          stage = 0;
          phase ^= 1u;
        }
        hold(part);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        const uint64_t offset1 = static_cast<uint64_t>(stage1 * (STAGE_BYTES / 16));
        multiply_stage(part, a0 + offset1, b0 + offset1, 0);

        const int stage2 = stage;
        barrier_wait(full0 + stage2 * 8, phase);
        if (++stage == STAGES) {
          stage = 0;
          phase ^= 1u;
        }
        const uint64_t offset2 = static_cast<uint64_t>(stage2 * (STAGE_BYTES / 16));
        multiply_stage(part, a0 + offset2, b0 + offset2, 1);

        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        release_stage(empty0 + stage1 * 8, lane);
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        release_stage(empty0 + stage2 * 8, lane);
        hold(part);
#pragma unroll
        for (int i = 0; i < REGS; ++i) sum[i] += part[i];
      }

      const int64_t row = static_cast<int64_t>(row0) + consumer * 64 + thread / 32 * 16 + static_cast<int>(lane) / 4;
      const int column = column0 + static_cast<int>(lane % 4) * 2;
      float* to = y + row * N + column;
      float* below = to + static_cast<int64_t>(8) * N;
      const int s0 = row < M ? scale_exponent(a_max[row]) : 0;
      const int s1 = row + 8 < M ? scale_exponent(a_max[row + 8]) : 0;
#pragma unroll
      for (int i = 0; i < REGS / 4; ++i) {
        const float2 most = *reinterpret_cast<const float2*>(b_max + column + i * 8);
        const int c0 = scale_exponent(most.x);
        const int c1 = scale_exponent(most.y);
        if (row < M) store_pair(to + i * 8, unscale(sum[i * 4], -(s0 + c0)), unscale(sum[i * 4 + 1], -(s0 + c1)));
        if (row + 8 < M) {
          store_pair(below + i * 8, unscale(sum[i * 4 + 2], -(s1 + c0)), unscale(sum[i * 4 + 3], -(s1 + c1)));
        }
      }
    }
  }
}

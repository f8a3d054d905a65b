// SPDX-License-Identifier: Apache-2.0
#ifndef BLOCK
#define BLOCK 128
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef LOAD
#define LOAD 0
#endif
#ifndef STORE
#define STORE 1
#endif
//@ tune BLOCK in {128}  UNROLL in {1}  LOAD in {0}  STORE in {1}
//@ launch silu grid=(cdiv(M*N, 4*BLOCK*UNROLL)) block=(BLOCK) args=(x, y, M, N)

/// Four elements that are read once.
__device__ __forceinline__ float4 read(const float4* from) {
  float4 v;
  if (LOAD == 0) {
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from));
  } else {
    asm volatile("ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from));
  }
  return v;
}

__device__ __forceinline__ void write(float4* to, float4 v) {
  if (STORE == 0) *to = v;
  else __stcs(to, v);
}

/// x / (1 + exp(-x)) with an exponential that is never over 1, so that nothing overflows and 1 + e lies in [1, 2].
__device__ __forceinline__ float silu_of(float x) {
  const float e = expf(-fabsf(x));
  float inverse;
  asm("rcp.approx.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + e));
  return (x >= 0.0f ? x : x * e) * inverse;
}

__device__ __forceinline__ float4 silu_of(float4 v) {
  return make_float4(silu_of(v.x), silu_of(v.y), silu_of(v.z), silu_of(v.w));
}

extern "C" __global__ void __launch_bounds__(BLOCK) silu(const float* x, float* y, int64_t M, int64_t N) {
  const int64_t elements = M * N;
  const int64_t vectors = elements / 4;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * (BLOCK * UNROLL);
  const float4* const from = reinterpret_cast<const float4*>(x) + first;
  float4* const to = reinterpret_cast<float4*>(y) + first;
  if (first + BLOCK * UNROLL <= vectors) {
    float4 v[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) v[i] = read(from + i * BLOCK + threadIdx.x);
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) write(to + i * BLOCK + threadIdx.x, silu_of(v[i]));
    return;
  }
  for (int i = 0; i < UNROLL; ++i) {
    const int64_t at = i * BLOCK + threadIdx.x;
    if (first + at < vectors) write(to + at, silu_of(read(from + at)));
  }
  const int64_t rest = vectors * 4 + threadIdx.x;
  if (rest < elements) y[rest] = silu_of(x[rest]);
}

// SPDX-License-Identifier: Apache-2.0
#ifndef THREADS
#define THREADS 128
#endif
#ifndef VEC
#define VEC 1
#endif
#ifndef STORE
#define STORE 0
#endif
//@ tune THREADS in {128}  VEC in {1}  STORE in {0}
//@ launch silu grid=(cdiv(M*N, THREADS*VEC*4)) block=(THREADS) args=(x, y, M, N)

__device__ __forceinline__ float silu_one(float x) {
  const float e = expf(-fabsf(x));  // in [0, 1]: no overflow
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(1.0f + e));  // the operand is in [1, 2]
  const float numerator = x >= 0.0f ? x : x * e;
  return numerator * r;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    silu(const float* __restrict__ x, float* __restrict__ y, int64_t M, int64_t N) {
  constexpr int CHUNK = THREADS * VEC * 4;
  const int64_t n = M * N;
  const int64_t base = static_cast<int64_t>(blockIdx.x) * CHUNK;
  const int t = static_cast<int>(threadIdx.x);
  if (base + CHUNK <= n) {
    const float4* __restrict__ in = reinterpret_cast<const float4*>(x + base) + t;
    float4* __restrict__ out = reinterpret_cast<float4*>(y + base) + t;
    float4 a[VEC];
#pragma unroll
    for (int k = 0; k < VEC; ++k) a[k] = __ldcs(in + k * THREADS);
#pragma unroll
    for (int k = 0; k < VEC; ++k) {
      float4 b;
      b.x = silu_one(a[k].x);
      b.y = silu_one(a[k].y);
      b.z = silu_one(a[k].z);
      b.w = silu_one(a[k].w);
#if STORE == 1
      __stcs(out + k * THREADS, b);
#else
      out[k * THREADS] = b;
#endif
    }
  } else {
    for (int64_t i = base + t; i < n; i += THREADS) y[i] = silu_one(x[i]);
  }
}

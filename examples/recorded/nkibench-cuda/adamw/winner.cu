// SPDX-License-Identifier: Apache-2.0
#ifndef BYTES
#define BYTES 4096
#endif
#ifndef STAGES
#define STAGES 3
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
//@ tune BYTES in {4096}  STAGES in {3}  BLOCKS in {2}
//@ require 4 * BYTES * STAGES * BLOCKS <= 221184
//@ launch adamw grid=(132*BLOCKS) block=(256) smem=4*BYTES*STAGES args=(theta, m, v, g, theta_new, M, N)

enum { THREADS = 256 };

__device__ __forceinline__ float step(float theta, float m, float v, float g) {
  const float first = 0.9f * m + 0.1f * g;
  const float second = 0.999f * v + 0.001f * g * g;
  float root, inverse;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(1000.0f * second));
  // The denominator lies between 1e-8 and the root of the largest float, so its reciprocal is a normal number.
  asm("rcp.approx.f32 %0, %1;" : "=f"(inverse) : "f"(root + 1e-8f));
  const float decayed = theta - 1e-5f * theta;
  return decayed - 0.01f * first * inverse;
}

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile(
        "{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  } while (done == 0);
}

__device__ __forceinline__ void load(uint32_t to, const float* from, int64_t offset, uint32_t bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(reinterpret_cast<const unsigned char*>(from) + offset), "r"(bytes), "r"(barrier)
               : "memory");
}

extern "C" __global__ void __launch_bounds__(256) adamw(const float* theta, const float* m, const float* v, const float* g, float* theta_new,
                                                        int64_t M, int64_t N) {
  extern __shared__ __align__(128) unsigned char buffers[];
  __shared__ __align__(8) uint64_t barriers[STAGES];
  const int64_t elements = M * N;
  const int64_t bytes = elements / 4 * 16;
  const int64_t pieces = (bytes + BYTES - 1) / BYTES;
  const uint32_t base = shared_address(buffers);
  const uint32_t full = shared_address(barriers);
  auto fill = [&](int64_t piece, int stage) {
    const int64_t offset = piece * BYTES;
    const int64_t left = bytes - offset;
    const uint32_t size = static_cast<uint32_t>(left < BYTES ? left : BYTES);
    const uint32_t to = base + stage * 4 * BYTES;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full + 8 * stage), "r"(4 * size) : "memory");
    load(to, theta, offset, size, full + 8 * stage);
    load(to + BYTES, m, offset, size, full + 8 * stage);
    load(to + 2 * BYTES, v, offset, size, full + 8 * stage);
    load(to + 3 * BYTES, g, offset, size, full + 8 * stage);
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      const int64_t piece = blockIdx.x + static_cast<int64_t>(s) * gridDim.x;
      if (piece < pieces) fill(piece, s);
    }
  }
  int stage = 0;
  uint32_t phase = 0;
  for (int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    const int64_t left = bytes - piece * BYTES;
    const uint32_t size = static_cast<uint32_t>(left < BYTES ? left : BYTES);
    wait(full + 8 * stage, phase);
    const float4* const in = reinterpret_cast<const float4*>(buffers + stage * 4 * BYTES);
    float4* const out = reinterpret_cast<float4*>(reinterpret_cast<unsigned char*>(theta_new) + piece * BYTES);
#pragma unroll
    for (int i = 0; i < BYTES / 16 / THREADS; ++i) {
      const int at = i * THREADS + threadIdx.x;
      if (at * 16 < size) {
        const float4 a = in[at], b = in[at + BYTES / 16], c = in[at + 2 * (BYTES / 16)], d = in[at + 3 * (BYTES / 16)];
        __stcs(out + at, make_float4(step(a.x, b.x, c.x, d.x), step(a.y, b.y, c.y, d.y), step(a.z, b.z, c.z, d.z), step(a.w, b.w, c.w, d.w)));
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      const int64_t next = piece + static_cast<int64_t>(STAGES) * gridDim.x;
      if (next < pieces) fill(next, stage);
    }
    if (++stage == STAGES) {
      stage = 0;
      phase ^= 1;
    }
  }
  const int64_t last = elements / 4 * 4 + threadIdx.x;
  if (blockIdx.x == 0 && last < elements) theta_new[last] = step(theta[last], m[last], v[last], g[last]);
}

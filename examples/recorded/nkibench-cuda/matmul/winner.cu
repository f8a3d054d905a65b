// SPDX-License-Identifier: Apache-2.0
#ifndef THREADS
#define THREADS 512
#endif
#ifndef STAGES
#define STAGES 5
#endif
//@ tune THREADS in {512}  STAGES in {5}
//@ scratch left_image float32 [cdiv(M, 256)*256, K]
//@ scratch right_image float32 [K, N]
//@ scratch left_inverse float32 [cdiv(M, 256)*256, K/64]
//@ scratch right_inverse float32 [N/192, K/64]
//@ launch split grid=(cdiv(M, 256)*2*(K/64)+(K/64)*(N/192)) block=(THREADS) smem=49152*2 args=(lhs, rhs, left_image, right_image, left_inverse, right_inverse, M)
//@ launch matmul grid=(132) block=(384) smem=STAGES*40960+1280 args=(left_image, right_image, left_inverse, right_inverse, y, M)

#include <cuda_fp16.h>

// A float32 number times a power of two is hi + lo, two float16 numbers; products leave out lo * lo, 2^-24 of the whole. The tensor cores
// add up chunks of 64 along K; chunks are added in float32 with their scales.
enum {
  BM = 128,                     // rows of a tile
  BN = 192,                     // columns of a tile
  SCALED = 192,                 // columns that share a scale in a chunk
  CHUNKS = K / 64,
  A_STAGE = BM * 128,           // bytes: 32 along K, hi and lo
  B_BLOB = SCALED * 128,
  B_STAGE = BN * 128,
  STAGE = A_STAGE + B_STAGE,
  TILES = N / BN,
  WORKERS = 132,
  GROUP = 16                    // rows of tiles that are worked on together
};

/// The biased exponent that stands for a group with this largest absolute value.
__device__ __forceinline__ uint32_t exponent_of(float largest) {
  const uint32_t e = __float_as_uint(largest) >> 23;
  return e < 15u ? 15u : e;
}

/// hi in the lower, lo in the upper half.
__device__ __forceinline__ uint32_t halves_of(float x, float scale) {
  const float scaled = x * scale;
  const __half hi = __float2half_rn(scaled);
  const __half lo = __float2half_rn(scaled - __half2float(hi));
  return static_cast<uint32_t>(__half_as_ushort(hi)) | (static_cast<uint32_t>(__half_as_ushort(lo)) << 16);
}

/// Writes an image that the block has built in shared memory to memory, whole lines at a time; all of the block's threads call it.
__device__ __forceinline__ void send(unsigned char* to, const void* from, int bytes) {
  __syncthreads();
  for (int at = threadIdx.x * 16; at < bytes; at += THREADS * 16)
    *reinterpret_cast<uint4*>(to + at) = *reinterpret_cast<const uint4*>(static_cast<const unsigned char*>(from) + at);
}

/// Writes the images of shared memory: a row of 128 bytes holds 32 hi and 32 lo, its 16-byte pieces swizzled.
extern "C" __global__ void __launch_bounds__(THREADS) split(const float* lhs, const float* rhs, float* left_image, float* right_image,
                                                            float* left_inverse, float* right_inverse, int64_t M) {
  extern __shared__ __align__(128) uint32_t words[];
  __shared__ uint32_t found[THREADS / 32];
  const int t = threadIdx.x;
  const int left_blocks = static_cast<int>((M + 255) / 256) * 2 * CHUNKS;
  if (static_cast<int>(blockIdx.x) < left_blocks) {
    const int item = blockIdx.x;
    const int tile = item / CHUNKS, chunk = item % CHUNKS;
    unsigned char* const whole = reinterpret_cast<unsigned char*>(left_image) + static_cast<int64_t>(item) * (2 * A_STAGE);
    unsigned char* const image = reinterpret_cast<unsigned char*>(words);
    float4 v[2048 / THREADS];
#pragma unroll
    for (int i = 0; i < 2048 / THREADS; ++i) {
      const int row = (i * THREADS + t) >> 4, vector = t & 15;
      const int64_t m = static_cast<int64_t>(tile) * BM + row;
      v[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (m < M) v[i] = __ldcs(reinterpret_cast<const float4*>(lhs + m * K + chunk * 64) + vector);
    }
#pragma unroll
    for (int i = 0; i < 2048 / THREADS; ++i) {
      const int row = (i * THREADS + t) >> 4, vector = t & 15;
      float largest = fmaxf(fmaxf(fabsf(v[i].x), fabsf(v[i].y)), fmaxf(fabsf(v[i].z), fabsf(v[i].w)));
#pragma unroll
      for (int step = 8; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
      const uint32_t e = exponent_of(largest);
      const float scale = __uint_as_float((268u - e) << 23);
      const uint32_t w0 = halves_of(v[i].x, scale), w1 = halves_of(v[i].y, scale), w2 = halves_of(v[i].z, scale), w3 = halves_of(v[i].w, scale);
      const int piece = ((vector & 7) >> 1) ^ (row & 7);
      unsigned char* const to = image + (vector >> 3) * A_STAGE + row * 128 + (vector & 1) * 8;
      *reinterpret_cast<uint2*>(to + piece * 16) = make_uint2(__byte_perm(w0, w1, 0x5410), __byte_perm(w2, w3, 0x5410));
      *reinterpret_cast<uint2*>(to + (piece ^ 4) * 16) = make_uint2(__byte_perm(w0, w1, 0x7632), __byte_perm(w2, w3, 0x7632));
      if (vector == 0) {
        left_inverse[static_cast<int64_t>(item) * BM + row] = __uint_as_float((e - 14u) << 23);
      }
    }
    send(whole, words, 2 * A_STAGE);
    return;
  }
  const int place = static_cast<int>(blockIdx.x) - left_blocks;
  const int tile = place / CHUNKS, chunk = place % CHUNKS;
  const int item = tile * CHUNKS + chunk;
  unsigned char* const whole = reinterpret_cast<unsigned char*>(right_image) + static_cast<int64_t>(item) * (2 * B_BLOB);
  unsigned char* const image = reinterpret_cast<unsigned char*>(words + 64 * SCALED);
  float4 v[3072 / THREADS];
  float largest = 0.0f;
#pragma unroll
  for (int i = 0; i < 3072 / THREADS; ++i) {
    const int k = (i * THREADS + t) / 48, vector = (i * THREADS + t) % 48;
    v[i] = __ldcs(reinterpret_cast<const float4*>(rhs + static_cast<int64_t>(chunk * 64 + k) * N + tile * SCALED) + vector);
  }
#pragma unroll
  for (int i = 0; i < 3072 / THREADS; ++i)
    largest = fmaxf(largest, fmaxf(fmaxf(fabsf(v[i].x), fabsf(v[i].y)), fmaxf(fabsf(v[i].z), fabsf(v[i].w))));
#pragma unroll
  for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
  if ((t & 31) == 0) found[t >> 5] = __float_as_uint(largest);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < THREADS / 32; ++i) largest = fmaxf(largest, __uint_as_float(found[i]));
  const uint32_t e = exponent_of(largest);
  const float scale = __uint_as_float((268u - e) << 23);
#pragma unroll
  for (int i = 0; i < 3072 / THREADS; ++i) {
    const int k = (i * THREADS + t) / 48, vector = (i * THREADS + t) % 48;
    reinterpret_cast<uint4*>(words)[k * 48 + (vector ^ (((k >> 3) & 3) * 2))] =
        make_uint4(halves_of(v[i].x, scale), halves_of(v[i].y, scale), halves_of(v[i].z, scale), halves_of(v[i].w, scale));
  }
  __syncthreads();
  const int c = t & 3;  // of the four pieces of eight along K
#pragma unroll
  for (int i = 0; i < 1536 / THREADS; ++i) {
    const int position = (i * THREADS + t) >> 2;
    const int column = position % SCALED, stage = position / SCALED;
    const int at = (stage * 32 + c * 8) * SCALED + ((((column >> 2) ^ (c * 2)) << 2) | (column & 3));
    uint32_t w[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) w[j] = words[at + j * SCALED];
    unsigned char* const to = image + stage * B_BLOB + column * 128;
    const int piece = c ^ (column & 7);
    *reinterpret_cast<uint4*>(to + piece * 16) = make_uint4(__byte_perm(w[0], w[1], 0x5410), __byte_perm(w[2], w[3], 0x5410),
                                                            __byte_perm(w[4], w[5], 0x5410), __byte_perm(w[6], w[7], 0x5410));
    *reinterpret_cast<uint4*>(to + (piece ^ 4) * 16) = make_uint4(__byte_perm(w[0], w[1], 0x7632), __byte_perm(w[2], w[3], 0x7632),
                                                                  __byte_perm(w[4], w[5], 0x7632), __byte_perm(w[6], w[7], 0x7632));
  }
  send(whole, words + 64 * SCALED, 2 * B_BLOB);
  if (t == 0) right_inverse[item] = __uint_as_float((e - 14u) << 23);
}

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile(
        "{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  } while (done == 0);
}

/// Tells the producer that this warp has read a stage.
__device__ __forceinline__ void release(uint32_t barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory"); }

__device__ __forceinline__ void copy(uint32_t to, const unsigned char* from, uint32_t bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes),
               "r"(barrier)
               : "memory");
}

__device__ __forceinline__ float read(const float* from) {
  float value;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(from));
  return value;
}

/// K-major, 128-byte swizzle, 1024 bytes between groups of eight rows.
__device__ __forceinline__ uint64_t descriptor(uint32_t address) {
  return (1ull << 62) | (64ull << 32) | (1ull << 16) | static_cast<uint64_t>((address & 0x3ffffu) >> 4);
}

/// part[96] (+)= 64x16 of the left times 16x192 of the right operand, both K-major in shared memory.
__device__ __forceinline__ void multiply_add(float (&d)[96], uint64_t a, uint64_t b, int add) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %98, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 {"
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
               "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
               "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
               "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
               "}, %96, %97, p, 1, 1, 0, 0;\n\t}\n"
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
               : "l"(a), "l"(b), "r"(add));
}

/// Ends the products that are under way; what they wrote may be read from here on.
__device__ __forceinline__ void finish(float (&d)[96]) {
  asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n"
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
               :: "memory");
}

/// The tile of a unit of work: rows of tiles in groups, within a group column by column.
__device__ __forceinline__ void place_of(int unit, int rows, int& row, int& column) {
  const int first = unit / (GROUP * TILES) * GROUP;
  const int size = rows - first < GROUP ? rows - first : GROUP;
  const int rest = unit % (GROUP * TILES);
  row = first + rest % size;
  column = rest / size;
}

extern "C" __global__ void __launch_bounds__(384, 1)
    matmul(const float* left_image, const float* right_image, const float* left_inverse, const float* right_inverse, float* y, int64_t M) {
  extern __shared__ __align__(128) uint32_t words[];
  const uint32_t stages = (static_cast<uint32_t>(__cvta_generic_to_shared(words)) + 1023u) & ~1023u;
  const uint32_t full = stages + STAGES * STAGE;
  const uint32_t empty = full + 8 * STAGES;
  const int worker = static_cast<int>(blockIdx.x);
  const int rows = static_cast<int>((M + 255) / 256) * 2;
  const int units = rows * TILES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty + 8 * s), "r"(8) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 0) {
      uint32_t stage = 0, phase = 1;
      for (int unit = worker; unit < units; unit += WORKERS) {
        int row, column_tile;
        place_of(unit, rows, row, column_tile);
        const int row_tile = row;
        const unsigned char* left = reinterpret_cast<const unsigned char*>(left_image) + static_cast<int64_t>(row_tile) * (2 * CHUNKS * A_STAGE);
        const unsigned char* right = reinterpret_cast<const unsigned char*>(right_image) + static_cast<int64_t>(column_tile) * (2 * CHUNKS * B_STAGE);
        for (int k = 0; k < 2 * CHUNKS; ++k) {
          const uint32_t ready = full + 8 * stage, to = stages + stage * STAGE;
          wait(empty + 8 * stage, phase);
          asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(ready), "r"(STAGE) : "memory");
          copy(to, left, A_STAGE, ready);
          copy(to + A_STAGE, right, B_BLOB, ready);
          left += A_STAGE;
          right += B_BLOB;
          if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
          }
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    const int group = static_cast<int>(threadIdx.x) / 128 - 1;
    const int lane = threadIdx.x & 31;
    const int row = group * 64 + ((threadIdx.x & 127) >> 5) * 16 + (lane >> 2);
    float part[96];
    float sum[96];
#pragma unroll
    for (int j = 0; j < 96; ++j) part[j] = 0.0f;
    uint32_t stage = 0, phase = 0;
    for (int unit = worker; unit < units; unit += WORKERS) {
      int unit_row, column_tile;
      place_of(unit, rows, unit_row, column_tile);
      const int row_tile = unit_row;
#pragma unroll
      for (int j = 0; j < 96; ++j) sum[j] = 0.0f;
#pragma unroll 1
      for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        const float upper_scale = read(left_inverse + (row_tile * CHUNKS + chunk) * BM + row);
        const float lower_scale = read(left_inverse + (row_tile * CHUNKS + chunk) * BM + row + 8);
        const float right_scale = read(right_inverse + column_tile * CHUNKS + chunk);
        const uint32_t first = stage;
        wait(full + 8 * stage, phase);
        if (++stage == STAGES) {
          stage = 0;
          phase ^= 1;
        }
        const uint32_t second = stage;
        wait(full + 8 * stage, phase);
        if (++stage == STAGES) {
          stage = 0;
          phase ^= 1;
        }
        const uint64_t left0 = descriptor(stages + first * STAGE + group * (64 * 128)), left1 = descriptor(stages + second * STAGE + group * (64 * 128));
        const uint64_t right0 = descriptor(stages + first * STAGE + A_STAGE), right1 = descriptor(stages + second * STAGE + A_STAGE);
        const uint64_t a0 = left0, a1 = left1, b0 = right0, b1 = right1;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        multiply_add(part, a0 + 0, b0 + 4, 0);  // hi * lo
        multiply_add(part, a0 + 4, b0 + 0, 1);  // lo * hi
        multiply_add(part, a0 + 2, b0 + 6, 1);  // hi * lo
        multiply_add(part, a0 + 6, b0 + 2, 1);  // lo * hi
        multiply_add(part, a1 + 0, b1 + 4, 1);  // hi * lo
        multiply_add(part, a1 + 4, b1 + 0, 1);  // lo * hi
        multiply_add(part, a1 + 2, b1 + 6, 1);  // hi * lo
        multiply_add(part, a1 + 6, b1 + 2, 1);  // lo * hi
        multiply_add(part, a0 + 0, b0 + 0, 1);  // hi * hi
        multiply_add(part, a0 + 2, b0 + 2, 1);  // hi * hi
        multiply_add(part, a1 + 0, b1 + 0, 1);  // hi * hi
        multiply_add(part, a1 + 2, b1 + 2, 1);  // hi * hi
        finish(part);
        if (lane == 0) {
          release(empty + 8 * first);
          release(empty + 8 * second);
        }
        const float upper = upper_scale * right_scale, lower = lower_scale * right_scale;
#pragma unroll
        for (int j = 0; j < 24; ++j) {
          sum[4 * j] = fmaf(part[4 * j], upper, sum[4 * j]);
          sum[4 * j + 1] = fmaf(part[4 * j + 1], upper, sum[4 * j + 1]);
          sum[4 * j + 2] = fmaf(part[4 * j + 2], lower, sum[4 * j + 2]);
          sum[4 * j + 3] = fmaf(part[4 * j + 3], lower, sum[4 * j + 3]);
        }
      }
      const int64_t m = static_cast<int64_t>(row_tile) * BM + row;
      float* const out = y + m * N + column_tile * BN + (lane & 3) * 2;
#pragma unroll
      for (int j = 0; j < 24; ++j) {
        if (m < M) __stcs(reinterpret_cast<float2*>(out + 8 * j), make_float2(sum[4 * j], sum[4 * j + 1]));
        if (m + 8 < M) __stcs(reinterpret_cast<float2*>(out + 8 * N + 8 * j), make_float2(sum[4 * j + 2], sum[4 * j + 3]));
      }
    }
  }
}

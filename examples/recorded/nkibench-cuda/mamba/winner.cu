// SPDX-License-Identifier: Apache-2.0
//@ scratch ends float32 [cdiv(M, 32), S, C]
//@ scratch sums float32 [cdiv(M, 32), C]
//@ scratch starts float32 [cdiv(M, 256), S, C]
//@ scratch window_sums float32 [cdiv(M, 256), C]
//@ launch local_ends grid=(cdiv(M, 256), C/32) block=(256) smem=82240 args=(delta, a, b, u, ends, sums, starts, window_sums, M)
//@ launch carry grid=(C*S/64) block=(64) args=(a, starts, window_sums, M)
//@ launch outputs grid=(cdiv(M, 256), C/32) block=(256) smem=98688 args=(delta, a, b, c, u, ends, sums, starts, y, M)

enum { CHANNELS = 32, WINDOW = 256, STEPS = 32, CHUNKS = WINDOW / STEPS, PADDED = WINDOW + 1 };
constexpr float LOG2E = 1.4426950408889634f;

/// Copies rows of a [.., M] tensor into shared memory, WINDOW elements of each from first on; zeros beyond M.
template <int ROWS_HERE>
__device__ __forceinline__ void load_rows(float* to, const float* from, int64_t first, int64_t M) {
#pragma unroll 8
  for (int at = threadIdx.x; at < ROWS_HERE * WINDOW; at += 256) {
    const int row = at / WINDOW, step = at % WINDOW;
    to[row * PADDED + step] = first + step < M ? from[row * M + first + step] : 0.0f;
  }
}

/// The state of each channel at the end of each chunk of STEPS steps, and of the whole window, had it begun at zero; sums of deltas.
extern "C" __global__ void __launch_bounds__(256) local_ends(const float* delta, const float* a, const float* b, const float* u, float* ends,
                                                             float* sums, float* starts, float* window_sums, int64_t M) {
  extern __shared__ float words[];
  float* const deltas = words;
  float* const inputs = deltas + CHANNELS * PADDED;
  float* const bs = inputs + CHANNELS * PADDED;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * WINDOW;
  const int64_t first_channel = static_cast<int64_t>(blockIdx.y) * CHANNELS;
  load_rows<CHANNELS>(deltas, delta + first_channel * M, first, M);
  load_rows<CHANNELS>(inputs, u + first_channel * M, first, M);
  load_rows<S>(bs, b, first, M);
  const int channel = threadIdx.x & 31, chunk = threadIdx.x >> 5;
  float decay[S], h[S];
#pragma unroll
  for (int s = 0; s < S; ++s) {
    decay[s] = a[(first_channel + channel) * S + s] * LOG2E;
    h[s] = 0.0f;
  }
  __syncthreads();
  const int64_t number = first / STEPS + chunk;
  float total = 0.0f;
#pragma unroll 2
  for (int t = 0; t < STEPS; ++t) {
    const int at = chunk * STEPS + t;
    const float step = deltas[channel * PADDED + at];
    const float input = step * inputs[channel * PADDED + at];
    total += step;
#pragma unroll
    for (int s = 0; s < S; ++s) h[s] = exp2f(step * decay[s]) * h[s] + bs[s * PADDED + at] * input;
  }
  if (number * STEPS < M) {
#pragma unroll
    for (int s = 0; s < S; ++s) ends[(number * S + s) * C + first_channel + channel] = h[s];
    sums[number * C + first_channel + channel] = total;
  }
  __syncthreads();  // the window's tensors are not needed any more
  float* const chunk_ends = words;                               // [CHUNKS][S][CHANNELS]
  float* const chunk_sums = words + CHUNKS * S * CHANNELS;       // [CHUNKS][CHANNELS]
#pragma unroll
  for (int s = 0; s < S; ++s) chunk_ends[(chunk * S + s) * CHANNELS + channel] = h[s];
  chunk_sums[chunk * CHANNELS + channel] = total;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < S / CHUNKS; ++i) {
    const int s = chunk * (S / CHUNKS) + i;
    const float rate = a[(first_channel + channel) * S + s] * LOG2E;
    float state = 0.0f, sum = 0.0f;
#pragma unroll
    for (int j = 0; j < CHUNKS; ++j) {
      const float own = chunk_sums[j * CHANNELS + channel];
      state = exp2f(rate * own) * state + chunk_ends[(j * S + s) * CHANNELS + channel];
      sum += own;
    }
    starts[(static_cast<int64_t>(blockIdx.x) * S + s) * C + first_channel + channel] = state;
    if (s == 0) window_sums[static_cast<int64_t>(blockIdx.x) * C + first_channel + channel] = sum;
  }
}

/// Puts the state with which each window begins in the place of its own end.
extern "C" __global__ void __launch_bounds__(64) carry(const float* a, float* starts, const float* window_sums, int64_t M) {
  const int at = static_cast<int>(blockIdx.x) * 64 + threadIdx.x;
  const int s = at / C, channel = at % C;
  const float rate = a[channel * S + s] * LOG2E;
  const int windows = static_cast<int>((M + WINDOW - 1) / WINDOW);
  float h = 0.0f;
  constexpr int AHEAD = 16;
  for (int first = 0; first < windows; first += AHEAD) {
    float end[AHEAD], kept[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const int number = first + i;
      end[i] = number < windows ? starts[(static_cast<int64_t>(number) * S + s) * C + channel] : 0.0f;
      kept[i] = number < windows ? window_sums[static_cast<int64_t>(number) * C + channel] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const int number = first + i;
      if (number < windows) starts[(static_cast<int64_t>(number) * S + s) * C + channel] = h;
      h = exp2f(rate * kept[i]) * h + end[i];
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) outputs(const float* delta, const float* a, const float* b, const float* c, const float* u,
                                                          const float* ends, const float* sums, const float* starts, float* y, int64_t M) {
  extern __shared__ float words[];
  float* const deltas = words;
  float* const inputs = deltas + CHANNELS * PADDED;  // and then the results
  float* const bs = inputs + CHANNELS * PADDED;
  float* const cs = bs + S * PADDED;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * WINDOW;
  const int64_t first_channel = static_cast<int64_t>(blockIdx.y) * CHANNELS;
  load_rows<CHANNELS>(deltas, delta + first_channel * M, first, M);
  load_rows<CHANNELS>(inputs, u + first_channel * M, first, M);
  load_rows<S>(bs, b, first, M);
  load_rows<S>(cs, c, first, M);
  const int channel = threadIdx.x & 31, chunk = threadIdx.x >> 5;
  const int64_t whole_channel = first_channel + channel;
  float decay[S], h[S];
#pragma unroll
  for (int s = 0; s < S; ++s) {
    decay[s] = a[whole_channel * S + s] * LOG2E;
    h[s] = starts[(static_cast<int64_t>(blockIdx.x) * S + s) * C + whole_channel];
  }
  // Over the chunks of this window before this one; those that do not exist belong to threads beyond M, whose results nobody stores.
  for (int j = 0; j < chunk; ++j) {
    const int64_t number = first / STEPS + j;
    if (number * STEPS >= M) break;
    const float own = sums[number * C + whole_channel];
#pragma unroll
    for (int s = 0; s < S; ++s) h[s] = exp2f(decay[s] * own) * h[s] + ends[(number * S + s) * C + whole_channel];
  }
  __syncthreads();
#pragma unroll 2
  for (int t = 0; t < STEPS; ++t) {
    const int at = chunk * STEPS + t;
    const float step = deltas[channel * PADDED + at];
    const float input = step * inputs[channel * PADDED + at];
    float sum = 0.0f;
#pragma unroll
    for (int s = 0; s < S; ++s) {
      h[s] = exp2f(step * decay[s]) * h[s] + bs[s * PADDED + at] * input;
      sum += cs[s * PADDED + at] * h[s];
    }
    inputs[channel * PADDED + at] = sum;
  }
  __syncthreads();
  for (int at = threadIdx.x; at < CHANNELS * WINDOW; at += 256) {
    const int row = at / WINDOW, step = at % WINDOW;
    if (first + step < M) y[(first_channel + row) * M + first + step] = inputs[row * PADDED + step];
  }
}

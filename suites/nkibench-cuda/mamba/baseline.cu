// SPDX-License-Identifier: Apache-2.0
//@ launch scan grid=(cdiv(C, 16)) block=(S, 16) args=(delta, a, b, c, u, y, M)

enum { CHANNELS = 16, STEPS = 32 };

/// One thread a channel and state; the states of a channel lie in one half of a warp.
extern "C" __global__ void scan(const float* delta, const float* a, const float* b, const float* c, const float* u,
                                float* y, int64_t M) {
  __shared__ float deltas[CHANNELS][STEPS];
  __shared__ float inputs[CHANNELS][STEPS];
  __shared__ float bs[S][STEPS + 1];
  __shared__ float cs[S][STEPS + 1];
  const int state = threadIdx.x;
  const int local = threadIdx.y;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * CHANNELS;
  const int64_t channel = first + local;
  const float decay = channel < C ? a[channel * S + state] : 0.0f;
  float h = 0.0f;
  for (int64_t start = 0; start < M; start += STEPS) {
    for (int i = local * S + state; i < CHANNELS * STEPS; i += CHANNELS * S) {
      const int64_t row = first + i / STEPS;
      const int64_t step = start + i % STEPS;
      deltas[i / STEPS][i % STEPS] = row < C && step < M ? delta[row * M + step] : 0.0f;
      inputs[i / STEPS][i % STEPS] = row < C && step < M ? u[row * M + step] : 0.0f;
    }
    for (int i = local * S + state; i < S * STEPS; i += CHANNELS * S) {
      const int64_t step = start + i % STEPS;
      bs[i / STEPS][i % STEPS] = step < M ? b[i / STEPS * M + step] : 0.0f;
      cs[i / STEPS][i % STEPS] = step < M ? c[i / STEPS * M + step] : 0.0f;
    }
    __syncthreads();
    for (int t = 0; t < STEPS && start + t < M; ++t) {
      const float step = deltas[local][t];
      h = expf(step * decay) * h + step * bs[state][t] * inputs[local][t];
      float sum = cs[state][t] * h;
      for (int other = S / 2; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, other);
      if (state == 0 && channel < C) y[channel * M + start + t] = sum;
    }
    __syncthreads();
  }
}

// SPDX-License-Identifier: Apache-2.0
// output (batch_size, hidden_size): each row of x = hidden_states + residual divided by its root mean square, times
// weight. The sum x itself is no output, and is not rounded.
//@ launch rmsnorm grid=(cdiv(batch_size, 32)) block=(32) args=(hidden_states, residual, weight, output, batch_size)
extern "C" __global__ void rmsnorm(const real* hidden_states, const real* residual, const real* weight, real* output,
                                   int64_t batch_size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= batch_size) return;
  const real* const left = hidden_states + i * hidden_size;
  const real* const right = residual + i * hidden_size;
  real squares = 0;
  for (int64_t j = 0; j < hidden_size; ++j) squares += (left[j] + right[j]) * (left[j] + right[j]);
  const real rms = sqrt(squares / hidden_size + real(1e-6));
  for (int64_t j = 0; j < hidden_size; ++j) output[i * hidden_size + j] = (left[j] + right[j]) / rms * weight[j];
}

// SPDX-License-Identifier: Apache-2.0
// The part of a mixture of experts that one rank computes. A token t has top_k experts topk_ids[t] with weights
// topk_weights[t]; the experts local_expert_offset, local_expert_offset + 1, ... are here. With x the token's
// hidden_states, an expert is w2 (silu(up) * gate) where gate is the first half of w1 x and up the second, and
// silu(u) = u / (1 + exp(-u)). The output of a token is the sum of its experts' results times their weights, 0 if none
// is here. Elements are the 8-bit floats times a scale: hidden_states has one for every 128 elements of a token
// (transposed), the weights w1 and w2 one for every 128 x 128.
#include <algorithm>
#include <cmath>
#include <vector>

#include "task.h"

namespace {

constexpr int64_t kBlock = 128;

/// sum over k of w[row][k] x[k], with w as it is stored, and its scales.
real product(const real* w, const real* scales, const real* x, int64_t row, int64_t length) {
  const int64_t blocks = length / kBlock;
  real sum = 0;
  for (int64_t k = 0; k < length; ++k) sum += w[row * length + k] * scales[row / kBlock * blocks + k / kBlock] * x[k];
  return sum;
}

}  // namespace

extern "C" void reference(const int32_t* topk_ids, const real* topk_weights, const real* hidden_states,
                          const real* hidden_states_scale, const real* gemm1_weights, const real* gemm1_weights_scale,
                          const real* gemm2_weights, const real* gemm2_weights_scale, int32_t local_expert_offset,
                          real* output, int64_t seq_len, int64_t, int64_t num_local_experts, int64_t hidden_size,
                          int64_t intermediate_size, int64_t gemm1_out_size, int64_t num_hidden_blocks,
                          int64_t num_intermediate_blocks, int64_t num_gemm1_out_blocks) {
  std::vector<real> x(static_cast<size_t>(hidden_size));
  std::vector<real> middle(static_cast<size_t>(intermediate_size));
  for (int64_t t = 0; t < seq_len; ++t) {
    real* const result = output + t * hidden_size;
    std::fill(result, result + hidden_size, real(0));
    for (int64_t k = 0; k < hidden_size; ++k)
      x[static_cast<size_t>(k)] = hidden_states[t * hidden_size + k] * hidden_states_scale[k / kBlock * seq_len + t];
    for (int64_t chosen = t * top_k; chosen < (t + 1) * top_k; ++chosen) {
      const int64_t expert = int64_t{topk_ids[chosen]} - local_expert_offset;
      if (expert < 0 || expert >= num_local_experts) continue;
      const real* const w1 = gemm1_weights + expert * gemm1_out_size * hidden_size;
      const real* const scales1 = gemm1_weights_scale + expert * num_gemm1_out_blocks * num_hidden_blocks;
      const real* const w2 = gemm2_weights + expert * hidden_size * intermediate_size;
      const real* const scales2 = gemm2_weights_scale + expert * num_hidden_blocks * num_intermediate_blocks;
      for (int64_t i = 0; i < intermediate_size; ++i) {
        const real gate = product(w1, scales1, x.data(), i, hidden_size);
        const real up = product(w1, scales1, x.data(), intermediate_size + i, hidden_size);
        middle[static_cast<size_t>(i)] = up / (1 + std::exp(-up)) * gate;
      }
      for (int64_t h = 0; h < hidden_size; ++h)
        result[h] += topk_weights[chosen] * product(w2, scales2, middle.data(), h, intermediate_size);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// The part of a mixture of experts that one rank computes. A token t has top_k experts topk_ids[t] with weights
// topk_weights[t]; the experts local_expert_offset, local_expert_offset + 1, ... are here. With x the token's
// hidden_states, an expert is w2 (silu(up) * gate) where gate is the first half of w1 x and up the second, and
// silu(u) = u / (1 + exp(-u)). The output of a token is the sum of its experts' results times their weights, 0 if none
// is here. Elements are the 8-bit floats times a scale: hidden_states has one for every 128 elements of a token
// (transposed), the weights w1 and w2 one for every 128 x 128.
//@ scratch x float64 [seq_len, hidden_size]
//@ scratch choices int32 [num_local_experts, seq_len]
//@ scratch counts int32 [num_local_experts]
//@ scratch middle float64 [seq_len*top_k, gemm1_out_size]
//@ scratch results float64 [seq_len*top_k, hidden_size]
//@ launch scale grid=(cdiv(seq_len*hidden_size, 256)) block=(256) args=(hidden_states, hidden_states_scale, x, seq_len, hidden_size)
//@ launch group grid=(num_local_experts) block=(1) args=(topk_ids, local_expert_offset, choices, counts, seq_len)
//@ launch expand grid=(cdiv(gemm1_out_size, 64), cdiv(seq_len, 64), num_local_experts) block=(16, 16) args=(x, gemm1_weights, gemm1_weights_scale, choices, counts, middle, seq_len, gemm1_out_size, hidden_size)
//@ launch activate grid=(cdiv(seq_len*intermediate_size, 256), num_local_experts) block=(256) args=(choices, counts, middle, seq_len, intermediate_size)
//@ launch contract grid=(cdiv(hidden_size, 64), cdiv(seq_len, 64), num_local_experts) block=(16, 16) args=(middle, gemm2_weights, gemm2_weights_scale, choices, counts, results, seq_len, hidden_size, intermediate_size)
//@ launch combine grid=(cdiv(seq_len*hidden_size, 256)) block=(256) args=(topk_ids, topk_weights, local_expert_offset, results, output, seq_len, hidden_size, num_local_experts)

enum { TILE = 64, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE, SCALED = 128 };

extern "C" __global__ void scale(const real* hidden_states, const real* hidden_states_scale, real* x, int64_t seq_len,
                                 int64_t hidden_size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= seq_len * hidden_size) return;
  x[i] = hidden_states[i] * hidden_states_scale[i % hidden_size / SCALED * seq_len + i / hidden_size];
}

/// Lists the choices (token * top_k + rank) of each expert.
extern "C" __global__ void group(const int32_t* topk_ids, int32_t local_expert_offset, int32_t* choices,
                                 int32_t* counts, int64_t seq_len) {
  const int64_t expert = blockIdx.x;
  int32_t count = 0;
  for (int64_t i = 0; i < seq_len * top_k; ++i) {
    if (topk_ids[i] == local_expert_offset + expert) choices[expert * seq_len + count++] = static_cast<int32_t>(i);
  }
  counts[expert] = count;
}

/// to[choice][column] = sum over k of from[choice / share][k] w[column][k], for the choices of expert blockIdx.z.
__device__ void product(const real* from, int64_t from_length, int64_t share, const real* w, const real* w_scale,
                        const int32_t* choices, int64_t count, real* to, int64_t columns, int64_t K) {
  __shared__ real left[DEPTH][TILE];
  __shared__ real right[DEPTH][TILE];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * TILE;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * TILE;
  if (first_row >= count) return;
  real sums[EACH][EACH] = {};
  for (int64_t start = 0; start < K; start += DEPTH) {
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
      const int64_t k = start + i % DEPTH;
      const int64_t row = first_row + i / DEPTH;
      const int64_t column = first_column + i / DEPTH;
      left[i % DEPTH][i / DEPTH] = row < count ? from[choices[row] / share * from_length + k] : real(0);
      right[i % DEPTH][i / DEPTH] = w[column * K + k] * w_scale[column / SCALED * (K / SCALED) + k / SCALED];
    }
    __syncthreads();
    for (int d = 0; d < DEPTH; ++d) {
      for (int r = 0; r < EACH; ++r) {
        for (int s = 0; s < EACH; ++s) {
          sums[r][s] += left[d][threadIdx.y + SIDE * r] * right[d][threadIdx.x + SIDE * s];
        }
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < EACH; ++r) {
    for (int s = 0; s < EACH; ++s) {
      const int64_t row = first_row + threadIdx.y + SIDE * r;
      const int64_t column = first_column + threadIdx.x + SIDE * s;
      if (row < count) to[choices[row] * columns + column] = sums[r][s];
    }
  }
}

extern "C" __global__ void expand(const real* x, const real* gemm1_weights, const real* gemm1_weights_scale,
                                  const int32_t* choices, const int32_t* counts, real* middle, int64_t seq_len,
                                  int64_t gemm1_out_size, int64_t hidden_size) {
  const int64_t expert = blockIdx.z;
  const int64_t weights = gemm1_out_size * hidden_size;
  product(x, hidden_size, top_k, gemm1_weights + expert * weights,
          gemm1_weights_scale + expert * (weights / (SCALED * SCALED)), choices + expert * seq_len, counts[expert],
          middle, gemm1_out_size, hidden_size);
}

/// The first half of a choice becomes silu(second half) * first half.
extern "C" __global__ void activate(const int32_t* choices, const int32_t* counts, real* middle, int64_t seq_len,
                                    int64_t intermediate_size) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t expert = blockIdx.y;
  if (i >= counts[expert] * intermediate_size) return;
  const int64_t choice = choices[expert * seq_len + i / intermediate_size];
  real* const gate = middle + choice * 2 * intermediate_size + i % intermediate_size;
  const real up = gate[intermediate_size];
  *gate *= up / (1 + exp(-up));
}

extern "C" __global__ void contract(const real* middle, const real* gemm2_weights, const real* gemm2_weights_scale,
                                    const int32_t* choices, const int32_t* counts, real* results, int64_t seq_len,
                                    int64_t hidden_size, int64_t intermediate_size) {
  const int64_t expert = blockIdx.z;
  const int64_t weights = hidden_size * intermediate_size;
  product(middle, 2 * intermediate_size, 1, gemm2_weights + expert * weights,
          gemm2_weights_scale + expert * (weights / (SCALED * SCALED)), choices + expert * seq_len, counts[expert],
          results, hidden_size, intermediate_size);
}

extern "C" __global__ void combine(const int32_t* topk_ids, const real* topk_weights, int32_t local_expert_offset,
                                   const real* results, real* output, int64_t seq_len, int64_t hidden_size,
                                   int64_t num_local_experts) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= seq_len * hidden_size) return;
  const int64_t token = i / hidden_size;
  real sum = 0;
  for (int64_t choice = token * top_k; choice < (token + 1) * top_k; ++choice) {
    const int64_t expert = int64_t{topk_ids[choice]} - local_expert_offset;
    if (expert < 0 || expert >= num_local_experts) continue;
    sum += topk_weights[choice] * results[choice * hidden_size + i % hidden_size];
  }
  output[i] = sum;
}

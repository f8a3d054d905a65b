// SPDX-License-Identifier: Apache-2.0
#include "suites/nkibench/operators.hpp"

#include <algorithm>

namespace accelopt::suites::nkibench {

const std::string_view kReferenceHead = R"(#include <cmath>
#include <vector>

#include "task.h"

namespace {

void product(const real* a, const real* b, real* c, int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
}

// A row becomes its softmax.
void softmax(real* row, int64_t n) {
  real largest = row[0];
  for (int64_t j = 1; j < n; ++j) largest = std::fmax(largest, row[j]);
  real total = 0;
  for (int64_t j = 0; j < n; ++j) total += row[j] = std::exp(row[j] - largest);
  for (int64_t j = 0; j < n; ++j) row[j] /= total;
}

real mean_of_squares(const real* row, int64_t n) {
  real squares = 0;
  for (int64_t j = 0; j < n; ++j) squares += row[j] * row[j];
  return squares / static_cast<real>(n);
}

}  // namespace

)";

namespace {

const std::vector<Letter> kMatrix{{'M', ""}, {'N', ""}};
const std::vector<Letter> kProduct{{'M', ""}, {'N', ""}, {'K', ""}};
const std::vector<Letter> kBatch{{'B', ""}, {'M', ""}, {'N', ""}, {'K', ""}};
constexpr std::string_view kSmall = "normal(0, 0.05)";

const std::vector<Operator>& operators() {
  static const std::vector<Operator> kOperators{
      {"adamw",
       "one AdamW step: theta - 1e-5 theta - 0.01 (0.9 m + 0.1 g) / (sqrt(1000 (0.999 v + 0.001 g^2)) + 1e-8)",
       kMatrix,
       {{"theta", "MN"}, {"g", "MN"}, {"m", "MN"}, {"v", "MN", "abs_normal(0, 1)"}},
       "MN",
       "M",
       "7*M*N",
       R"(
  for (int64_t i = 0; i < M * N; ++i) {
    const real first = real(0.9) * m[i] + real(0.1) * g[i];
    const real second = real(0.999) * v[i] + real(0.001) * g[i] * g[i];
    out[i] = theta[i] - real(1e-5) * theta[i] - real(0.01) * first / (std::sqrt(real(1000) * second) + real(1e-8));
  })"},
      {"add_rmsnorm_matmul",
       "y = x + z, out = (y / sqrt(mean(y^2) + eps) * g) @ w, the mean over the last axis of y",
       kProduct,
       {{"x", "MK"}, {"w", "KN"}, {"eps", "", "constant(1e-05)"}, {"z", "MK"}, {"g", "K"}},
       "MN",
       "M",
       "2*M*N*K + 6*M*K",
       R"(
  std::vector<real> y(static_cast<size_t>(K));
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t k = 0; k < K; ++k) y[k] = x[i * K + k] + z[i * K + k];
    const real rms = std::sqrt(mean_of_squares(y.data(), K) + eps);
    for (int64_t k = 0; k < K; ++k) y[k] = y[k] / rms * g[k];
    product(y.data(), w, out + i * N, 1, K, N);
  })"},
      {"bmm",
       "batched matrix product",
       kBatch,
       {{"lhs", "BMK"}, {"rhs", "BKN"}},
       "BMN",
       "BM",
       "2*B*M*N*K",
       R"(
  for (int64_t b = 0; b < B; ++b) product(lhs + b * M * K, rhs + b * K * N, out + b * M * N, M, K, N);)"},
      {"bmm_softmax",
       "softmax over the last axis of a batched matrix product",
       kBatch,
       {{"lhs", "BMK"}, {"rhs", "BKN"}},
       "BMN",
       "BM",
       "2*B*M*N*K + 5*B*M*N",
       R"(
  for (int64_t b = 0; b < B; ++b) product(lhs + b * M * K, rhs + b * K * N, out + b * M * N, M, K, N);
  for (int64_t i = 0; i < B * M; ++i) softmax(out + i * N, N);)"},
      {"gqa_full",
       "full softmax attention; each key-value head serves Q / H query heads; scale 1 / sqrt(D)",
       {{'B', ""}, {'N', ""}, {'S', "N"}, {'Q', "QH"}, {'H', "KH"}, {'D', ""}},
       {{"q", "BNQD"}, {"k", "BSHD"}, {"v", "BSHD"}},
       "BQND",
       "BN",
       "4*B*Q*N*S*D + 5*B*Q*N*S",
       R"(
  std::vector<real> p(static_cast<size_t>(S));
  const real scale = real(1) / std::sqrt(static_cast<real>(D));
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t h = 0; h < Q; ++h) {
      const int64_t head = h / (Q / H);
      for (int64_t i = 0; i < N; ++i) {
        const real* query = q + ((b * N + i) * Q + h) * D;
        real* result = out + ((b * Q + h) * N + i) * D;
        for (int64_t j = 0; j < S; ++j) {
          p[j] = 0;
          for (int64_t d = 0; d < D; ++d) p[j] += query[d] * k[((b * S + j) * H + head) * D + d];
          p[j] *= scale;
        }
        softmax(p.data(), S);
        for (int64_t d = 0; d < D; ++d) result[d] = 0;
        for (int64_t j = 0; j < S; ++j) {
          for (int64_t d = 0; d < D; ++d) result[d] += p[j] * v[((b * S + j) * H + head) * D + d];
        }
      }
    }
  })"},
      {"lora",
       "out = x w + (x a) b",
       {{'M', ""}, {'N', ""}, {'K', ""}, {'R', ""}},
       {{"x", "MK"}, {"w", "KN"}, {"a", "KR"}, {"b", "RN"}},
       "MN",
       "M",
       "2*(M*N*K + M*K*R + M*N*R) + M*N",
       R"(
  std::vector<real> narrow(static_cast<size_t>(R));
  std::vector<real> more(static_cast<size_t>(N));
  for (int64_t i = 0; i < M; ++i) {
    product(x + i * K, w, out + i * N, 1, K, N);
    product(x + i * K, a, narrow.data(), 1, K, R);
    product(narrow.data(), b, more.data(), 1, R, N);
    for (int64_t j = 0; j < N; ++j) out[i * N + j] += more[j];
  })"},
      {"mamba",
       "h[t] = exp(delta * a) * h[t-1] + delta * b * u, out = sum over the states of c * h: a selective state-space "
       "scan",
       {{'C', ""}, {'M', ""}, {'S', ""}},
       {{"delta", "CM", kSmall}, {"u", "CM", kSmall}, {"a", "CS", kSmall}, {"b", "SM", kSmall}, {"c", "SM", kSmall}},
       "CM",
       "C",
       "8*M*C*S",
       R"(
  std::vector<real> h(static_cast<size_t>(S));
  for (int64_t i = 0; i < C; ++i) {
    for (int64_t s = 0; s < S; ++s) h[s] = 0;
    for (int64_t t = 0; t < M; ++t) {
      const real step = delta[i * M + t];
      out[i * M + t] = 0;
      for (int64_t s = 0; s < S; ++s) {
        h[s] = std::exp(step * a[i * S + s]) * h[s] + step * b[s * M + t] * u[i * M + t];
        out[i * M + t] += c[s * M + t] * h[s];
      }
    }
  })"},
      {"matmul",
       "matrix product",
       kProduct,
       {{"lhs", "MK"}, {"rhs", "KN"}},
       "MN",
       "M",
       "2*M*N*K",
       R"(
  product(lhs, rhs, out, M, K, N);)"},
      {"matmul_add_rmsnorm",
       "y = x w + z, out = y g / sqrt(mean(y^2) + eps), the mean over the last axis of y",
       kProduct,
       {{"x", "MK"}, {"w", "KN"}, {"eps", "", "constant(1e-05)"}, {"z", "MN"}, {"g", "N"}},
       "MN",
       "M",
       "2*M*N*K + 6*M*N",
       R"(
  for (int64_t i = 0; i < M; ++i) {
    real* y = out + i * N;
    product(x + i * K, w, y, 1, K, N);
    for (int64_t j = 0; j < N; ++j) y[j] += z[i * N + j];
    const real rms = std::sqrt(mean_of_squares(y, N) + eps);
    for (int64_t j = 0; j < N; ++j) y[j] = y[j] * g[j] / rms;
  })"},
      {"rmsnorm_matmul",
       "out = (x / sqrt(mean(x^2))) @ w, the mean over the last axis of x, without epsilon and gain",
       kProduct,
       {{"x", "MK"}, {"w", "KN"}},
       "MN",
       "M",
       "2*M*N*K + 4*M*K",
       R"(
  std::vector<real> y(static_cast<size_t>(K));
  for (int64_t i = 0; i < M; ++i) {
    const real rms = std::sqrt(mean_of_squares(x + i * K, K));
    for (int64_t k = 0; k < K; ++k) y[k] = x[i * K + k] / rms;
    product(y.data(), w, out + i * N, 1, K, N);
  })"},
      {"rope_single_freq_apply",
       "x as halves x0 x1 over its first axis: (x0 cos - x1 sin; x0 sin + x1 cos)",
       {{'D', ""}, {'F', "D / 2"}, {'L', "B * H * N"}},
       {{"x", "DL"}, {"freqs_cos", "FL"}, {"freqs_sin", "FL"}},
       "DL",
       "L",
       "3*D*L",
       R"(
  for (int64_t i = 0; i < F * L; ++i) {
    out[i] = x[i] * freqs_cos[i] - x[F * L + i] * freqs_sin[i];
    out[F * L + i] = x[i] * freqs_sin[i] + x[F * L + i] * freqs_cos[i];
  })"},
      {"silu",
       "out = x / (1 + exp(-x)), element by element",
       kMatrix,
       {{"x", "MN"}},
       "MN",
       "M",
       "3*M*N",
       R"(
  for (int64_t i = 0; i < M * N; ++i) out[i] = x[i] / (real(1) + std::exp(-x[i]));)"},
      {"swiglu",
       "up = x w_up, gate = x w_gate, out = (gate sigmoid(gate) * up) w_down",
       kProduct,
       {{"x", "MK"}, {"w_up", "KN"}, {"w_down", "NK"}, {"w_gate", "KN"}},
       "MK",
       "M",
       "6*M*N*K + 5*M*N",
       R"(
  std::vector<real> up(static_cast<size_t>(N));
  std::vector<real> gate(static_cast<size_t>(N));
  for (int64_t i = 0; i < M; ++i) {
    product(x + i * K, w_up, up.data(), 1, K, N);
    product(x + i * K, w_gate, gate.data(), 1, K, N);
    for (int64_t j = 0; j < N; ++j) up[j] *= gate[j] / (real(1) + std::exp(-gate[j]));
    product(up.data(), w_down, out + i * K, 1, N, K);
  })"},
      {"transpose_matmul",
       "out = lhs^T rhs",
       kProduct,
       {{"lhs", "KM"}, {"rhs", "KN"}},
       "MN",
       "M",
       "2*M*N*K",
       R"(
  std::vector<real> column(static_cast<size_t>(K));
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t k = 0; k < K; ++k) column[k] = lhs[k * M + i];
    product(column.data(), rhs, out + i * N, 1, K, N);
  })"}};
  return kOperators;
}

}  // namespace

const Operator* find_operator(std::string_view name) {
  const std::vector<Operator>& all = operators();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Operator& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace accelopt::suites::nkibench

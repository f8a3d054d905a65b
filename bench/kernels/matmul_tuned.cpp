// SPDX-License-Identifier: Apache-2.0
// A matrix product in register tiles over packed strips of the right side: y[M][N] = lhs[M][K] @ rhs[K][N].
//@ tune MR in {1, 2, 3, 4, 5, 6, 8}  NV in {1, 2, 3, 4}  KC in {28, 56, 112, 224}  UNROLL in {1, 2, 4}
//@ require MR*NV <= 16 && MR*NV >= 2
//@ require N % (8*NV) == 0 || NV == 4
#include <stdlib.h>
#include "task.h"

typedef float vec __attribute__((vector_size(32), aligned(4)));
#define NR (8 * NV)

template <int ROWS>
static inline void tile(const float* a, const float* b, float* c, int64_t depth, bool first) {
  vec sum[ROWS][NV];
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < NV; ++j) sum[i][j] = first ? vec{} : *(const vec*)(c + i * N + 8 * j);
  _Pragma("GCC unroll 1") for (int64_t k = 0; k < depth; k += UNROLL) {
    _Pragma("GCC unroll 8") for (int u = 0; u < UNROLL; ++u) {
      vec right[NV];
      for (int j = 0; j < NV; ++j) right[j] = *(const vec*)(b + (k + u) * NR + 8 * j);
      for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < NV; ++j) sum[i][j] += a[i * K + k + u] * right[j];
    }
  }
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < NV; ++j) *(vec*)(c + i * N + 8 * j) = sum[i][j];
}

static void edge(const float* lhs, const float* rhs, float* y, int64_t M, int64_t column) {
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = column; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += lhs[i * K + k] * rhs[k * N + j];
      y[i * N + j] = sum;
    }
}

extern "C" void kernel(const float* lhs, const float* rhs, float* y, int64_t M) {
  float packed[KC * NR];
  int64_t column = 0;
  for (; column + NR <= N; column += NR)
    for (int64_t k = 0; k < K; k += KC) {
      for (int64_t p = 0; p < KC; ++p)
        for (int64_t j = 0; j < NR; ++j) packed[p * NR + j] = rhs[(k + p) * N + column + j];
      int64_t i = 0;
      for (; i + MR <= M; i += MR) tile<MR>(lhs + i * K + k, packed, y + i * N + column, KC, k == 0);
      for (; i < M; ++i) tile<1>(lhs + i * K + k, packed, y + i * N + column, KC, k == 0);
    }
  if (column < N) edge(lhs, rhs, y, M, column);
}

// SPDX-License-Identifier: Apache-2.0
// A sparse matrix times a vector: y (M), where row i of the matrix has the entries from indptr[i] to indptr[i + 1],
// each a value and a column. A column may occur more than once in a row, and a row may be empty.
#include "task.h"

extern "C" void reference(const int32_t* indptr, const int32_t* columns, const real* values, const real* x, real* y,
                          int64_t, int64_t M, int64_t, int64_t) {
  for (int64_t i = 0; i < M; ++i) {
    real sum = 0;
    for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) sum += values[e] * x[columns[e]];
    y[i] = sum;
  }
}

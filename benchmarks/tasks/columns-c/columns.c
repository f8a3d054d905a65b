/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

void column_sums(const int *table, size_t rows, size_t columns, long *sums) {
  for (size_t column = 0; column < columns; column++) {
    sums[column] = 0;
    for (size_t row = 0; row < rows; row++) sums[column] += table[row * columns + column];
  }
}

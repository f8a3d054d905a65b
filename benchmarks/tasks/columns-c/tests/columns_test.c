/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

int main(void) {
  const int table[] = {1, 2, 3, 4, 5, -6};
  long sums[] = {9, 9, 9};
  column_sums(table, 2, 3, sums);
  if (sums[0] != 5 || sums[1] != 7 || sums[2] != -3) return 1;
  column_sums(table, 0, 2, sums);
  return sums[0] == 0 && sums[1] == 0 ? 0 : 1;
}

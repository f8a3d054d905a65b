/* SPDX-License-Identifier: Apache-2.0 */
/* A case is a line: rows, columns, a seed, repetitions. Fills a table by it, sums it so often, and writes the sums. */
#include <stdio.h>
#include <stdlib.h>

#include "columns.h"

int main(int argc, char **argv) {
  FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
  FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;
  size_t rows, columns, repetitions;
  unsigned state;
  if (in == NULL || out == NULL) return 2;
  while (fscanf(in, "%zu %zu %u %zu", &rows, &columns, &state, &repetitions) == 4) {
    int *table = malloc((rows * columns + 1) * sizeof *table);
    long *sums = malloc((columns + 1) * sizeof *sums);
    if (table == NULL || sums == NULL) return 2;
    for (size_t i = 0; i < rows * columns; i++) table[i] = (int)(state = state * 1664525u + 1013904223u) >> 8;
    for (size_t time = 0; time < repetitions; time++) {
      if (rows > 0 && columns > 0) table[time % (rows * columns)] ^= 1;
      column_sums(table, rows, columns, sums);
    }
    for (size_t i = 0; i < columns; i++) fprintf(out, "%ld ", sums[i]);
    fputs("\n", out);
    free(table);
    free(sums);
  }
  return fclose(out) == 0 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// Calls `int subject(const long *in, int n, long *out)` on each case: a line of whole numbers, `in`. It gives how many numbers it
// wrote to `out`, which has room for 4 n + 64, or a negative number for an error. Writes that number, `out`, and `in` after the call.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int subject(const long *in, int n, long *out);

static char line[1 << 20];

int main(int argc, char **argv) {
  FILE *cases = fopen(argv[1], "r");
  FILE *results = fopen(argv[2], "w");
  if (!cases || !results) return 2;
  while (fgets(line, sizeof line, cases)) {
    int room = (int)(strlen(line) / 2 + 2);
    long *in = calloc(room, sizeof *in);
    int n = 0;
    char *at = line;
    char *end;
    for (;;) {
      long value = strtol(at, &end, 10);
      if (end == at) break;
      in[n++] = value;
      at = end;
    }
    long *out = calloc(4 * (size_t)n + 64, sizeof *out);
    int count = subject(in, n, out);
    fprintf(results, "%d:", count);
    for (int i = 0; i < count && i < 4 * n + 64; ++i) fprintf(results, " %ld", out[i]);
    fprintf(results, " |");
    for (int i = 0; i < n; ++i) fprintf(results, " %ld", in[i]);
    fprintf(results, "\n");
    free(in);
    free(out);
  }
  fclose(results);
  return 0;
}

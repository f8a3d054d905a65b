/* SPDX-License-Identifier: Apache-2.0 */
/* A case is a line: a number of bytes and a seed. Fills them by it, and writes the fingerprints of all their halves. */
#include <stdio.h>
#include <stdlib.h>

#include "hash.h"

int main(int argc, char **argv) {
  FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
  FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;
  size_t count;
  unsigned state;
  if (in == NULL || out == NULL) return 2;
  while (fscanf(in, "%zu %u", &count, &state) == 2) {
    unsigned char *bytes = malloc(count + 1);
    if (bytes == NULL) return 2;
    for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
    for (int round = 0; round < 24; round++) {
      if (count > 0) bytes[(size_t)round % count] ^= 1;
      fprintf(out, "%llx ", (unsigned long long)fingerprint(bytes, count));
    }
    fputs("\n", out);
    free(bytes);
  }
  return fclose(out) == 0 ? 0 : 1;
}

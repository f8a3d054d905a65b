/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the function on every case, a line each; writes what it gave, and its text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shout.h"

int main(int argc, char **argv) {
  FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
  FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;
  char *line = NULL;
  size_t room = 0;
  if (in == NULL || out == NULL) return 2;
  while (getline(&line, &room, in) >= 0) {
    line[strcspn(line, "\n")] = '\0';
    char *loud = malloc(strlen(line) + 1);
    if (loud == NULL) return 2;
    long value = shout(line, loud);
    fprintf(out, "%ld %s %s\n", value, loud, line);
    free(loud);
  }
  free(line);
  return fclose(out) == 0 ? 0 : 1;
}

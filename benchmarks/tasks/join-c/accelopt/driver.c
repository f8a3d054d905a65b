/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the function on every case, a line each; writes what it gave. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "join.h"

int main(int argc, char **argv) {
  FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
  FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;
  char *line = NULL;
  size_t room = 0;
  if (in == NULL || out == NULL) return 2;
  while (getline(&line, &room, in) >= 0) {
    const size_t length = strlen(line);
    const char **words = malloc((length + 1) * sizeof *words);
    char *text = malloc(3 * length + 1);
    size_t count = 0;
    if (words == NULL || text == NULL) return 2;
    for (char *word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) words[count++] = word;
    join(text, words, count, ", ");
    fprintf(out, "%s\n", text);
    free(words);
    free(text);
  }
  free(line);
  return fclose(out) == 0 ? 0 : 1;
}

/* Calls the function on every case, a line each, and writes what it gave, and its arguments after the call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "{stem}.h" /* TODO: check, or declare it here */

int main(int argc, char **argv) {
  FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
  FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;
  char *line = NULL;
  size_t room = 0;
  int timed = getenv("ACCELOPT_TIME_CALLS") != NULL; /* in a run of the old code alone: the calls' share of the time */
  clock_t calls = 0;
  if (in == NULL || out == NULL) return 2;
  while (getline(&line, &room, in) >= 0) {
    line[strcspn(line, "\n")] = '\0';
    clock_t began = timed ? clock() : 0;
    /* TODO: call it as its users do */
    long value = {function}(line);
    if (timed) calls += clock() - began;
    fprintf(out, "%ld %s\n", value, line);
  }
  free(line);
  if (timed) fprintf(stderr, "seconds of calls: %.6f\n", (double)calls / CLOCKS_PER_SEC);
  return fclose(out) == 0 ? 0 : 1;
}

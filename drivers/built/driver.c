/* Calls the function on every case, a line each, and writes what it gave, and its arguments after the call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "{stem}.h" /* TODO: check, or declare it here */

/* Writes a value by its type, with all its digits. A type that is missing here does not compile: write what is to be
   compared of it, such as the members of a struct, each by a call of its own. */
#define TOLD(out, value) \
  _Generic((value), \
      _Bool: told_signed, char: told_signed, signed char: told_signed, short: told_signed, int: told_signed, \
      long: told_signed, long long: told_signed, \
      unsigned char: told_unsigned, unsigned short: told_unsigned, unsigned: told_unsigned, \
      unsigned long: told_unsigned, unsigned long long: told_unsigned, \
      float: told_float, double: told_double, long double: told_long_double, \
      char *: told_text, const char *: told_text)(out, value)

static inline void told_signed(FILE *out, long long value) { fprintf(out, "%lld", value); }
static inline void told_unsigned(FILE *out, unsigned long long value) { fprintf(out, "%llu", value); }

/* A NaN has no sign that counts. */
static inline void told_long_double(FILE *out, long double value) {
  if (value != value) fputs("nan", out);
  else fprintf(out, "%.36Lg", value);
}
static inline void told_double(FILE *out, double value) {
  if (value != value) fputs("nan", out);
  else fprintf(out, "%.17g", value);
}
static inline void told_float(FILE *out, float value) {
  if (value != value) fputs("nan", out);
  else fprintf(out, "%.9g", value);
}

static inline void told_text(FILE *out, const char *value) {
  if (value == NULL) {
    fputs("null", out);
    return;
  }
  putc('"', out);
  for (; *value != '\0'; ++value) {
    unsigned char c = (unsigned char)*value;
    if (c < ' ' || c == '"' || c == '\\') fprintf(out, "\\x%02x", c);
    else putc(c, out);
  }
  putc('"', out);
}

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
    __auto_type value = {function}(line); /* of GCC and Clang: the type that the function gives */
    if (timed) calls += clock() - began;
    TOLD(out, value);
    fprintf(out, " %s\n", line);
  }
  free(line);
  if (timed) fprintf(stderr, "seconds of calls: %.6f\n", (double)calls / CLOCKS_PER_SEC);
  return fclose(out) == 0 ? 0 : 1;
}

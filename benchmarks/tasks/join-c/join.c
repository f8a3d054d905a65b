/* SPDX-License-Identifier: Apache-2.0 */
#include "join.h"

#include <string.h>

void join(char *out, const char *const *words, size_t count, const char *separator) {
  out[0] = '\0';
  for (size_t i = 0; i < count; i++) {
    if (i > 0) strcat(out, separator);
    strcat(out, words[i]);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "shout.h"

#include <string.h>

long shout(const char *text, char *out) {
  long changed = 0;
  for (size_t i = 0; i < strlen(text); i++) {
    out[i] = text[i];
    if (text[i] >= 'a' && text[i] <= 'z') {
      out[i] = (char)(text[i] - 'a' + 'A');
      changed++;
    }
  }
  out[strlen(text)] = '\0';
  return changed;
}

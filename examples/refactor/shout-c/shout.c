/* SPDX-License-Identifier: Apache-2.0 */
#include "shout.h"

#include <string.h>

long shout(char *text) {
  long changed = 0;
  for (size_t i = 0; i < strlen(text); i++) {
    if (text[i] >= 'a' && text[i] <= 'z') {
      text[i] = (char)(text[i] - 'a' + 'A');
      changed++;
    }
  }
  return changed;
}

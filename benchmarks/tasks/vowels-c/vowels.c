/* SPDX-License-Identifier: Apache-2.0 */
#include "vowels.h"

#include <string.h>

long mark_vowels(char *text) {
  long marked = 0;
  for (size_t i = 0; i < strlen(text); i++) {
    if (strchr("aeiou", text[i]) != NULL) {
      text[i] = (char)(text[i] - 'a' + 'A');
      marked++;
    }
  }
  return marked;
}

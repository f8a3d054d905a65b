/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "vowels.h"

int main(void) {
  char text[] = "banana Ox";
  char nothing[] = "";
  return mark_vowels(text) == 3 && strcmp(text, "bAnAnA Ox") == 0 && mark_vowels(nothing) == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "join.h"

int main(void) {
  const char *words[] = {"a", "bc", ""};
  char out[32] = "old";
  join(out, words, 3, ", ");
  if (strcmp(out, "a, bc, ") != 0) return 1;
  join(out, words, 0, ", ");
  return out[0] == '\0' ? 0 : 1;
}

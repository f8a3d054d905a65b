/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "shout.h"

int main(void) {
  char out[6];
  return shout("Ab 1z", out) == 2 && strcmp(out, "AB 1Z") == 0 && shout("", out) == 0 && out[0] == '\0' ? 0 : 1;
}

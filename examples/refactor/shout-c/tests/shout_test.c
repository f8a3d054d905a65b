/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "shout.h"

int main(void) {
  char text[] = "Ab 1z";
  char nothing[] = "";
  return shout(text) == 2 && strcmp(text, "AB 1Z") == 0 && shout(nothing) == 0 ? 0 : 1;
}

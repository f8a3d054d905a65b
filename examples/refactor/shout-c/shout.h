/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Writes the text in capital letters to `out`, which has room for it and its end. Gives the number of letters that changed. */
long shout(const char *text, char *out);

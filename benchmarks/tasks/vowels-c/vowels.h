/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Writes the vowels of the text in capital letters, in place. Gives their number. */
long mark_vowels(char *text);

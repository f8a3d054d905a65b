/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Writes the text in capital letters, in its place. Gives the number of letters that changed. */
long shout(char *text);

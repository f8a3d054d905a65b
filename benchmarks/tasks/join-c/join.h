/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Writes the words with the separator between them. `out` has room for them and the end. */
void join(char *out, const char *const *words, size_t count, const char *separator);

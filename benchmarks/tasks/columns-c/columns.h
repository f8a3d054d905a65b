/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The sum of each column of a table that lies row by row. */
void column_sums(const int *table, size_t rows, size_t columns, long *sums);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* FNV-1a of the bytes. */
uint64_t fingerprint(const unsigned char *bytes, size_t count);

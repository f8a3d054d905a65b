/* SPDX-License-Identifier: Apache-2.0 */
#include "hash.h"

uint64_t fingerprint(const unsigned char *bytes, size_t count) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

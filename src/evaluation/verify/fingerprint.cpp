// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/fingerprint.hpp"

#include <sys/random.h>

#include <array>

#include "base/result.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace accelopt::evaluation {
namespace {

using Secret = std::array<std::byte, 256>;

const Secret& secret() {
  static const Secret drawn = [] {
    Secret out;
    const ssize_t got = getrandom(out.data(), out.size(), 0);  // never short for 256 bytes
    ACCELOPT_ASSERT(got == static_cast<ssize_t>(out.size()), "the operating system gave no random bytes");
    return out;
  }();
  return drawn;
}

XXH128_hash_t hash_of(const void* data, std::size_t bytes) {
  return XXH3_128bits_withSecret(data, bytes, secret().data(), secret().size());
}

}  // namespace

Fingerprint fingerprint(const std::vector<std::span<const std::byte>>& tensors) {
  std::vector<std::uint64_t> parts;
  parts.reserve(3 * tensors.size());
  for (const auto& tensor : tensors) {
    const XXH128_hash_t hash = hash_of(tensor.data(), tensor.size());
    parts.insert(parts.end(), {hash.low64, hash.high64, tensor.size()});
  }
  const XXH128_hash_t all = hash_of(parts.data(), parts.size() * sizeof(std::uint64_t));
  return {all.low64, all.high64};
}

}  // namespace accelopt::evaluation

// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/stream.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <cstring>

#include "base/result.hpp"

namespace accelopt::targets::cpu {
namespace {

#if defined(__x86_64__)
constexpr std::size_t kVector = sizeof(__m128i);

bool aligned(const std::byte* place) {
  return reinterpret_cast<std::uintptr_t>(place) % kVector == 0;
}
#endif

}  // namespace

bool streams() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

void fill(std::span<std::byte> bytes, std::uint64_t word, [[maybe_unused]] Bypass past) {
  std::size_t at = 0;
#if defined(__x86_64__)
  if (past == Bypass::caches) {
    ACCELOPT_ASSERT(aligned(bytes.data()), "memory to be streamed to begins at a multiple of 16");
    const __m128i vector = _mm_set1_epi64x(static_cast<long long>(word));
    for (; at + kVector <= bytes.size(); at += kVector)
      _mm_stream_si128(reinterpret_cast<__m128i*>(bytes.data() + at), vector);
    _mm_sfence();
  }
#endif
  for (; at + sizeof word <= bytes.size(); at += sizeof word) std::memcpy(bytes.data() + at, &word, sizeof word);
  if (at < bytes.size()) std::memcpy(bytes.data() + at, &word, bytes.size() - at);
}

void copy(std::span<const std::byte> from, std::span<std::byte> to, [[maybe_unused]] Bypass past) {
  ACCELOPT_ASSERT(from.size() == to.size(), "a copy is as long as what is copied");
  std::size_t at = 0;
#if defined(__x86_64__)
  if (past == Bypass::caches) {
    ACCELOPT_ASSERT(aligned(to.data()), "memory to be streamed to begins at a multiple of 16");
    for (; at + kVector <= to.size(); at += kVector) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to.data() + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from.data() + at)));
    }
    _mm_sfence();
  }
#endif
  if (at < to.size()) std::memcpy(to.data() + at, from.data() + at, to.size() - at);
}

}  // namespace accelopt::targets::cpu

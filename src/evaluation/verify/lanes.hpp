// SPDX-License-Identifier: Apache-2.0
// Loops over whole tensors, four doubles at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// With AVX2 such loops go at the speed of memory. The results are the same without: no operation is fused in either.
// What chooses between the two runs before a sanitizer is ready.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(ACCELOPT_SANITIZED)
#define ACCELOPT_WITH_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define ACCELOPT_WITH_AVX2
#endif

namespace accelopt::evaluation {

typedef double Lanes __attribute__((vector_size(32)));
typedef std::int64_t LaneMask __attribute__((vector_size(32)));
typedef float FloatLanes __attribute__((vector_size(16)));
inline constexpr std::size_t kLanes = 4;

inline void load_lanes(const double* from, Lanes& to) {
  std::memcpy(&to, from, sizeof to);
}
inline void load_lanes(const float* from, Lanes& to) {
  FloatLanes narrow;
  std::memcpy(&narrow, from, sizeof narrow);
  to = __builtin_convertvector(narrow, Lanes);
}

/// Keeps the bits of the mask: all but the sign, or whole lanes.
__attribute__((always_inline)) inline void keep_bits(const LaneMask& mask, Lanes& value) {
  value = reinterpret_cast<Lanes>(reinterpret_cast<LaneMask>(value) & mask);
}

/// Vectorizes where std::max, which takes references, does not.
inline double larger(double left, double right) {
  return left > right ? left : right;
}

}  // namespace accelopt::evaluation

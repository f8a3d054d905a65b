// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace accelopt::base {

/// SHA-256 of the bytes, as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

/// A 64-bit value drawn from a seed and a label: the same pair always gives the same value, and values of different
/// labels are unrelated.
std::uint64_t derive_seed(std::uint64_t seed, std::string_view label);

/// 64 bits from the operating system's random source.
std::uint64_t random_seed();

}  // namespace accelopt::base

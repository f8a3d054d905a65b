// SPDX-License-Identifier: Apache-2.0
// Writing memory as usual or past the caches: what is written so is in none of them afterwards, and was not read
// before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace accelopt::targets::cpu {

enum class Bypass { nothing, caches };

/// Whether memory can be written past the caches on this machine's kind of processor; where it cannot, Bypass::caches
/// writes as usual.
bool streams();

/// Repeats `word` over `bytes`. To go past the caches they must begin at a multiple of 16.
void fill(std::span<std::byte> bytes, std::uint64_t word, Bypass past);
/// Copies to `to`, as long as `from`; to go past the caches it must begin at a multiple of 16.
void copy(std::span<const std::byte> from, std::span<std::byte> to, Bypass past);

}  // namespace accelopt::targets::cpu

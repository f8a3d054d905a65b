// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace accelopt::evaluation {

/// 128 bits that stand for the bytes of some tensors: of other bytes they are the same with a probability of about
/// 2^-64, also when somebody chose the bytes who does not know this process's secret.
struct Fingerprint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const Fingerprint&) const = default;
};

/// Keyed with a secret that is drawn once a process: fingerprints of two processes have nothing in common.
Fingerprint fingerprint(const std::vector<std::span<const std::byte>>& tensors);

}  // namespace accelopt::evaluation

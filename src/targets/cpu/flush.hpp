// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace accelopt::targets::cpu {

/// Takes memory out of all caches.
class Flusher {
 public:
  /// `by_line`: the machine has an instruction for it; otherwise more than `last_level_bytes` are touched instead.
  Flusher(bool by_line, std::int64_t last_level_bytes);
  void flush(std::span<const std::byte> bytes);
  /// Flushes a few lines at once, where there is an instruction for it.
  void flush_now(const std::vector<std::span<const std::byte>>& lines) const;
  /// To be called once after the last `flush`: does what is left to do, and waits until it has happened.
  void finish();

 private:
  bool by_line_;
  std::size_t touched_bytes_;
  std::vector<std::byte> other_;
};

}  // namespace accelopt::targets::cpu

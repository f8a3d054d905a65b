// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace accelopt::targets::cpu {

/// What an arena's memory holds before its first call, and the steps by which the arena makes it so again: a kernel
/// finds nothing that an earlier call left. The arena can only read it.
class MemoryImage {
 public:
  MemoryImage() = default;
  /// Behind the orders of this file, which is not yet sealed.
  /// @error io: it cannot be mapped.
  static base::Result<MemoryImage> map(int orders);
  MemoryImage(MemoryImage&& other) noexcept;
  MemoryImage& operator=(MemoryImage&& other) noexcept;
  MemoryImage(const MemoryImage&) = delete;
  MemoryImage& operator=(const MemoryImage&) = delete;
  ~MemoryImage();

  enum class Taken { whole, unreadable, too_large };
  /// Of a stopped arena in which nothing of a candidate has run; its heap holds nothing from `heap_used` on.
  /// Unreadable: this machine does not let the worker read other processes.
  Taken take(pid_t arena, std::uint64_t heap_used);
  /// Whether the memory that the arena cannot write, and does not restore, is mapped as it was.
  [[nodiscard]] bool holds(pid_t arena) const;

 private:
  std::byte* map_ = nullptr;
  std::vector<std::string> fixed_;  ///< lines of the table of memory without the files' names, in order
};

}  // namespace accelopt::targets::cpu

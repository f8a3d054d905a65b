// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace accelopt::targets::cpu {

/// One line of a process's table of memory.
struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::string access;        ///< "r-xp"
  std::string name;          ///< the file's path, or one of the operating system's in brackets; empty: no file

  [[nodiscard]] bool executable() const { return access.find('x') != std::string::npos; }
};

/// Empty where the operating system does not tell.
std::vector<Mapping> mappings_of(pid_t process);

}  // namespace accelopt::targets::cpu

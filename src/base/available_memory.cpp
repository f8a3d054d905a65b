// SPDX-License-Identifier: Apache-2.0
#include "base/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace accelopt::base {

std::optional<std::uint64_t> available_memory() {
  std::optional<std::uint64_t> out;
  std::ifstream machine("/proc/meminfo");
  for (std::string name; machine >> name; machine.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    std::uint64_t kibibytes = 0;
    if (name == "MemAvailable:" && machine >> kibibytes) out = kibibytes << 10;
  }
  std::uint64_t most = 0;  // of a container; "max" is no number
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> most) out = std::min(out.value_or(most), most);
  return out;
}

}  // namespace accelopt::base

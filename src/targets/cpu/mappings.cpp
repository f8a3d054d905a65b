// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/mappings.hpp"

#include <sstream>

#include "base/files.hpp"

namespace accelopt::targets::cpu {

std::vector<Mapping> mappings_of(pid_t process) {
  std::istringstream table(base::read_file("/proc/" + std::to_string(process) + "/maps").value_or(""));
  std::vector<Mapping> out;
  for (std::string line; std::getline(table, line);) {
    Mapping mapping;
    std::istringstream words(line);
    std::string device;
    std::string node;
    char dash = 0;
    words >> std::hex >> mapping.begin >> dash >> mapping.end >> mapping.access >> mapping.offset >> device >> node >>
        std::ws;
    std::getline(words, mapping.name);
    out.push_back(std::move(mapping));
  }
  return out;
}

}  // namespace accelopt::targets::cpu

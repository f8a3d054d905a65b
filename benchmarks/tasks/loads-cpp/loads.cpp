// SPDX-License-Identifier: Apache-2.0
#include "loads.hpp"

#include <algorithm>

namespace loads {

std::vector<std::size_t> assign(const std::vector<long>& jobs, std::size_t workers) {
  std::vector<long> load(workers, 0);
  std::vector<std::size_t> chosen;
  for (const long job : jobs) {
    if (load.empty()) break;
    const auto least = std::min_element(load.begin(), load.end());
    *least += job;
    chosen.push_back(static_cast<std::size_t>(least - load.begin()));
  }
  return chosen;
}

}  // namespace loads

// SPDX-License-Identifier: Apache-2.0
#include "loads.hpp"

int main() {
  const std::vector<std::size_t> expected = {0, 1, 1, 1};
  return loads::assign({5, 2, 2, 1}, 2) == expected && loads::assign({}, 3).empty() ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
#include "search.hpp"

int main() {
  return search::hits({1, 3, 5}, {3, 4, 5, 5}) == 3 && search::hits({}, {1}) == 0 && search::hits({1}, {}) == 0 ? 0 : 1;
}

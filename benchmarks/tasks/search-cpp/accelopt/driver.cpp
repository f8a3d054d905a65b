// SPDX-License-Identifier: Apache-2.0
// Calls the function on every case, a line each: the values to sort and, after a bar, the wanted ones.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "search.hpp"

namespace {
std::vector<long> numbers_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<long> numbers;
  for (long number; in >> number;) numbers.push_back(number);
  return numbers;
}
}  // namespace

int main(int, char** argv) {
  std::ifstream in(argv[1]);
  std::ofstream out(argv[2]);
  for (std::string line; std::getline(in, line);) {
    const std::size_t bar = line.find('|');
    std::vector<long> sorted = numbers_of(line.substr(0, bar));
    std::sort(sorted.begin(), sorted.end());
    out << search::hits(sorted, numbers_of(line.substr(bar + 1))) << '\n';
  }
}

// SPDX-License-Identifier: Apache-2.0
// Calls the function on every case, a line each, and writes what it gave.
#include <fstream>
#include <sstream>

#include "tags.hpp"

int main(int, char** argv) {
  std::ifstream in(argv[1]);
  std::ofstream out(argv[2]);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    for (const std::string& tag : tags::distinct(all)) out << tag << ' ';
    out << '\n';
  }
}

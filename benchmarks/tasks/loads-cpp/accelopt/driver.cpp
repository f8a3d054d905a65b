// SPDX-License-Identifier: Apache-2.0
// Calls the function on every case, a line each: the number of workers, then the jobs. Writes what it gave.
#include <fstream>
#include <sstream>
#include <string>

#include "loads.hpp"

int main(int, char** argv) {
  std::ifstream in(argv[1]);
  std::ofstream out(argv[2]);
  for (std::string line; std::getline(in, line);) {
    std::istringstream numbers(line);
    std::size_t workers = 0;
    numbers >> workers;
    std::vector<long> jobs;
    for (long job; numbers >> job;) jobs.push_back(job);
    for (const std::size_t worker : loads::assign(jobs, workers)) out << worker << ' ';
    out << '\n';
  }
}

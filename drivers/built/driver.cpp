// Calls the function on every case, a line each, and writes what it gave, or the kind of error, and its arguments after it.
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <typeinfo>

#include "{stem}.hpp"  // TODO: check, or declare it here

int main(int, char** argv) {
  std::ifstream in(argv[1]);
  std::ofstream out(argv[2]);
  const bool timed = std::getenv("ACCELOPT_TIME_CALLS") != nullptr;  // in a run of the old code alone: the calls' share of the time
  std::clock_t calls = 0;
  for (std::string line; std::getline(in, line);) {
    try {
      const std::clock_t began = timed ? std::clock() : 0;
      // TODO: call it as its users do
      const auto& value = {function}(line);
      if (timed) calls += std::clock() - began;
      out << value << ' ' << line << '\n';
    } catch (const std::exception& error) {
      out << "error " << typeid(error).name() << ' ' << line << '\n';
    }
  }
  if (timed) std::cerr << "seconds of calls: " << std::fixed << static_cast<double>(calls) / CLOCKS_PER_SEC << '\n';
}

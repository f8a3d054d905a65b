// SPDX-License-Identifier: Apache-2.0
// Parts of a program: what some elements of its outputs depend on, and parts that may run side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "targets/trainium/program.hpp"

namespace accelopt::targets::trainium {

/// Elements of an output that lie behind each other.
struct Stretch {
  std::size_t output = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// By instruction: whether it is in the part.
using Part = std::vector<bool>;

/// The instructions that those elements may depend on.
Part needed_for(const Program& program, const std::vector<Stretch>& stretches);

/// Whether every element of every output is written by one instruction, once.
bool written_once(const Program& program);

/// Operations on elements, about: what to weigh parts by.
double work_of(const Program& program, const Part& part);

/// Parts that compute all outputs, no element in two of them; what several need is in each. One alone where they would
/// repeat too much of each other's work, or cannot be told apart.
std::vector<Part> independent_parts(const Program& program, std::size_t most);

/// Where the most memory is in use for tiles, constants and tensors that are neither inputs nor outputs: each from its
/// first to its last use, while the program is executed as a whole.
struct Resident {
  std::int64_t bytes = 0;
  int line = 0;
};
Resident most_resident(const Program& program);

/// How many parts of the program to run side by side on this machine: each may have all its tiles and tensors.
std::size_t most_parts(const Program& program);

/// How many threads so much work is worth.
std::size_t parts_worth(double work);

/// Whether parts that come to so much work together do not repeat too much of it.
bool pays(double together, double work);

}  // namespace accelopt::targets::trainium

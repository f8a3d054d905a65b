// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "evaluation/verify/numerics.hpp"

namespace accelopt::evaluation {

/// How many elements of a wrong output are out of their bounds, in which rows and columns (the last axis), and how far
/// at most: one line for people and fixer, of the same words whatever the numbers. The output has the right size.
std::string spread_text(const Expected& expected, const Bounds& bounds, std::span<const std::byte> actual);

}  // namespace accelopt::evaluation

// SPDX-License-Identifier: Apache-2.0
// Indices that follow from comparisons of floating-point values: where rounding decides which of several is named, any
// of them is right.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "evaluation/verify/numerics.hpp"

namespace accelopt::evaluation {

/// What the indices of an output name: elements along the last axis. The axes before it are the output's rows.
struct Choices {
  const Expected& values;
  const Bounds& bounds;
};

/// As `compare`. An index is right when it is the expected one, or when the value that it names is within the bound of
/// the one that the expected index names. Where the expected index names none (-1 for "nothing found"), it must be
/// equal. Indices that name a value are distinct within a row.
Comparison compare_choices(const Expected& expected, const Choices& choices, std::span<const std::byte> actual);

/// Why the reference's own indices cannot be judged so: they repeat in a row, or name a value that is NaN. Empty: they
/// can.
std::string refuse_choices(const Expected& expected, const Expected& values);

}  // namespace accelopt::evaluation

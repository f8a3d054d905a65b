// SPDX-License-Identifier: Apache-2.0
// Split-K and split-KV: the programs of a kernel that goes through one long loop become several, each with a part of
// the loop; what they found is put together by another kernel, which does the rest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recipes/triton_source.hpp"

namespace accelopt::recipes::triton {

/// A loop that can be split.
struct Splitting {
  std::string kernel;
  std::string variable;   ///< the loop's
  bool weighted = false;  ///< what it sums is weighted by powers of a largest value, as attention's sums are
};

/// One a kernel at most: it has one loop outside of all others, all that the loop carries are float32 sums (or the sums
/// and the largest value of a softmax), it stores nothing before its end, and the host launches it once on a grid of
/// one or two extents.
std::vector<Splitting> splittings(const Statements& all);

/// The solution with that kernel's loop in so many parts; none: it has no such loop.
std::optional<Statements> split(Statements all, const std::string& kernel, int parts);

}  // namespace accelopt::recipes::triton

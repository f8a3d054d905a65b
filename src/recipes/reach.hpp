// SPDX-License-Identifier: Apache-2.0
// Whether recipes could have made a kernel: a route of them from its parent to the same tokens.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "recipes/engine.hpp"

namespace accelopt::recipes {

/// How far a route is looked for.
struct ReachLimits {
  std::size_t steps = 4;      ///< recipes one after another
  std::size_t kernels = 200;  ///< kernels that are made on the way; all of one recipe are made before any of two
};

/// The applications that, made one after another with the parameters that recipes propose, turn `from` into a kernel
/// with the tokens of `to`; none: no such route was found within the limits. What looks more like `to` is gone on
/// with first, so a route may be missed, never invented. Deterministic.
std::optional<std::vector<Application>> route_between(const syntax::Clang& clang, const KernelSource& from,
                                                      const std::string& to, const ReachLimits& limits = {});

}  // namespace accelopt::recipes

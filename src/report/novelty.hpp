// SPDX-License-Identifier: Apache-2.0
// Which of a winner's steps recipes could have made (app/novelty.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "model/identity.hpp"

namespace accelopt::report {

/// recipes: they made it. route: they could have, one after another. beyond: no such route was found.
enum class Reach { recipes, route, beyond };

struct NoveltyStep {
  model::Identity identity;
  Reach reach = Reach::beyond;
  std::vector<std::string> route{};  ///< titles of the recipes, in order
};

/// From the baseline to the winner.
struct Novelty {
  std::vector<NoveltyStep> steps;

  [[nodiscard]] std::size_t beyond() const {
    return static_cast<std::size_t>(std::ranges::count(steps, Reach::beyond, &NoveltyStep::reach));
  }
};

}  // namespace accelopt::report

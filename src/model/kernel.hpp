// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "model/solution.hpp"
#include "model/tuning.hpp"

namespace accelopt::model {

/// A solution with its source id, made once where it comes in; neither changes afterwards.
class Kernel {
 public:
  explicit Kernel(Solution solution) : solution_(std::move(solution)), id_(source_id(solution_)) {}

  [[nodiscard]] const Solution& solution() const { return solution_; }
  [[nodiscard]] const std::string& id() const { return id_; }
  /// With one value for each tuned name. None: it has no such directives, or not as many names.
  [[nodiscard]] std::optional<Kernel> with_values(const TuningValues& values) const;

 private:
  Solution solution_;
  std::string id_;
};

}  // namespace accelopt::model

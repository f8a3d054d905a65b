// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/kernel.hpp"

namespace accelopt::evaluation {

/// What a search tells an evaluator that puts its requests off: what it will ask next if all goes well, so that one
/// journey to the device serves several requests. Any thread.
class Lookahead {
 public:
  virtual ~Lookahead() = default;

  /// The candidate's build was put off. If it builds, and is another program than the opponent, it will be raced
  /// against it.
  virtual void expect_race(const model::Kernel& candidate, const model::Kernel& opponent,
                           const std::string& opponent_machine_code_id) = 0;

  /// The finalists will be confirmed in this order until one holds.
  virtual void expect_confirmations(const std::vector<model::Kernel>& finalists) = 0;

  /// Whether the solution's build was put off before, in an earlier part of the run: it is paid for.
  virtual bool put_off_before(const model::Kernel& kernel) = 0;
};

}  // namespace accelopt::evaluation

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evaluation.hpp"
#include "model/kernel.hpp"

namespace accelopt::evaluation {

/// An attempt of the iteration at hand.
struct ExpectedAttempt {
  int parent = 0;  ///< place in the beam
  int plan = 0;
  model::Kernel kernel;                           ///< its answer; of a judged one that left values open, the chosen one
  std::optional<model::Evaluation> evaluation{};  ///< none: its race was put off
  bool duplicate = false;                         ///< of a program that was known before
  bool fixable = false;                           ///< if it fails, it goes to the fixer
};

enum class Leader { left, confirmed };

/// The play-off that follows when all attempts of the iteration are judged.
struct ExpectedPlayoff {
  std::vector<model::Kernel> beam;       ///< the parents, by place
  std::vector<model::Kernel> finalists;  ///< so far
  model::Kernel baseline;
  std::vector<ExpectedAttempt> attempts;  ///< in order of identity
  std::vector<std::string> known_code;    ///< machine code of earlier iterations, sorted
  int places = 1;
  Leader leader = Leader::left;  ///< confirmed: the search may end with this iteration
};

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

  /// All that the iteration still waits for are races of this evaluator's: behind them comes this play-off.
  virtual void expect_playoff(const ExpectedPlayoff& playoff) = 0;

  /// Whether the solution's build was put off before, in an earlier part of the run: it is paid for.
  virtual bool put_off_before(const model::Kernel& kernel) = 0;
};

}  // namespace accelopt::evaluation

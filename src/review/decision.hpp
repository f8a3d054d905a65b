// SPDX-License-Identifier: Apache-2.0
// Which of several changes that passed the gates is kept. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "review/answers.hpp"
#include "stats/estimate.hpp"

namespace accelopt::review {

/// One answer about a pair, as it was shown.
struct Vote {
  bool swapped = false;          ///< the pair's second was shown first
  std::optional<Better> better;  ///< of the two as shown; none: there was no readable answer
};

/// What the answers about a pair come to. A pair that is not stable is a tie.
struct PairOutcome {
  Better better = Better::equal;  ///< of the pair itself, whatever the order
  bool stable = false;            ///< all answers agree
  bool flipped = false;           ///< answers of different orders do not agree
  int first_shown = 0;            ///< answers that chose what was shown first
  int answers = 0;
};
PairOutcome outcome_of(std::span<const Vote> votes);

struct PairResult {
  std::size_t first = 0;
  std::size_t second = 0;
  PairOutcome outcome;
};

/// A change that passed the gates.
struct Contestant {
  std::string id;             ///< decides last
  bool disqualified = false;  ///< an objection to it was confirmed
  int rubric = 0;             ///< sum
  int diff_lines = 0;
};

/// The first is certainly better than the second: the intervals of their play-off lie apart.
struct CertainlyBetter {
  std::size_t winner = 0;
  std::size_t loser = 0;
};

/// Whether the reviewer's preferences count.
enum class Weight { advises, decides };
std::string_view to_string(Weight weight);

/// What the choice rests on. none: all were stopped.
enum class Reason { none, only_one, clock, pairs, rubric, smaller_diff, identity };
std::string_view to_string(Reason reason);

struct Choice {
  std::optional<std::size_t> chosen;
  Reason reason = Reason::none;
};

struct Decision {
  Choice choice;
  Choice advice;                  ///< what it would be if the reviewer's preferences counted
  std::vector<std::size_t> open;  ///< the ones that the clock does not separate
  std::vector<int> copeland;      ///< pairs won less pairs lost among the open ones, by contestant
};

/// Without what was stopped: a certainly better goal, then Copeland over the pairs, the rubric's sum, the smaller
/// diff, identity. Where the reviewer only advises, pairs and rubric are left out; what was stopped stays so.
Decision decide(const std::vector<Contestant>& contestants, std::span<const CertainlyBetter> certain,
                std::span<const PairResult> pairs, Weight weight);

}  // namespace accelopt::review

// SPDX-License-Identifier: Apache-2.0
// The measurement in fresh processes that alone is reported.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "stats/estimate.hpp"

namespace accelopt::stats {

/// What the interval of a confirmation allows for. blocks: that restarts are drawn again, with their blocks. restarts:
/// in addition, that what a restart measures scatters as the medians of the restarts do, by Student's distribution.
enum class Spread { blocks, restarts };

struct ConfirmationRules {
  int min_restarts = 8;      ///< fresh pairs of processes at least
  int min_blocks = 32;       ///< in all
  int max_blocks = 100;      ///< in all
  double half_width = 0.01;  ///< goes on until the interval's half-width is under this ...
  /// ... or under this share of the interval's low end: of a hundredfold gain nobody needs the per cent. By the low
  /// end, so that noise alone never ends a confirmation early, and not while a workload seems to be over
  /// allow_regression slower and is not certainly so.
  double half_width_of_gain = 0;
  double alpha = 0.05;
  double least_gain = 0.005;       ///< confirmed: the low end is over 1 + this
  double allow_regression = 0.05;  ///< no workload may certainly be slower by more than this
  /// A workload is answered once it is certainly no slower than allowed. The probability that any look says so of one
  /// that is slower than allowed is at most half of this. 0: none is ever answered.
  double answer_alpha = 0;
  Spread spread = Spread::restarts;
  std::uint64_t bootstrap_seed = 0x5eed;
  Samples samples = Samples::noisy;
};

/// In place of a log-ratio: the workload was left out of the block, as it was answered.
inline constexpr double kLeftOut = std::numeric_limits<double>::quiet_NaN();

/// One block of one restart: log(baseline / candidate) of every timed workload, in one fixed order. Those that are not
/// raced may be kLeftOut.
struct ConfirmationBlock {
  int restart = 0;
  std::vector<double> log_ratios;
};

struct ConfirmationDecision {
  Interval log_ratio;               ///< of the weighted raced workloads
  std::vector<Interval> workloads;  ///< log-ratios of every timed workload, held-out ones too
  int blocks = 0;
  int restarts = 0;
  bool enough = false;           ///< restarts and blocks suffice, and the interval is narrow or the blocks are used
  bool confirmed = false;        ///< enough, certainly faster, and nothing regressed
  std::optional<int> regressed;  ///< index of a workload that is certainly too slow
  std::vector<bool> answered;    ///< of every workload: whether its driver may leave it out, as long as this holds
};

/// What blocks measured until now say. `weights` has one entry a workload; 0 for those not raced (held out): they count
/// for the regression rule only. The interval is the hull of the trimmed t-interval over all blocks, of the
/// hierarchical bootstrap over restarts and blocks and, where the spread of restarts counts, of the t-interval over
/// their medians. Pure.
ConfirmationDecision decide_confirmation(std::span<const ConfirmationBlock> blocks, std::span<const double> weights,
                                         const ConfirmationRules& rules = {});

/// The driver's side: how many blocks the next pair of fresh processes should run.
class Confirmation {
 public:
  Confirmation(std::vector<double> weights, ConfirmationRules rules);

  /// Blocks that the next restart is to run (its number is restarts()); 0: enough. Every restart runs
  /// ceil(min_blocks / min_restarts), until max_blocks are used: more precision is bought with more restarts, not with
  /// longer ones.
  int next_restart_blocks() const;
  /// A restart that gave fewer blocks than asked is fine; one that gave none ends the confirmation as it is.
  void add_restart(std::span<const std::vector<double>> log_ratios_by_block);

  int restarts() const { return restarts_; }
  const std::vector<ConfirmationBlock>& blocks() const { return blocks_; }
  const ConfirmationDecision& decision() const { return decision_; }

 private:
  std::vector<double> weights_;
  ConfirmationRules rules_;
  std::vector<ConfirmationBlock> blocks_;
  ConfirmationDecision decision_;
  int restarts_ = 0;
  bool stuck_ = false;
};

/// One candidate confirmed as two copies in the same blocks, of which the worse is reported: the one that does not
/// confirm, else the slower.
class TwinConfirmation {
 public:
  TwinConfirmation(const std::vector<double>& weights, const ConfirmationRules& rules)
      : copies_{Confirmation(weights, rules), Confirmation(weights, rules)} {}

  /// Blocks that the next restart is to run until both copies are content; 0: enough.
  int next_restart_blocks() const;
  /// The same blocks of both.
  void add_restart(const std::array<std::vector<std::vector<double>>, 2>& log_ratios_by_block);
  std::size_t worse() const;
  const ConfirmationDecision& decision() const { return copies_[worse()].decision(); }

 private:
  std::array<Confirmation, 2> copies_;
};

}  // namespace accelopt::stats

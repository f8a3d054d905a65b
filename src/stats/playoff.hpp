// SPDX-License-Identifier: Apache-2.0
// The race of all parents and kept candidates side by side. Arm 0 is the baseline; every arm's sample is log(baseline /
// arm).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stats/estimate.hpp"

namespace accelopt::stats {

struct PlayoffRules {
  int places = 3;       ///< B: how many arms are wanted
  int min_blocks = 12;  ///< no end before
  int max_blocks = 48;
  double alpha = 0.05;  ///< probability of any wrong certainty; split evenly over all pairs of arms and all looks
  Samples samples = Samples::noisy;
  bool baseline_competes = true;  ///< arm 0 takes part in the places (it always runs: it is the anchor)
};

/// One round. Arms that did not run (failed or dropped) are absent; arm 0 is 0 by definition.
using PlayoffBlock = std::vector<std::optional<double>>;

struct PlayoffArm {
  bool failed = false;   ///< said by Playoff::fail
  bool dropped = false;  ///< certainly out of the first places; never the baseline
  Interval log_score;    ///< trimmed mean of log(baseline / arm) with its 95 % interval
  int blocks = 0;        ///< that the arm ran
};

/// A state machine over blocks. Looks after 4 6 8 12 16 24 32 48 blocks and at the ends. An arm is dropped when at
/// least `places` others are certainly faster than it (paired differences over the blocks in which both ran). It ends
/// when every one of the first `places` is certainly faster than every other arm left, or the blocks are used.
class Playoff {
 public:
  /// `arms` counts the baseline.
  Playoff(int arms, PlayoffRules rules);

  /// One round; `block` has an entry an arm. Entries of arms that are not active are ignored; an active arm's entry may
  /// be absent (a disturbed call), which costs it that block only.
  void add(const PlayoffBlock& block);
  /// The arm crashed, hung or gave a wrong result: out of the race. Arms that were out only because of it run again.
  void fail(int arm);

  /// Arms that the next block is to run: arm 0 first, the others ascending.
  std::vector<int> active() const;
  bool finished() const { return finished_; }
  /// The first `places` are certain.
  bool separated() const { return separated_; }
  int blocks() const { return static_cast<int>(blocks_.size()); }
  std::vector<PlayoffArm> arms() const;
  /// Arms by score, best first, ties by number, those certainly out last; without failed arms, and without the baseline
  /// unless it competes.
  std::vector<int> ranking() const;

 private:
  struct State {
    bool failed = false;
    bool out = false;  ///< certainly not among the first places
  };

  void look();
  bool certainly_faster(int arm, int other) const;
  std::vector<double> samples_of(int arm) const;
  bool certainly_out(int arm) const;

  PlayoffRules rules_;
  std::vector<int> looks_;
  std::vector<State> states_;
  std::vector<PlayoffBlock> blocks_;
  bool finished_ = false;
  bool separated_ = false;
};

}  // namespace accelopt::stats

// SPDX-License-Identifier: Apache-2.0
// The short race of a candidate against its parent: decides after as few blocks as it can.
#pragma once

#include <span>
#include <vector>

#include "stats/estimate.hpp"

namespace accelopt::stats {

enum class RaceVerdict {
  running,    ///< more blocks are wanted
  faster,     ///< certainly faster by more than TriageRules::least_gain
  slower,     ///< certainly slower
  tie,        ///< no gain worth having
  undecided,  ///< blocks or time are used up, or more of them would hardly show a gain
};

enum class DecidedBy { none, race, futility, cap };

/// Whether a series of samples still goes on or was cut off by the clock.
enum class Clock { running, expired };

/// Fractions are of the ratio: 0.005 is half a per cent.
struct TriageRules {
  /// Blocks after which it may decide, ascending.
  std::vector<int> looks = {3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 100, 140, 200};
  double alpha = 0.05;          ///< probability of a wrong certainty in the whole race; split evenly over the looks
  int faster_from = 8;          ///< blocks: FASTER is not said earlier, unless it is clear
  double least_gain = 0.005;    ///< FASTER: certain to be faster by more than this
  double hopeless_gain = 0.01;  ///< futile: certain to be faster by less than this
  double narrow = 0.013;        ///< futile: the interval is narrower than this and FASTER is not near
  int hope_from = 16;           ///< blocks: from here on a race is futile ...
  double least_hope = 0.05;  ///< ... when FASTER by the last look has a smaller probability, as the race went so far,
  double least_fear = 0.2;   ///< ... and SLOWER has a smaller one than this
  int clear_blocks = 4;      ///< SLOWER at once, or FASTER: the first so many blocks are all ...
  double clear_loss = 0.15;  ///< ... slower by more than this
  double clear_gain = 0.30;  ///< ... faster by more than this, which is certain, too
  double tie_within = 0.03;  ///< at the cap: TIE when the interval lies within this of 1; futile: not slower than this
  Samples samples = Samples::noisy;
};
/// Those of a race with such samples: of exact ones, one block decides; of modelled ones, one for each assumption, and
/// small gains are ties.
TriageRules triage_rules(Samples samples);

struct TriageDecision {
  RaceVerdict verdict = RaceVerdict::running;
  DecidedBy decided_by = DecidedBy::none;
  Interval log_ratio;  ///< simultaneous over the looks: FASTER and SLOWER follow from it
  int blocks = 0;      ///< that the decision used
};

/// The decision of the race that saw `log_ratios` (log(parent / candidate)) in this order: that of the first look which
/// decides; samples after it are ignored. `Clock::expired` after the last sample makes one more look there, in place of
/// the next scheduled one, and then caps. Pure: a stored race gives its decision again.
TriageDecision decide_triage(std::span<const double> log_ratios, const TriageRules& rules = {},
                             Clock clock = Clock::running);

/// The same as a state machine.
class Triage {
 public:
  explicit Triage(TriageRules rules = {});

  /// One more block's log(parent / candidate). Ignored once decided. Between looks the decision is that of the last
  /// look.
  const TriageDecision& add(double log_ratio);
  /// No time is left: decides with what there is.
  const TriageDecision& expire();

  const TriageDecision& decision() const { return decision_; }
  bool decided() const { return decision_.verdict != RaceVerdict::running; }
  /// The last look's estimate, before the first look that of all blocks, is a gain worth having: more blocks are likely
  /// to show it.
  bool promising() const;
  /// All blocks until now, in order: what decide_triage needs to decide again.
  const std::vector<double>& samples() const { return samples_; }

 private:
  TriageRules rules_;
  std::vector<double> samples_;
  TriageDecision decision_;
};

}  // namespace accelopt::stats

// SPDX-License-Identifier: Apache-2.0
#include "stats/confirmation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/result.hpp"

namespace accelopt::stats {
namespace {

/// At least as wide as both intervals, around the one estimate that they share.
Interval hull(const Interval& left, const Interval& right) {
  return {left.estimate, std::min(left.low, right.low), std::max(left.high, right.high)};
}

/// Restarts in ascending order of their numbers. Values that were left out are none.
std::vector<RestartSamples> group(std::span<const ConfirmationBlock> blocks, std::span<const double> values) {
  std::vector<int> numbers;
  std::vector<RestartSamples> groups;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (std::isnan(values[i])) continue;
    const auto place = std::lower_bound(numbers.begin(), numbers.end(), blocks[i].restart);
    const auto index = place - numbers.begin();
    if (place == numbers.end() || *place != blocks[i].restart) {
      numbers.insert(place, blocks[i].restart);
      groups.insert(groups.begin() + index, RestartSamples{});
    }
    groups[static_cast<std::size_t>(index)].push_back(values[i]);
  }
  return groups;
}

/// Around the estimate over all blocks, by how far the restarts' medians lie apart, which one odd block hardly moves.
/// One restart tells nothing of it.
Interval interval_by_restarts(std::span<const RestartSamples> restarts, double estimate, double alpha) {
  const double count = static_cast<double>(restarts.size());
  if (restarts.size() < 2) return {estimate, estimate, estimate};
  std::vector<double> levels;
  for (const RestartSamples& restart : restarts) levels.push_back(median(restart));
  const double mean = std::accumulate(levels.begin(), levels.end(), 0.0) / count;
  double squares = 0;
  for (const double value : levels) squares += (value - mean) * (value - mean);
  const double reach = -student_quantile(alpha / 2, count - 1) * std::sqrt(squares / (count - 1) / count);
  return {estimate, estimate - reach, estimate + reach};
}

Interval interval_over(std::span<const RestartSamples> restarts, double alpha, const ConfirmationRules& rules) {
  std::vector<double> values;
  for (const RestartSamples& restart : restarts) values.insert(values.end(), restart.begin(), restart.end());
  if (rules.samples != Samples::noisy) return interval_of(values, alpha, rules.samples);
  const Interval drawn_again =
      hull(trimmed_interval(values, alpha), hierarchical_bootstrap(restarts, alpha, rules.bootstrap_seed));
  if (rules.spread == Spread::blocks) return drawn_again;
  return hull(drawn_again, interval_by_restarts(restarts, drawn_again.estimate, alpha));
}

/// Those that are not raced may be left out.
double raced_mean(const ConfirmationBlock& block, std::span<const double> weights) {
  std::vector<double> values = block.log_ratios;
  std::ranges::replace_if(
      values, [](double value) { return std::isnan(value); }, 0.0);
  return weighted_mean(values, weights);
}

int blocks_each(const ConfirmationRules& rules) {
  return (rules.min_blocks + rules.min_restarts - 1) / rules.min_restarts;
}

/// A share of answer_alpha for each restart that there can be: it is looked after each.
double alpha_of_a_look(const ConfirmationRules& rules) {
  const int each = blocks_each(rules);
  const int looks = (rules.max_blocks + each - 1) / each;
  return rules.answer_alpha / looks;
}

}  // namespace

ConfirmationDecision decide_confirmation(std::span<const ConfirmationBlock> blocks, std::span<const double> weights,
                                         const ConfirmationRules& rules) {
  ConfirmationDecision decision;
  decision.blocks = static_cast<int>(blocks.size());
  std::vector<double> values(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) values[i] = raced_mean(blocks[i], weights);
  const std::vector<RestartSamples> raced = group(blocks, values);
  decision.log_ratio = interval_over(raced, rules.alpha, rules);
  decision.restarts = static_cast<int>(raced.size());
  const double allowed = -std::log1p(rules.allow_regression);
  bool in_doubt = false;
  bool seen = true;
  for (std::size_t workload = 0; workload < weights.size(); ++workload) {
    for (std::size_t i = 0; i < blocks.size(); ++i) values[i] = blocks[i].log_ratios[workload];
    const std::vector<RestartSamples> restarts = group(blocks, values);
    const Interval& interval = decision.workloads.emplace_back(interval_over(restarts, rules.alpha, rules));
    // Of one restart nobody knows how restarts differ.
    const bool answered = rules.answer_alpha > 0 && restarts.size() > 1 &&
                          interval_over(restarts, alpha_of_a_look(rules), rules).low > allowed;
    decision.answered.push_back(answered);
    const auto measured = std::ranges::count_if(values, [](double value) { return !std::isnan(value); });
    seen = seen && (interval.low > allowed || measured >= rules.min_blocks);
    const bool too_slow = interval.high < allowed;
    if (too_slow && !decision.regressed) decision.regressed = static_cast<int>(workload);
    in_doubt = in_doubt || (interval.estimate < allowed && !too_slow);
  }
  const double of_gain = in_doubt ? 0 : rules.half_width_of_gain * decision.log_ratio.low;
  const bool narrow = (decision.log_ratio.high - decision.log_ratio.low) / 2 < std::max(rules.half_width, of_gain);
  decision.enough = decision.restarts >= rules.min_restarts && decision.blocks >= rules.min_blocks &&
                    ((narrow && seen) || decision.blocks >= rules.max_blocks);
  decision.confirmed = decision.enough && decision.log_ratio.low > std::log1p(rules.least_gain) && !decision.regressed;
  return decision;
}

Confirmation::Confirmation(std::vector<double> weights, ConfirmationRules rules)
    : weights_(std::move(weights)), rules_(rules), decision_(decide_confirmation({}, weights_, rules_)) {
  ACCELOPT_ASSERT(rules_.min_restarts >= 1 && rules_.min_blocks >= 1 && rules_.max_blocks >= rules_.min_blocks,
                  "a confirmation has restarts and blocks");
}

int Confirmation::next_restart_blocks() const {
  if (decision_.enough || stuck_) return 0;
  const int each = blocks_each(rules_);
  // Restarts that gave fewer blocks than asked may leave some of the required restarts for when the blocks are used up.
  const int left = rules_.max_blocks - static_cast<int>(blocks_.size());
  return restarts_ < rules_.min_restarts ? std::max(1, std::min(each, left)) : std::min(each, left);
}

void Confirmation::add_restart(std::span<const std::vector<double>> log_ratios_by_block) {
  stuck_ = stuck_ || log_ratios_by_block.empty();
  for (const std::vector<double>& log_ratios : log_ratios_by_block) {
    ACCELOPT_ASSERT(log_ratios.size() == weights_.size(), "a block has an entry a workload");
    for (std::size_t i = 0; i < weights_.size(); ++i)
      ACCELOPT_ASSERT(weights_[i] == 0 || !std::isnan(log_ratios[i]), "what is raced is in each block");
    blocks_.push_back({restarts_, log_ratios});
  }
  ++restarts_;
  decision_ = decide_confirmation(blocks_, weights_, rules_);
}

int TwinConfirmation::next_restart_blocks() const {
  return std::max(copies_[0].next_restart_blocks(), copies_[1].next_restart_blocks());
}

void TwinConfirmation::add_restart(const std::array<std::vector<std::vector<double>>, 2>& log_ratios_by_block) {
  for (std::size_t copy = 0; copy < copies_.size(); ++copy) copies_[copy].add_restart(log_ratios_by_block[copy]);
}

std::size_t TwinConfirmation::worse() const {
  const ConfirmationDecision& first = copies_[0].decision();
  const ConfirmationDecision& second = copies_[1].decision();
  if (first.confirmed != second.confirmed) return first.confirmed ? 1 : 0;
  return second.log_ratio.estimate < first.log_ratio.estimate ? 1 : 0;
}

}  // namespace accelopt::stats

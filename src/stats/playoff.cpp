// SPDX-License-Identifier: Apache-2.0
#include "stats/playoff.hpp"

#include <algorithm>

#include "base/result.hpp"

namespace accelopt::stats {
namespace {

/// Rounds after which arms may be dropped; those of the rules' own ends are added.
constexpr int kLooks[] = {4, 6, 8, 12, 16, 24, 32, 48};

std::vector<int> looks_of(const PlayoffRules& rules) {
  std::vector<int> looks{rules.min_blocks, rules.max_blocks};
  for (const int blocks : kLooks) {
    if (blocks < rules.max_blocks) looks.push_back(blocks);
  }
  std::sort(looks.begin(), looks.end());
  looks.erase(std::unique(looks.begin(), looks.end()), looks.end());
  return looks;
}

}  // namespace

Playoff::Playoff(int arms, PlayoffRules rules)
    : rules_(rules), looks_(looks_of(rules)), states_(static_cast<std::size_t>(arms)) {
  ACCELOPT_ASSERT(arms >= 1 && rules.places >= 1, "a play-off has a baseline and places to fill");
  ACCELOPT_ASSERT(rules.min_blocks >= 1 && rules.min_blocks <= rules.max_blocks, "a play-off has rounds");
}

std::vector<int> Playoff::active() const {
  std::vector<int> result;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (i == 0 || (!states_[i].failed && !states_[i].out)) result.push_back(static_cast<int>(i));
  }
  return result;
}

void Playoff::fail(int arm) {
  states_.at(static_cast<std::size_t>(arm)).failed = true;
  // Who was out only because of this arm is in again.
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].out && !certainly_out(static_cast<int>(i))) states_[i].out = false;
  }
  if (arm == 0 || active().size() == 1)
    finished_ = true;  // without the anchor, or without rivals, there is nothing to race
}

void Playoff::add(const PlayoffBlock& block) {
  ACCELOPT_ASSERT(block.size() == states_.size(), "a round has an entry an arm");
  if (finished_) return;
  PlayoffBlock kept(block.size());
  for (const int arm : active()) kept[static_cast<std::size_t>(arm)] = block[static_cast<std::size_t>(arm)];
  kept[0] = 0;
  blocks_.push_back(std::move(kept));
  if (std::binary_search(looks_.begin(), looks_.end(), blocks())) look();
}

std::vector<double> Playoff::samples_of(int arm) const {
  std::vector<double> samples;
  for (const PlayoffBlock& block : blocks_) {
    if (const auto& sample = block[static_cast<std::size_t>(arm)]) samples.push_back(*sample);
  }
  return samples;
}

/// Bonferroni over every pair that entered and every look: whichever arms turn out to be compared, the promise holds.
bool Playoff::certainly_faster(int arm, int other) const {
  std::vector<double> differences;
  for (const PlayoffBlock& block : blocks_) {
    const auto& own = block[static_cast<std::size_t>(arm)];
    const auto& theirs = block[static_cast<std::size_t>(other)];
    if (own && theirs) differences.push_back(*own - *theirs);
  }
  const double arms = static_cast<double>(states_.size());
  const double tests = arms * (arms - 1) / 2 * static_cast<double>(looks_.size());
  return interval_of(differences, rules_.alpha / tests, rules_.samples).low > 0;
}

bool Playoff::certainly_out(int arm) const {
  int better = 0;
  for (std::size_t other = rules_.baseline_competes ? 0 : 1; other < states_.size(); ++other) {
    const int rival = static_cast<int>(other);
    if (rival != arm && !states_[other].failed && certainly_faster(rival, arm)) ++better;
  }
  return better >= rules_.places;
}

std::vector<int> Playoff::ranking() const {
  std::vector<std::pair<int, double>> scored;
  for (std::size_t i = rules_.baseline_competes ? 0 : 1; i < states_.size(); ++i) {
    if (!states_[i].failed) scored.emplace_back(static_cast<int>(i), trimmed_mean(samples_of(static_cast<int>(i))));
  }
  std::stable_sort(scored.begin(), scored.end(), [&](const auto& left, const auto& right) {
    const bool left_out = states_[static_cast<std::size_t>(left.first)].out;
    const bool right_out = states_[static_cast<std::size_t>(right.first)].out;
    if (left_out != right_out) return right_out;
    return left.second > right.second;
  });
  std::vector<int> result;
  result.reserve(scored.size());
  for (const auto& [arm, score] : scored) result.push_back(arm);
  return result;
}

/// Drops who is certainly out, then asks whether the first places are certain. The baseline runs on even when it is
/// out: it is the anchor.
void Playoff::look() {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].failed && !states_[i].out && certainly_out(static_cast<int>(i))) out.push_back(i);
  }
  for (const std::size_t arm : out) states_[arm].out = true;

  const auto places = static_cast<std::size_t>(rules_.places);
  std::vector<int> order = ranking();
  std::erase_if(order, [&](int arm) { return states_[static_cast<std::size_t>(arm)].out; });
  separated_ = true;
  for (std::size_t first = 0; first < std::min(places, order.size()); ++first) {
    for (std::size_t rest = places; rest < order.size(); ++rest) {
      separated_ = separated_ && certainly_faster(order[first], order[rest]);
    }
  }
  finished_ = blocks() >= rules_.max_blocks || (separated_ && blocks() >= rules_.min_blocks);
}

std::vector<PlayoffArm> Playoff::arms() const {
  std::vector<PlayoffArm> result;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const std::vector<double> samples = samples_of(static_cast<int>(i));
    PlayoffArm arm;
    arm.failed = states_[i].failed;
    arm.dropped = i != 0 && states_[i].out;
    arm.log_score = i == 0 ? Interval{} : interval_of(samples, 0.05, rules_.samples);
    arm.blocks = static_cast<int>(samples.size());
    result.push_back(arm);
  }
  return result;
}

}  // namespace accelopt::stats

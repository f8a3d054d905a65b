// SPDX-License-Identifier: Apache-2.0
#include "review/decision.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "base/names.hpp"

namespace accelopt::review {
namespace {

/// What the vote says of the pair itself.
Better as_given(const Vote& vote) {
  if (!vote.swapped || *vote.better == Better::equal) return *vote.better;
  return *vote.better == Better::first ? Better::second : Better::first;
}

/// Keeps those with the least value; says whether that left some out.
template <class Value>
bool keep_least(std::vector<std::size_t>& left, const Value& value) {
  auto least = value(left.front());
  for (const std::size_t one : left) least = std::min(least, value(one));
  return std::erase_if(left, [&](std::size_t one) { return value(one) != least; }) > 0;
}

Choice choose(const std::vector<Contestant>& contestants, std::vector<std::size_t> left, Reason reason,
              const std::vector<int>& copeland, Weight weight) {
  if (left.empty()) return {};
  const auto narrow = [&](Reason by, const auto& value) {
    if (left.size() > 1 && keep_least(left, value)) reason = by;
  };
  if (weight == Weight::decides) {
    narrow(Reason::pairs, [&](std::size_t one) { return -copeland[one]; });
    narrow(Reason::rubric, [&](std::size_t one) { return -contestants[one].rubric; });
  }
  narrow(Reason::smaller_diff, [&](std::size_t one) { return contestants[one].diff_lines; });
  narrow(Reason::identity, [&](std::size_t one) { return contestants[one].id; });
  return {left.front(), reason};
}

}  // namespace

std::string_view to_string(Weight weight) {
  return weight == Weight::decides ? "decides" : "advises";
}

std::string_view to_string(Reason reason) {
  constexpr auto kNames = std::to_array<base::Named<Reason>>({{Reason::none, "none"},
                                                              {Reason::only_one, "only_one"},
                                                              {Reason::clock, "clock"},
                                                              {Reason::pairs, "pairs"},
                                                              {Reason::rubric, "rubric"},
                                                              {Reason::smaller_diff, "smaller_diff"},
                                                              {Reason::identity, "identity"}});
  return base::name_in(kNames, reason);
}

PairOutcome outcome_of(std::span<const Vote> votes) {
  PairOutcome outcome;
  std::optional<Better> all;
  std::array<std::optional<Better>, 2> by_order;
  outcome.stable = !votes.empty();
  for (const Vote& vote : votes) {
    if (!vote.better) {
      outcome.stable = false;
      continue;
    }
    ++outcome.answers;
    if (*vote.better == Better::first) ++outcome.first_shown;
    const Better said = as_given(vote);
    if (all && *all != said) outcome.stable = false;
    all = said;
    const auto& other = by_order.at(vote.swapped ? 0 : 1);
    if (other && *other != said) outcome.flipped = true;
    by_order.at(vote.swapped ? 1 : 0) = said;
  }
  if (outcome.stable) outcome.better = *all;
  return outcome;
}

Decision decide(const std::vector<Contestant>& contestants, std::span<const CertainlyBetter> certain,
                std::span<const PairResult> pairs, Weight weight) {
  Decision decision;
  decision.copeland.assign(contestants.size(), 0);
  std::vector<std::size_t> alive;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    if (!contestants[i].disqualified) alive.push_back(i);
  }
  const auto lives = [&](std::size_t one) { return !contestants[one].disqualified; };
  for (const std::size_t one : alive) {
    const bool beaten = std::ranges::any_of(
        certain, [&](const CertainlyBetter& race) { return race.loser == one && lives(race.winner); });
    if (!beaten) decision.open.push_back(one);
  }
  // Where each is beaten by another one, the clock contradicts itself.
  if (decision.open.empty()) decision.open = alive;
  const auto is_open = [&](std::size_t one) { return std::ranges::find(decision.open, one) != decision.open.end(); };
  for (const PairResult& pair : pairs) {
    if (!is_open(pair.first) || !is_open(pair.second) || pair.outcome.better == Better::equal) continue;
    const bool first = pair.outcome.better == Better::first;
    ++decision.copeland[first ? pair.first : pair.second];
    --decision.copeland[first ? pair.second : pair.first];
  }
  const Reason reason = decision.open.size() < alive.size() ? Reason::clock : Reason::only_one;
  decision.choice = choose(contestants, decision.open, reason, decision.copeland, weight);
  decision.advice = choose(contestants, decision.open, reason, decision.copeland, Weight::decides);
  return decision;
}

}  // namespace accelopt::review

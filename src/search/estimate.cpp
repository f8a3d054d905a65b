// SPDX-License-Identifier: Apache-2.0
#include "search/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "base/json_fields.hpp"

namespace accelopt::search {

using base::Json;
using model::AgentRole;

Range operator+(const Range& a, const Range& b) {
  return {a.low + b.low, a.expected + b.expected, a.high + b.high};
}

Range operator*(const Range& a, const Range& b) {
  const double expected = a.expected * b.expected;
  if (expected <= 0) return {a.low * b.low, expected, a.high * b.high};
  // Two things that have nothing to do with each other are seldom both at their ends: their distances add as squares.
  const auto distance = [&](double end_a, double end_b) {
    return std::exp(std::hypot(std::log(end_a / a.expected), std::log(end_b / b.expected)));
  };
  const double low = a.low > 0 && b.low > 0 ? expected / distance(a.low, b.low) : 0;
  return {low, expected, expected * distance(std::max(a.high, a.expected), std::max(b.high, b.expected))};
}

Range exactly(double value) {
  return {value, value, value};
}

Range around(double expected, double below, double above) {
  return {expected / below, expected, expected * above};
}

ACCELOPT_JSON(Range) {
  field.required("low", it.low, "expected", it.expected, "high", it.high);
}

namespace {

Range at_most(const Range& range, double limit) {
  return {std::min(range.low, limit), std::min(range.expected, limit), std::min(range.high, limit)};
}

Range larger(const Range& a, const Range& b) {
  return {std::max(a.low, b.low), std::max(a.expected, b.expected), std::max(a.high, b.high)};
}

/// Part of a budget that a run which it ends has used at least: the last reservation did not fit.
constexpr double kLeastUsed = 0.5;

/// Where a budget lies below what is expected, it ends the run, and the run uses most of it.
void cut(Range& range, double limit) {
  if (range.expected > limit) range.low = std::min(range.low, kLeastUsed * limit);
  range = at_most(range, limit);
}

/// By how much a budget shortens the run as a whole, so that what has no limit of its own shrinks with it.
struct Shortening {
  double low = 1;
  double expected = 1;
  double high = 1;

  void by(const Range& range, double limit) {
    const auto share = [&](double value) { return value > limit ? limit / value : 1.0; };
    low = std::min(low, share(range.high));
    expected = std::min(expected, share(range.expected));
    high = std::min(high, share(range.low));
  }
  void apply(Range& range) const {
    range = {range.low * low, range.expected * expected, std::max(range.high * high, range.expected * expected)};
  }
};

/// The product where both have their bounds from the method and may well be at them: a run in which all goes well.
Range together(const Range& a, const Range& b) {
  return {a.low * b.low, a.expected * b.expected, a.high * b.high};
}

struct Counts {
  Range planning, attempts, fixes, kernels, lessons;  ///< planning: questions to the planner
  Range ties;                                         ///< that are profiled
};

Counts count(const SearchSettings& settings, const EstimateFacts& facts) {
  const Range later{std::max(facts.iterations.low - 1, 0.0), std::max(facts.iterations.expected - 1, 0.0),
                    std::max(facts.iterations.high - 1, 0.0)};
  const Range members =
      exactly(settings.strategy == Strategy::repeated_sampling ? settings.beam : 1) + later * facts.beam;
  Counts counts;
  const Range plans = settings.developers > 0 ? facts.iterations * exactly(settings.developers)
                                              : together(members, exactly(settings.plans));
  counts.planning = settings.asking == Asking::together ? members : plans;
  counts.attempts = together(together(plans, facts.answered), exactly(settings.attempts));
  counts.fixes = counts.attempts * facts.fixes;
  counts.kernels = counts.attempts + counts.fixes;
  if (settings.asking == Asking::together) counts.ties = {0, 0.5 * later.expected, later.high * facts.beam.high};
  counts.lessons = settings.memory_capacity > 0 ? facts.iterations * facts.lessons : Range{};
  return counts;
}

/// An iteration's questions one after the other, as far as they wait for each other.
Range chain_of(const EstimateFacts& facts) {
  if (!facts.models) return {};
  const auto seconds = [&](AgentRole role) {
    const auto found = facts.roles.find(role);
    return found == facts.roles.end() ? Range{} : found->second.seconds;
  };
  Range chain =
      seconds(AgentRole::planner) + seconds(AgentRole::executor) + at_most(facts.fixes, 1) * seconds(AgentRole::fixer);
  // The slowest of many calls decides.
  chain.expected *= 1.3;
  return chain;
}

/// What a session of a run takes beside questions, where others build and measure; an iteration is about one.
constexpr Range kSessionSeconds{0.02, 0.4, 4};

EstimateFacts without_device(EstimateFacts facts) {
  facts.open_seconds = (exactly(1) + facts.iterations) * kSessionSeconds;
  facts.build_seconds = facts.playoff_seconds = facts.confirm_seconds = {};
  return facts;
}

Range wall_of(const EstimateFacts& facts, const Counts& counts, const Range& exploring, const Range& calls,
              const Range& evaluations) {
  const Range chains = facts.iterations * chain_of(facts);
  Range waiting;  // for a place among the questions in flight
  if (facts.models && facts.concurrency > 0) {
    double seconds = 0;
    for (const auto& [role, known] : facts.roles) seconds = std::max(seconds, known.seconds.expected);
    waiting = {0, calls.expected * seconds / facts.concurrency, calls.high * seconds / facts.concurrency * 1.5};
  }
  const Range builds = evaluations * facts.build_seconds * exactly(1.0 / std::max(facts.cores, 1));
  // At best everything overlaps, at worst nothing does.
  const Range overlapping = larger(larger(chains, exploring), builds);
  Range busy{overlapping.low, 0, chains.high + waiting.high + exploring.high + builds.high};
  busy.expected = std::min(chains.expected + waiting.expected + exploring.expected / 2 + builds.expected / 2,
                           (overlapping.expected + busy.high) / 2);
  busy.expected = std::max(busy.expected, overlapping.expected);
  const Range lessons = counts.lessons.high > 0 && facts.roles.contains(AgentRole::summarizer)
                            ? facts.iterations * Range{0, 0.5, 1} * facts.roles.at(AgentRole::summarizer).seconds
                            : Range{};
  return facts.open_seconds + facts.tests_seconds + busy + lessons + facts.iterations * facts.playoff_seconds +
         facts.confirm_seconds;
}

}  // namespace

/// An opinion on each finalist, and every pair in both orders, twice each.
Range questions_of_review(const SearchSettings& settings) {
  const auto questions = [](double finalists) { return finalists + 4 * finalists * (finalists - 1) / 2; };
  const double most = std::min(settings.developers, settings.confirm_tries);
  return {0, questions(std::min(most, 2.0)), questions(most)};
}

EstimateFacts facts_of_settings(const SearchSettings& settings) {
  EstimateFacts facts;
  const double rounds = settings.iterations;
  const double least = settings.patience > 0 ? std::min<double>(settings.patience, rounds) : rounds;
  facts.iterations = {least, std::min(rounds, std::max(least, 0.8 * rounds)), rounds};
  const double beam = beam_width(settings);
  facts.beam = settings.strategy == Strategy::repeated_sampling ? exactly(beam) : Range{1, (1 + 2 * beam) / 3, beam};
  const double fixes = settings.fixes;
  facts.fixes = {0, std::min(0.4, fixes), std::min(1.5, fixes)};
  facts.built = {0.3, 0.85, 1};
  facts.lessons = {0, std::min(settings.memory_new * 0.4, 4.0), static_cast<double>(settings.memory_new)};
  if (settings.asking == Asking::together)
    facts.lessons = {0, std::min(facts.lessons.expected, facts.beam.expected), facts.lessons.high};
  facts.open_seconds = {0.3, 3, 15};
  facts.build_seconds = {0.1, 0.6, 3};
  facts.race_seconds = {0.05, 0.6, 4};
  facts.profile_seconds = {0.01, 0.05, 0.5};
  facts.playoff_seconds = {0, 0.6, 5};
  facts.confirm_seconds = {0, 3, 20};
  return facts;
}

Estimate estimate(const SearchSettings& settings, const EstimateFacts& facts) {
  const Counts counts = count(settings, facts);
  Estimate out;
  out.evaluations = together(counts.kernels, facts.built);
  if (facts.models) {
    out.calls = {{AgentRole::planner, together(counts.planning, facts.asked_again)},
                 {AgentRole::executor, together(counts.attempts, facts.asked_again)},
                 {AgentRole::fixer, counts.fixes * facts.asked_again},
                 {AgentRole::summarizer, counts.lessons * facts.asked_again}};
    bool priced = true;
    Range usd;
    const auto add = [&](const Range& calls, const RoleFacts& known) {
      out.input_tokens = out.input_tokens + calls * known.input_tokens;
      out.output_tokens = out.output_tokens + calls * known.output_tokens;
      priced = priced && known.price;
      if (!known.price) return;
      const llm::Price& price = *known.price;
      const double discount = std::max(price.input - price.cached_input, 0.0);
      const Range input{(price.input - discount * facts.cached.high) / 1e6,
                        (price.input - discount * facts.cached.expected) / 1e6,
                        (price.input - discount * facts.cached.low) / 1e6};
      usd = usd + calls * (known.input_tokens * input + known.output_tokens * exactly(price.output / 1e6));
    };
    for (const auto& [role, calls] : out.calls) {
      out.all_calls = out.all_calls + calls;
      const auto known = facts.roles.find(role);
      if (known != facts.roles.end()) add(calls, known->second);
    }
    for (const auto& [name, judge] : facts.judges) {
      const Range& calls = out.judges[name] = judge.questions * facts.asked_again;
      out.all_calls = out.all_calls + calls;
      add(calls, judge.known);
    }
    out.tokens = out.input_tokens + out.output_tokens;
    if (priced) out.usd = usd;
  } else {
    out.usd = Range{};
  }
  const Range profiled = facts.iterations + counts.ties + (facts.models ? counts.lessons : Range{});
  const Range exploring = out.evaluations * facts.race_seconds + profiled * facts.profile_seconds;
  out.device_seconds = facts.open_seconds + facts.tests_seconds + exploring + facts.iterations * facts.playoff_seconds +
                       facts.confirm_seconds;
  out.wall_seconds = facts.elsewhere ? wall_of(without_device(facts), counts, {}, out.all_calls, out.evaluations)
                                     : wall_of(facts, counts, exploring, out.all_calls, out.evaluations);

  Shortening shortening;
  if (settings.max_tokens) shortening.by(out.tokens, static_cast<double>(*settings.max_tokens));
  if (settings.max_usd && out.usd) shortening.by(*out.usd, *settings.max_usd);
  if (settings.max_evaluations) shortening.by(out.evaluations, *settings.max_evaluations);
  if (settings.max_device_seconds) shortening.by(out.device_seconds, *settings.max_device_seconds);
  if (settings.max_seconds) shortening.by(out.wall_seconds, *settings.max_seconds);
  for (auto& [role, calls] : out.calls) shortening.apply(calls);
  for (auto& [name, calls] : out.judges) shortening.apply(calls);
  for (Range* range : {&out.all_calls, &out.input_tokens, &out.output_tokens, &out.tokens, &out.evaluations,
                       &out.device_seconds, &out.wall_seconds})
    shortening.apply(*range);
  if (out.usd) shortening.apply(*out.usd);
  if (settings.max_tokens) cut(out.tokens, static_cast<double>(*settings.max_tokens));
  if (settings.max_usd && out.usd) cut(*out.usd, *settings.max_usd);
  if (settings.max_evaluations) cut(out.evaluations, *settings.max_evaluations);
  if (settings.max_device_seconds) cut(out.device_seconds, *settings.max_device_seconds * 1.1);
  if (settings.max_seconds) cut(out.wall_seconds, *settings.max_seconds * 1.1);
  return out;
}

void to_json(Json& out, const Estimate& value) {
  Json calls = Json::object();
  for (const auto& [role, range] : value.calls) calls[std::string(to_string(role))] = range;
  for (const auto& [name, range] : value.judges) calls[name] = range;
  out = {{"calls_by_role", calls},
         {"calls", value.all_calls},
         {"input_tokens", value.input_tokens},
         {"output_tokens", value.output_tokens},
         {"tokens", value.tokens},
         {"usd", value.usd ? Json(*value.usd) : Json()},
         {"evaluations", value.evaluations},
         {"device_seconds", value.device_seconds},
         {"wall_seconds", value.wall_seconds},
         {"basis", value.basis}};
}

bool Comparison::inside() const {
  return predicted && actual && *actual >= predicted->low && *actual <= predicted->high;
}

}  // namespace accelopt::search

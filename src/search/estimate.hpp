// SPDX-License-Identifier: Apache-2.0
// What a run will use, before anything is spent: pure arithmetic on its settings and on what is known of models and
// device. A range is meant to hold the truth in nine of ten runs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/json.hpp"
#include "llm/price.hpp"
#include "model/vocabulary.hpp"
#include "search/settings.hpp"

namespace accelopt::search {

struct Range {
  double low = 0;
  double expected = 0;
  double high = 0;
};
Range operator+(const Range& a, const Range& b);
Range operator*(const Range& a, const Range& b);  ///< of values that are not negative and not related
Range exactly(double value);
/// `expected` with room by these factors below and above.
Range around(double expected, double below, double above);

void to_json(base::Json& out, const Range& value);
void from_json(const base::Json& in, Range& value);

/// One question to one role.
struct RoleFacts {
  Range input_tokens;
  Range output_tokens;
  Range seconds;  ///< until its answer is there
  std::optional<llm::Price> price;
};

/// One who is asked beside the roles of a search.
struct JudgeFacts {
  Range questions;
  RoleFacts known;
};
/// To the reviewer of a critical search: an opinion on each finalist, and every pair in both orders, twice each.
Range questions_of_review(const SearchSettings& settings);

/// What is known of models, kernels and device.
struct EstimateFacts {
  bool models = false;                          ///< false: recipes play, and nothing is asked
  std::map<model::AgentRole, RoleFacts> roles;  ///< empty where recipes play
  std::map<std::string, JudgeFacts> judges{};   ///< reviewer, tester, where there are any
  int concurrency = 32;                         ///< questions in flight
  Range beam;                                   ///< members of an iteration after the first
  Range iterations;
  Range asked_again{1, 1.03, 1.15};  ///< calls a question: answers that cannot be used are asked for once more
  Range cached{0, 0, 1};             ///< share of the prompts' tokens that come from a server's cache
  Range answered{0.7, 0.97, 1};      ///< share of plans that come to attempts
  Range fixes;                       ///< questions to the fixer, an attempt
  Range built;                       ///< candidates that are built and measured, an answer with a kernel
  Range lessons;                     ///< questions to the summarizer, an iteration
  Range open_seconds, build_seconds, race_seconds, profile_seconds, playoff_seconds, confirm_seconds;
  Range tests_seconds{};   ///< until a tester's tests are tried, before the search begins
  int cores = 2;           ///< that build beside a measurement
  bool elsewhere = false;  ///< evaluations travel as bundles: they take none of the run's own time
};

/// What is known when nothing is: the settings' own bounds, and guesses that are wide.
EstimateFacts facts_of_settings(const SearchSettings& settings);

struct Estimate {
  std::map<model::AgentRole, Range> calls;
  std::map<std::string, Range> judges{};  ///< calls likewise
  Range all_calls;
  Range input_tokens, output_tokens, tokens;
  std::optional<Range> usd;  ///< none: a price is not known
  Range evaluations;
  Range device_seconds;
  Range wall_seconds;
  std::string basis;  ///< for people: what it rests on
};

/// Budgets cut it short where they are less.
Estimate estimate(const SearchSettings& settings, const EstimateFacts& facts);

void to_json(base::Json& out, const Estimate& value);

/// One estimated quantity beside what it was.
struct Comparison {
  std::string name;  ///< "calls", "tokens", "usd", "evaluations", "device_seconds", "wall_seconds"
  std::optional<Range> predicted;
  std::optional<double> actual;
  [[nodiscard]] bool inside() const;
};

}  // namespace accelopt::search

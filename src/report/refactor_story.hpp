// SPDX-License-Identifier: Apache-2.0
// What a refactoring came to, as it is recorded and printed (docs/json.md), and as reports tell it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "model/evaluation.hpp"

namespace accelopt::report {

struct RefactorGate {
  std::string name;
  bool passed = false;
  std::vector<std::string> facts;
  double seconds = 0;
};

/// What the confirmation measured at one size of one family of inputs. Ratios are old / new of what the goal is about.
struct RefactorWorkload {
  std::string workload;
  std::int64_t size = 0;
  std::string role;
  bool timed = false;  ///< start-up is left out of what is compared
  model::Interval ratio;
  double old_ms = 0;  ///< median processor time
  double new_ms = 0;
  std::optional<double> old_peak_bytes{};  ///< where memory is what is compared: the ratio's, less start-up
  std::optional<double> new_peak_bytes{};
  std::optional<double> call_share{};  ///< of the function's calls in old_ms; none: it is not known
};

/// How the times of one family grow with the size: as its power.
struct RefactorGrowth {
  std::string workload;
  double old_exponent = 0;
  double new_exponent = 0;
  model::Interval difference;
  double from_size = 0;
  double to_size = 0;
  bool claimed = false;
  std::string reason;  ///< why a lower exponent is not claimed
};

/// One proposal of a search, and how far it came.
struct RefactorTrial {
  std::string strategy;
  std::string built_on;  ///< the strategy that it adds to; empty: the base
  std::string verdict;
  std::string failed_gate;
  std::string why;                             ///< the failed gate's first fact
  std::optional<model::Interval> ratio;        ///< over the base
  std::optional<model::Interval> over_best{};  ///< over the best until then, where both were raced against each other
};

struct RefactorStory {
  std::string run;
  std::string task;
  std::string language;
  std::string created;  ///< UTC, ISO 8601
  std::string program_version;
  std::string base;                ///< commit
  std::string goal;                ///< time, complexity, memory, readability
  std::vector<std::string> scope;  ///< what may change
  std::uint64_t seed = 0;
  int tried = 0;
  std::vector<RefactorTrial> trials;  ///< of a search, in order
  std::string strategy;               ///< empty: the change was given
  std::string verdict;  ///< faster, not_faster, refused; of memory smaller, not_smaller; of readability simpler
  std::string failed_gate;
  std::vector<RefactorGate> gates;
  std::optional<model::Interval> triage;
  std::optional<model::Interval> speedup;  ///< of the confirmation
  std::optional<model::Interval> time{};   ///< of processor time, where it is a guard
  base::Json readability{};  ///< figures of the text, where it is the goal (docs/json.md); null: it is not
  std::vector<RefactorWorkload> workloads;
  double old_start_up_ms = 0;
  double new_start_up_ms = 0;
  std::optional<double> old_start_up_bytes{};
  std::optional<double> new_start_up_bytes{};
  bool complexity_claimed = false;
  std::string complexity_reason;
  std::vector<RefactorGrowth> growth;
  int tests = 0;
  std::vector<std::string> flaky;
  std::vector<std::string> not_passing{};  ///< on the base: "NAME (fails)", "NAME (skipped)"
  std::string diff;                        ///< unified
  std::string branch;
  std::string commit;
  std::string experience;
};
void to_json(base::Json& out, const RefactorStory& story);
void from_json(const base::Json& in, RefactorStory& story);

/// Whether what the goal asks for is shown.
bool is_proved(const RefactorStory& story);

/// What came of it in one sentence.
std::string answer_of(const RefactorStory& story);

}  // namespace accelopt::report

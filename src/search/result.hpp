// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "model/evaluation.hpp"
#include "model/solution.hpp"
#include "model/usage.hpp"
#include "model/vocabulary.hpp"

namespace accelopt::search {

/// waiting: nothing can go on without an answer or a measurement that somebody elsewhere has to give.
enum class RunOutcome { improved, no_gain, budget, interrupted, waiting };
std::string_view to_string(RunOutcome outcome);

/// The winner beside something that the user named.
struct ComparedWith {
  std::string name;
  std::string how;                              ///< for people: how the comparison came about
  std::string workload{};                       ///< empty: all that are raced
  std::optional<model::Interval> speed_over{};  ///< its time / the winner's time
  std::string status{};                         ///< of a kernel, its verdict; of a program "FAILED" where it did
  std::string reason{};                         ///< why there is no ratio, or who disturbed it
  std::string source_id{};                      ///< of a kernel
  double time_ns = 0;                           ///< of a call of a program; 0: it is a kernel
};
void to_json(base::Json& json, const ComparedWith& compared);
void from_json(const base::Json& json, ComparedWith& compared);

/// In the reason of a run that a budget ended, what comes before the budget's own words. They tell what the run had
/// used, which is not on record: a replay's reason ends before this.
inline constexpr std::string_view kBudgetEndedIt = "; the budget ended it: ";

/// What a run came to. Ratios are baseline time / candidate time, from the confirmation alone.
struct RunResult {
  std::string run;
  std::string task;
  std::string goal{};  ///< of a repository's code what the ratios compare, as refactor.toml has it; empty: times
  RunOutcome outcome = RunOutcome::no_gain;
  std::optional<model::EndReason> stopped_by;  ///< none: nothing did yet
  std::string stopped_because{};               ///< for people, of "near_roofline": which workload, its share, the bound
  std::string reason;                          ///< for people: why there is no gain, what the evidence is
  std::optional<model::Evaluation> confirmation;  ///< of the winner; without one: of the best that did not confirm
  std::optional<model::Solution> solution;        ///< the winner
  std::string solution_id;
  std::string strategy{};                       ///< titles of the plans that led to the winner
  std::string commit{};                         ///< of the winner, where it is one of a repository
  std::string branch{};                         ///< that the commit is on, full name
  std::vector<model::WorkloadTiming> baseline;  ///< the baseline's workloads
  std::map<std::string, int> counts;  ///< attempts by status; of passed ones also HELD_OUT_FAILED, PROFILE_FAILED
  int known = 0;                      ///< attempts that led to a program which had been tried; each has a status too
  std::map<std::string, model::Usage> usage;  ///< by role
  int evaluations = 0;
  int iterations = 0;  ///< completed
  int experiences = 0;
  int plans = 0;              ///< that were answered
  int gains = 0;              ///< accepted: times that another kernel became the incumbent
  double device_seconds = 0;  ///< that the device measured
  double wall_seconds = 0;
  std::vector<std::string> bundles{};  ///< of `waiting`: folders of the bundles that have to be executed
  std::string device;
  std::string decision_hash;
  std::string reviewed{};               ///< "first of 3, 2 of 3 pairs stable"; empty: nobody reviewed
  base::Json tests;                     ///< what a tester wrote, docs/json.md; null: nobody was asked
  base::Json review;                    ///< what the reviewer found, docs/json.md; null: nobody reviewed
  std::vector<ComparedWith> against{};  ///< in the order in which they were named; of a run with a winner
  base::Json noise;                     ///< of the machine, as it was last measured in the workspace; null: never
  base::Json estimate;                  ///< by quantity: what was predicted, what it was; null: nothing was
  bool derived_reference = false;
};

/// As it is stored and exchanged; empty: none.
std::string name_of(std::optional<model::EndReason> reason);

/// The documented result object (docs/json.md): type "result", schema version included.
base::Json to_result_json(const RunResult& result);

}  // namespace accelopt::search

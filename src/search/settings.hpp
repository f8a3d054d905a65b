// SPDX-License-Identifier: Apache-2.0
// Every knob of a search: meaning, unit, range.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace accelopt::search {

/// beam: the method. greedy: the beam with one place. repeated_sampling: every iteration restarts from the baseline.
enum class Strategy { beam, greedy, repeated_sampling };
/// standard: triage against the parent, play-off, memory as a queue. paper: the published method to the letter, as a
/// control.
enum class Rules { standard, paper };
/// queue: a planner is shown the run's own experiences, newest first. ranked: and in the places that are left, the best
/// ones of the knowledge store for its kernel.
enum class Recall { queue, ranked };
/// How a role that answers several questions at once is asked. apart: one question a plan, one a lesson. together: all
/// plans for a kernel in one question, all lessons on a kernel in one, and none that nothing can use; models are asked
/// so under the standard rules. apart_renamed: apart, and lessons lose the kernel's names; how runs were recorded
/// before there was a choice.
enum class Asking { apart_renamed, apart, together };

struct SearchSettings {
  int iterations = 6;  ///< T, rounds; 1..1000
  int beam = 3;        ///< B, candidates kept; 1..64
  int plans = 4;       ///< N, plans a candidate; 1..256
  int attempts = 2;    ///< K, executor tries a plan; 1..64
  /// Plans of an iteration, shared out over the beam, best first; 0 (`plans` for each candidate) .. 6. With it the
  /// finalists go before a reviewer, who decides which one is confirmed.
  int developers = 0;
  int fixes = 3;             ///< F, fixer tries an attempt; 0..16
  int memory_capacity = 16;  ///< ExpN, experiences shown to the planner; 0: none
  int memory_new = 8;        ///< TopK, experiences added an iteration; 0..256
  double memory_positive =
      1.02;  ///< least speed-up of a pair that teaches what to do; standard rules also ask for certainty
  double memory_negative = 1.15;  ///< a child slower by this factor teaches what to avoid
  int patience = 2;               ///< rounds without a new incumbent before stopping; 0: never stops for that
  double near_roofline = 0.05;    ///< stops when every raced workload is this close to its floor; 0 (never) .. 1
  double enough = 0;              ///< stops when the best is surely this many times faster than the baseline; 0: never
  int confirm_tries = 3;          ///< candidates of the last play-off that may try to confirm
  Strategy strategy = Strategy::beam;
  Rules rules = Rules::standard;
  Recall recall = Recall::ranked;
  Asking asking = Asking::apart;
  /// All that was measured teaches, what made no difference too, and all of it is recalled, alike or not: for planners
  /// that weigh experiences by number. One that reads them has no room for that.
  bool memory_everything = false;
  bool exclude_family = false;  ///< nothing of the operator's own family is recalled: for benchmarks of transfer

  // Budgets; none: no limit.
  std::optional<double> max_seconds{};         ///< wall time of the run, seconds
  std::optional<double> max_device_seconds{};  ///< that the device measures, seconds
  std::optional<int> max_evaluations{};        ///< candidates built and measured
  std::optional<std::int64_t> max_tokens{};    ///< input and output tokens together
  std::optional<double> max_usd{};             ///< dollars, of models with a known price

  /// Whether the whole interval is over it: a best whose estimate is may be confirmed below it. `low`: of the speed-up.
  [[nodiscard]] bool is_enough(double low) const { return enough > 0 && low >= enough; }
};

/// The preset that searches as the default one does, and has outputs checked as the public NKI benchmark does.
inline constexpr std::string_view kNkiBench = "nkibench";

/// "default", "nkibench" or "paper" (16 rounds, beam 6, 12 plans, 2 attempts, no fixer, thresholds 1.04 and 1.15).
/// @error invalid_argument: another name.
base::Result<SearchSettings> preset(std::string_view name);

/// @error invalid_argument: a value outside its range, with its name and range.
base::Result<void> check(const SearchSettings& settings);

/// Plans for the candidate at this place of a beam.
int plans_for(const SearchSettings& settings, std::size_t place, std::size_t beam);
/// Most attempts of one iteration.
int most_attempts(const SearchSettings& settings);
/// Most attempts of a run that are measured: of all its iterations, or what its budget of evaluations has room for.
int most_evaluations(const SearchSettings& settings);

/// Kernels that an iteration begins with, and places of its play-off.
int beam_width(const SearchSettings& settings);

/// A replay spends nothing: where a budget ended the run is on record.
SearchSettings without_budgets(SearchSettings settings);

std::string_view to_string(Strategy strategy);
/// @error invalid_argument: unknown name; the message lists the known ones.
base::Result<Strategy> parse_strategy(std::string_view name);

std::string_view to_string(Recall recall);
/// @error invalid_argument: unknown name; the message lists the known ones.
base::Result<Recall> parse_recall(std::string_view name);

/// Sets one setting by name, as in `replay --set beam=2`. @error invalid_argument: unknown name or bad value.
base::Result<void> set_by_name(SearchSettings& settings, std::string_view name, std::string_view value);

void to_json(base::Json& out, const SearchSettings& value);
void from_json(const base::Json& in, SearchSettings& value);

}  // namespace accelopt::search

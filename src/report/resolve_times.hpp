// SPDX-License-Identifier: Apache-2.0
// How long a player took to resolve the tasks of a suite of refactorings, as its results are recorded
// (benchmarks/README.md), and what many of them say: do tasks get resolved faster with memory, and over time?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "stats/estimate.hpp"

namespace accelopt::report {

/// What memory a player began with. cold: none. warm: what earlier runs of the suite learned on tasks of other
/// families. shuffled: the same, with what each experience teaches dealt to others.
enum class MemoryArm { cold, warm, shuffled };
std::string_view to_string(MemoryArm arm);
std::optional<MemoryArm> memory_arm(std::string_view name);
inline constexpr MemoryArm kMemoryArms[] = {MemoryArm::cold, MemoryArm::warm, MemoryArm::shuffled};

/// A player on one task: a line of benchmarks/results/*.jsonl.
struct ResolveLine {
  std::string suite;
  int suite_version = 1;
  std::string suite_hash;
  std::string suite_run;  ///< id that the lines of one pass through the suite share; sorts by time
  int round = 1;          ///< of the passes with a memory that grows
  std::string created;    ///< UTC, ISO 8601
  std::string program_version;
  std::string machine;  ///< processor's model and cores
  base::Json settings;  ///< what the player was, an object
  std::string task;
  std::string family;
  std::string language;
  std::string kind;  ///< slow, trap, optimal
  std::string base;  ///< commit of the repository that was made
  MemoryArm arm = MemoryArm::cold;
  std::uint64_t seed = 0;
  int experiences = 0;        ///< that memory held
  bool resolved = false;      ///< passed every gate, and the task's bar
  double seconds = 0;         ///< wall-clock, until it was resolved or the player ended
  double model_seconds = 0;   ///< of it, waiting for models
  double device_seconds = 0;  ///< of it, building, testing and measuring
  double budget_seconds = 0;
  int evaluations = 0;
  int budget_evaluations = 0;
  std::int64_t calls = 0;
  std::int64_t tokens = 0;
  std::optional<double> usd;  ///< nothing: unknown
  std::string verdict;        ///< faster, not_faster, refused; empty: `error`
  std::string strategy;
  std::string reviewer{};  ///< "first of 3, 3 of 3 pairs stable"; empty: nobody reviewed
  double gain = 1;         ///< confirmed speed-up; 1 without
  double peak = 1;         ///< of the reference solution
  std::string error;

  [[nodiscard]] bool is_optimal() const { return kind == "optimal"; }
  /// Whether the verdict is that of a success, whatever the task's goal is.
  [[nodiscard]] bool is_better() const;
  /// log gain / log peak, 0 where it gained nothing.
  [[nodiscard]] double share() const;
};
void to_json(base::Json& out, const ResolveLine& line);
void from_json(const base::Json& in, ResolveLine& line);

/// The lines of one file. @error parse: with the number of the line; unsupported: a newer version wrote it.
base::Result<std::vector<ResolveLine>> read_resolve_lines(std::string_view text, std::string_view name);

/// One arm of one pass through the suite. Tasks that cannot be improved count only as `claims`.
struct ArmFigures {
  int tasks = 0;
  int resolved = 0;
  double seconds = 0;                      ///< restricted mean up to the budget
  std::optional<double> median_seconds{};  ///< Kaplan-Meier; nothing: most were not resolved
  double evaluations = 0;                  ///< restricted mean up to the budget
  std::optional<double> median_evaluations{};
  double share = 0;  ///< mean share of the peak
  int optimal = 0;
  int claims = 0;  ///< of a gain where we know of none
  std::optional<double> usd{};
  double experiences = 0;  ///< mean number in memory
};

/// Time or evaluations with one memory over those with none, on the same tasks with the same seeds: the geometric mean
/// over tasks. What was not resolved counts as the budget; pairs of which neither was resolved say nothing.
struct ArmRatio {
  std::optional<stats::Interval> seconds{};
  std::optional<stats::Interval> evaluations{};
  int pairs = 0;       ///< that were compared
  int unresolved = 0;  ///< left out: neither was resolved
};

/// One pass through the suite.
struct SuitePass {
  std::string suite_run;
  std::string created;
  int round = 1;
  std::vector<std::pair<MemoryArm, ArmFigures>> arms;  ///< in the order of kMemoryArms
  [[nodiscard]] const ArmFigures* find(MemoryArm arm) const;
};

/// Passes that may be compared: of the same frozen suite, by the same player and program version, on the same machine.
struct AlikePasses {
  std::string suite;
  int suite_version = 1;
  std::string program_version;
  std::string machine;
  base::Json settings;
  std::vector<SuitePass> passes;  ///< oldest first
  ArmRatio warm;                  ///< over cold, all passes together
  ArmRatio shuffled;
};

/// All lines, grouped; groups in order of first appearance.
std::vector<AlikePasses> alike_passes(const std::vector<ResolveLine>& lines);

/// benchmarks/TREND.md.
std::string trend_markdown(const std::vector<ResolveLine>& lines);

}  // namespace accelopt::report

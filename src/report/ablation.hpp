// SPDX-License-Identifier: Apache-2.0
// What each part of the method is worth: the same tasks, seeds and budgets with one factor changed at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "model/evaluation.hpp"
#include "report/document.hpp"
#include "report/novelty.hpp"
#include "report/suite_history.hpp"

namespace accelopt::report {

/// A task's run with one seed.
struct AblationCell {
  std::uint64_t seed = 0;
  SuiteTask task;
  std::optional<Novelty> novelty{};  ///< none: there is no winner, or it could not be found out
};

/// One value of one factor, and what came of it.
struct AblationArm {
  std::string factor;      ///< "strategy"
  std::string level;       ///< "greedy"
  bool base = false;       ///< what all other arms of its factor are compared with
  std::string left_out{};  ///< why it was not run; empty: it was
  std::vector<AblationCell> cells{};
};

struct Ablation {
  std::string suite;
  std::vector<std::string> tasks;
  std::vector<std::uint64_t> seeds;
  std::string budget;  ///< of each run, in words
  std::vector<AblationArm> arms;
};

/// An arm in figures. A run without a gain counts as 1; runs that failed count in none.
struct AblationFigures {
  int runs = 0;  ///< that finished
  int improved = 0;
  /// Geometric mean of the confirmed speed-ups; its 95 % interval is over the seeds' means. None: fewer than two seeds.
  std::optional<double> speedup{};
  std::optional<model::Interval> over_seeds{};
  /// Its speed-ups over those of its factor's base arm, paired by task and seed, with their 95 % interval. None: it is
  /// the base, or fewer than two pairs are there.
  std::optional<model::Interval> over_base{};
  std::optional<double> evaluations_to_gain{};  ///< to kMostOfTheGain, as SuiteFigures has it
  double evaluations = 0;                       ///< of a run on average
  double seconds = 0;                           ///< likewise
};
AblationFigures figures_of(const Ablation& ablation, const AblationArm& arm);

/// Tables: the arms, and every run.
Document document_of(const Ablation& ablation);
/// The object of docs/json.md.
base::Json to_json(const Ablation& ablation);

}  // namespace accelopt::report

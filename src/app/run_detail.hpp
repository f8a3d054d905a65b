// SPDX-License-Identifier: Apache-2.0
// What a run did, read from its record.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluation/race/recompute.hpp"
#include "journal/journal.hpp"
#include "model/experience.hpp"
#include "model/usage.hpp"

namespace accelopt::app {

/// A plan that was asked for, or one question for several.
struct ShownPlan {
  std::string id;                     ///< identity
  std::string author;                 ///< model or recipes
  std::string text;                   ///< its title, or why there is none
  std::optional<model::Usage> usage;  ///< with its attempts and fixes; none: its question bears it
};

/// A triage or a confirmation.
struct ShownRace {
  std::string step;  ///< the step's whole name
  model::StepKind kind;
  model::Identity identity;
  model::Evaluation evaluation;
};

/// What one model used in one role.
struct ModelUse {
  std::string role;  ///< "?": unknown
  std::string model;
  model::Usage usage;  ///< of all answers that arrived
};

/// Where the time went. Steps overlap.
struct StepTime {
  std::string kind;
  int count = 0;
  double seconds = 0;
};

class RunDetail {
 public:
  /// By full id, unique prefix, or "last". @error as open_workspace and Journal::find_run.
  static base::Result<RunDetail> read(const std::filesystem::path& workspace, const std::string& name);

  [[nodiscard]] const journal::RunInfo& run() const { return run_; }
  [[nodiscard]] const std::vector<journal::StepRecord>& steps() const { return steps_; }
  [[nodiscard]] std::vector<ShownPlan> plans() const;
  [[nodiscard]] std::vector<ShownRace> races() const;
  [[nodiscard]] std::vector<ModelUse> models() const;
  [[nodiscard]] std::vector<StepTime> times() const;
  [[nodiscard]] base::Result<std::vector<model::Experience>> experiences() const;
  /// The verdict that a race's samples give by the rules of today; none: they cannot be decided again.
  [[nodiscard]] std::optional<evaluation::Recomputed> recomputed(const ShownRace& race) const;
  /// By identity (i0.b0.p1.a0.f0) or the beginning of a source id. @error not_found.
  [[nodiscard]] base::Result<model::Solution> candidate(const std::string& id) const;
  /// The log of all decisions. @error not_found: the run has not ended, or an older version made it.
  [[nodiscard]] base::Result<base::Json> decisions() const;

 private:
  RunDetail() = default;

  std::unique_ptr<journal::Journal> journal_;
  journal::RunInfo run_;
  std::vector<journal::StepRecord> steps_;
};

enum class RawSamples { left_out, kept };
/// The object of docs/json.md.
base::Json to_json(const RunDetail& detail, RawSamples samples);

}  // namespace accelopt::app

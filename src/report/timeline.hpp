// SPDX-License-Identifier: Apache-2.0
// Where a run's time went, from the times of its recorded steps.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "journal/journal.hpp"

namespace accelopt::report {

/// Seconds on the run's own clock: its sessions one after the other, the time between them left out.
struct TimeSpan {
  double begin = 0;
  double end = 0;
};

/// What one kind of work took.
struct WorkTime {
  int count = 0;               ///< steps
  double seconds = 0;          ///< of all of them together; they overlap
  double covered_seconds = 0;  ///< in which at least one was under way
  std::vector<TimeSpan> spans;
};

struct Timeline {
  double wall_seconds = 0;
  int sessions = 0;
  WorkTime model;           ///< questions, whoever plays the roles; the wait for a place at the endpoint included
  WorkTime build;           ///< the wait for a builder included
  WorkTime verify;          ///< on the device
  WorkTime measure;         ///< on the device, profiles included
  double busy_seconds = 0;  ///< of the device: verify and measure
  // What the run waited for while the device had nothing to do.
  double idle_seconds = 0;
  double idle_for_models_seconds = 0;  ///< questions were under way, and no build
  double idle_for_builds_seconds = 0;  ///< builds were
  double idle_for_nothing_seconds = 0;

  /// The device's, 0 to 1; 0 for a run without a step.
  [[nodiscard]] double utilisation() const { return wall_seconds > 0 ? busy_seconds / wall_seconds : 0; }
};

/// The timeline of the steps, in order of writing. The device serves one request at a time in order of arrival, so a
/// request's own time begins when the one before it ends. Journals that mark no sessions (older versions) are read as
/// one session for each time that the clock of the steps begins anew.
Timeline timeline_of(const std::vector<journal::StepRecord>& steps);

/// When each step was under way.
std::vector<TimeSpan> spans_of(const std::vector<journal::StepRecord>& steps);

/// The figures and, beneath, a row for each kind of work over the run's time; no line is longer than 100 columns.
std::string to_text(const Timeline& timeline);
/// The object that docs/json.md describes, without `run`.
base::Json to_json(const Timeline& timeline);

}  // namespace accelopt::report

// SPDX-License-Identifier: Apache-2.0
// What a run asked, tried, measured and learned, in order and linked: what reports and explanations are made from.
// Taken from the run's record alone, so that it is the same for a run that goes on, has ended or was repeated
// elsewhere.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "journal/journal.hpp"
#include "model/events.hpp"
#include "model/kernel.hpp"
#include "report/novelty.hpp"
#include "report/timeline.hpp"

namespace accelopt::report {

/// An answer of an attempt that failed and went to the fixer.
struct FailedAnswer {
  model::Identity identity;
  model::Status status = model::Status::not_measured;
  std::string reason;  ///< what the compiler or the verification said; empty: not on record
};

/// One attempt at a plan, as it ended.
struct StoryAttempt {
  model::Identity identity;  ///< of its last answer
  model::Identity parent;    ///< all -1: the baseline
  model::Plan plan;
  std::string author;    ///< model or recipes
  model::Kernel kernel;  ///< of the last answer, tuned values chosen; of no source: no answer came
  model::Status status = model::Status::not_measured;
  model::Verdict verdict = model::Verdict::none;
  std::optional<model::Interval> ratio;  ///< parent's time / its time
  int blocks = 0;
  std::string reason;  ///< why it failed; empty: it passed, or that is not on record
  std::string note;    ///< "known already", "no answer: ..."
  int evaluation = 0;  ///< the number of its last build among the run's, from 1; 0: nothing was built for it
  bool is_winner = false;
  std::vector<model::WorkloadTiming> workloads;  ///< from its race
  std::optional<model::Interval> score;  ///< baseline time / its time: of the first play-off that gave it a place
  std::vector<FailedAnswer> failed;
  std::optional<model::Tuning> tuning;
  model::Usage usage;  ///< of its own questions
};

/// What an iteration came to.
struct StoryRound {
  int iteration = 0;
  std::vector<model::BeamMember> beam;  ///< best first
  std::optional<model::BeamMember> incumbent;
  int evaluations = 0;  ///< until then
  model::Usage usage;   ///< until then
};

/// What the knowledge store gave, and to whom.
struct Recalled {
  int iteration = 0;
  int parent = 0;
  model::Experience experience;
};

struct RunStory {
  journal::RunInfo run;
  std::string device;  ///< empty: nothing was opened yet
  std::string device_summary;
  std::string task_header;  ///< text of the generated task.h; empty: the target has none
  model::Evaluation baseline;
  std::vector<StoryAttempt> attempts;  ///< in order of identity
  std::vector<StoryRound> rounds;
  std::vector<model::Experience> learned;
  std::vector<Recalled> recalled;
  std::vector<std::string> hints;
  std::vector<model::Evaluation> confirmations;    ///< in order
  std::map<std::string, model::Profile> profiles;  ///< by source id
  std::map<std::string, model::Usage> usage;       ///< by role, of those that were asked
  int evaluations = 0;
  Timeline timeline;
  std::optional<Novelty> novelty{};  ///< of the winner; none: there is none, or it was not asked for

  /// Whether its times were computed by a model of the device.
  [[nodiscard]] bool is_modelled() const { return baseline.environment.clock == model::kModelledClock; }
  /// The attempt of that identity; none: the baseline, or there is no such attempt.
  [[nodiscard]] const StoryAttempt* find(const model::Identity& identity) const;
  /// The confirmed winner; none: there is none (yet).
  [[nodiscard]] const StoryAttempt* winner() const;
  /// The confirmation that the run's result rests on; none: nothing was confirmed.
  [[nodiscard]] const model::Evaluation* confirmation() const;
  /// From the baseline's child to this attempt.
  [[nodiscard]] std::vector<const StoryAttempt*> lineage(const StoryAttempt& last) const;
  /// Its parent's score, by the play-off before it, times its own ratio: an estimate that chains two measurements.
  /// None: it was not raced.
  [[nodiscard]] std::optional<model::Interval> chained_speedup(const StoryAttempt& attempt) const;
};

/// What a journal holds of a run.
struct RunRecord {
  journal::RunInfo run;
  std::vector<journal::StepRecord> steps;  ///< in order of writing
  std::vector<model::Event> events;        ///< in order
  std::vector<model::Experience> experiences;
};

/// Steps that another version wrote in a form that is not known are left out.
RunStory story_of(const RunRecord& record);

}  // namespace accelopt::report

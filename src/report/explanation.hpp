// SPDX-License-Identifier: Apache-2.0
// How a run found what it found, told as a lesson: the lineage of the winner step by step, what was tried beside each
// step and failed, and what was learned. From the record alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "model/measure.hpp"
#include "report/run_story.hpp"

namespace accelopt::report {

/// A figure of a profile that a step changed.
struct ChangedFigure {
  std::string name;
  std::string unit;
  std::optional<double> before{};  ///< none: only the other kernel has it, such as a launch of its own
  std::optional<double> after{};
  std::string meaning{};  ///< one line
};

/// An attempt from the same round that did not lead on.
struct TriedBeside {
  model::Identity identity;
  std::string title;
  std::string fate;  ///< "slower", "compile error"
  std::optional<model::Interval> ratio;
  std::string why;                         ///< what the compiler or the verification said
  model::Identity parent{};                ///< all -1: the baseline
  std::optional<model::Interval> score{};  ///< over the baseline, by a play-off; none: it was in none
  bool built = true;                       ///< false: no kernel came
  std::string refused{};  ///< why its confirmation ended without a winner; empty: it had none, or passed
  std::vector<model::ProfileItem> times{};             ///< of its profile; empty: none is on record
  std::string_view than = model::measure_of("").than;  ///< after its ratio: "its parent's speed"
};

/// An experience that a plan rests on.
struct Foundation {
  std::string id;
  std::string title;
  std::string from;  ///< the task and run that taught it; empty: it is not on record
  std::optional<model::Interval> effect;
};

/// What a play-off kept, and how it stood.
struct Standing {
  model::Identity identity;  ///< all -1: the baseline
  std::string title;
  model::Interval score;    ///< over the baseline
  bool on_the_way = false;  ///< it is in the winner's line
};

/// A round as its play-off left it.
struct LessonRound {
  int iteration = 0;
  int evaluations = 0;         ///< of the run until then
  std::vector<Standing> kept;  ///< best first
};

/// One step of the lineage.
struct LessonStep {
  model::Identity identity;
  model::Identity parent;
  model::Plan plan;
  std::optional<model::Interval> ratio;  ///< over its parent
  std::optional<model::Interval> score;  ///< over the baseline
  std::string diff;                      ///< unified, from its parent
  std::string rewritten{};               ///< the step's text, where hardly a line of its parent is left; else empty
  std::vector<FailedAnswer> mended;      ///< its own answers that failed before
  std::vector<ChangedFigure> profile;    ///< times first, then as the profile has them
  int figures_left_out = 0;              ///< that changed as well
  std::optional<model::Tuning> tuning{};
  int lines_written = 0;  ///< that are not its parent's
  int lines_left = 0;     ///< of them, in the winner
  std::vector<Foundation> rests_on;
  std::vector<TriedBeside> beside;
};

struct Explanation {
  std::string run;
  std::string task;
  std::string device;
  std::string answer;  ///< one sentence
  std::string about;   ///< what the task computes, in its own words
  /// What the answer does not say: how the winner does on workloads that the search never measured, a sentence each.
  std::vector<std::string> unseen{};
  std::string fixed_axes{};                   ///< of all workloads: "K = 64, N = 4096"
  std::map<std::string, std::string> axes{};  ///< by workload: "M = 4096, N = 512"
  bool modelled = false;
  model::Measure measure = model::measure_of("");  ///< what the ratios compare
  std::vector<LessonStep> steps;  ///< from the baseline's child to the winner; none: there is no winner
  std::vector<LessonRound> rounds;
  std::vector<TriedBeside> dead_ends;  ///< of rounds in which no step of the lineage was made
  std::vector<model::Experience> learned;
  std::vector<model::WorkloadTiming> workloads;  ///< confirmed
  std::vector<std::string> tested{};             ///< what a tester wrote, a sentence each; none: nobody did
  std::vector<std::string> reviewed{};           ///< what a reviewer decided, likewise
  std::vector<std::string> checked;              ///< what the confirmation checked besides results
  std::vector<std::string> differs{};            ///< times that the search and the confirmation saw differently
};

Explanation explain(const RunStory& story);

/// What the run came to, in one sentence.
std::string answer_of(const RunStory& story);
/// "faster", "compile error", "known already": what became of an attempt, in a word or two.
std::string fate_of(const StoryAttempt& attempt, const model::Measure& measure);

/// For a terminal.
std::string to_text(const Explanation& explanation);
std::string to_markdown(const Explanation& explanation);
/// The object of docs/json.md.
base::Json to_json(const Explanation& explanation);

}  // namespace accelopt::report

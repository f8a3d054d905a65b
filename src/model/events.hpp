// SPDX-License-Identifier: Apache-2.0
// What a run tells while it goes on. Values; who shows them decides how (report/).
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/device_wait.hpp"
#include "model/evaluation.hpp"
#include "model/experience.hpp"
#include "model/identity.hpp"
#include "model/usage.hpp"

namespace accelopt::model {

struct RunStarted {
  std::string run;
  std::string task;
  std::string device;
  int iterations = 0;
  double baseline_ns = 0;        ///< of the raced workloads, geometric mean
  double baseline_roofline = 0;  ///< share, 0..1
  int planned_evaluations = 0;   ///< at most, over the whole run
  std::string goal{};            ///< of a repository's code what the ratios compare (measure.hpp); empty: times
};

struct IterationStarted {
  int iteration = 0;  ///< from 0
  int beam = 0;       ///< members
};

enum class AttemptState { planning, executing, building, measuring, fixing, done };

/// An attempt moved on. For `done`: its last status and, if it was measured, its speed-up over its parent.
struct AttemptMoved {
  Identity identity;
  AttemptState state = AttemptState::planning;
  std::string title;  ///< of its plan, once there is one
  Status status = Status::not_measured;
  std::optional<Interval> ratio;
  std::string note;                 ///< kKnownAlready, "no answer: ...", kNotMeasured and why, or empty
  Verdict verdict = Verdict::none;  ///< of its race, which may know more than the interval shows (stats/triage.hpp)
};
/// The note of an attempt whose program was built or measured before, under whatever name.
inline constexpr const char* kKnownAlready = "known already";
/// Begins the note of an attempt whose program was built and could not be measured.
inline constexpr const char* kNotMeasured = "not measured: ";

struct Learned {
  std::string title;
  Polarity polarity = Polarity::improves;
  Interval effect;
};

struct BeamMember {
  Identity identity;  ///< all -1: the baseline
  std::string title;
  Interval score;  ///< baseline time / its time
};

/// An iteration's play-off is over.
struct Selected {
  int iteration = 0;
  std::vector<BeamMember> beam;  ///< best first
  std::optional<BeamMember> incumbent;
  int evaluations = 0;  ///< so far
  Usage usage;          ///< so far
};

struct Confirming {
  Identity identity;
  std::string title;
};

struct RunFinished {
  std::string outcome;  ///< "improved", "no_gain", "budget", "interrupted"
  std::string stopped_by;
  std::optional<Interval> speedup;
  double wall_seconds = 0;
  std::string stopped_because{};  ///< for people, of "near_roofline"; else empty
};

/// What the run has used so far; told when it has changed, at most once a second.
struct Spending {
  Usage usage;
  int evaluations = 0;
  double device_seconds = 0;
  double wall_seconds = 0;
};

/// Something a person should know: a degraded sandbox, a noisy machine, a lost answer.
struct Note {
  std::string text;
};

using Event = std::variant<RunStarted, IterationStarted, AttemptMoved, Learned, Selected, Confirming, RunFinished,
                           Spending, DeviceWait, Note>;

/// Gets a run's events, one at a time, from any thread.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on(const Event& event) = 0;
};

}  // namespace accelopt::model

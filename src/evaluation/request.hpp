// SPDX-License-Identifier: Apache-2.0
// What is asked of the machine that measures, and what it answers, as values. An evaluator (evaluator.hpp) answers
// them; their JSON (requests.hpp) is that of the worker protocol and of bundles.
#pragma once

#include <variant>
#include <vector>

#include "evaluation/reports.hpp"
#include "model/evaluation.hpp"
#include "model/kernel.hpp"
#include "model/task.hpp"

namespace accelopt::evaluation {

/// Starts measuring one task: peaks, inputs, references; verifies, times and profiles the baseline. Comes first, once.
/// @error unsupported: no compiler or no device; unavailable: the worker died three times; cancelled.
struct Open {
  static constexpr auto kOperation = model::Operation::open;
  using Reply = OpenReport;
  model::Task task;
  MeasureSettings settings{};
};

/// Compiles only. A solution that does not build is a report, not an error. May be asked from many threads at once.
struct Build {
  static constexpr auto kOperation = model::Operation::build;
  using Reply = model::BuildReport;
  model::Kernel kernel;
};

/// Verifies on race and check workloads, then races against the opponent (triage); the evaluation's kind is "triage". A
/// failure is a status.
struct Race {
  static constexpr auto kOperation = model::Operation::triage;
  using Reply = model::Evaluation;
  model::Kernel candidate;
  model::Kernel opponent;
};

/// The profile (cold time, rates, intensity, bound, remarks, code size) of a solution that passed.
struct Profile {
  static constexpr auto kOperation = model::Operation::profile;
  using Reply = model::Profile;
  model::Kernel kernel;
};

/// Races all arms side by side until places `places` and `places` + 1 separate. The first arm is the baseline.
struct PlayOff {
  static constexpr auto kOperation = model::Operation::playoff;
  using Reply = PlayoffReport;
  std::vector<Arm> arms;
  int places = 1;
};

/// Verifies on the held-out workloads; the status is all that may be told to anyone.
struct HeldOut {
  static constexpr auto kOperation = model::Operation::held_out;
  using Reply = model::Status;
  model::Kernel kernel;
};

/// Fresh processes, fresh inputs, all workloads; the evaluation's kind is "confirm"; its verdict is FASTER iff it is
/// confirmed, `reason` says why not.
struct Confirm {
  static constexpr auto kOperation = model::Operation::confirm;
  using Reply = model::Evaluation;
  model::Kernel kernel;
};

using Request = std::variant<Open, Build, Race, Profile, PlayOff, HeldOut, Confirm>;
using Reply =
    std::variant<OpenReport, model::BuildReport, model::Evaluation, model::Profile, PlayoffReport, model::Status>;

}  // namespace accelopt::evaluation

// SPDX-License-Identifier: Apache-2.0
// The search for the values of a kernel that leaves some open (`//@ tune`): builds ahead, races in rungs.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "evaluation/measuring.hpp"
#include "evaluation/target.hpp"
#include "model/tuning.hpp"

namespace accelopt::evaluation {

/// How much of a space is tried. Spaces of up to `whole` configurations are raced whole; of larger ones a share, half
/// of it spread over the space and the rest where the best ones point to.
struct TuningRules {
  std::size_t whole = 32;
  std::size_t share = 5;  ///< one in so many, but at least `whole`
  std::size_t most = 96;
  std::size_t heat = 12;         ///< most configurations that run side by side, beside the leader
  std::size_t probes = 8;        ///< when so many were built and none compiles, none is expected to
  int idle_waves = 2;            ///< the rest of the share is left when so many waves in a row gained less than
  double least_gain = 0.01;      ///< ... this
  std::size_t verify_tries = 4;  ///< configurations that are verified until one passes
};

/// Builds solutions on threads of its own, in the order given, while others are measured.
class BuildAhead {
 public:
  BuildAhead(Target& target, std::stop_token stop);
  BuildAhead(const BuildAhead&) = delete;
  BuildAhead& operator=(const BuildAhead&) = delete;
  /// Leaves out what has not begun.
  ~BuildAhead();

  /// Its number, for `wait`.
  std::size_t add(const model::Solution& solution);
  /// Must not be called while the machine is kept quiet: builds may be at rest then. @error as Target::build.
  base::Result<model::BuildReport> wait(std::size_t number);

 private:
  void serve();

  struct Job {
    model::Solution solution;
    std::optional<base::Result<model::BuildReport>> report;
  };
  Target& target_;
  std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t begun_ = 0;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

/// Builds a candidate; of one with open values, the configurations that are raced first. Not built: malformed, or none
/// of the first `probes` compiles. The machine-code id of an open one stands for its source. @error as Target::build.
base::Result<model::BuildReport> build_candidate(Target& target, const model::Definition& definition,
                                                 const model::Solution& solution, const std::stop_token& stop);

/// Finds the values of an open candidate, then `run_triage` with them: the evaluation is that of the chosen
/// configuration and says what became of the others. A failure is that of the first configuration that was tried.
base::Result<model::Evaluation> run_tuned_triage(Measuring& measuring, const model::Solution& candidate,
                                                 const model::TuningSpace& space, const model::Solution& opponent,
                                                 const std::stop_token& stop);

}  // namespace accelopt::evaluation

// SPDX-License-Identifier: Apache-2.0
// One open task on the measuring side, and what can be asked of it. Everything here runs on the measuring thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluation/build_ahead.hpp"
#include "evaluation/race/block_runner.hpp"
#include "evaluation/reports.hpp"
#include "evaluation/target.hpp"
#include "evaluation/verify/slots.hpp"
#include "stats/estimate.hpp"

namespace accelopt::evaluation {

// Which workloads a flow uses.
inline constexpr std::array kRaced{model::Role::race};
inline constexpr std::array kVerified{model::Role::race, model::Role::check};
inline constexpr std::array kHeldOut{model::Role::held_out};
inline constexpr std::array kEverything{model::Role::race, model::Role::check, model::Role::held_out};

/// What the flows share.
struct Measuring {
  Target& target;
  model::Task task;
  model::Kernel baseline;  ///< the task's
  MeasureSettings settings;
  Peaks peaks;
  std::unique_ptr<Slots> slots;
  std::vector<double> baseline_ns;  ///< a workload; 0 until measured
  std::mt19937_64 random;           ///< orders and choices; never anything that counts
  int confirmations = 0;            ///< made: each draws slots of its own
  bool near_peaks = false;          ///< a time came near the peaks, which were therefore measured anew
  std::unique_ptr<CompileBudgets> compile_budgets;
  std::map<std::string, std::vector<double>>
      recorded_ns;  ///< `paper` protocol: mean latency by source id and raced workload

  [[nodiscard]] stats::Samples samples() const;
  [[nodiscard]] std::vector<std::size_t> workloads(std::span<const model::Role> roles) const;
  [[nodiscard]] std::vector<double> weights(const std::vector<std::size_t>& of) const;
  [[nodiscard]] std::chrono::nanoseconds hard_limit() const;
  [[nodiscard]] std::vector<double> expected_ns(const std::vector<std::size_t>& of) const;
};

/// Adds "name: seconds" of its own life to an evaluation, without what was waited for others to leave the device.
class StageClock {
 public:
  StageClock(const Measuring& measuring, model::Evaluation& evaluation, model::Stage stage);
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;
  ~StageClock();

 private:
  const DeviceUse& use_;
  model::Evaluation& evaluation_;
  model::Stage stage_;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::duration waited_before_;
};

/// An evaluation with environment, trust and ids filled in.
model::Evaluation blank_evaluation(const Measuring& measuring, const model::Kernel& kernel, model::EvaluationKind kind);
void set_failure(model::Evaluation& evaluation, const Failure& failure);

/// The machine code that was built; false: the evaluation says COMPILE_ERROR.
bool take_build(const model::BuildReport& report, model::Evaluation& evaluation);
/// The same of a build made now, as a stage. @error as Target::build.
base::Result<bool> build_stage(Measuring& measuring, const model::Kernel& kernel, model::Evaluation& evaluation,
                               const std::stop_token& stop);

/// Bytes of a workload's inputs and outputs.
std::size_t bytes_of(const model::Definition& definition, const model::Workload& workload);

/// Whether it was the machine that let no block be measured; then the evaluation says NOT_MEASURED and why.
bool not_measured(const BlockRunner& runner, model::Evaluation& evaluation);

/// What is kept of a block: the opponent is arm 0, the candidate arm 1, a confirmation's shifted copy arm 2.
model::BlockSample sample_of(const Block& block);

/// Whether kernels can be run here; else the evaluation says NOT_MEASURED and why.
bool can_run(const Measuring& measuring, model::Evaluation& evaluation);

/// Times of calls that no block pairs: those that are not the kernel's own count where there are no others.
class FairTimes {
 public:
  void add(const CallOutcome& outcome);
  [[nodiscard]] double median() const;
  /// Who was there at every call, as the target named them; empty: nobody, or not always.
  [[nodiscard]] std::string disturbance() const;

 private:
  std::vector<double> all_;
  std::vector<double> fair_;
  std::string disturbance_;
};

/// How many slots of each workload but the smallest a verification looks at; 0, and the smallest: all.
struct VerifyPlan {
  std::vector<std::size_t> workloads;
  int slots = 0;
  std::vector<double>* median_ns = nullptr;  ///< filled with the calls' median time, an entry a workload of the task
  Margin* margin = nullptr;                  ///< widened by every output that is right
  std::string* disturbance = nullptr;        ///< says why no time of some workload is the kernel's own, where it is so
};
/// Calls the solution in a fresh process, the smallest workload first, on slots that it has not met, over poison of
/// every kind in turn; then once more on the first inputs in another process, over poison of another kind: both must
/// agree; then as verify_special_values. The first failure, or none.
base::Result<std::optional<Failure>> verify(Measuring& measuring, Slots& slots, const model::Kernel& kernel,
                                            const VerifyPlan& plan, const std::stop_token& stop);

/// Calls a kernel whose flags let the compiler assume finite math, or whose baseline deals with special values
/// (model::special_values_asked), and the baseline where its own flags do not, with NaN and then infinities in each
/// floating input tensor, untimed: results have to be finite where the baseline's are, and near them. Where the
/// baseline may mean NaN alone, only NaN is tried, and what it makes no finite result of is free. `met` has a slot of
/// each workload that the kernel was called with. The first failure, or none; none where the baseline does not return.
base::Result<std::optional<Failure>> verify_special_values(Measuring& measuring, Slots& slots,
                                                           const model::Kernel& kernel,
                                                           const std::map<std::size_t, int>& met,
                                                           const std::stop_token& stop);

/// Has the target watch a candidate's calls on the smallest raced and the smallest checked workload, as a stage
/// "inspect"; its notes come to the evaluation. The finding, or none. @error as Target::inspect.
base::Result<std::optional<Failure>> inspect_calls(Measuring& measuring, Slots& slots, const model::Kernel& candidate,
                                                   model::Evaluation& evaluation, const std::stop_token& stop);

/// The median time, the opponent's, the ratio and the roofline of one workload, from the blocks' times of two arms.
model::WorkloadTiming workload_timing(const Measuring& measuring, std::size_t workload,
                                      const std::vector<double>& reference_ns, const std::vector<double>& candidate_ns);

/// Which workload's time the machine cannot reach, and that; "": none. Measures the peaks anew before it says so, and
/// once where a time comes near them: a low peak would make a kernel look finished. @error as probe_peaks_again.
base::Result<std::string> find_incredible(Measuring& measuring, model::Evaluation& evaluation,
                                          const std::stop_token& stop);
/// The same; such a candidate is rejected.
base::Result<void> reject_incredible(Measuring& measuring, model::Evaluation& evaluation, const std::stop_token& stop);

model::Interval to_model(const stats::Interval& interval);

// The flows. Each holds the machine quiet and is one exclusive use of the device.
base::Result<model::Evaluation> evaluate_baseline(Measuring& measuring, const std::stop_token& stop);
base::Result<model::Evaluation> run_triage(Measuring& measuring, const model::Kernel& candidate,
                                           const model::Kernel& opponent, const std::stop_token& stop);
base::Result<PlayoffReport> run_playoff(Measuring& measuring, const std::vector<Arm>& arms, int places,
                                        const std::stop_token& stop);
base::Result<model::Evaluation> run_confirmation(Measuring& measuring, const model::Kernel& candidate,
                                                 const std::stop_token& stop);
base::Result<model::Profile> run_profile(Measuring& measuring, const model::Kernel& kernel,
                                         const std::stop_token& stop);

/// The `paper` protocol: mean of ten calls a raced workload, repeated while it is not calm. A failure, or the
/// latencies.
struct PaperLatency {
  std::optional<Failure> failure;
  std::vector<double> mean_ns;  ///< a raced workload
  int calls = 0;
};
base::Result<PaperLatency> paper_latency(Measuring& measuring, const model::Kernel& kernel,
                                         const std::stop_token& stop);
base::Result<model::Evaluation> paper_triage(Measuring& measuring, const model::Kernel& candidate,
                                             const model::Kernel& opponent, model::Evaluation evaluation,
                                             const std::stop_token& stop);
base::Result<PlayoffReport> paper_playoff(Measuring& measuring, const std::vector<Arm>& arms,
                                          const std::stop_token& stop);

}  // namespace accelopt::evaluation

// SPDX-License-Identifier: Apache-2.0
#include "search/metered_evaluator.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>

namespace accelopt::search {
namespace {

using base::Result;
using evaluation::OpenReport;
using evaluation::PlayoffReport;
using model::Evaluation;
using model::Solution;

/// A race before any is known, as a share of what the opening of the task takes to verify and time the baseline.
constexpr double kRaceOfOpening = 0.5;
/// A race may take longer than the mean of those before it.
constexpr double kRaceMargin = 1.5;
/// Play-off and confirmation together, in mean races, and in what the opening takes to verify and time the baseline.
/// @source runs of suites/nkibench-cpu/matmul (4.2 s of 1.4 s) and of the product of the black-box tests.
constexpr double kRacesOfConclusion = 6;
constexpr double kOpeningsOfConclusion = 3;

/// Without what was waited for others to leave the device.
class Stopwatch {
 public:
  explicit Stopwatch(const evaluation::Evaluator& evaluator)
      : evaluator_(evaluator), waited_before_(evaluator.waited_seconds()) {}
  [[nodiscard]] double seconds() const {
    const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    return std::max(all - (evaluator_.waited_seconds() - waited_before_), 0.0);
  }

 private:
  const evaluation::Evaluator& evaluator_;
  double waited_before_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// What the device did for an evaluation: it was compiled beside other measurements, and may have waited for them.
double measured_seconds(const Evaluation& evaluation, double whole) {
  double sum = 0;
  bool known = false;
  for (const model::StageTime& stage : evaluation.stages) {
    known = true;
    if (stage.name != "build") sum += stage.seconds;
  }
  return known ? sum : whole;
}

class MeteredEvaluator final : public evaluation::Evaluator {
 public:
  MeteredEvaluator(evaluation::Evaluator& evaluator, Budget& budget) : evaluator_(evaluator), budget_(budget) {}

  Result<OpenReport> open(const model::Task& task, const evaluation::MeasureSettings& settings,
                          std::stop_token stop) override {
    const Stopwatch watch(evaluator_);
    auto report = evaluator_.open(task, settings, stop);
    const double seconds = watch.seconds();
    budget_.spend({.device_seconds = seconds});
    // The first opening on a machine also measures its peaks; no race does that again.
    const double baseline_seconds = report ? measured_seconds(report->baseline, seconds) : seconds;
    budget_.expect_conclusion(kOpeningsOfConclusion * baseline_seconds);
    const std::scoped_lock lock(mutex_);
    opening_seconds_ = baseline_seconds;
    return report;
  }

  Result<model::BuildReport> build(const Solution& solution, std::stop_token stop) override {
    return evaluator_.build(solution, stop);
  }

  Result<Evaluation> triage(const Solution& candidate, const Solution& opponent, std::stop_token stop) override {
    TRY_ASSIGN(auto reservation, budget_.reserve({.device_seconds = expected_race()}, stop));
    const Stopwatch watch(evaluator_);
    auto evaluation = evaluator_.triage(candidate, opponent, stop);
    const double seconds = evaluation ? measured_seconds(*evaluation, watch.seconds()) : 0;
    reservation.settle({.device_seconds = seconds});
    if (evaluation) learn(seconds);
    return evaluation;
  }

  Result<model::Profile> profile(const Solution& solution, std::stop_token stop) override {
    if (!budget_.may_measure())
      return base::fail(base::ErrorCode::cancelled, "nothing new is measured: " + budget_.explanation());
    return counted<model::Profile>([&] { return evaluator_.profile(solution, stop); });
  }

  Result<PlayoffReport> playoff(const std::vector<evaluation::Arm>& arms, int places, std::stop_token stop) override {
    return counted<PlayoffReport>([&] { return evaluator_.playoff(arms, places, stop); });
  }

  Result<model::Status> verify_held_out(const Solution& solution, std::stop_token stop) override {
    return counted<model::Status>([&] { return evaluator_.verify_held_out(solution, stop); });
  }

  Result<Evaluation> confirm(const Solution& solution, std::stop_token stop) override {
    return counted<Evaluation>([&] { return evaluator_.confirm(solution, stop); });
  }

 private:
  template <class T>
  Result<T> counted(const std::function<Result<T>()>& work) {
    const Stopwatch watch(evaluator_);
    Result<T> result = work();
    budget_.spend({.device_seconds = watch.seconds()});
    return result;
  }

  [[nodiscard]] double expected_race() const {
    constexpr double kLeast = 1e-3;  // nothing would not count as the device's
    const std::scoped_lock lock(mutex_);
    const double mean = races_ == 0 ? kRaceOfOpening * opening_seconds_ : race_seconds_ / races_;
    return std::max(kRaceMargin * mean, kLeast);
  }

  void learn(double seconds) {
    double mean = 0;
    {
      const std::scoped_lock lock(mutex_);
      race_seconds_ += seconds;
      mean = race_seconds_ / ++races_;
    }
    budget_.expect_conclusion(kRacesOfConclusion * mean);
  }

  evaluation::Evaluator& evaluator_;
  Budget& budget_;
  mutable std::mutex mutex_;
  double opening_seconds_ = 0;
  double race_seconds_ = 0;
  int races_ = 0;
};

}  // namespace

std::unique_ptr<evaluation::Evaluator> make_metered_evaluator(evaluation::Evaluator& evaluator, Budget& budget) {
  return std::make_unique<MeteredEvaluator>(evaluator, budget);
}

}  // namespace accelopt::search

// SPDX-License-Identifier: Apache-2.0
#include "search/metered_evaluator.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "model/stages.hpp"

namespace accelopt::search {
namespace {

using base::Outcome;
using evaluation::Reply;
using evaluation::Request;
using model::Evaluation;

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
  return model::measured_seconds(evaluation.stages).value_or(whole);
}

class MeteredEvaluator final : public evaluation::Evaluator {
 public:
  MeteredEvaluator(evaluation::Evaluator& evaluator, Budget& budget) : evaluator_(evaluator), budget_(budget) {}

  Outcome<Reply> answer(const Request& request, std::stop_token stop) override {
    if (std::holds_alternative<evaluation::Build>(request)) return evaluator_.answer(request, stop);
    if (std::holds_alternative<evaluation::Race>(request)) return race(request, stop);
    if (std::holds_alternative<evaluation::Profile>(request) && !budget_.may_measure())
      return base::ending("nothing new is measured: " + budget_.explanation());
    const Stopwatch watch(evaluator_);
    auto reply = evaluator_.answer(request, stop);
    const double seconds = watch.seconds();
    budget_.spend({.device_seconds = seconds});
    if (std::holds_alternative<evaluation::Open>(request)) learn_opening(reply, seconds);
    return reply;
  }

 private:
  Outcome<Reply> race(const Request& request, const std::stop_token& stop) {
    TRY_ASSIGN(auto reservation, budget_.reserve({.device_seconds = expected_race()}, stop));
    const Stopwatch watch(evaluator_);
    auto reply = evaluator_.answer(request, stop);
    const double seconds = reply ? measured_seconds(std::get<Evaluation>(*reply), watch.seconds()) : 0;
    reservation.settle({.device_seconds = seconds});
    if (reply) learn(seconds);
    return reply;
  }

  /// The first opening on a machine also measures its peaks; no race does that again.
  void learn_opening(const Outcome<Reply>& reply, double seconds) {
    const double baseline_seconds =
        reply ? measured_seconds(std::get<evaluation::OpenReport>(*reply).baseline, seconds) : seconds;
    budget_.expect_conclusion(kOpeningsOfConclusion * baseline_seconds);
    const std::scoped_lock lock(mutex_);
    opening_seconds_ = baseline_seconds;
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

// SPDX-License-Identifier: Apache-2.0
#include "app/minimise.hpp"

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/line_edits.hpp"

namespace accelopt::app {
namespace {

using base::Result;

class Minimising {
 public:
  Minimising(evaluation::Evaluator& evaluator, const model::Task& task, const model::Solution& winner,
             const MinimiseProgress& progress, const std::stop_token& stop)
      : evaluator_(evaluator),
        task_(task),
        winner_(winner),
        progress_(progress),
        stop_(stop),
        edits_(base::line_edits(model::main_text(task.baseline), model::main_text(winner))) {}

  Result<Minimised> run() {
    TRY(open());
    Minimised out{winner_.solution(), static_cast<int>(edits_.size()), 0, {}, {}, {}};
    std::vector<base::LineEdit> kept = edits_;
    for (std::size_t i = edits_.size(); i-- > 0;) {
      progress_(fmt::format("edit {} of {}: is it needed?", edits_.size() - i, edits_.size()));
      std::vector<base::LineEdit> fewer = kept;
      std::erase(fewer, edits_[i]);
      TRY_ASSIGN(const bool same, is_as_good(solution_with(fewer)));
      if (same) kept = std::move(fewer);
    }
    out.taken_back = static_cast<int>(edits_.size() - kept.size());
    TRY(confirm_both(out, solution_with(kept)));
    return out;
  }

 private:
  template <class R>
  auto ask(R request) {
    return base::as_result(evaluator_.ask(std::move(request), stop_));
  }

  Result<void> open() {
    progress_("verifying and measuring the baseline");
    evaluation::MeasureSettings settings;
    settings.seed = base::random_seed();
    TRY_ASSIGN(const auto opened, ask(evaluation::Open{task_, settings}));
    if (opened.baseline.status != model::Status::passed)
      return base::fail(base::ErrorCode::unavailable, "the baseline fails here: " + opened.baseline.reason);
    TRY_ASSIGN(const auto built, ask(evaluation::Build{winner_}));
    if (!built.built)
      return base::fail(base::ErrorCode::unavailable, "the winner does not build here: " + built.diagnostics);
    current_code_ = built.machine_code_id;
    return {};
  }

  [[nodiscard]] model::Kernel solution_with(const std::vector<base::LineEdit>& edits) const {
    return model::Kernel(
        model::with_main_text(winner_.solution(), base::with_edits(model::main_text(task_.baseline), edits)));
  }

  /// Whether the candidate, which has an edit less, is as good as the winner.
  Result<bool> is_as_good(const model::Kernel& candidate) {
    TRY_ASSIGN(const auto built, ask(evaluation::Build{candidate}));
    if (!built.built) return false;
    if (!built.machine_code_id.empty() && built.machine_code_id == current_code_) return true;
    TRY_ASSIGN(const auto raced, ask(evaluation::Race{candidate, winner_}));
    if (raced.status != model::Status::passed || raced.verdict == model::Verdict::slower) return false;
    TRY_ASSIGN(const auto report,
               ask(evaluation::PlayOff{{{model::Kernel(task_.baseline)}, {winner_}, {candidate}}, 1}));
    if (report.arms.size() < 3 || !report.arms[1].measured || !report.arms[2].measured) return false;
    const model::Interval& winner = report.arms[1].score;
    const model::Interval& fewer = report.arms[2].score;
    const bool ties = fewer.high >= winner.low && fewer.estimate >= winner.estimate * (1 - kMostLoss);
    if (ties) current_code_ = built.machine_code_id;
    return ties;
  }

  Result<void> confirm_both(Minimised& out, const model::Kernel& rest) {
    progress_("confirming the winner");
    TRY_ASSIGN(const auto whole, ask(evaluation::Confirm{winner_}));
    if (whole.status != model::Status::passed || !whole.ratio)
      return base::fail(base::ErrorCode::unavailable, "the winner is not confirmed here: " + whole.reason);
    out.winner = out.minimised = *whole.ratio;
    if (out.taken_back == 0) return {};
    progress_("confirming what is left of it");
    TRY_ASSIGN(const auto fewer, ask(evaluation::Confirm{rest}));
    const bool holds = fewer.status == model::Status::passed && fewer.verdict == model::Verdict::faster &&
                       fewer.ratio && fewer.ratio->high >= whole.ratio->low * (1 - kMostLoss);
    if (!holds) {
      out.taken_back = 0;
      out.note = "with fewer edits it was not confirmed as fast" + (fewer.reason.empty() ? "" : ": " + fewer.reason) +
                 "; the winner stays as it is";
      return {};
    }
    out.minimised = *fewer.ratio;
    out.solution = rest.solution();
    return {};
  }

  evaluation::Evaluator& evaluator_;
  const model::Task& task_;
  model::Kernel winner_;
  const MinimiseProgress& progress_;
  std::stop_token stop_;
  std::vector<base::LineEdit> edits_;
  std::string current_code_;  ///< of what is left so far
};

}  // namespace

Result<Minimised> minimise(evaluation::Evaluator& evaluator, const model::Task& task, const model::Solution& winner,
                           const MinimiseProgress& progress, const std::stop_token& stop) {
  return Minimising(evaluator, task, winner, progress, stop).run();
}

Result<Minimised> minimise(const Shell& shell, const DeviceFlags& device, const model::Task& task,
                           const model::Solution& winner, const MinimiseProgress& progress) {
  TRY_ASSIGN(const auto evaluator, make_evaluator(shell, device));
  return minimise(*evaluator, task, winner, progress, shell.stops.abort);
}

}  // namespace accelopt::app

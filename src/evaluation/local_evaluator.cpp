// SPDX-License-Identifier: Apache-2.0
#include "evaluation/local_evaluator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "base/available_memory.hpp"
#include "base/hash.hpp"
#include "evaluation/measuring.hpp"
#include "evaluation/roofline.hpp"
#include "evaluation/tune/tuning.hpp"
#include "evaluation/verify/memory_need.hpp"

namespace accelopt::evaluation {
namespace {

using base::ErrorCode;
using model::Role;

class LocalEvaluator final : public Evaluator {
 public:
  explicit LocalEvaluator(Target& target) : target_(target) {}

  base::Outcome<Reply> answer(const Request& request, std::stop_token stop) override {
    return answer_by_type(request, [&](const auto& own) { return carry_out(own, stop); });
  }

  bool work_ahead() override {
    const std::lock_guard exclusive(mutex_);
    const bool races =
        measuring_ && measuring_->settings.protocol == model::Protocol::blocks && target_.builds_only().empty();
    if (!races || target_.keeps_slots() || target_.times_without_calls()) return false;
    std::stop_source at_once;  // whoever else uses the machine is not waited for
    at_once.request_stop();
    target_.use().begin(at_once.get_token());
    return measuring_->slots->draw_ahead(measuring_->workloads(kRaced));
  }

 private:
  base::Result<OpenReport> carry_out(const Open& open, const std::stop_token& stop) {
    const auto& [task, settings] = open;
    const std::lock_guard exclusive(mutex_);
    target_.use().begin(stop);
    if (measuring_) return base::fail(ErrorCode::invalid_argument, "a task is open already; start another worker");
    if (std::none_of(task.workloads.begin(), task.workloads.end(),
                     [](const auto& workload) { return workload.role == Role::race; })) {
      return base::fail(ErrorCode::invalid_argument,
                        "the task has no workload with role \"race\"; nothing could be timed");
    }
    if (!target_.checks(settings.outputs))
      return base::fail(ErrorCode::unsupported,
                        "the rule \"" + std::string(model::to_string(settings.outputs)) +
                            "\" for outputs is that of a benchmark of NKI kernels: take a modelled Trainium "
                            "(--device trn1:model), or another preset");
    const auto available = base::available_memory();
    if (!target_.keeps_slots() && !target_.times_without_calls() && available)
      TRY(check_memory(task, settings.slots, *available));
    OpenReport report;
    TRY_ASSIGN(report.device, target_.open(task, settings, stop));
    if (settings.known_peaks) report.device.peaks = larger_peaks(report.device.peaks, *settings.known_peaks);
    auto opened =
        std::make_unique<Measuring>(Measuring{.target = target_,
                                              .task = task,
                                              .baseline = model::Kernel(task.baseline),
                                              .settings = settings,
                                              .peaks = report.device.peaks,
                                              .slots = nullptr,
                                              .baseline_ns = {},
                                              .random = std::mt19937_64(base::derive_seed(settings.seed, "orders")),
                                              .confirmations = 0,
                                              .near_peaks = false,
                                              .compile_budgets = std::make_unique<CompileBudgets>(),
                                              .recorded_ns = {}});
    opened->slots = std::make_unique<Slots>(
        target_, opened->task, base::derive_seed(settings.seed, "slots"), settings.slots,
        target_.keeps_slots() ? target_.most_slot_bytes() : most_kept_bytes(available.value_or(0)));
    TRY_ASSIGN(report.baseline, evaluate_baseline(*opened, stop));
    if (const std::string useless = opened->slots->useless(); !useless.empty())
      return base::fail(ErrorCode::invalid_argument, useless);
    mark(report.baseline);
    report.device.peaks = opened->peaks;
    report.task_header = target_.task_header();
    report.dropped_families = opened->slots->dropped();
    report.loose_bounds = opened->slots->loose();
    measuring_ = std::move(opened);
    open_ = true;
    return report;
  }

  base::Result<model::BuildReport> carry_out(const Build& build, const std::stop_token& stop) {
    TRY(opened());
    return build_candidate(*measuring_, build.kernel, stop);
  }

  base::Result<model::Evaluation> carry_out(const Race& race, const std::stop_token& stop) {
    TRY(opened());
    // Outside the exclusive part: others measure while this one compiles.
    TRY(build_candidate(*measuring_, race.candidate, stop));
    const std::lock_guard exclusive(mutex_);
    target_.use().begin(stop);
    TRY_ASSIGN(auto evaluation, run_triage(*measuring_, race.candidate, race.opponent, stop));
    mark(evaluation);
    return evaluation;
  }

  base::Result<model::Profile> carry_out(const Profile& profile, const std::stop_token& stop) {
    TRY(opened());
    const std::lock_guard exclusive(mutex_);
    target_.use().begin(stop);
    return run_profile(*measuring_, profile.kernel, stop);
  }

  base::Result<PlayoffReport> carry_out(const PlayOff& all, const std::stop_token& stop) {
    TRY(opened());
    const std::lock_guard exclusive(mutex_);
    target_.use().begin(stop);
    TRY_ASSIGN(auto report, run_playoff(*measuring_, all.arms, all.places, stop));
    if (const std::string note = sharing_note(); !note.empty()) report.notes.push_back("play-off " + note);
    return report;
  }

  base::Result<model::Status> carry_out(const HeldOut& held_out, const std::stop_token& stop) {
    const model::Kernel& kernel = held_out.kernel;
    TRY(opened());
    const std::lock_guard exclusive(mutex_);
    target_.use().begin(stop);
    TRY_ASSIGN(const model::BuildReport built, target_.build(kernel, stop));
    if (!built.built) return model::Status::compile_error;
    const auto quiet = target_.quiet();
    TRY_ASSIGN(const auto failure,
               verify(*measuring_, *measuring_->slots, kernel, {measuring_->workloads(kHeldOut), 0, nullptr}, stop));
    return failure ? failure->status : model::Status::passed;
  }

  base::Result<model::Evaluation> carry_out(const Confirm& confirm, const std::stop_token& stop) {
    TRY(opened());
    const std::lock_guard exclusive(mutex_);
    target_.use().begin(stop);
    TRY_ASSIGN(auto evaluation, run_confirmation(*measuring_, confirm.kernel, stop));
    for (std::string& text : measuring_->slots->loose()) evaluation.notes.push_back(std::move(text));
    mark(evaluation);
    return evaluation;
  }

  /// Says what a request's measurements rest on that were made although somebody held the machine's lock, else nothing.
  [[nodiscard]] std::string sharing_note() const {
    const std::string& other = target_.use().shared_with;
    if (other.empty()) return {};
    return "measured while the device was possibly shared: " + other + ", kept its lock";
  }

  void mark(model::Evaluation& evaluation) const {
    const std::string note = sharing_note();
    if (note.empty()) return;
    evaluation.environment.noisy = true;
    evaluation.environment.isolation += "; device possibly shared";
    evaluation.notes.push_back(note);
  }

  /// Does not wait for a measurement in progress.
  base::Result<void> opened() const {
    if (!open_) return base::fail(ErrorCode::invalid_argument, "no task is open; call open first");
    return {};
  }

  Target& target_;
  std::mutex mutex_;
  std::unique_ptr<Measuring> measuring_;
  std::atomic<bool> open_{false};
};

}  // namespace

std::unique_ptr<Evaluator> make_local_evaluator(Target& target) {
  return std::make_unique<LocalEvaluator>(target);
}

}  // namespace accelopt::evaluation

// SPDX-License-Identifier: Apache-2.0
#include "app/selftest.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "evaluation/judge.hpp"
#include "model/target_description.hpp"
#include "targets/cpu/machine.hpp"

namespace accelopt::app {
namespace {

constexpr double kSecondsPerWorkload = 0.6;  ///< of racing: an attack that gains anything worth having shows by then

bool is_expected(const SelftestKernel& kernel, const model::Evaluation& evaluation) {
  return std::any_of(kernel.expected.begin(), kernel.expected.end(), [&](const std::string& wanted) {
    if (wanted == "NOT_FASTER")  // of what is not timed nobody knows
      return evaluation.status == model::Status::passed && evaluation.verdict != model::Verdict::faster &&
             evaluation.verdict != model::Verdict::none;
    return wanted == model::to_string(evaluation.status);
  });
}

/// Decides whether the evaluation is the one that the kernel's header asks for.
void judge(SelftestOutcome& outcome) {
  const SelftestKernel& kernel = outcome.kernel;
  const model::Evaluation& evaluation = outcome.evaluation;
  if (!kernel.attack) {
    outcome.as_it_should = evaluation.status == model::Status::passed;
    return;
  }
  if (!is_expected(kernel, evaluation)) {
    outcome.note = fmt::format("expected {}", fmt::join(kernel.expected, " or "));
    return;
  }
  const bool refused = evaluation.status != model::Status::passed;
  if (refused && base::lower(evaluation.reason).find(base::lower(kernel.reason)) == std::string::npos) {
    outcome.note = fmt::format("the reason does not say \"{}\"", kernel.reason);
    return;
  }
  if (!kernel.hides.empty() && evaluation.reason.find(kernel.hides) != std::string::npos) {
    outcome.note = fmt::format("the reason leaks \"{}\"", kernel.hides);
    return;
  }
  outcome.as_it_should = true;
}

/// "cuda" of "cuda:0". A worker elsewhere is asked for the device by the same name.
std::string kind_of(const DeviceFlags& flags) {
  const model::TargetDescription* const target = model::find_target_of_device(flags.device);
  return target != nullptr ? target->name : flags.device.substr(0, flags.device.find(':'));
}

/// Whether the device is an interpreter: what passes there is right, and was not timed.
bool interpreted(const DeviceFlags& flags) {
  const model::TargetDescription* const target = model::find_target(kind_of(flags));
  return target != nullptr && target->interpreter == target->name;
}

/// Those that this process may use, which may be fewer than the machine has.
std::size_t usable_cores() {
  static const std::size_t count = targets::cpu::examine_machine().cores.size();
  return count;
}

/// Builds the kernels of one task ahead of the measuring thread, on as many threads as the machine has cores.
class BuildAhead {
 public:
  BuildAhead(evaluation::Evaluator& evaluator, const std::vector<const SelftestKernel*>& kernels, std::stop_token stop)
      : evaluator_(evaluator), kernels_(kernels), stop_(std::move(stop)), done_(kernels.size()) {
    const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  BuildAhead(const BuildAhead&) = delete;
  BuildAhead& operator=(const BuildAhead&) = delete;
  ~BuildAhead() {
    {
      const std::lock_guard lock(mutex_);
      next_ = kernels_.size();
    }
    for (std::thread& thread : threads_) thread.join();
  }

  base::Result<model::BuildReport> get(std::size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_[index].has_value(); });
    return *done_[index];
  }

 private:
  void work() {
    while (true) {
      std::size_t index = 0;
      {
        const std::lock_guard lock(mutex_);
        if (next_ >= kernels_.size()) return;
        index = next_++;
      }
      auto report = base::as_result(evaluator_.ask(evaluation::Build{kernels_[index]->kernel}, stop_));
      const std::lock_guard lock(mutex_);
      done_[index] = std::move(report);
      changed_.notify_all();
    }
  }

  evaluation::Evaluator& evaluator_;
  const std::vector<const SelftestKernel*>& kernels_;
  std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<base::Result<model::BuildReport>>> done_;
  std::size_t next_ = 0;
  std::vector<std::thread> threads_;
};

class Selftest {
 public:
  Selftest(const Shell& shell, const SelftestRequest& request, const SelftestSuite& suite,
           const std::function<void(const SelftestOutcome&)>& told)
      : shell_(shell), request_(request), suite_(suite), told_(told) {}

  base::Result<SelftestTally> run() {
    for (const auto& [name, task] : suite_.tasks) {
      std::vector<const SelftestKernel*> kernels;
      for (const SelftestKernel& kernel : suite_.kernels) {
        if (kernel.task != name) continue;
        if (static_cast<std::size_t>(kernel.cores) > usable_cores()) {
          skip(kernel, fmt::format("needs {} cores; this process has {}", kernel.cores, usable_cores()));
          continue;
        }
        kernels.push_back(&kernel);
      }
      if (!kernels.empty()) TRY(run_task(task, kernels));
    }
    return tally_;
  }

 private:
  void skip(const SelftestKernel& kernel, std::string why) {
    ++tally_.skipped;
    told_({.kernel = kernel, .skipped = true, .as_it_should = true, .note = std::move(why)});
  }

  base::Result<void> run_task(const model::Task& task, const std::vector<const SelftestKernel*>& kernels) {
    TRY_ASSIGN(const auto evaluator, make_evaluator(shell_, request_.device));
    evaluation::MeasureSettings settings;
    settings.seed = request_.seed.value_or(base::random_seed());
    settings.max_seconds_per_workload = kSecondsPerWorkload;
    if (interpreted(request_.device)) settings.protocol = model::Protocol::verify;
    TRY_ASSIGN(const auto opened,
               base::as_result(evaluator->ask(evaluation::Open{task, settings}, shell_.stops.abort)));
    if (opened.baseline.status != model::Status::passed) {
      return base::fail(base::ErrorCode::unavailable,
                        "the baseline of the task " + task.definition.name + " fails: " + opened.baseline.reason);
    }
    BuildAhead builds(*evaluator, kernels, shell_.stops.abort);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      SelftestOutcome outcome{.kernel = *kernels[i]};
      TRY_ASSIGN(const auto built, builds.get(i));
      TRY_ASSIGN(auto judged,
                 base::as_result(evaluation::judge(*evaluator, kernels[i]->kernel, model::Kernel(task.baseline),
                                                   {.opened = interpreted(request_.device) ? nullptr : &opened.baseline,
                                                    .build = built,
                                                    .stop = shell_.stops.abort})));
      outcome.evaluation = std::move(judged.evaluation);
      judge(outcome);
      count(outcome);
      told_(outcome);
    }
    return {};
  }

  void count(const SelftestOutcome& outcome) {
    (outcome.kernel.attack ? tally_.attacks : tally_.honest) += 1;
    if (outcome.as_it_should) (outcome.kernel.attack ? tally_.caught : tally_.passed) += 1;
  }

  const Shell& shell_;
  const SelftestRequest& request_;
  const SelftestSuite& suite_;
  const std::function<void(const SelftestOutcome&)>& told_;
  SelftestTally tally_;
};

}  // namespace

base::Result<SelftestSuite> selftest_suite(const SelftestRequest& request) {
  TRY_ASSIGN(SelftestSuite suite,
             request.exploits.empty() ? builtin_selftest(kind_of(request.device)) : load_selftest(request.exploits));
  if (request.only.empty()) return suite;
  for (const std::string& name : request.only) {
    if (std::ranges::find(suite.kernels, name, &SelftestKernel::name) == suite.kernels.end())
      return base::fail(base::ErrorCode::not_found, "no kernel of the self-test is called \"" + name + "\"");
  }
  std::erase_if(suite.kernels, [&](const SelftestKernel& kernel) {
    return std::ranges::find(request.only, kernel.name) == request.only.end();
  });
  return suite;
}

base::Result<SelftestTally> run_selftest(const Shell& shell, const SelftestRequest& request, const SelftestSuite& suite,
                                         const std::function<void(const SelftestOutcome&)>& told) {
  const auto began = std::chrono::steady_clock::now();
  TRY_ASSIGN(SelftestTally tally, Selftest(shell, request, suite, told).run());
  tally.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return tally;
}

base::Json to_json(const SelftestOutcome& outcome) {
  const model::Evaluation& evaluation = outcome.evaluation;
  double seconds = 0;
  for (const auto& stage : evaluation.stages) seconds += stage.seconds;
  return {{"type", outcome.kernel.attack ? "exploit" : "honest"},
          {"schema", 1},
          {"name", outcome.kernel.name},
          {"purpose", outcome.kernel.purpose},
          {"task", outcome.kernel.task},
          {"ok", outcome.as_it_should},
          {"skipped", outcome.skipped},
          {"note", outcome.note},
          {"status", model::to_string(evaluation.status)},
          {"verdict", model::to_string(evaluation.verdict)},
          {"ratio", evaluation.ratio ? base::Json(evaluation.ratio->estimate) : base::Json()},
          {"reason", evaluation.reason},
          {"isolation", evaluation.environment.isolation},
          {"seconds", seconds}};
}

base::Json to_json(const SelftestTally& tally) {
  return {{"type", "selftest"},       {"schema", 1},
          {"caught", tally.caught},   {"exploits", tally.attacks},
          {"passed", tally.passed},   {"honest", tally.honest},
          {"skipped", tally.skipped}, {"seconds", tally.seconds}};
}

}  // namespace accelopt::app

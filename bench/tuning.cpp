// SPDX-License-Identifier: Apache-2.0
// Whether racing configurations pays: a tuned matrix product is evaluated as any candidate is; then every one of its
// configurations is built and timed for as many blocks as the chosen one was. Both begin with nothing built. The best
// of all is raced against the chosen one once more, so that no lucky sample decides between them.
//
//   tuning [KERNEL] [TASK]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "evaluation/build_ahead.hpp"
#include "evaluation/local_evaluator.hpp"
#include "evaluation/race/block_runner.hpp"
#include "figures.hpp"
#include "model/tuning.hpp"
#include "stats/estimate.hpp"
#include "stats/halving.hpp"
#include "suites/task_folder.hpp"
#include "targets/cpu/cpu_target.hpp"

namespace accelopt::bench {
namespace {

using Clock = std::chrono::steady_clock;
using base::Result;
using evaluation::BlockRunner;
using model::Solution;

constexpr double kLeastConfigurations = 100;
constexpr double kMostLoss = 0.05;  ///< against the best of all
constexpr double kMostTime = 0.25;  ///< of the time that trying all takes
constexpr std::size_t kHeat = 12;   ///< configurations side by side, as in the race
constexpr int kFinalBlocks = 48;    ///< of the best of all against the chosen one

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

targets::cpu::CpuOptions cpu_options() {
  targets::cpu::CpuOptions options;
  options.arena = ACCELOPT_ARENA_PATH;
  options.cache = ACCELOPT_CACHE;
  return options;
}

evaluation::MeasureSettings settings() {
  evaluation::MeasureSettings out;
  out.seed = base::random_seed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(out.seed));
  return out;
}

struct Tuned {
  model::Evaluation evaluation;
  double seconds = 0;
};

/// The whole evaluation of the open kernel: builds, race of the configurations, verification, triage.
Result<Tuned> tune(const model::Task& task, const model::Kernel& open) {
  const auto target = targets::cpu::make_cpu_target(cpu_options());
  const auto evaluator = evaluation::make_local_evaluator(*target);
  TRY_ASSIGN(const auto opened, base::as_result(evaluator->ask(evaluation::Open{task, settings()}, {})));
  if (opened.baseline.status != model::Status::passed) {
    return base::fail(base::ErrorCode::invalid_argument, "the baseline fails: " + opened.baseline.reason);
  }
  const auto began = Clock::now();
  Tuned out;
  TRY_ASSIGN(out.evaluation, base::as_result(evaluator->ask(evaluation::Race{open, model::Kernel(task.baseline)}, {})));
  out.seconds = seconds_since(began);
  if (out.evaluation.status != model::Status::passed || !out.evaluation.tuning) {
    return base::fail(base::ErrorCode::invalid_argument, "the kernel fails: " + out.evaluation.reason);
  }
  return out;
}

/// Every configuration, timed beside the chosen one.
class Exhaustive {
 public:
  Exhaustive(const model::Task& task, const model::Kernel& open, const model::TuningSpace& space)
      : task_(task), open_(open), space_(space), target_(targets::cpu::make_cpu_target(cpu_options())) {}

  Result<void> open() {
    const evaluation::MeasureSettings used = settings();
    TRY(target_->open(task_, used, {}));
    slots_ = std::make_unique<evaluation::Slots>(*target_, task_, used.seed, used.slots);
    for (std::size_t i = 0; i < task_.workloads.size(); ++i) {
      if (task_.workloads[i].role != model::Role::race) continue;
      raced_.push_back(i);
      weights_.push_back(task_.workloads[i].weight);
      for (int slot = 0; slot < slots_->count(); ++slot) TRY(slots_->get(i, slot));
    }
    return {};
  }

  /// log(the chosen one's time / its time) of each configuration; lowest for one that fails.
  Result<std::vector<double>> run(const model::Kernel& chosen, int blocks) {
    const auto began = Clock::now();
    std::vector<model::Kernel> all;
    {
      const auto no_limit = std::make_shared<evaluation::CompileBudget>(std::numeric_limits<double>::infinity());
      evaluation::BuildAhead builds(*target_, no_limit, {});
      for (const model::TuningValues& values : space_.configurations) {
        all.push_back(*open_.with_values(values));
        builds.add(all.back());
      }
      for (std::size_t i = 0; i < all.size(); ++i) {
        TRY_ASSIGN(const model::BuildReport report, builds.wait(i));
        if (!report.built) all[i] = {};
      }
    }
    std::printf("all built after %.1f s\n", seconds_since(began));
    std::vector<double> scores(all.size(), -1e9);
    for (std::size_t at = 0; at < all.size(); at += kHeat) {
      std::vector<std::size_t> heat;
      for (std::size_t i = at; i < std::min(at + kHeat, all.size()); ++i) {
        if (!all[i].id().empty()) heat.push_back(i);
      }
      std::vector<const model::Kernel*> arms{&chosen};
      for (const std::size_t i : heat) arms.push_back(&all[i]);
      TRY_ASSIGN(const auto samples, race(arms, blocks));
      for (std::size_t arm = 1; arm < arms.size(); ++arm) {
        if (!samples[arm].empty()) scores[heat[arm - 1]] = stats::robust_centre(samples[arm]);
      }
    }
    return scores;
  }

  /// By arm: log(the first one's time / its time) a block; empty for one that failed.
  Result<std::vector<std::vector<double>>> race(const std::vector<const model::Kernel*>& arms, int blocks) {
    const auto quiet = target_->quiet();
    BlockRunner runner(*target_, task_, *slots_,
                       {.arms = arms, .workloads = raced_, .expected_ns = {}, .seed = base::random_seed()});
    std::vector<std::vector<double>> samples(arms.size());
    std::vector<int> active;
    for (std::size_t arm = 0; arm < arms.size(); ++arm) active.push_back(static_cast<int>(arm));
    for (int i = 0; i < blocks; ++i) {
      TRY_ASSIGN(const auto block, runner.next(active, {}));
      if (runner.failure(0)) return base::fail(base::ErrorCode::internal, runner.failure(0)->reason);
      std::erase_if(active, [&](int arm) { return runner.failure(arm).has_value(); });
      for (const int arm : active) {
        const auto place = static_cast<std::size_t>(arm);
        samples[place].push_back(stats::block_log_ratio(*block.times_ns[0], *block.times_ns[place], weights_));
      }
    }
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      if (runner.failure(static_cast<int>(arm))) samples[arm].clear();
    }
    return samples;
  }

 private:
  const model::Task& task_;
  const model::Kernel& open_;
  const model::TuningSpace& space_;
  std::unique_ptr<evaluation::Target> target_;
  std::unique_ptr<evaluation::Slots> slots_;
  std::vector<std::size_t> raced_;
  std::vector<double> weights_;
};

Result<int> run(const std::filesystem::path& kernel, const std::filesystem::path& task_folder) {
  TRY_ASSIGN(const model::Task task, suites::load_task(task_folder));
  Solution solution;
  TRY_ASSIGN(solution.language, model::language_of_file(kernel.filename().string()));
  TRY_ASSIGN(std::string text, base::read_file(kernel));
  solution.sources.push_back({kernel.filename().string(), std::move(text)});
  const model::Kernel open(std::move(solution));
  const auto space = open.space(task.definition);
  if (!space) return base::fail(base::ErrorCode::parse, space.error().message);

  TRY_ASSIGN(const Tuned tuned, tune(task, open));
  const model::Tuning& tuning = *tuned.evaluation.tuning;
  const auto chosen_entry = std::find_if(tuning.field.begin(), tuning.field.end(), [](const auto& configuration) {
    return configuration.fate == model::TunedFate::chosen;
  });
  const model::Kernel chosen = *open.with_values(*tuning.chosen);
  std::printf("tuned in %.1f s: %s, %d blocks, %zu configurations tried; %.1fx of the baseline\n", tuned.seconds,
              model::configuration_text(tuning.names, *tuning.chosen).c_str(), chosen_entry->blocks,
              tuning.field.size(), tuned.evaluation.ratio->estimate);

  Exhaustive exhaustive(task, open, *space);
  TRY(exhaustive.open());
  const auto began = Clock::now();
  TRY_ASSIGN(const std::vector<double> scores, exhaustive.run(chosen, chosen_entry->blocks));
  const double all_seconds = seconds_since(began);
  const auto best = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  const model::Kernel best_of_all = *open.with_values(space->configurations[best]);
  TRY_ASSIGN(const auto final_samples, exhaustive.race({&chosen, &best_of_all}, kFinalBlocks));
  const auto final_ratio = stats::as_ratio(stats::trimmed_interval(final_samples[1], 0.05));
  const auto within = std::count_if(scores.begin(), scores.end(),
                                    [&](double score) { return score > scores[best] - std::log1p(kMostLoss); });
  std::printf("all in %.1f s: best %s; %d of %zu configurations are within 5 %% of it\n", all_seconds,
              model::configuration_text(space->names, space->configurations[best]).c_str(), static_cast<int>(within),
              scores.size());
  std::printf("the best of all against the chosen one: %.3fx [%.3f, %.3f]\n", final_ratio.estimate, final_ratio.low,
              final_ratio.high);

  Figures figures;
  figures.report("tuning_configurations", static_cast<double>(space->configurations.size()), Bound::at_least,
                 kLeastConfigurations);
  figures.report("tuning_loss_to_exhaustive_best", std::max(final_ratio.estimate - 1, 0.0), Bound::at_most, kMostLoss);
  figures.report("tuning_share_of_exhaustive_time", tuned.seconds / all_seconds, Bound::at_most, kMostTime);
  return figures.exit_status();
}

}  // namespace
}  // namespace accelopt::bench

int main(int argc, char** argv) {
  const auto status = accelopt::bench::run(argc > 1 ? argv[1] : ACCELOPT_KERNEL, argc > 2 ? argv[2] : ACCELOPT_TASK);
  if (status) return *status;
  std::fprintf(stderr, "tuning: %s\n", status.error().message.c_str());
  return 2;
}

// SPDX-License-Identifier: Apache-2.0
// Tries every attack that is known, and honest kernels beside them, on this machine through the real worker.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "app/run.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "cli/selftest_suite.hpp"
#include "evaluation/judge.hpp"
#include "sandbox/probe.hpp"
#include "targets/cpu/machine.hpp"

namespace accelopt::cli {
namespace {

constexpr double kSecondsPerWorkload = 0.6;  ///< of racing: an attack that gains anything worth having shows by then

struct SelftestOptions {
  std::vector<std::string> only;
  std::string exploits;
  bool json = false;
  std::optional<std::uint64_t> seed;
  DeviceFlags device;
};

/// What became of one kernel.
struct Outcome {
  const SelftestKernel* kernel = nullptr;
  model::Evaluation evaluation;
  bool skipped = false;
  bool as_it_should = false;
  std::string note;  ///< why it is not as it should be, or why it was skipped
};

struct Tally {
  int caught = 0;
  int attacks = 0;
  int passed = 0;
  int honest = 0;
  int skipped = 0;

  [[nodiscard]] bool all() const { return caught == attacks && passed == honest; }
};

std::string short_line(const std::string& text) {
  constexpr std::size_t kMost = 150;
  const std::string line(base::first_line(text));
  return line.size() > kMost ? line.substr(0, kMost) + "..." : line;
}

bool is_expected(const SelftestKernel& kernel, const model::Evaluation& evaluation) {
  return std::any_of(kernel.expected.begin(), kernel.expected.end(), [&](const std::string& wanted) {
    if (wanted == "NOT_FASTER")
      return evaluation.status == model::Status::passed && evaluation.verdict != model::Verdict::faster;
    return wanted == model::to_string(evaluation.status);
  });
}

/// Decides whether the evaluation is the one that the kernel's header asks for.
void judge(Outcome& outcome) {
  const SelftestKernel& kernel = *outcome.kernel;
  const model::Evaluation& evaluation = outcome.evaluation;
  if (!kernel.attack) {
    outcome.as_it_should = evaluation.status == model::Status::passed;
    return;
  }
  if (!is_expected(kernel, evaluation)) {
    outcome.note = fmt::format("expected {}", fmt::join(kernel.expected, " or "));
    return;
  }
  if (base::lower(evaluation.reason).find(base::lower(kernel.reason)) == std::string::npos) {
    outcome.note = fmt::format("the reason does not say \"{}\"", kernel.reason);
    return;
  }
  if (!kernel.hides.empty() && evaluation.reason.find(kernel.hides) != std::string::npos) {
    outcome.note = fmt::format("the reason leaks \"{}\"", kernel.hides);
    return;
  }
  outcome.as_it_should = true;
}

std::string verdict_text(const model::Evaluation& evaluation) {
  std::string text(model::to_string(evaluation.status));
  if (evaluation.verdict != model::Verdict::none) {
    text += fmt::format(" {}", model::to_string(evaluation.verdict));
    if (evaluation.ratio) text += fmt::format(" {:.3f}x", evaluation.ratio->estimate);
  }
  return text;
}

void print(const Outcome& outcome, const SelftestOptions& options) {
  const SelftestKernel& kernel = *outcome.kernel;
  const model::Evaluation& evaluation = outcome.evaluation;
  if (options.json) {
    double seconds = 0;
    for (const auto& stage : evaluation.stages) seconds += stage.seconds;
    const base::Json line = {{"type", kernel.attack ? "exploit" : "honest"},
                             {"schema", 1},
                             {"name", kernel.name},
                             {"purpose", kernel.purpose},
                             {"task", kernel.task},
                             {"ok", outcome.as_it_should},
                             {"skipped", outcome.skipped},
                             {"note", outcome.note},
                             {"status", model::to_string(evaluation.status)},
                             {"verdict", model::to_string(evaluation.verdict)},
                             {"ratio", evaluation.ratio ? base::Json(evaluation.ratio->estimate) : base::Json()},
                             {"reason", evaluation.reason},
                             {"isolation", evaluation.environment.isolation},
                             {"seconds", seconds}};
    fmt::print("{}\n", base::canonical(line));
  } else if (outcome.skipped) {
    fmt::print("{:<32} skipped: {}\n", kernel.name, outcome.note);
  } else {
    const char* word =
        outcome.as_it_should ? (kernel.attack ? "caught" : "passed") : (kernel.attack ? "NOT CAUGHT" : "NOT PASSED");
    fmt::print("{:<32} {}: {}", kernel.name, word, verdict_text(evaluation));
    if (!evaluation.reason.empty()) fmt::print(": {}", short_line(evaluation.reason));
    if (!outcome.note.empty()) fmt::print(" ({})", outcome.note);
    fmt::print("\n");
  }
  std::fflush(stdout);
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
  Selftest(Shell& shell, const SelftestOptions& options, const SelftestSuite& suite)
      : shell_(shell), options_(options), suite_(suite) {}

  base::Result<Tally> run() {
    for (const auto& [name, task] : suite_.tasks) {
      std::vector<const SelftestKernel*> kernels;
      for (const SelftestKernel& kernel : suite_.kernels) {
        if (kernel.task != name || !wanted(kernel)) continue;
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
  [[nodiscard]] bool wanted(const SelftestKernel& kernel) const {
    return options_.only.empty() ||
           std::find(options_.only.begin(), options_.only.end(), kernel.name) != options_.only.end();
  }

  void skip(const SelftestKernel& kernel, std::string why) {
    ++tally_.skipped;
    print(Outcome{&kernel, {}, true, true, std::move(why)}, options_);
  }

  base::Result<void> run_task(const model::Task& task, const std::vector<const SelftestKernel*>& kernels) {
    TRY_ASSIGN(const auto evaluator, make_evaluator(shell_, options_.device));
    evaluation::MeasureSettings settings;
    settings.seed = options_.seed.value_or(base::random_seed());
    settings.max_seconds_per_workload = kSecondsPerWorkload;
    TRY_ASSIGN(const auto opened,
               base::as_result(evaluator->ask(evaluation::Open{task, settings}, shell_.stops.abort)));
    if (opened.baseline.status != model::Status::passed) {
      return base::fail(base::ErrorCode::unavailable,
                        "the baseline of the task " + task.definition.name + " fails: " + opened.baseline.reason);
    }
    BuildAhead builds(*evaluator, kernels, shell_.stops.abort);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      Outcome outcome{kernels[i], {}, false, false, {}};
      TRY_ASSIGN(const auto built, builds.get(i));
      TRY_ASSIGN(auto judged, base::as_result(evaluation::judge(
                                  *evaluator, kernels[i]->kernel, model::Kernel(task.baseline),
                                  {.opened = &opened.baseline, .build = built, .stop = shell_.stops.abort})));
      outcome.evaluation = std::move(judged.evaluation);
      judge(outcome);
      count(outcome);
      print(outcome, options_);
    }
    return {};
  }

  void count(const Outcome& outcome) {
    (outcome.kernel->attack ? tally_.attacks : tally_.honest) += 1;
    if (outcome.as_it_should) (outcome.kernel->attack ? tally_.caught : tally_.passed) += 1;
  }

  Shell& shell_;
  const SelftestOptions& options_;
  const SelftestSuite& suite_;
  Tally tally_;
};

/// "cuda" of "cuda:0". A worker elsewhere is asked for the device by the same name.
std::string kind_of(const DeviceFlags& flags) {
  return flags.device.substr(0, flags.device.find(':'));
}

base::Result<void> check_names(const SelftestOptions& options, const SelftestSuite& suite) {
  for (const std::string& name : options.only) {
    if (std::none_of(suite.kernels.begin(), suite.kernels.end(),
                     [&](const SelftestKernel& kernel) { return kernel.name == name; })) {
      return base::fail(base::ErrorCode::not_found, "no kernel of the self-test is called \"" + name + "\"");
    }
  }
  return {};
}

base::Result<Exit> selftest(Shell& shell, const SelftestOptions& options) {
  if (const auto usable = check(options.device); !usable) return refuse_options(usable.error());
  const auto began = std::chrono::steady_clock::now();
  TRY_ASSIGN(const SelftestSuite suite,
             options.exploits.empty() ? builtin_selftest(kind_of(options.device)) : load_selftest(options.exploits));
  TRY(check_names(options, suite));
  if (!options.json) {
    fmt::print("sandbox: {}\n", sandbox::isolation());
    for (const sandbox::Layer& layer : sandbox::layers()) {
      if (layer.state != sandbox::LayerState::present)
        fmt::print("{} is {}: {}\n", layer.name, sandbox::to_string(layer.state), layer.costs);
    }
    fmt::print("\n");
  }
  TRY_ASSIGN(const Tally tally, Selftest(shell, options, suite).run());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (options.json) {
    const base::Json line = {{"type", "selftest"},       {"schema", 1},
                             {"caught", tally.caught},   {"exploits", tally.attacks},
                             {"passed", tally.passed},   {"honest", tally.honest},
                             {"skipped", tally.skipped}, {"seconds", seconds}};
    fmt::print("{}\n", base::canonical(line));
  } else {
    fmt::print("\n{} of {} exploits caught, {} of {} honest kernels passed", tally.caught, tally.attacks, tally.passed,
               tally.honest);
    if (tally.skipped > 0) fmt::print(", {} skipped", tally.skipped);
    fmt::print(" ({:.0f} s)\n", seconds);
  }
  return tally.all() ? Exit::done : Exit::check_failed;
}

}  // namespace

void add_selftest(CommandLine& app, Action& chosen) {
  Command command = app.add("selftest", "Try to cheat this machine's evaluation in every known way");
  command.footer(
      "Examples:\n"
      "  accelopt selftest                            every attack must be caught, every honest kernel must pass\n"
      "  accelopt selftest --only replay_by_pointer   one of them\n"
      "  accelopt selftest --device cuda:0            the attacks and honest kernels for GPUs\n");
  auto options = std::make_shared<SelftestOptions>();
  command.option("--only", &options->only, "Names of the kernels to try (default: all)");
  command.option("--exploits", &options->exploits,
                 "Folder with tasks/, attacks/ and honest/ (default: the built-in one)");
  command.flag("--json", options->json, "One JSON object a kernel, and one at the end (docs/json.md)");
  command.option("--seed", &options->seed, "Of the inputs (default: drawn)");
  declare(command, options->device);
  command.chosen([&chosen, options] { chosen = [options](Shell& shell) { return selftest(shell, *options); }; });
}

}  // namespace accelopt::cli

// SPDX-License-Identifier: Apache-2.0
// Are the verdicts of triage true? Races identical kernels, and kernels with a known difference, again and again: how
// often a session calls FASTER what is not, and how often it keeps what is. The known difference is time: one arm is
// the baseline, the other the baseline that waits at the end of each call for a share of the time that the call took.
//
//   calibration [--quick] [--sessions N] [--suite DIR] [--accelopt FILE] [--task NAME]... [--no-neighbour]
//
// --quick: 4 operators. Each operator's largest workload of at most 2 ms a call. Everything is done once on the machine
// as it is and once beside a process that computes and sleeps in turns.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "delayed.hpp"
#include "evaluation/evaluator.hpp"
#include "figures.hpp"
#include "suites/task_folder.hpp"
#include "worker/pool.hpp"

namespace accelopt::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kLongestCall = 2e6;  // ns

struct Options {
  bool quick = false;
  bool neighbour = true;
  int sessions = 20;
  fs::path suite = ACCELOPT_SUITE;
  fs::path accelopt = ACCELOPT_PROGRAM;
  std::vector<std::string> tasks;
};

/// One kind of session: who is raced against whom.
struct Race {
  std::string name;
  double candidate_wait = 0;  ///< share of the call
  double opponent_wait = 0;
};
const std::vector<Race> kRaces = {
    {"identical", 0, 0}, {"slower_5", 0.05, 0}, {"faster_5", 0, 0.05}, {"faster_2", 0, 0.02}};

struct Tally {
  int sessions = 0, faster = 0, slower = 0, kept = 0, blocks = 0;
  double seconds = 0;
};

/// FASTER, or undecided and probably so: what a search keeps for its play-off.
bool kept(const model::Evaluation& evaluation) {
  return evaluation.verdict == model::Verdict::faster ||
         (evaluation.verdict == model::Verdict::undecided && evaluation.decided_by != model::DecidedBy::futility &&
          evaluation.ratio && evaluation.ratio->estimate > 1);
}

struct Opened {
  model::Task task;
  std::unique_ptr<evaluation::Evaluator> evaluator;
  std::string workload;
  double call_ns = 0;
};

/// The task with one raced workload whose call takes at most 2 ms, opened.
base::Result<Opened> open(const Options& options, const model::Task& whole) {
  for (const model::Workload& workload : whole.workloads) {
    Opened opened{whole, worker::make_worker_pool({.workers = {{{options.accelopt.string(), "worker"}}}}),
                  workload.name};
    opened.task.workloads = {workload};
    opened.task.workloads.front().role = model::Role::race;
    opened.task.workloads.front().weight = 1;
    evaluation::MeasureSettings settings;
    settings.seed = base::random_seed();
    TRY_ASSIGN(const auto report, base::as_result(opened.evaluator->ask(evaluation::Open{opened.task, settings}, {})));
    if (report.baseline.status != model::Status::passed) {
      return base::fail(base::ErrorCode::invalid_argument, whole.definition.name + ": " + report.baseline.reason);
    }
    opened.call_ns = report.baseline.workloads.front().time_ns;
    if (opened.call_ns <= kLongestCall) return opened;
  }
  return base::fail(base::ErrorCode::not_found, whole.definition.name + ": no workload of at most 2 ms a call");
}

base::Result<Tally> race(Opened& opened, const Race& race, int sessions) {
  const auto solution = [&](double share) {
    return share == 0 ? std::optional(opened.task.baseline) : delayed(opened.task.baseline, share);
  };
  const auto candidate = solution(race.candidate_wait);
  const auto opponent = solution(race.opponent_wait);
  if (!candidate || !opponent) return base::fail(base::ErrorCode::unsupported, "the baseline has no plain kernel head");
  for (const auto& arm : {*candidate, *opponent}) {
    TRY_ASSIGN(const auto built, base::as_result(opened.evaluator->ask(evaluation::Build{model::Kernel(arm)}, {})));
    if (!built.built) return base::fail(base::ErrorCode::invalid_argument, built.diagnostics);
  }
  Tally tally;
  for (int i = 0; i < sessions; ++i) {
    const auto begin = Clock::now();
    TRY_ASSIGN(const auto evaluation, base::as_result(opened.evaluator->ask(
                                          evaluation::Race{model::Kernel(*candidate), model::Kernel(*opponent)}, {})));
    if (evaluation.status != model::Status::passed) {
      return base::fail(base::ErrorCode::invalid_argument, "an arm failed: " + evaluation.reason);
    }
    tally.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    ++tally.sessions;
    tally.blocks += evaluation.blocks;
    tally.faster += evaluation.verdict == model::Verdict::faster;
    tally.slower += evaluation.verdict == model::Verdict::slower;
    tally.kept += kept(evaluation);
  }
  return tally;
}

/// A process that computes for some milliseconds and sleeps for some, on any core, until it is destroyed.
class Neighbour {
 public:
  Neighbour() : child_(fork()) {
    if (child_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<double> data(1 << 20, 1.0);
    for (std::uint64_t round = 1;; ++round) {
      const auto until = Clock::now() + std::chrono::milliseconds(2 + round % 7);
      while (Clock::now() < until) {
        for (double& value : data) value = value * 1.0000001 + 1e-9;
      }
      const timespec pause{0, static_cast<long>(1 + round % 5) * 1'000'000};
      nanosleep(&pause, nullptr);
    }
  }
  ~Neighbour() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

 private:
  pid_t child_;
};

/// All races on all tasks, in one surrounding; sums by race.
std::vector<Tally> calibrate(const Options& options, const std::vector<model::Task>& tasks, const char* surrounding,
                             bool& complete) {
  std::vector<Tally> sums(kRaces.size());
  for (const model::Task& task : tasks) {
    auto opened = open(options, task);
    if (!opened) {
      std::printf("# left out: %s\n", opened.error().message.c_str());
      complete = false;
      continue;
    }
    for (std::size_t i = 0; i < kRaces.size(); ++i) {
      const auto tally = race(*opened, kRaces[i], options.sessions);
      if (!tally) {
        std::printf("# left out: %s %s: %s\n", task.definition.name.c_str(), kRaces[i].name.c_str(),
                    tally.error().message.c_str());
        complete = false;
        continue;
      }
      std::printf(
          "# %s %s %s (%.2f ms a call) %s: sessions %d, faster %d, slower %d, kept %d, blocks %.1f, %.2f s a session\n",
          surrounding, task.definition.name.c_str(), opened->workload.c_str(), opened->call_ns / 1e6,
          kRaces[i].name.c_str(), tally->sessions, tally->faster, tally->slower, tally->kept,
          static_cast<double>(tally->blocks) / tally->sessions, tally->seconds / tally->sessions);
      std::fflush(stdout);
      Tally& sum = sums[i];
      sum.sessions += tally->sessions;
      sum.faster += tally->faster;
      sum.slower += tally->slower;
      sum.kept += tally->kept;
    }
  }
  return sums;
}

void report(Figures& figures, const std::string& surrounding, const std::vector<Tally>& sums) {
  const auto share = [&](std::size_t race, int Tally::*member) {
    return sums[race].sessions == 0 ? 0.0 : static_cast<double>(sums[race].*member) / sums[race].sessions;
  };
  figures.report(surrounding + "_identical_called_faster", share(0, &Tally::faster), Bound::at_most, 0.01);
  figures.report(surrounding + "_slower_5_called_faster", share(1, &Tally::faster), Bound::at_most, 0);
  figures.report(surrounding + "_slower_5_called_slower", share(1, &Tally::slower), Bound::at_least, 0.95);
  figures.report(surrounding + "_faster_5_kept", share(2, &Tally::kept), Bound::at_least, 0.90);
  figures.report(surrounding + "_faster_2_kept", share(3, &Tally::kept), Bound::at_least, 0.60);
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const bool has_value = i + 1 < argc;
    if (flag == "--quick") {
      options.quick = true;
    } else if (flag == "--no-neighbour") {
      options.neighbour = false;
    } else if (flag == "--sessions" && has_value) {
      options.sessions = std::max(1, std::atoi(argv[++i]));
    } else if (flag == "--suite" && has_value) {
      options.suite = argv[++i];
    } else if (flag == "--accelopt" && has_value) {
      options.accelopt = argv[++i];
    } else if (flag == "--task" && has_value) {
      options.tasks.emplace_back(argv[++i]);
    } else {
      return std::nullopt;
    }
  }
  if (options.quick && options.tasks.empty())
    options.tasks = {"matmul", "silu", "rmsnorm_matmul", "rope_single_freq_apply"};
  return options;
}

int run(const Options& options) {
  std::vector<model::Task> tasks;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(options.suite)) {
    if (fs::exists(entry.path() / "task.toml")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    const bool wanted = options.tasks.empty() ||
                        std::find(options.tasks.begin(), options.tasks.end(), folder.filename()) != options.tasks.end();
    if (!wanted) continue;
    auto task = suites::load_task(folder);
    if (!task) {
      std::fprintf(stderr, "calibration: %s\n", task.error().message.c_str());
      return 1;
    }
    tasks.push_back(std::move(*task));
  }
  if (tasks.empty()) {
    std::fprintf(stderr, "calibration: no task in %s\n", options.suite.c_str());
    return 1;
  }
  Figures figures;
  bool complete = true;
  report(figures, "quiet", calibrate(options, tasks, "quiet", complete));
  if (options.neighbour) {
    const Neighbour neighbour;
    report(figures, "noisy", calibrate(options, tasks, "noisy", complete));
  }
  return complete ? figures.exit_status() : 1;
}

}  // namespace
}  // namespace accelopt::bench

int main(int argc, char** argv) {
  const auto options = accelopt::bench::parse(argc, argv);
  if (!options) {
    std::fprintf(stderr,
                 "usage: calibration [--quick] [--sessions N] [--suite DIR] [--accelopt FILE] [--task NAME]... "
                 "[--no-neighbour]\n");
    return 2;
  }
  return accelopt::bench::run(*options);
}

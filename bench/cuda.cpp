// SPDX-License-Identifier: Apache-2.0
// What evaluating on a GPU costs, and whether its verdicts are true. Needs a device. Kernels with a known difference:
// the baseline followed by one thread that counts clock cycles, fewer or more of them; both arms have that second
// launch. Of all calls that raced: how near the time between the events is to what the host's clock saw around them,
// and the device's clock.
//
//   cuda [--device cuda:0] [--sessions N] [--gains N] [--suite DIR] [--accelopt FILE] [--task NAME]... [--samples FILE]
//
// Tasks of Triton kernels (--suite suites/flashinfer-bench --task rmsnorm_h128) are taken, too: then the median loser
// counts, and candidates of eight configurations are timed as well.
// --sessions: races of identical kernels, spread over the tasks; --gains: races with a difference of 2 %, a third as
// many if it is not given. What that difference really is, a race of fixed length says. --samples: the log-ratios of
// all blocks, one race a line.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.hpp"
#include "evaluation/evaluator.hpp"
#include "figures.hpp"
#include "suites/task_folder.hpp"
#include "waiting_arm.hpp"
#include "worker/pool.hpp"

namespace accelopt::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kPlantedBlocks = 120;  ///< of the race that measures the planted difference
// What a call costs beside the device's work: the device sees the host's flag, the first event's kernel begins, the
// host sees the last event, some microseconds each. The least: the two clocks may not contradict each other
// (call.cpp).
constexpr double kLeastLagUs = -5;
constexpr double kMedianLagUs = 20;
constexpr double kMostLagUs = 60;  ///< 99 of 100 calls; the rest are hiccups of the host
constexpr int kBuilders = 8;
constexpr int kSustained = 48;  ///< candidates
constexpr int kTuned = 16;      ///< candidates of kConfigurations each
constexpr int kConfigurations = 8;

struct Options {
  std::string device = "cuda:0";
  int sessions = 300;
  int gains = 0;
  fs::path samples;
  fs::path suite = ACCELOPT_SUITE;
  fs::path accelopt = ACCELOPT_PROGRAM;
  std::vector<std::string> tasks;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// One task, opened.
struct Opened {
  model::Task task;
  std::unique_ptr<evaluation::Evaluator> evaluator;
  double call_ns = 0;                 ///< of an arm, its wait included
  double cycles_a_nanosecond = 1.98;  ///< as measured; until then, of an H200 that nothing holds back

  [[nodiscard]] model::Solution with_wait(double share_of_call, int configurations = 1) const {
    constexpr double kBase = 2000;  // cycles in every arm
    return followed_by_wait(task, static_cast<std::int64_t>(kBase + share_of_call * call_ns * cycles_a_nanosecond),
                            configurations);
  }
  [[nodiscard]] bool is_triton() const { return task.target == "triton"; }
};

base::Result<Opened> open(const Options& options, const std::string& name) {
  TRY_ASSIGN(model::Task task, suites::load_task(options.suite / name));
  Opened opened{
      std::move(task),
      worker::make_worker_pool({.workers = {{{options.accelopt.string(), "worker", "--device", options.device}}}})};
  evaluation::MeasureSettings settings;
  settings.seed = base::random_seed();
  settings.playoff_min_blocks = settings.playoff_max_blocks = kPlantedBlocks;
  const auto begin = Clock::now();
  TRY_ASSIGN(const auto report, base::as_result(opened.evaluator->ask(evaluation::Open{opened.task, settings}, {})));
  if (report.baseline.status != model::Status::passed)
    return base::fail(base::ErrorCode::invalid_argument, name + ": " + report.baseline.reason);
  for (const model::WorkloadTiming& timing : report.baseline.workloads) {
    if (timing.role == model::Role::race) opened.call_ns += timing.time_ns;
  }
  std::printf("# %s on %s: opened in %.1f s, baseline %.3f ms a call\n", opened.task.definition.name.c_str(),
              report.device.name.c_str(), seconds_since(begin), opened.call_ns / 1e6);
  std::fflush(stdout);
  return opened;
}

/// What sessions of one kind gave.
struct Tally {
  int sessions = 0;
  int faster = 0;
  int slower = 0;
  int blocks = 0;
  std::vector<double> block_deviations;    ///< a session: of its blocks' log-ratios
  std::vector<double> estimates;           ///< log-ratios
  std::vector<std::vector<double>> races;  ///< log-ratios of the blocks
};

/// How far the host's clock and the device's are apart, a call of all races.
struct Agreement {
  std::vector<double> lag_us;
  std::vector<double> share;  ///< of the call's own time
  std::vector<double> mhz;

  void add(const std::vector<double>& lag_ns, const std::vector<double>& time_ns,
           const std::vector<double>& clock_mhz) {
    for (std::size_t i = 0; i < lag_ns.size(); ++i) {
      lag_us.push_back(lag_ns[i] / 1e3);
      share.push_back(lag_ns[i] / time_ns[i]);
    }
    mhz.insert(mhz.end(), clock_mhz.begin(), clock_mhz.end());
  }
  void add(const Agreement& other) {
    lag_us.insert(lag_us.end(), other.lag_us.begin(), other.lag_us.end());
    share.insert(share.end(), other.share.begin(), other.share.end());
    mhz.insert(mhz.end(), other.mhz.begin(), other.mhz.end());
  }
};

/// The value below which this part of them lies; 0 without any.
double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto place = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(place, 1, values.size()) - 1];
}

void print(const std::string& name, const Agreement& all) {
  std::printf(
      "# %s: host's clock less events in %zu calls: least %.2f, median %.2f, 99 %% under %.2f, worst %.2f us; of the "
      "call's time: median %.2f %%, 99 %% under %.2f %%, worst %.2f %%; clock least %.0f, median %.0f, most %.0f MHz\n",
      name.c_str(), all.lag_us.size(), quantile(all.lag_us, 0), quantile(all.lag_us, 0.5), quantile(all.lag_us, 0.99),
      quantile(all.lag_us, 1), 100 * quantile(all.share, 0.5), 100 * quantile(all.share, 0.99),
      100 * quantile(all.share, 1), quantile(all.mhz, 0), quantile(all.mhz, 0.5), quantile(all.mhz, 1));
  std::fflush(stdout);
}

double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

base::Result<void> race(Opened& opened, const model::Solution& candidate, const model::Solution& opponent, int sessions,
                        Tally& tally, Agreement& agreement) {
  for (int i = 0; i < sessions; ++i) {
    TRY_ASSIGN(const auto evaluation, base::as_result(opened.evaluator->ask(
                                          evaluation::Race{model::Kernel(candidate), model::Kernel(opponent)}, {})));
    if (evaluation.status != model::Status::passed)
      return base::fail(base::ErrorCode::invalid_argument, "an arm failed: " + evaluation.reason);
    ++tally.sessions;
    tally.blocks += evaluation.blocks;
    tally.faster += evaluation.verdict == model::Verdict::faster;
    tally.slower += evaluation.verdict == model::Verdict::slower;
    if (evaluation.ratio) tally.estimates.push_back(std::log(evaluation.ratio->estimate));
    std::vector<double> ratios;
    for (const model::BlockSample& block : evaluation.samples) {
      ratios.push_back(std::log(block.reference_ns.front() / block.candidate_ns.front()));
      agreement.add(block.reference_lag_ns, block.reference_ns, block.reference_mhz);
      agreement.add(block.candidate_lag_ns, block.candidate_ns, block.candidate_mhz);
    }
    if (!evaluation.reason.empty()) std::printf("# session %d: %s\n", i, evaluation.reason.c_str());
    tally.block_deviations.push_back(deviation(ratios));
    tally.races.push_back(std::move(ratios));
  }
  return {};
}

/// How long an arm takes, and at which clock: what a share of it is in cycles.
base::Result<void> measure_arm(Opened& opened) {
  TRY_ASSIGN(const auto evaluation,
             base::as_result(opened.evaluator->ask(
                 evaluation::Race{model::Kernel(opened.with_wait(0)), model::Kernel(opened.with_wait(0))}, {})));
  std::vector<double> times;
  std::vector<double> clocks;
  for (const model::BlockSample& block : evaluation.samples) {
    times.push_back(block.candidate_ns.front());
    if (!block.candidate_mhz.empty()) clocks.push_back(block.candidate_mhz.front());
  }
  if (times.empty()) return base::fail(base::ErrorCode::invalid_argument, "nothing raced: " + evaluation.reason);
  opened.call_ns = quantile(times, 0.5);
  if (!clocks.empty()) opened.cycles_a_nanosecond = quantile(clocks, 0.5) / 1e3;
  return {};
}

/// The planted difference of 2 %, by a race whose length does not depend on what it finds.
base::Result<model::Interval> planted(Opened& opened) {
  TRY_ASSIGN(
      const auto report,
      base::as_result(opened.evaluator->ask(
          evaluation::PlayOff{{{model::Kernel(opened.with_wait(0.02))}, {model::Kernel(opened.with_wait(0))}}, 1},
          {})));
  if (!report.arms[1].measured)
    return base::fail(base::ErrorCode::invalid_argument, "an arm failed: " + report.arms[1].reason);
  return report.arms[1].score;
}

/// A clear loser from source to verdict, nothing of it known.
struct LoserSeconds {
  double median = 0;
  double worst = 0;
};

base::Result<LoserSeconds> loser_seconds(Opened& opened) {
  std::vector<double> all;
  TRY(base::as_result(opened.evaluator->ask(
      evaluation::Race{model::Kernel(opened.with_wait(0.31)), model::Kernel(opened.task.baseline)},
      {})));  // slots are drawn from now on
  for (int i = 0; i < 5; ++i) {
    const auto begin = Clock::now();
    TRY_ASSIGN(const auto evaluation,
               base::as_result(opened.evaluator->ask(evaluation::Race{model::Kernel(opened.with_wait(0.32 + 0.01 * i)),
                                                                      model::Kernel(opened.task.baseline)},
                                                     {})));
    const double seconds = seconds_since(begin);
    if (evaluation.verdict != model::Verdict::slower) {
      return base::fail(base::ErrorCode::invalid_argument, "a loser of 30 % was not called SLOWER but " +
                                                               std::string(model::to_string(evaluation.status)) + " " +
                                                               std::string(model::to_string(evaluation.verdict)) + " " +
                                                               evaluation.reason);
    }
    all.push_back(seconds);
  }
  return LoserSeconds{quantile(all, 0.5), quantile(all, 1)};
}

struct Sustained {
  double candidates_a_second = 0;
  double measuring_share = 0;  ///< of the wall time in which the worker verifies or races, its own work included
  std::map<model::Stage, double> seconds;  ///< of a candidate, by stage
};

/// Clear losers from as many threads as a search has: they build beside each other and are measured one by one.
base::Result<Sustained> sustained(Opened& opened, int candidates, int configurations) {
  std::atomic<int> next = 0;
  std::atomic<int> failed = 0;
  std::mutex mutex;
  std::map<model::Stage, double> seconds_of;
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kBuilders; ++thread) {
      threads.emplace_back([&] {
        for (int i = next++; i < candidates; i = next++) {
          const auto evaluation = base::as_result(
              opened.evaluator->ask(evaluation::Race{model::Kernel(opened.with_wait(0.4 + 0.002 * i, configurations)),
                                                     model::Kernel(opened.task.baseline)},
                                    {}));
          if (!evaluation || evaluation->status != model::Status::passed) {
            ++failed;
            continue;
          }
          const std::scoped_lock lock(mutex);
          for (const model::StageTime& stage : evaluation->stages) seconds_of[stage.stage] += stage.seconds;
        }
      });
    }
  }
  const double seconds = seconds_since(begin);
  if (failed > 0) return base::fail(base::ErrorCode::invalid_argument, "a candidate failed");
  Sustained out{candidates / seconds, 0, {}};
  for (const auto& [stage, sum] : seconds_of) {
    if (stage != model::Stage::build) out.measuring_share += sum / seconds;
    out.seconds[stage] = sum / candidates;
  }
  return out;
}

/// Seconds from the verdict on something that takes the device's process with it to the verdict on the next candidate.
base::Result<double> recovery_seconds(Opened& opened, const std::string& body, model::Status expected, int number) {
  TRY_ASSIGN(
      const auto broken,
      base::as_result(opened.evaluator->ask(
          evaluation::Race{model::Kernel(followed_by(opened.task, body)), model::Kernel(opened.task.baseline)}, {})));
  if (broken.status != expected) {
    return base::fail(base::ErrorCode::invalid_argument, "expected " + std::string(model::to_string(expected)) +
                                                             ", got " + std::string(model::to_string(broken.status)) +
                                                             ": " + broken.reason);
  }
  std::printf("# %s\n", broken.reason.c_str());
  const auto begin = Clock::now();
  TRY_ASSIGN(
      const auto after,
      base::as_result(opened.evaluator->ask(
          evaluation::Race{model::Kernel(opened.with_wait(0.6 + 0.01 * number)), model::Kernel(opened.task.baseline)},
          {})));
  if (after.status != model::Status::passed)
    return base::fail(base::ErrorCode::invalid_argument, "the next candidate failed: " + after.reason);
  return seconds_since(begin);
}

/// "silu identical 0.0012 -0.0103 ...", one line a race.
void write_samples(const fs::path& file, const std::string& name, const Tally& tally) {
  if (file.empty()) return;
  std::ofstream out(file, std::ios::app);
  for (const auto& race : tally.races) {
    out << name;
    for (const double ratio : race) out << ' ' << ratio;
    out << '\n';
  }
}

base::Result<int> run(const Options& options) {
  Figures figures;
  Tally identical;
  Tally two_percent;
  Agreement agreement;
  double loser = 0;
  double slowest_recovery = 0;
  double least_rate = INFINITY;
  double least_tuned_rate = INFINITY;
  bool triton = false;
  const int tasks = static_cast<int>(options.tasks.size());
  const int each = std::max(1, options.sessions / tasks);
  const int gains = options.gains > 0 ? std::max(1, options.gains / tasks) : std::max(1, each / 3);
  for (const std::string& folder : options.tasks) {
    const std::string name = fs::path(folder).filename().string();
    const auto begin = Clock::now();
    TRY_ASSIGN(Opened opened, open(options, folder));
    TRY(measure_arm(opened));
    std::printf("# %s: an arm measured after %.1f s\n", name.c_str(), seconds_since(begin));
    TRY_ASSIGN(const LoserSeconds seconds, loser_seconds(opened));
    std::printf("# %s: losers median %.3f s, worst %.3f s, after %.1f s\n", name.c_str(), seconds.median, seconds.worst,
                seconds_since(begin));
    TRY_ASSIGN(const Sustained rate, sustained(opened, kSustained, 1));
    std::printf(
        "# %s: a loser %.3f s (median %.3f s), %.2f candidates a second; in %.0f %% of that time the worker verifies "
        "or "
        "races (its own work included)\n",
        name.c_str(), seconds.worst, seconds.median, rate.candidates_a_second, 100 * rate.measuring_share);
    triton = triton || opened.is_triton();
    if (opened.is_triton()) {
      TRY_ASSIGN(const Sustained tuned, sustained(opened, kTuned, kConfigurations));
      std::printf("# %s: %.2f candidates a second of %d configurations each; of one, seconds:", name.c_str(),
                  tuned.candidates_a_second, kConfigurations);
      for (const auto& [stage, spent] : tuned.seconds)
        std::printf(" %s %.2f", std::string(model::to_string(stage)).c_str(), spent);
      std::printf("\n");
      least_tuned_rate = std::min(least_tuned_rate, tuned.candidates_a_second);
    }
    loser = std::max(loser, opened.is_triton() ? seconds.median : seconds.worst);
    least_rate = std::min(least_rate, rate.candidates_a_second);
    Tally same;
    Agreement clocks;
    TRY(race(opened, opened.with_wait(0), opened.with_wait(0), each, same, clocks));
    std::printf("# %s: identical %d of %d FASTER after %.1f s\n", name.c_str(), same.faster, same.sessions,
                seconds_since(begin));
    Tally faster;
    TRY(race(opened, opened.with_wait(0), opened.with_wait(0.02), gains, faster, clocks));
    TRY_ASSIGN(const model::Interval difference, planted(opened));
    std::printf("# %s: planted 2 %%, by %d blocks %.2f %% [%.2f, %.2f]\n", name.c_str(), kPlantedBlocks,
                100 * (difference.estimate - 1), 100 * (difference.low - 1), 100 * (difference.high - 1));
    write_samples(options.samples, name + " identical", same);
    write_samples(options.samples, name + " 2_percent", faster);
    print(name, clocks);
    agreement.add(clocks);
    const auto mean = [](const std::vector<double>& values) {
      return values.empty() ? 0.0
                            : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    };
    std::printf(
        "# %s: identical %d of %d FASTER, %.1f blocks, deviation of a block %.3f %%, of a session %.3f %%; 2 %% "
        "faster: %d "
        "of %d FASTER, %.1f blocks, found %.2f %%\n",
        name.c_str(), same.faster, same.sessions, static_cast<double>(same.blocks) / same.sessions,
        100 * mean(same.block_deviations), 100 * deviation(same.estimates), faster.faster, faster.sessions,
        static_cast<double>(faster.blocks) / faster.sessions, 100 * mean(faster.estimates));
    std::printf("# %s: all of it took %.0f s\n", name.c_str(), seconds_since(begin));
    std::fflush(stdout);
    for (const auto& [from, to] : {std::pair{&same, &identical}, std::pair{&faster, &two_percent}}) {
      to->sessions += from->sessions;
      to->faster += from->faster;
    }
    if (folder != options.tasks.front() || opened.is_triton()) continue;
    const struct {
      const char* body;
      model::Status status;
    } broken[] = {{" for (;;) { asm volatile(\"\"); } ", model::Status::timeout},
                  {" asm volatile(\"trap;\"); ", model::Status::runtime_error},
                  {" *reinterpret_cast<volatile int*>(static_cast<size_t>(64)) = 1; ", model::Status::runtime_error}};
    int number = 0;
    for (const auto& one : broken) {
      TRY_ASSIGN(const double after, recovery_seconds(opened, one.body, one.status, number++));
      slowest_recovery = std::max(slowest_recovery, after);
    }
  }
  const auto share = [](const Tally& tally) { return static_cast<double>(tally.faster) / tally.sessions; };
  figures.report("loser_from_source_to_verdict", loser, Bound::at_most, triton ? 0.8 : 0.6, "s");
  figures.report("candidates_a_second", least_rate, Bound::at_least, 3);
  if (triton) figures.report("tuned_candidates_a_second", least_tuned_rate, Bound::at_least, 1.5);
  figures.report("identical_called_faster", share(identical), Bound::at_most, 0.01);
  figures.report("faster_2_called_faster", share(two_percent), Bound::at_least, 0.90);
  if (slowest_recovery > 0)
    figures.report("next_candidate_after_a_broken_one", slowest_recovery, Bound::at_most, 3, "s");
  print("all", agreement);
  figures.report("host_less_events_least", quantile(agreement.lag_us, 0), Bound::at_least, kLeastLagUs, "us");
  figures.report("host_less_events_median", quantile(agreement.lag_us, 0.5), Bound::at_most, kMedianLagUs, "us");
  figures.report("host_less_events_99_percent", quantile(agreement.lag_us, 0.99), Bound::at_most, kMostLagUs, "us");
  figures.report("calls_with_both_clocks", static_cast<double>(agreement.lag_us.size()), Bound::at_least, 1);
  return figures.exit_status();
}

}  // namespace
}  // namespace accelopt::bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // who ends it early has what was found until then
  accelopt::bench::Options options;
  bool good = argc % 2 == 1;
  for (int i = 1; good && i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--task") {
      options.tasks.emplace_back(argv[i + 1]);
    } else if (flag == "--suite") {
      options.suite = argv[i + 1];
    } else if (flag == "--accelopt") {
      options.accelopt = argv[i + 1];
    } else if (flag == "--device") {
      options.device = argv[i + 1];
    } else if (flag == "--sessions") {
      options.sessions = std::max(1, std::atoi(argv[i + 1]));
    } else if (flag == "--gains") {
      options.gains = std::max(1, std::atoi(argv[i + 1]));
    } else if (flag == "--samples") {
      options.samples = argv[i + 1];
    } else {
      good = false;
    }
  }
  if (!good) {
    std::fprintf(stderr,
                 "usage: cuda [--device cuda:0] [--sessions N] [--gains N] [--suite DIR] [--accelopt FILE] [--task "
                 "NAME]... [--samples FILE]\n");
    return 2;
  }
  if (options.tasks.empty())
    options.tasks = {"silu", "adamw", "rmsnorm_matmul", ACCELOPT_BENCH_TASKS "/layernorm_bf16"};
  const auto status = accelopt::bench::run(options);
  if (!status) {
    std::fprintf(stderr, "cuda: %s\n", status.error().message.c_str());
    return 1;
  }
  return *status;
}

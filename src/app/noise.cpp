// SPDX-License-Identifier: Apache-2.0
#include "app/noise.hpp"

#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "app/workspace.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/utc.hpp"
#include "report/format.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::app {

using base::Json;
using base::Result;

namespace {

using Clock = std::chrono::steady_clock;

/// What the copies wait, as shares of a call.
constexpr std::array kDifferences{0.01, 0.02, 0.05, 0.10};
constexpr int kIdenticalRaces = 8;
constexpr int kDelayedRaces = 5;
/// A difference counts as found when all races but this many find it.
constexpr int kMostMissed = 1;
/// All races end after this, so that the whole stays under a minute with the opening and the builds.
constexpr std::chrono::seconds kTimeForRaces{40};
/// Where a block varies by more, or a difference of this size is missed, small gains get lost.
constexpr double kQuietSd = 0.03;
constexpr double kQuietDifference = 0.02;

constexpr const char* kTask = R"toml(schema = 1
name = "noise"
op_type = "matmul"
description = "y = lhs @ rhs"
target = "cpu"

[axes]
M = "var"
N = 64
K = 64

[[inputs]]
name = "lhs"
shape = ["M", "K"]
dtype = "float32"
init = "normal(0, 1)"
[[inputs]]
name = "rhs"
shape = ["K", "N"]
dtype = "float32"
init = "normal(0, 1)"

[[outputs]]
name = "y"
shape = ["M", "N"]
dtype = "float32"

[[workloads]]
name = "noise"
axes = { M = 96 }
role = "race"

[cost]
flops = "2*M*N*K"
bytes = "4*(M*K + K*N + M*N)"

[cpu]
threads = 1
cache = "cold"
)toml";

constexpr const char* kReference = R"text(#include "task.h"

extern "C" void reference(const real* lhs, const real* rhs, real* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      real sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += lhs[i * K + k] * rhs[k * N + j];
      y[i * N + j] = sum;
    }
  }
}
)text";

constexpr const char* kKernel = R"text(#include "task.h"
#include <x86intrin.h>

extern "C" void kernel(const float* lhs, const float* rhs, float* y, int64_t M) {
  const unsigned long long begin = __rdtsc();
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0.0f;
      for (int64_t k = 0; k < K; ++k) sum += lhs[i * K + k] * rhs[k * N + j];
      y[i * N + j] = sum;
    }
  }
  const unsigned long long end = __rdtsc();
  const unsigned long long until = end + static_cast<unsigned long long>(static_cast<double>(end - begin) * SHARE);
  while (__rdtsc() < until) _mm_pause();
}
)text";

/// A product that waits at its end for a share of the time that it took.
std::string kernel_that_waits(double share) {
  return fmt::format("#define SHARE {:.4f}\n{}", share, kKernel);
}

Result<model::Task> make_task() {
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-noise"));
  TRY(base::write_file(folder.path() / "task.toml", kTask));
  TRY(base::write_file(folder.path() / "reference.cpp", kReference));
  TRY(base::write_file(folder.path() / "baseline.cpp", kernel_that_waits(0)));
  return suites::load_task(folder.path());
}

/// Log-ratios of the blocks of many races.
struct Blocks {
  std::vector<double> log_ratios;
  int disturbed = 0;
  int all = 0;

  void add(const model::Evaluation& evaluation) {
    for (const model::BlockSample& sample : evaluation.samples) {
      if (sample.reference_ns.empty() || sample.candidate_ns.empty()) continue;
      ++all;
      disturbed += sample.disturbed ? 1 : 0;
      log_ratios.push_back(std::log(sample.reference_ns.front() / sample.candidate_ns.front()));
    }
  }
  /// Around their own mean.
  static double deviation(const std::vector<double>& values) {
    if (values.size() < 2) return 0;
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
};

Result<model::Evaluation> race(evaluation::Evaluator& evaluator, const model::Kernel& candidate,
                               const model::Kernel& opponent, const std::stop_token& stop) {
  TRY_ASSIGN(auto evaluation, base::as_result(evaluator.ask(evaluation::Race{candidate, opponent}, stop)));
  if (evaluation.status == model::Status::passed) return evaluation;
  return base::fail(base::ErrorCode::unsupported, "the noise cannot be measured: " + evaluation.reason);
}

}  // namespace

void to_json(Json& out, const NoiseReport& value) {
  out = {{"device", value.device},           {"measured", value.measured},
         {"block_sd", value.block_sd},       {"delayed_sd", value.delayed_sd},
         {"disturbed", value.disturbed},     {"races", value.races},
         {"false_finds", value.false_finds}, {"smallest_found", Json(value.smallest_found)},
         {"seconds", value.seconds},         {"levels", Json::array()}};
  for (const NoiseLevel& level : value.levels)
    out["levels"].push_back({{"difference", level.difference}, {"races", level.races}, {"found", level.found}});
}

Result<NoiseReport> measure_noise(const Shell& shell, const DeviceFlags& device, const std::stop_token& stop) {
#if !defined(__x86_64__)
  return base::fail(base::ErrorCode::unsupported, "the noise is measured with a counter that this processor lacks");
#else
  const auto begin = Clock::now();
  TRY_ASSIGN(const model::Task task, make_task());
  TRY_ASSIGN(const auto evaluator, make_evaluator(shell, device));
  evaluation::MeasureSettings settings;
  settings.seed = base::random_seed();
  TRY_ASSIGN(const auto opened, base::as_result(evaluator->ask(evaluation::Open{task, settings}, stop)));
  if (opened.baseline.status != model::Status::passed)
    return base::fail(base::ErrorCode::unsupported, "the noise cannot be measured: " + opened.baseline.reason);
  const model::Kernel baseline(task.baseline);
  NoiseReport report;
  report.device = opened.device.name;
  report.measured = base::utc_now();

  const auto deadline = Clock::now() + kTimeForRaces;
  Blocks identical;
  for (int i = 0; i < kIdenticalRaces && Clock::now() < deadline; ++i) {
    TRY_ASSIGN(const auto evaluation, race(*evaluator, baseline, baseline, stop));
    identical.add(evaluation);
    ++report.races;
    const bool told_apart =
        evaluation.verdict == model::Verdict::faster || evaluation.verdict == model::Verdict::slower;
    report.false_finds += told_apart ? 1 : 0;
  }
  report.block_sd = Blocks::deviation(identical.log_ratios);
  report.disturbed = identical.all == 0 ? 0 : static_cast<double>(identical.disturbed) / identical.all;

  double squares = 0;
  int with_blocks = 0;
  for (const double difference : kDifferences) {
    const model::Kernel copy(model::with_main_text(task.baseline, kernel_that_waits(difference)));
    NoiseLevel level{difference, 0, 0};
    Blocks blocks;
    for (int i = 0; i < kDelayedRaces && Clock::now() < deadline; ++i) {
      TRY_ASSIGN(const auto evaluation, race(*evaluator, baseline, copy, stop));
      blocks.add(evaluation);
      ++level.races;
      level.found += evaluation.verdict == model::Verdict::faster ? 1 : 0;
    }
    const double deviation = Blocks::deviation(blocks.log_ratios);
    squares += deviation * deviation;
    with_blocks += blocks.log_ratios.size() > 1 ? 1 : 0;
    report.levels.push_back(level);
  }
  if (with_blocks > 0) report.delayed_sd = std::sqrt(squares / with_blocks);
  for (auto level = report.levels.rbegin(); level != report.levels.rend(); ++level) {
    if (level->races == 0 || level->found < level->races - kMostMissed) break;
    report.smallest_found = level->difference;
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return report;
#endif
}

std::string describe_noise(const Json& report) {
  const Json smallest = report.value("smallest_found", Json());
  return fmt::format(
      "a block of identical kernels varies by {}{}; {} ({}, {})", report::format_percent(report.value("block_sd", 0.0)),
      report.value("disturbed", 0.0) > 0
          ? ", " + report::format_percent(report.value("disturbed", 0.0)) + " of the blocks disturbed"
          : "",
      smallest.is_null()
          ? std::string("no difference up to 10 % is found reliably")
          : "differences from " + report::format_percent(smallest.get<double>()) + " on are found reliably",
      report.value("device", ""), report.value("measured", ""));
}

bool is_quiet(const Json& report) {
  const Json smallest = report.value("smallest_found", Json());
  return !smallest.is_null() && smallest.get<double>() <= kQuietDifference &&
         report.value("block_sd", 1.0) <= kQuietSd && report.value("false_finds", 0) <= 1;
}

}  // namespace accelopt::app

// SPDX-License-Identifier: Apache-2.0
#include "pipeline_play.hpp"

#include <cmath>
#include <numbers>

#include "base/hash.hpp"

namespace accelopt::bench {
namespace {

constexpr double kMedianSeconds = 2;
constexpr double kP99Seconds = 20;
constexpr double kBrokenShare = 0.25;

model::Task small_task() {
  model::Task task;
  task.definition.name = "small";
  task.definition.axes = {{"M", std::nullopt}};
  model::Workload workload;
  workload.name = "small";
  workload.axes = {{"M", 8}};
  task.workloads = {workload};
  task.baseline = {model::Language::cpp, {{"baseline.cpp", "speed=1\n"}}};
  task.reference = {"reference.cpp", "ref"};
  return task;
}

}  // namespace

double uniform(std::uint64_t seed, const std::string& name) {
  return (static_cast<double>(base::derive_seed(seed, name) >> 11U) + 0.5) * 0x1p-53;
}

double latency_seconds(std::uint64_t seed, const std::string& name) {
  // The 99th percentile of a normal variable lies 2.3263 deviations above its median.
  const double sigma = std::log(kP99Seconds / kMedianSeconds) / 2.3263;
  const double radius = std::sqrt(-2 * std::log(uniform(seed, name + " radius")));
  const double normal = radius * std::cos(2 * std::numbers::pi * uniform(seed, name + " angle"));
  return kMedianSeconds * std::exp(sigma * normal);
}

std::string text_for(const std::string& role, std::uint64_t seed, const std::string& identity) {
  if (role == "planner") return "Title: plan " + identity + "\nRests on: none\nDo what makes it faster.\n";
  if (role == "summarizer") {
    return R"({"title": "lesson of )" + identity + R"(", "strategy": "do it", "before": "slow", "after": "fast"})";
  }
  const bool broken = role == "executor" && uniform(seed, "broken " + identity) < kBrokenShare;
  const double speed = 1.1 + 0.8 * uniform(seed, "speed " + identity);
  return "```cpp\n" + std::string(broken ? "compile_error " : "") + "speed=" + std::to_string(speed) +
         "\nvoid kernel() {}  // " + identity + "\n```\n";
}

search::RunRequest request_for(const search::SearchSettings& settings, search::Schedule schedule) {
  search::RunRequest request{.run = "r1", .task = small_task(), .settings = settings, .measure = {}, .seed = 7};
  request.schedule = schedule;
  return request;
}

base::Result<std::unique_ptr<journal::Journal>> new_journal(const std::filesystem::path& folder) {
  TRY_ASSIGN(auto journal, journal::open_journal(folder));
  journal::RunInfo info;
  info.id = "r1";
  info.task = small_task();
  TRY(journal->create_run(info));
  return journal;
}

}  // namespace accelopt::bench

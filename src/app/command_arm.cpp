// SPDX-License-Identifier: Apache-2.0
#include "app/command_arm.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "sandbox/run.hpp"
#include "stats/estimate.hpp"

namespace accelopt::app {
namespace {

using base::Result;

constexpr std::chrono::minutes kLongest{5};
constexpr double kLongestNs = 3e11;  ///< the same
constexpr std::size_t kMostOutputBytes = 1UL << 20;
constexpr std::size_t kLeastSamples = 5;
constexpr double kMissing = 0.05;  ///< probability that an interval misses the value
/// Of the user's environment, what programs need to be found and to find their libraries and devices.
constexpr const char* kInherited[] = {"PATH", "HOME",        "LANG",       "LD_LIBRARY_PATH",
                                      "USER", "VIRTUAL_ENV", "PYTHONPATH", "CUDA_VISIBLE_DEVICES"};

/// The times that it printed; none: a line is no positive number.
std::optional<std::vector<double>> times_in(std::string_view output) {
  std::vector<double> times;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string line(base::trimmed(output.substr(0, end)));
    output.remove_prefix(std::min(end + 1, output.size()));
    if (line.empty()) continue;
    double time = 0;
    const auto [rest, problem] = std::from_chars(line.data(), line.data() + line.size(), time);
    if (problem != std::errc() || rest != line.data() + line.size() || !std::isfinite(time) || time <= 0 ||
        time > kLongestNs)
      return std::nullopt;
    times.push_back(time);
  }
  return times;
}

Result<sandbox::RunResult> run_for(const Shell& shell, const std::string& command, const model::Workload& workload) {
  sandbox::SpawnOptions options;
  options.program = "/bin/sh";
  options.arguments = {"-c", command};
  for (const char* name : kInherited) {
    if (const auto value = shell.environment(name)) options.environment.push_back(name + ("=" + *value));
  }
  options.environment.push_back("ACCELOPT_WORKLOAD=" + workload.name);
  for (const auto& [axis, value] : workload.axes)
    options.environment.push_back("ACCELOPT_AXIS_" + axis + "=" + std::to_string(value));
  std::error_code ignored;
  options.directory = std::filesystem::current_path(ignored).string();
  options.own_namespaces = false;
  return sandbox::run(std::move(options), {kLongest, kMostOutputBytes}, nullptr, shell.stops.abort);
}

/// What is wrong with how it ended; empty: nothing.
std::string failure_of(const sandbox::RunResult& ran) {
  constexpr std::size_t kQuoted = 300;
  if (ran.timed_out) return "it did not end within five minutes";
  if (!ran.state.exited) return "it ended by signal " + std::to_string(ran.state.signal);
  if (ran.state.code == 0) return {};
  return "it ended with status " + std::to_string(ran.state.code) + ": " + base::ascii_line(ran.output, kQuoted);
}

}  // namespace

std::optional<CommandArm> command_arm(std::string_view text) {
  const std::size_t mark = text.find("=!");
  if (mark == 0 || mark == std::string_view::npos || mark != text.find('=') || mark + 2 == text.size())
    return std::nullopt;
  return CommandArm{std::string(text.substr(0, mark)), std::string(text.substr(mark + 2))};
}

Result<TimedCommand> time_command(const Shell& shell, const CommandArm& arm, const model::Task& task) {
  TimedCommand timed{.arm = arm, .workloads = {}, .failure = {}};
  for (const model::Workload& workload : task.workloads) {
    if (workload.role != model::Role::race) continue;
    TRY_ASSIGN(const sandbox::RunResult ran, run_for(shell, arm.command, workload));
    timed.failure = failure_of(ran);
    const auto times = times_in(ran.output);
    if (timed.failure.empty() && (!times || times->size() < kLeastSamples))
      timed.failure =
          "it has to print five or more times of single calls in nanoseconds, a line each, and nothing else";
    if (!timed.failure.empty()) {
      timed.failure = workload.name + ": " + timed.failure;
      return timed;
    }
    // Of ratios, as those of races are: the interval is cut where no ratio can be.
    const double usual = stats::median(*times);
    std::vector<double> logs;
    std::ranges::transform(*times, std::back_inserter(logs), [&](double time) { return std::log(time / usual); });
    const stats::Interval ratio = stats::as_ratio(stats::trimmed_interval(logs, kMissing));
    timed.workloads.push_back({.workload = workload.name,
                               .samples = times->size(),
                               .time_ns = {usual * ratio.estimate, usual * ratio.low, usual * ratio.high}});
  }
  return timed;
}

std::optional<model::Interval> speed_over(const model::Evaluation& kernel, const CommandTiming& timing) {
  const auto own = std::ranges::find(kernel.workloads, timing.workload, &model::WorkloadTiming::name);
  if (own == kernel.workloads.end() || !(own->time_ns > 0)) return std::nullopt;
  const model::Interval& time = timing.time_ns;
  return model::Interval{time.estimate / own->time_ns, time.low / own->time_ns, time.high / own->time_ns};
}

base::Json to_json(const model::Evaluation& kernel, const TimedCommand& timed) {
  base::Json workloads = base::Json::array();
  for (const CommandTiming& one : timed.workloads)
    workloads.push_back({{"workload", one.workload},
                         {"samples", one.samples},
                         {"time_ns", one.time_ns},
                         {"speed_over", speed_over(kernel, one)}});
  return {{"name", timed.arm.name},
          {"command", timed.arm.command},
          {"timed_by", kOwnClock},
          {"failure", timed.failure},
          {"workloads", workloads}};
}

}  // namespace accelopt::app

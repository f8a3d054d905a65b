// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "cli/session.hpp"
#include "cli/workspace.hpp"
#include "report/format.hpp"
#include "report/progress.hpp"
#include "report/text_table.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::cli {
namespace {

struct BenchOptions {
  std::string suite;
  std::vector<std::string> only;
  std::string workspace;
  bool json = false;
  SearchFlags search;
};

/// One task's line of the table.
struct Line {
  std::string task;
  std::optional<search::RunResult> result;
  std::string error;
};

/// The raced workloads' geometric mean, nanoseconds, before and after, and the smallest share of the roofline after.
struct Times {
  double baseline_ns = 0;
  double best_ns = 0;
  double roofline = 1;
};

Times times_of(const search::RunResult& result) {
  const bool improved = result.outcome == search::Outcome::improved;
  double before = 0;
  double after = 0;
  int count = 0;
  Times times;
  for (const model::WorkloadTiming& workload : improved ? result.confirmation->workloads : result.baseline) {
    if (workload.role != "race") continue;
    before += std::log(improved ? workload.reference_ns.value_or(workload.time_ns) : workload.time_ns);
    after += std::log(workload.time_ns);
    times.roofline = std::min(times.roofline, workload.roofline ? workload.roofline->fraction : 0.0);
    ++count;
  }
  if (count == 0) return {0, 0, 0};
  times.baseline_ns = std::exp(before / count);
  times.best_ns = std::exp(after / count);
  return times;
}

double speedup_of(const Line& line) {
  const bool improved = line.result && line.result->outcome == search::Outcome::improved;
  return improved ? line.result->confirmation->ratio->estimate : 1.0;
}

std::string table_of(const std::vector<Line>& lines) {
  report::TextTable table({{"task"},
                           {"baseline", report::Align::right},
                           {"best", report::Align::right},
                           {"speed-up [95 %]", report::Align::right},
                           {"of roofline", report::Align::right},
                           {"evaluations", report::Align::right},
                           {"time", report::Align::right},
                           {"outcome"}});
  for (const Line& line : lines) {
    if (!line.result) {
      table.add({line.task, "-", "-", "-", "-", "-", "-", line.error});
      continue;
    }
    const search::RunResult& result = *line.result;
    const bool improved = result.outcome == search::Outcome::improved;
    const Times times = times_of(result);
    table.add({line.task, report::format_ns(times.baseline_ns), improved ? report::format_ns(times.best_ns) : "-",
               improved ? report::format_ratio(*result.confirmation->ratio) : "-",
               report::format_percent(times.roofline), std::to_string(result.evaluations),
               report::format_seconds(result.wall_seconds),
               improved ? "improved" : std::string(search::to_string(result.outcome)) + ": " + result.reason});
  }
  return table.render();
}

base::Result<Line> run_task(Shell& shell, journal::Journal& journal, const Config& config, const BenchOptions& options,
                            const std::filesystem::path& folder, model::EventSink& events) {
  Line line{folder.filename().string(), std::nullopt, ""};
  const auto task = suites::load_task(folder);
  if (!task) {
    line.error = task.error().message;
    return line;
  }
  TRY_ASSIGN(const RunSettings settings, settings_from(options.search, config));
  TRY_ASSIGN(const journal::RunInfo run, begin_run(journal, *task, folder, settings));
  auto result = carry_out(shell, journal, run, config, events);
  if (result)
    line.result = std::move(*result);
  else
    line.error = result.error().message;
  return line;
}

base::Result<Exit> bench(Shell& shell, const BenchOptions& options) {
  TRY_ASSIGN(auto folders, suites::find_suite_tasks(options.suite));
  if (!options.only.empty()) {
    std::erase_if(folders, [&](const auto& folder) {
      return std::find(options.only.begin(), options.only.end(), folder.filename().string()) == options.only.end();
    });
    if (folders.empty())
      return base::fail(base::ErrorCode::not_found, options.suite + ": none of its tasks has a name given by --only");
  }
  const auto workspace = find_workspace(options.workspace);
  TRY_ASSIGN(const Config config, load_config(workspace));
  if (const auto settings = settings_from(options.search, config); !settings) return refuse_options(settings.error());
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_write));
  const auto start = std::chrono::steady_clock::now();
  std::vector<Line> lines;
  for (const std::filesystem::path& folder : folders) {
    if (shell.stops.wind_down.stop_requested()) break;
    const auto progress = options.json ? report::make_json_progress(stdout)
                                       : report::make_terminal_progress(stderr, isatty(STDERR_FILENO) == 1);
    TRY_ASSIGN(const Line line, run_task(shell, *journal, config, options, folder, *progress));
    if (options.json && line.result) fmt::print("{}\n", base::canonical(search::to_result_json(*line.result)));
    lines.push_back(line);
  }
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double sum = 0;
  int improved = 0;
  int failed = 0;
  for (const Line& line : lines) {
    sum += std::log(speedup_of(line));
    improved += speedup_of(line) > 1 ? 1 : 0;
    failed += line.result ? 0 : 1;
  }
  const double mean = lines.empty() ? 1 : std::exp(sum / static_cast<double>(lines.size()));
  if (options.json) {
    const base::Json out = {{"type", "bench"},        {"schema", 1},          {"suite", options.suite},
                            {"tasks", lines.size()},  {"improved", improved}, {"failed", failed},
                            {"geometric_mean", mean}, {"wall_seconds", wall}};
    fmt::print("{}\n", base::canonical(out));
  } else {
    fmt::print("\n{}\n{} of {} tasks improved; geometric mean {:.2f}x (a task without a gain counts as 1); {}\n",
               table_of(lines), improved, lines.size(), mean, report::format_seconds(wall));
  }
  if (shell.stops.wind_down.stop_requested()) return Exit::interrupted;
  if (failed > 0) return Exit::error;
  return improved > 0 ? Exit::done : Exit::no_gain;
}

}  // namespace

void add_bench(CommandLine& app, Action& chosen) {
  Command command = app.add("bench", "Run every task of a suite and print the table");
  command.footer(
      "Examples:\n  accelopt bench suites/nkibench-cpu\n  accelopt bench suites/nkibench-cpu --only silu --only matmul "
      "--json\n");
  auto options = std::make_shared<BenchOptions>();
  command.option("suite", &options->suite, "Folder whose sub-folders are tasks").required();
  command.option("--only", &options->only, "Only the task of this name; may be repeated");
  command.option("--workspace", &options->workspace, "Folder of the runs (default: the nearest .accelopt upwards)");
  command.flag("--json", options->json, "JSON lines (docs/json.md)");
  declare(command, options->search);
  command.chosen([&chosen, options] { chosen = [options](Shell& shell) { return bench(shell, *options); }; });
}

}  // namespace accelopt::cli

// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cmath>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "app/bench_history.hpp"
#include "app/run.hpp"
#include "app/version.hpp"
#include "app/workspace.hpp"
#include "base/utc.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "journal/suite_log.hpp"
#include "report/document.hpp"
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
  bool verbose = false;
  bool history = false;
  int jobs = 1;
  std::string export_markdown;
  SearchFlags search;
};

/// Where a suite run and its runs are kept. Any thread.
class Record {
 public:
  Record(journal::Journal& journal, journal::SuiteLog& log, std::string id)
      : journal_(journal), log_(log), id_(std::move(id)) {}

  [[nodiscard]] journal::Journal& journal() const { return journal_; }
  base::Result<void> enter(const journal::SuiteEntry& entry) {
    const std::lock_guard lock(mutex_);
    return log_.enter(id_, entry);
  }

 private:
  journal::Journal& journal_;
  std::mutex mutex_;
  journal::SuiteLog& log_;
  std::string id_;  ///< of the suite run
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
  const bool improved = result.outcome == search::RunOutcome::improved;
  double before = 0;
  double after = 0;
  int count = 0;
  Times times;
  for (const model::WorkloadTiming& workload : improved ? result.confirmation->workloads : result.baseline) {
    if (workload.role != model::Role::race) continue;
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
  const bool improved = line.result && line.result->outcome == search::RunOutcome::improved;
  return improved ? line.result->confirmation->ratio->estimate : 1.0;
}

report::TextTable table_of(const std::vector<Line>& lines) {
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
    const bool improved = result.outcome == search::RunOutcome::improved;
    const Times times = times_of(result);
    table.add({line.task, report::format_ns(times.baseline_ns), improved ? report::format_ns(times.best_ns) : "-",
               improved ? report::format_ratio(*result.confirmation->ratio) : "-",
               report::format_percent(times.roofline), std::to_string(result.evaluations),
               report::format_seconds(result.wall_seconds),
               improved ? "improved" : std::string(search::to_string(result.outcome)) + ": " + result.reason});
  }
  return table;
}

base::Result<Line> run_task(Shell& shell, Record& record, const Config& config, const BenchOptions& options,
                            const std::filesystem::path& folder, model::EventSink& events) {
  Line line{folder.filename().string(), std::nullopt, ""};
  const auto task = suites::load_task(folder);
  if (!task) {
    line.error = task.error().message;
    TRY(record.enter({.task = line.task, .error = line.error}));
    return line;
  }
  TRY_ASSIGN(const RunSettings settings, settings_from(options.search, config, shell.environment));
  if (const auto able = check_language(settings.agents, config, *task); !able) {
    line.error = able.error().message;
    TRY(record.enter({.task = line.task, .error = line.error}));
    return line;
  }
  TRY_ASSIGN(const journal::RunInfo run, begin_run(record.journal(), *task, folder, settings));
  TRY(record.enter({.task = line.task, .run = run.id}));
  auto result = carry_out(shell, record.journal(), run, config, events);
  if (result) {
    line.result = std::move(*result);
  } else {
    line.error = result.error().message;
    const bool gone = discard_failed_start(record.journal(), run.id, result.error());
    TRY(record.enter({.task = line.task, .run = gone ? "" : run.id, .error = line.error}));
  }
  return line;
}

/// Of one task; where tasks run side by side, every line names its own.
std::unique_ptr<model::EventSink> progress_for(const BenchOptions& options, const std::string& task) {
  const bool side_by_side = options.jobs > 1;
  if (options.json) return report::make_json_progress(stdout, side_by_side ? task : "");
  report::TerminalOptions terminal;
  terminal.live = isatty(STDERR_FILENO) == 1 && !side_by_side;
  if (side_by_side) terminal.prefix = task + ": ";
  terminal.detail = options.verbose ? report::Detail::all : report::Detail::events;
  return report::make_terminal_progress(stderr, std::move(terminal));
}

/// The tasks of a suite run, `jobs` of them at a time.
class Tasks {
 public:
  Tasks(Shell& shell, Record& record, const Config& config, const BenchOptions& options,
        const std::vector<std::filesystem::path>& folders)
      : shell_(shell), record_(record), config_(config), options_(options), folders_(folders), lines_(folders.size()) {}

  /// Every task, until the user stops it; lines in the suite's order. @error as run_task: the first.
  base::Result<std::vector<Line>> run() {
    {
      std::vector<std::jthread> others;
      for (int i = 1; i < options_.jobs; ++i) others.emplace_back([this] { run_in_turn(); });
      run_in_turn();
    }
    if (error_) return tl::make_unexpected(*error_);
    std::vector<Line> lines;
    for (std::optional<Line>& line : lines_) {
      if (line) lines.push_back(std::move(*line));
    }
    return lines;
  }

 private:
  void run_in_turn() {
    while (const auto task = next()) {
      const std::filesystem::path& folder = folders_[*task];
      const auto progress = progress_for(options_, folder.filename().string());
      auto line = run_task(shell_, record_, config_, options_, folder, *progress);
      if (line && options_.json && line->result)
        fmt::print("{}\n", base::canonical(search::to_result_json(*line->result)));
      const std::lock_guard lock(mutex_);
      if (line)
        lines_[*task] = std::move(*line);
      else if (!error_)
        error_ = line.error();
    }
  }

  std::optional<std::size_t> next() {
    const std::lock_guard lock(mutex_);
    if (shell_.stops.wind_down.stop_requested() || error_ || begun_ == folders_.size()) return std::nullopt;
    return begun_++;
  }

  Shell& shell_;
  Record& record_;
  const Config& config_;
  const BenchOptions& options_;
  const std::vector<std::filesystem::path>& folders_;
  std::mutex mutex_;  ///< guards the rest
  std::size_t begun_ = 0;
  std::vector<std::optional<Line>> lines_;  ///< by task
  std::optional<base::Error> error_;
};

base::Result<std::vector<std::filesystem::path>> tasks_of(const BenchOptions& options) {
  TRY_ASSIGN(auto folders, suites::find_suite_tasks(options.suite));
  if (options.only.empty()) return folders;
  std::erase_if(folders, [&](const auto& folder) {
    return std::find(options.only.begin(), options.only.end(), folder.filename().string()) == options.only.end();
  });
  if (folders.empty())
    return base::fail(base::ErrorCode::not_found, options.suite + ": none of its tasks has a name given by --only");
  return folders;
}

/// Enters a suite run, so that it is known however it ends.
base::Result<std::string> begin_suite(journal::SuiteLog& log, const BenchOptions& options, const base::Json& settings,
                                      const std::vector<std::filesystem::path>& folders) {
  journal::SuiteRun run{.id = new_run_id(),
                        .suite = suite_path(options.suite),
                        .created = base::utc_now(),
                        .program_version = kVersion,
                        .settings = settings,
                        .process = journal::this_process()};
  for (const std::filesystem::path& folder : folders) run.tasks.push_back(folder.filename().string());
  TRY(log.begin(run));
  return run.id;
}

/// How it went, over all tasks.
struct Summary {
  int improved = 0;
  int failed = 0;
  double geometric_mean = 1;
};

Summary summary_of(const std::vector<Line>& lines) {
  Summary out;
  double sum = 0;
  for (const Line& line : lines) {
    sum += std::log(speedup_of(line));
    out.improved += speedup_of(line) > 1 ? 1 : 0;
    out.failed += line.result ? 0 : 1;
  }
  if (!lines.empty()) out.geometric_mean = std::exp(sum / static_cast<double>(lines.size()));
  return out;
}

base::Result<void> print(const std::vector<Line>& lines, const Summary& summary, const BenchOptions& options,
                         const std::string& id, double wall_seconds) {
  if (options.json) {
    const base::Json out = {{"type", "bench"},
                            {"schema", 1},
                            {"suite", options.suite},
                            {"suite_run", id},
                            {"tasks", lines.size()},
                            {"improved", summary.improved},
                            {"failed", summary.failed},
                            {"geometric_mean", summary.geometric_mean},
                            {"wall_seconds", wall_seconds}};
    fmt::print("{}\n", base::canonical(out));
    return {};
  }
  report::Document page("Suite " + options.suite);
  page.text("\n");
  page.table(table_of(lines));
  page.text(fmt::format("\n{} of {} tasks improved; geometric mean {:.2f}x (a task without a gain counts as 1); {}\n",
                        summary.improved, lines.size(), summary.geometric_mean, report::format_seconds(wall_seconds)));
  fmt::print("{}", page.to_text());
  return report::export_markdown(page, options.export_markdown);
}

base::Result<Exit> run_suite(Shell& shell, const BenchOptions& options) {
  TRY_ASSIGN(const auto folders, tasks_of(options));
  const auto workspace = find_workspace(options.workspace);
  TRY_ASSIGN(const Config config, load_config(workspace, shell.environment));
  const auto settings = settings_from(options.search, config, shell.environment);
  if (!settings) return refuse_options(settings.error());
  auto made_with = suite_settings(*settings, config);
  if (!made_with) return refuse_options(made_with.error());
  if (options.jobs > 1) (*made_with)["jobs"] = options.jobs;
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_write));
  TRY_ASSIGN(const auto log, journal::open_suite_log(workspace, journal::Access::read_write));
  TRY_ASSIGN(const std::string id, begin_suite(*log, options, *made_with, folders));
  const auto start = std::chrono::steady_clock::now();
  Record record(*journal, *log, id);
  const auto lines = Tasks(shell, record, config, options, folders).run();
  if (!lines) {
    static_cast<void>(log->end(id, "failed"));  // the first error counts
    return tl::make_unexpected(lines.error());
  }
  const bool interrupted = shell.stops.wind_down.stop_requested();
  TRY(log->end(id, interrupted ? "interrupted" : "done"));
  const Summary summary = summary_of(*lines);
  TRY(print(*lines, summary, options, id,
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
  if (interrupted) return Exit::interrupted;
  if (summary.failed > 0) return Exit::error;
  return summary.improved > 0 ? Exit::done : Exit::no_gain;
}

base::Result<Exit> show_history(const BenchOptions& options) {
  const auto workspace = find_workspace(options.workspace);
  TRY_ASSIGN(const auto history, read_history(workspace, {.suite = options.suite, .only = options.only}));
  if (options.json) {
    for (const base::Json& line : report::to_json_lines(history)) fmt::print("{}\n", base::canonical(line));
    return Exit::done;
  }
  if (history.empty()) {
    fmt::print("no suite runs {}in {}; begin one with: accelopt bench {}\n",
               options.suite.empty() && options.only.empty() ? "" : "like that ", workspace.string(),
               options.suite.empty() ? "SUITE" : options.suite);
    return Exit::done;
  }
  fmt::print("{}", report::to_text(history));
  return Exit::done;
}

base::Result<Exit> bench(Shell& shell, const BenchOptions& options) {
  if (!options.export_markdown.empty() && (options.history || options.json)) {
    return refuse_options({base::ErrorCode::invalid_argument,
                           "--export-markdown writes the table of a suite run; leave out --history and --json"});
  }
  if (options.history) return show_history(options);
  if (options.suite.empty()) {
    return refuse_options(
        {base::ErrorCode::invalid_argument,
         "bench needs the folder of a suite: accelopt bench suites/nkibench-cpu; --history shows earlier ones"});
  }
  return run_suite(shell, options);
}

}  // namespace

void add_bench(CommandLine& app, Action& chosen) {
  Command command =
      app.add("bench", "Run every task of a suite and print a table, or compare earlier suite runs (--history)");
  command.footer(
      "Examples:\n  accelopt bench suites/nkibench-cpu\n  accelopt bench suites/nkibench-cpu --only silu --only matmul "
      "--json\n"
      "  accelopt bench suites/nkibench-cuda --jobs 2 --worker \"ssh a accelopt worker --device cuda:0\" --worker "
      "\"ssh b "
      "accelopt worker --device cuda:0\"\n"
      "  accelopt bench --history             suite runs over time, and what memory changed\n"
      "  accelopt bench --history --only matmul --json\n");
  auto options = std::make_shared<BenchOptions>();
  command.option("suite", &options->suite, "Folder whose sub-folders are tasks");
  command.flag("--history", options->history,
               "Run nothing: show this workspace's suite runs over time, per task and overall, with memory cold and "
               "warm (docs/cli.md)");
  command.option("--only", &options->only, "Only the task of this name; may be repeated");
  command
      .option("--jobs", &options->jobs,
              "Run so many tasks side by side; what they measure on one device takes turns (docs/devices.md)")
      .at_least(1)
      .show_default();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--json", options->json, "JSON lines (docs/json.md)");
  command.option("--export-markdown", &options->export_markdown, "Also write the table to this file, as Markdown");
  command.flag("-v,--verbose", options->verbose, "Also list every attempt and every lesson");
  declare(command, options->search);
  command.chosen([&chosen, options] { chosen = [options](Shell& shell) { return bench(shell, *options); }; });
}

}  // namespace accelopt::cli

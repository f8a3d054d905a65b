// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_refactor.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "app/refactor_player.hpp"
#include "app/refactor_suite.hpp"
#include "app/workspace.hpp"
#include "base/shell.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "report/step_progress.hpp"
#include "report/text_table.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {
namespace {

std::string outcome_of(const report::ResolveLine& line) {
  if (!line.error.empty()) return line.error;
  if (line.resolved) return "resolved";
  if (line.verdict != "faster") return line.verdict;
  return line.is_optimal() ? "claims a gain where none is known" : "faster, short of the bar";
}

report::TextTable table_of(const std::vector<report::ResolveLine>& lines) {
  report::TextTable table({{"task"},
                           {"pass", report::Align::right},
                           {"memory"},
                           {"gain", report::Align::right},
                           {"peak", report::Align::right},
                           {"evaluations", report::Align::right},
                           {"seconds", report::Align::right},
                           {"outcome"}});
  for (const report::ResolveLine& line : lines) {
    table.add({line.task, std::to_string(line.round), std::string(to_string(line.arm)),
               line.verdict == "faster" ? fmt::format("{:.2f}x", line.gain) : "-",
               line.is_optimal() ? "-" : fmt::format("{:.2f}x", line.peak), std::to_string(line.evaluations),
               fmt::format("{:.1f}", line.seconds), outcome_of(line)});
  }
  return table;
}

base::Result<std::vector<report::MemoryArm>> arms_of(const std::vector<std::string>& names) {
  std::vector<report::MemoryArm> arms;
  for (const std::string& name : names) {
    const auto arm = report::memory_arm(name);
    if (!arm)
      return base::fail(base::ErrorCode::invalid_argument,
                        "--arm must be cold, warm or shuffled, not \"" + name + "\"");
    if (std::ranges::find(arms, *arm) == arms.end()) arms.push_back(*arm);
  }
  return arms;
}

}  // namespace

base::Result<Exit> run_refactor_bench(const app::Shell& shell, const RefactorBenchFlags& flags) {
  const auto arms = arms_of(flags.arms);
  if (!arms) return refuse_options(arms.error());
  app::RefactorSuiteRequest request{.suite = flags.suite, .only = flags.only, .arms = *arms, .rounds = flags.rounds};
  request.jobs = flags.jobs;
  request.seed = flags.seed.value_or(request.seed);
  request.tools.assign(flags.tools.begin(), flags.tools.end());
  request.results = flags.results;
  TRY_ASSIGN(request.config, app::load_config(app::find_workspace(flags.workspace), shell.environment));
  request.search = flags.search;
  request.search.device.tools = flags.tools;
  app::take_repo_defaults(request.search);
  if (const auto player = app::player_of(request.search, request.config); !player)
    return refuse_options(player.error());
  TRY_ASSIGN(const auto plan, app::plan_refactor_suite(shell, std::move(request)));
  for (const std::string& one : plan.left_out) fmt::print(stderr, "left out: {}\n", report::printable_lines(one));
  report::StepProgress steps(stderr, {.live = !flags.json && isatty(STDERR_FILENO) == 1});
  const auto finished = [&](const report::ResolveLine& line) {
    if (flags.json) {
      fmt::print("{}\n", base::canonical(line));
      return;
    }
    steps.note(fmt::format("{} {}, pass {}: {}", line.task, to_string(line.arm), line.round, outcome_of(line)));
  };
  TRY_ASSIGN(const auto report,
             app::run_refactor_suite(
                 shell, plan, {.step = [&](const std::string& step) { steps.begin(step); }, .finished = finished}));
  steps.end();
  if (!flags.json) {
    fmt::print("{}\nwritten to {}; accelopt bench {} --history --plot makes TREND.md and trend.svg of all results\n",
               table_of(report.lines).render(), report.results.string(), base::shell_word(flags.suite));
  }
  if (report.interrupted) return Exit::interrupted;
  if (std::ranges::any_of(report.lines, [](const auto& line) { return line.verdict.empty(); })) return Exit::error;
  return std::ranges::any_of(report.lines, &report::ResolveLine::resolved) ? Exit::done : Exit::no_gain;
}

base::Result<Exit> plot_refactor_bench(const RefactorBenchFlags& flags) {
  if (flags.json) {
    TRY_ASSIGN(const auto lines, app::read_refactor_results(flags.suite));
    for (const report::ResolveLine& line : lines) fmt::print("{}\n", base::canonical(line));
    return Exit::done;
  }
  TRY_ASSIGN(const auto files, app::write_refactor_trend(flags.suite));
  for (const auto& file : files) fmt::print("wrote {}\n", file.string());
  return Exit::done;
}

base::Result<Exit> freeze_refactor_bench(const RefactorBenchFlags& flags) {
  TRY_ASSIGN(const std::string hash, suites::freeze_refactor_suite(flags.suite));
  fmt::print("frozen: {}\n", hash);
  return Exit::done;
}

}  // namespace accelopt::cli

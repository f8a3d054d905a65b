// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "app/config.hpp"
#include "app/refactor.hpp"
#include "app/team.hpp"
#include "app/workspace.hpp"
#include "base/output_file.hpp"
#include "base/shell.hpp"
#include "cli/command.hpp"
#include "cli/run_start.hpp"
#include "cli/search_flags.hpp"
#include "refactor/call_share.hpp"
#include "report/step_progress.hpp"
#include "report/text_width.hpp"
#include "targets/repo/repo_task.hpp"

namespace accelopt::cli {
namespace {

struct RefactorFlags {
  app::RefactorOptions options;
  app::RefactorChange change;
  app::RefactorInit init;
  app::SettleOptions settle;
  std::string change_file;
  std::string workspace;
  std::string pr_text;
  std::string onto;
  std::string moved;
  std::vector<std::string> tools;
  app::SearchFlags search;
  bool verbose = false;
  bool json = false;
  bool commit = false;
  bool passed = false;
  bool failed = false;
};

std::string ratio_text(const stats::Interval& ratio) {
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", ratio.estimate, ratio.low, ratio.high);
}

void print_readability(const refactor::Readability& it) {
  for (const refactor::FunctionFigures& one : it.functions) {
    fmt::print("{}: cognitive complexity {} -> {}, nesting {} -> {}, statements {} -> {}\n",
               report::printable_lines(one.name), one.before.cognitive, one.after.cognitive, one.before.nesting,
               one.after.nesting, one.before.statements, one.after.statements);
  }
  fmt::print("{}\n", refactor::describe(it));
  if (it.simpler) fmt::print("{}\n", report::printable_lines(refactor::describe(it.preference, it.reviewer)));
}

void print_gate(const refactor::Gate& gate) {
  fmt::print("{:<13} {:<7} {:.1f} s\n", gate.name, gate.passed ? "passed" : "FAILED", gate.seconds);
  for (const std::string& fact : gate.facts) fmt::print("    {}\n", report::printable_lines(fact));
}

/// Whether its gates were printed as they ended.
enum class Gates { to_print, printed };

void print_report(const app::RefactorReport& report, Gates gates) {
  const refactor::CheckResult& result = report.result;
  if (gates == Gates::to_print) std::ranges::for_each(result.gates, print_gate);
  for (const refactor::UnitResult& unit : result.units) {
    if (result.goal == refactor::Goal::memory) {
      constexpr double kMebibyte = 1 << 20;
      fmt::print("{:<24} {:>9.2f} MiB -> {:>9.2f} MiB  {}{}\n", refactor::to_string(unit.unit),
                 unit.old_bytes / kMebibyte, unit.new_bytes / kMebibyte, ratio_text(unit.ratio),
                 unit.unit.sized ? "" : "  with start-up");
      continue;
    }
    const auto& share = unit.unit.call_share;
    fmt::print("{:<24} {:>9.2f} ms -> {:>9.2f} ms  {}{}{}\n", refactor::to_string(unit.unit), unit.old_seconds * 1e3,
               unit.new_seconds * 1e3, ratio_text(unit.ratio), unit.unit.timed ? "" : "  with start-up",
               share ? "  " + refactor::describe_call_share(*share) : "");
  }
  for (const refactor::Growth& growth : result.growth) {
    if (result.complexity_claimed)
      fmt::print("growth: n^{:.1f} -> n^{:.1f} over n = {:.0f}..{:.0f}, inputs {}\n", growth.old_exponent,
                 growth.new_exponent, growth.from_size, growth.to_size, growth.workload);
  }
  if (!result.not_passing.empty())
    fmt::print("{}\n", report::printable_lines(refactor::describe_not_passing(result.not_passing)));
  if (!result.complexity_claimed && !result.growth.empty())
    fmt::print("no lower complexity is claimed: {}\n", result.complexity_reason);
  if (result.readability) print_readability(*result.readability);
  if (result.time) fmt::print("processor time is a guard: old / new {}\n", ratio_text(*result.time));
  if (!report.strategy.empty()) fmt::print("strategy: {}\n", report.strategy);
  const auto& ratio = result.confirmed ? result.confirmed : result.triage;
  fmt::print("{}{}\n", refactor::to_string(result.verdict, result.goal), ratio ? ": " + ratio_text(*ratio) : "");
  if (!report.commit.empty()) fmt::print("commit {} on {}\n", report.commit.substr(0, 12), report.branch.substr(11));
  fmt::print("refactoring {}; its report: accelopt report {}\n", report.id, report.id);
}

base::Result<Exit> finish(const RefactorFlags& flags, const app::RefactorReport& report,
                          Gates gates = Gates::to_print) {
  if (flags.json)
    fmt::print("{}\n", base::canonical(app::story_of(report)));
  else
    print_report(report, gates);
  if (!flags.pr_text.empty()) TRY(base::write_output(flags.pr_text, app::pull_request_text(report)));
  if (!report.not_committed.empty())
    return base::fail(base::ErrorCode::already_exists, "the commit was not made: " + report.not_committed);
  switch (report.result.verdict) {
    case refactor::Verdict::better:
      return Exit::done;
    case refactor::Verdict::not_better:
      return Exit::no_gain;
    case refactor::Verdict::refused:
      break;
  }
  return Exit::check_failed;
}

/// Calls what examines changes, with its steps shown, and gates as they end where they are all of one change.
template <class Use>
auto with_steps(RefactorFlags& flags, const Use& use, Gates gates = Gates::to_print) {
  flags.options.tools.assign(flags.tools.begin(), flags.tools.end());
  flags.options.workspace = app::find_workspace(flags.workspace);
  report::StepProgress steps(stderr, {.live = !flags.json && isatty(STDERR_FILENO) == 1});
  flags.options.step = [&](const std::string& step) { steps.begin(step); };
  flags.options.note = [&](const std::string& text) { steps.note(text); };
  if (gates == Gates::printed) {
    flags.options.gate = [&](const refactor::Gate& gate) {
      steps.end();  // a live line is off the screen before another is on it
      print_gate(gate);
      std::fflush(stdout);
    };
  }
  auto result = use(flags.options);
  steps.end();
  return result;
}

base::Result<Exit> check(const app::Shell& shell, RefactorFlags& flags) {
  flags.change.file = flags.change_file;
  if (flags.change_file.empty() == flags.change.commit.empty())
    return refuse_options({base::ErrorCode::invalid_argument, "give either a diff or file, or --of COMMIT"});
  const Gates gates = flags.json ? Gates::to_print : Gates::printed;
  TRY_ASSIGN(const auto report, with_steps(
                                    flags,
                                    [&](const app::RefactorOptions& options) {
                                      return app::check_refactor(shell, options, flags.change,
                                                                 flags.commit ? app::Commit::yes : app::Commit::no);
                                    },
                                    gates));
  return finish(flags, report, gates);
}

/// Puts the run's commit onto a head that moved; says what came of it.
base::Result<Exit> put_onto(const app::Shell& shell, RefactorFlags& flags, const std::string& commit) {
  TRY_ASSIGN(const auto report, with_steps(flags, [&](const app::RefactorOptions& options) {
               return app::rebase_refactor(shell, options, {.commit = commit, .onto = flags.onto});
             }));
  if (report) return finish(flags, *report);
  if (!flags.json) fmt::print("{} is the base: the commit stands on it already\n", flags.onto);
  return Exit::done;
}

/// Plans and changes by models, on the search that kernels have.
base::Result<Exit> run_with_models(const app::Shell& shell, RefactorFlags& flags) {
  if (!flags.pr_text.empty()) {
    return refuse_options({base::ErrorCode::invalid_argument,
                           "--pr-text works with recipes only; after this search, `accelopt refactor check TASK --of "
                           "COMMIT --pr-text FILE` writes it"});
  }
  TRY_ASSIGN(const model::Task task, targets::repo::load_repo_task(flags.options.task));
  RunOptions options{.task = flags.options.task.string(),
                     .workspace = flags.workspace,
                     .defer = {},
                     .json = flags.json,
                     .verbose = flags.verbose,
                     .search = flags.search};
  options.search.device.tools = flags.tools;
  app::take_repo_defaults(options.search);
  std::string commit;
  options.ended = [&](const search::RunResult& result) { commit = result.commit; };
  TRY_ASSIGN(const Exit exit, begin_search(shell, task, options));
  if (flags.onto.empty() || commit.empty()) return exit;
  return put_onto(shell, flags, commit);
}

base::Result<Exit> run(const app::Shell& shell, RefactorFlags& flags) {
  TRY_ASSIGN(const app::Config config, app::load_config(app::find_workspace(flags.workspace), shell.environment));
  const auto recipes = app::plays_recipes(flags.search.agents, config);
  if (!recipes) return refuse_options(recipes.error());
  TRY_ASSIGN(const refactor::Task task, refactor::load_task(flags.options.task));
  if (*recipes && (flags.search.critical || flags.search.tests || task.critical)) {
    return refuse_options(
        {base::ErrorCode::invalid_argument,
         fmt::format("{} models, but recipes play all roles; name a model (docs/models.md)",
                     task.critical ? "[critical] in refactor.toml needs" : "--critical and --tests need")});
  }
  app::take_critical_of(task, flags.search);
  if (!*recipes) return run_with_models(shell, flags);
  flags.options.seed = flags.search.seed;
  flags.options.knowledge = flags.search.knowledge;
  TRY_ASSIGN(const auto report,
             with_steps(flags, [&](const app::RefactorOptions& options) { return app::run_refactor(shell, options); }));
  if (report.tried == 0 && !flags.json)
    fmt::print("no recipe fits; check a change of your own with `accelopt refactor check`\n");
  TRY_ASSIGN(const Exit exit, finish(flags, report));
  if (flags.onto.empty() || report.commit.empty()) return exit;
  return put_onto(shell, flags, report.commit);
}

base::Result<Exit> lint(const app::Shell& shell, RefactorFlags& flags) {
  TRY_ASSIGN(const auto lines, with_steps(flags, [&](const app::RefactorOptions& options) {
               return app::lint_refactor(shell, options);
             }));
  for (const std::string& line : lines) fmt::print("{}\n", report::printable_lines(line));
  return Exit::done;
}

base::Result<Exit> init(RefactorFlags& flags) {
  flags.init.note = [](const std::string& line) { fmt::print("note: {}\n", report::printable_lines(line)); };
  TRY_ASSIGN(const auto files, app::init_refactor(flags.init));
  for (const auto& file : files) fmt::print("wrote {}\n", file.string());
  fmt::print("next: fill in what is \"?\" and TODO, then accelopt refactor lint {}\n",
             base::shell_word(files.front().parent_path().string()));
  return Exit::done;
}

base::Result<Exit> settle(const app::Shell& shell, RefactorFlags& flags) {
  const int ways = (flags.passed ? 1 : 0) + (flags.failed ? 1 : 0) + (flags.settle.command.empty() ? 0 : 1);
  if (ways != 1)
    return refuse_options({base::ErrorCode::invalid_argument, "give exactly one of --passed, --failed and --command"});
  flags.settle.settled = flags.passed ? app::Settled::passed : app::Settled::failed;
  flags.settle.knowledge = flags.options.knowledge;
  TRY_ASSIGN(const auto report, with_steps(flags, [&](const app::RefactorOptions& options) {
               flags.settle.workspace = options.workspace;
               flags.settle.tools = options.tools;
               flags.settle.step = options.step;
               return app::settle_refactor(shell, flags.settle);
             }));
  if (!report.end.empty())
    fmt::print("the command {}: {}\n", report.settled == app::Settled::passed ? "passed" : "failed", report.end);
  if (!report.commit.empty())
    fmt::print("reverted by {} on {}\n", report.commit.substr(0, 12), report.branch.substr(11));
  if (report.reviewer_told) fmt::print("the record of the reviewer that chose it was updated (accelopt reviewer)\n");
  fmt::print("{}\n", report.credited ? "the knowledge store was updated" : "no experience to update");
  return Exit::done;
}

void declare_common(Command& command, const std::shared_ptr<RefactorFlags>& flags) {
  command.option("--tools", &flags->tools,
                 "A folder with programs that the task's commands need, such as a virtual environment or where npm "
                 "installed (repeatable)");
  command.option("--seed", &flags->options.seed, "Seed of all inputs (default: random)");
  command.option("--knowledge", &flags->options.knowledge, "The knowledge store, or none");
  command.option("--workspace", &flags->workspace, "Folder of accelopt.db (default: found, as for `run`)");
}

}  // namespace

void add_refactor(CommandLine& app, Action& chosen) {
  Command command = app.add(
      "refactor", "Make functions of a git repository faster, smaller in memory or simpler, and prove each change");
  command.footer(
      "Examples:\n"
      "  accelopt refactor init src/graph.py --function reachable     a task folder with a driver to fill in\n"
      "  accelopt refactor lint accelopt-graph                        does the base build, pass and run?\n"
      "  accelopt refactor check accelopt-graph change.diff           is a change correct, and does it reach the "
      "goal?\n"
      "  accelopt refactor run accelopt-graph                         recipes; the winner becomes a commit\n"
      "  accelopt refactor settle RUN --command 'make test'           CI's verdict: reverted and unlearned if it "
      "fails\n");
  auto flags = std::make_shared<RefactorFlags>();
  Command begin = command.add("init", "Write refactor.toml and a driver for a function of your repository");
  begin.option("file", &flags->init.file, "Your source file").required();
  begin.option("--function", &flags->init.function, "f, or Class.method (default: the whole file)");
  begin.option("-o,--output", &flags->init.folder, "Folder to make (default: accelopt-NAME)");
  begin.chosen([&chosen, flags] { chosen = [flags](app::Shell&) { return init(*flags); }; });

  Command linting = command.add("lint", "Build, test and run the base; say what is missing");
  linting.option("task", &flags->options.task, "Folder of the task").required();
  declare_common(linting, flags);
  linting.chosen([&chosen, flags] { chosen = [flags](app::Shell& shell) { return lint(shell, *flags); }; });

  Command checking = command.add("check", "Examine one change: scope, build, tests, results, times");
  checking.option("task", &flags->options.task, "Folder of the task").required();
  checking.option("change", &flags->change_file, "A unified diff, or the new text of the task's file");
  checking.option("--of", &flags->change.commit, "A commit of the repository instead");
  checking.flag("--json", flags->json, "One JSON object (docs/json.md)");
  checking.flag("--commit", flags->commit, "If the change is proved, commit it on its own branch, accelopt/NAME-RUN");
  checking.option("--pr-text", &flags->pr_text, "Also write the text of a pull request to this file");
  declare_common(checking, flags);
  checking.chosen([&chosen, flags] { chosen = [flags](app::Shell& shell) { return check(shell, *flags); }; });

  Command running = command.add(
      "run", "Search for a better change with models or recipes, confirm the best, commit it on its own branch");
  running.footer(
      "Examples:\n"
      "  accelopt refactor run accelopt-graph --model openai/gpt-oss-120b --base-url http://localhost:8000/v1\n"
      "  accelopt refactor run accelopt-graph --mailbox questions --exit-when-waiting   answer there; accelopt resume\n"
      "  accelopt refactor run accelopt-graph --agents recipes\n"
      "With models: 3 rounds, beam 2, 3 plans, 1 attempt unless told otherwise; continue with `accelopt resume`, and "
      "look with `accelopt watch`, `show`, `explain`, `report`.\n");
  running.option("task", &flags->options.task, "Folder of the task").required();
  running.flag("--json", flags->json, "One JSON object (docs/json.md)");
  running.option("--pr-text", &flags->pr_text, "Also write the text of a pull request to this file");
  running.option(
      "--onto", &flags->onto,
      "Afterwards rebase the commit onto this head, which must have the base in its history, and prove it there");
  running.flag("-v,--verbose", flags->verbose, "Also list every attempt and every lesson");
  running.option("--tools", &flags->tools,
                 "A folder with programs that the task's commands need, such as a virtual environment or where npm "
                 "installed (repeatable)");
  running.option("--workspace", &flags->workspace, "Folder of accelopt.db (default: found, as for `run`)");
  running.flag("--critical", flags->search.critical,
               "For code that must not break: a beam of three with one developer each, tests by a tester, and a "
               "reviewer who decides what the clock cannot (docs/review.md)");
  running.option("--tests", &flags->search.tests,
                 "Most tests that a tester writes from the base alone (default 0; with --critical 6)");
  declare_search(running, flags->search);
  running.chosen([&chosen, flags] { chosen = [flags](app::Shell& shell) { return run(shell, *flags); }; });

  Command moving =
      command.add("onto", "Rebase a run's commit onto a head that has moved, if it is proved there as well");
  moving.option("task", &flags->options.task, "Folder of the task").required();
  moving.option("commit", &flags->moved, "The run's commit, or its branch").required();
  moving.option("head", &flags->onto, "A revision that has the commit's base in its history").required();
  moving.flag("--json", flags->json, "One JSON object (docs/json.md)");
  moving.option("--pr-text", &flags->pr_text, "Also write the text of a pull request to this file");
  declare_common(moving, flags);
  moving.chosen(
      [&chosen, flags] { chosen = [flags](app::Shell& shell) { return put_onto(shell, *flags, flags->moved); }; });

  Command settling =
      command.add("settle", "Record what became of a run's commit; a failed one is reverted on its branch");
  settling.option("run", &flags->settle.run, "Its id").required();
  settling.option("--repo", &flags->settle.repository, "The repository (default: this folder's)");
  settling.flag("--passed", flags->passed, "It was merged, or CI passed");
  settling.flag("--failed", flags->failed, "CI or users found it wrong");
  settling.option("--command", &flags->settle.command,
                  "A command that decides by its exit, run on the commit's files in the sandbox, without network");
  settling.option("--max-cpu", &flags->settle.seconds, "Seconds of processor time for it (default 1800)").at_least(1);
  settling.option("--tools", &flags->tools, "A folder with programs that it needs (repeatable)");
  settling.option("--knowledge", &flags->options.knowledge, "The knowledge store, or none");
  settling.option("--workspace", &flags->workspace, "Folder of accelopt.db (default: found, as for `run`)");
  flags->settle.repository = ".";
  settling.chosen([&chosen, flags] { chosen = [flags](app::Shell& shell) { return settle(shell, *flags); }; });
}

}  // namespace accelopt::cli

// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "suites/lint.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::cli {
namespace {

struct Options {
  std::vector<std::string> tasks;
  bool json = false;
};

base::Result<std::vector<suites::Problem>> problems_of(const std::string& folder) {
  auto problems = suites::task_problems(folder);
  if (!problems.empty()) return problems;
  TRY_ASSIGN(const model::Task task, suites::load_task(folder));
  return suites::lint_task(task, {.cores = static_cast<int>(std::thread::hardware_concurrency()), .folder = folder});
}

base::Result<Exit> lint(const Options& options) {
  int errors = 0;
  for (const std::string& folder : options.tasks) {
    TRY_ASSIGN(const auto problems, problems_of(folder));
    int own_errors = 0;
    for (const suites::Problem& problem : problems) {
      const bool error = problem.severity == suites::Severity::error;
      own_errors += error ? 1 : 0;
      const std::string file =
          problem.file.empty() ? (std::filesystem::path(folder) / "task.toml").string() : problem.file;
      if (options.json) {
        const base::Json line = {{"type", "problem"},
                                 {"schema", 1},
                                 {"severity", error ? "error" : "advice"},
                                 {"file", file},
                                 {"line", problem.line},
                                 {"key", problem.key},
                                 {"message", problem.message}};
        fmt::print("{}\n", base::canonical(line));
      } else {
        fmt::print("{}{}\n", error ? "" : "advice: ", suites::to_string(problem, file));
      }
    }
    if (own_errors == 0 && !options.json) fmt::print("{}: ok\n", folder);
    errors += own_errors;
  }
  return errors == 0 ? Exit::done : Exit::check_failed;
}

}  // namespace

void add_lint(CommandLine& app, Action& chosen) {
  Command command = app.add("lint", "Check a task without running anything");
  command.footer("Example:\n  accelopt lint my_task\n");
  auto options = std::make_shared<Options>();
  command.option("task", &options->tasks, "Folders of tasks").required();
  command.flag("--json", options->json, "One JSON object a problem (docs/json.md)");
  command.chosen([&chosen, options] { chosen = [options](Shell&) { return lint(*options); }; });
}

}  // namespace accelopt::cli

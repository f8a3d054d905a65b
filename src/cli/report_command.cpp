// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/bench_history.hpp"
#include "app/novelty.hpp"
#include "app/refactor_story.hpp"
#include "app/workspace.hpp"
#include "base/output_file.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "report/html/refactor_page.hpp"
#include "report/html/run_page.hpp"
#include "report/html/suite_page.hpp"

namespace accelopt::cli {
namespace {

struct ReportOptions {
  std::string subject;  ///< a run; with history a suite
  std::string output;
  std::string workspace;
  std::vector<std::string> only;
  bool history = false;
};

/// A page, and the file that it goes to unless another is named.
struct Page {
  std::string text;
  std::string file;
};

/// A run's, or a refactoring's where that is what the id names; "last" is the last run, or refactoring if none was
/// made.
base::Result<Page> page_of_run(const ReportOptions& options) {
  const auto workspace = app::find_workspace(options.workspace);
  const std::string name = options.subject.empty() ? "last" : options.subject;
  const auto story = app::read_story_with_novelty(workspace, name);
  if (story) return Page{report::html::run_page(*story), "report-" + story->run.id + ".html"};
  if (story.error().code == base::ErrorCode::not_found) {
    const auto found = app::find_refactoring(workspace, name);
    if (found) return Page{report::html::refactor_page(*found), "report-" + found->run + ".html"};
    if (found.error().code != base::ErrorCode::not_found) return tl::make_unexpected(found.error());
  }
  return tl::make_unexpected(story.error());
}

base::Result<Page> page_of_suites(const ReportOptions& options) {
  TRY_ASSIGN(const auto history, app::read_history(app::find_workspace(options.workspace),
                                                   {.suite = options.subject, .only = options.only}));
  if (history.empty()) {
    return base::fail(base::ErrorCode::not_found,
                      "there is no suite run on record here; make one with: accelopt bench SUITE");
  }
  return Page{report::html::suite_page(history), "report-suites.html"};
}

base::Result<Exit> write_report(const ReportOptions& options) {
  if (!options.history && !options.only.empty()) {
    return refuse_options(
        {base::ErrorCode::invalid_argument, "--only names tasks of suites; add --history, or leave it out"});
  }
  TRY_ASSIGN(const Page page, options.history ? page_of_suites(options) : page_of_run(options));
  if (options.output == "-") {
    fmt::print("{}", page.text);
    return Exit::done;
  }
  const std::string& file = options.output.empty() ? page.file : options.output;
  TRY(base::write_output(file, page.text));
  fmt::print("wrote {}: one self-contained file, for any browser\n", file);
  return Exit::done;
}

}  // namespace

void add_report(CommandLine& app, Action& chosen) {
  Command command = app.add(
      "report",
      "Write what a run or a refactoring did, or suites over time, as one HTML file to read, print and pass on");
  command.footer(
      "Examples:\n"
      "  accelopt report\n"
      "  accelopt report last -o report.html\n"
      "  accelopt report last -o - > report.html\n"
      "  accelopt report --history suites/nkibench-cpu -o suite.html\n");
  auto options = std::make_shared<ReportOptions>();
  command.option("run", &options->subject,
                 "The id of a run or a refactoring, the beginning of one, or last (the default); with --history a "
                 "suite's folder (default: all)");
  command.flag("--history", options->history, "Suite runs of `accelopt bench` over time");
  command.option("--only", &options->only, "With --history: only this task; may be repeated");
  command.option("-o,--output", &options->output,
                 "File to write (default: report-RUN.html or report-suites.html here); -: standard output");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.chosen([&chosen, options] { chosen = [options](app::Shell&) { return write_report(*options); }; });
}

}  // namespace accelopt::cli

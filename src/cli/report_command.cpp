// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/run_story.hpp"
#include "app/workspace.hpp"
#include "base/files.hpp"
#include "cli/command.hpp"
#include "report/html/run_page.hpp"

namespace accelopt::cli {
namespace {

struct ReportOptions {
  std::string run = "last";
  std::string output;
  std::string workspace;
};

base::Result<Exit> report(const ReportOptions& options) {
  TRY_ASSIGN(const report::RunStory story, app::read_run_story(app::find_workspace(options.workspace), options.run));
  const std::string page = report::html::run_page(story);
  if (options.output == "-") {
    fmt::print("{}", page);
    return Exit::done;
  }
  const std::string file = options.output.empty() ? "report-" + story.run.id + ".html" : options.output;
  TRY(base::write_file(file, page));
  fmt::print("wrote {}: one file, to be opened in any browser; it asks nothing of anywhere\n", file);
  return Exit::done;
}

}  // namespace

void add_report(CommandLine& app, Action& chosen) {
  Command command = app.add("report", "Write what a run did as one HTML file, to read, print and pass on");
  command.footer(
      "Examples:\n"
      "  accelopt report\n"
      "  accelopt report last -o report.html\n"
      "  accelopt report last -o - > report.html\n");
  auto options = std::make_shared<ReportOptions>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last").show_default();
  command.option("-o,--output", &options->output, "File to write (default: report-RUN.html here); -: standard output");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.chosen([&chosen, options] { chosen = [options](app::Shell&) { return report(*options); }; });
}

}  // namespace accelopt::cli

// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/run_story.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "report/explanation.hpp"

namespace accelopt::cli {
namespace {

struct ExplainOptions {
  std::string run = "last";
  std::string workspace;
  bool markdown = false;
  bool json = false;
};

base::Result<Exit> explain(const ExplainOptions& options) {
  if (options.markdown && options.json)
    return refuse_options({base::ErrorCode::invalid_argument, "--markdown and --json are two forms; choose one"});
  TRY_ASSIGN(const report::RunStory story, app::read_run_story(app::find_workspace(options.workspace), options.run));
  const report::Explanation explanation = report::explain(story);
  fmt::print("{}", options.json       ? base::canonical(report::to_json(explanation)) + "\n"
                   : options.markdown ? report::to_markdown(explanation)
                                      : report::to_text(explanation));
  return Exit::done;
}

}  // namespace

void add_explain(CommandLine& app, Action& chosen) {
  Command command = app.add("explain", "Tell how a run found its winner, step by step, from its record");
  command.footer(
      "Examples:\n"
      "  accelopt explain\n"
      "  accelopt explain last --markdown > lesson.md\n");
  auto options = std::make_shared<ExplainOptions>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last").show_default();
  command.flag("--markdown", options->markdown, "As Markdown");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.chosen([&chosen, options] { chosen = [options](app::Shell&) { return explain(*options); }; });
}

}  // namespace accelopt::cli

// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "app/narrate.hpp"
#include "app/run_story.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "report/explanation.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {
namespace {

struct ExplainOptions {
  std::string run = "last";
  std::string workspace;
  bool markdown = false;
  bool json = false;
  bool narrate = false;
  app::AgentFlags agents;
};

/// The prose before the lesson, and who wrote it.
std::string narrated(const app::Narrative& narrative) {
  return report::printable_lines(narrative.text) + "\n\n(" + report::printable(narrative.model) +
         " wrote this; each of its numbers was checked against the record below.)\n\n";
}

/// @error invalid_argument: flags contradict each other, or mean nothing here.
base::Result<void> check(const ExplainOptions& options) {
  const app::AgentFlags& agents = options.agents;
  if (options.markdown && options.json)
    return base::fail(base::ErrorCode::invalid_argument, "--markdown and --json exclude each other; choose one");
  if (!agents.prompts.empty())
    return base::fail(base::ErrorCode::invalid_argument, "--prompts holds no prompt for --narrate; leave it out");
  const bool names_model =
      !(agents.model + agents.base_url + agents.key_env + agents.api + agents.mailbox + agents.record + agents.replay)
           .empty();
  if (!options.narrate && names_model) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "without --narrate no model is asked; add it, or leave out the flags that name a model");
  }
  return {};
}

base::Result<Exit> explain(const app::Shell& shell, const ExplainOptions& options) {
  if (const auto usable = check(options); !usable) return refuse_options(usable.error());
  const auto workspace = app::find_workspace(options.workspace);
  TRY_ASSIGN(const report::RunStory story, app::read_run_story(workspace, options.run));
  const report::Explanation explanation = report::explain(story);
  std::optional<app::Narrative> narrative;
  if (options.narrate) {
    TRY_ASSIGN(const app::Config config, app::load_config(workspace, shell.environment));
    TRY_ASSIGN(narrative, app::narrate(shell, options.agents, config, explanation));
  }
  if (options.json) {
    base::Json json = report::to_json(explanation);
    if (narrative) {
      json["narrative"] = {{"text", narrative->text},
                           {"model", narrative->model},
                           {"usage", narrative->usage},
                           {"corrected", narrative->corrected}};
    }
    fmt::print("{}\n", base::canonical(json));
    return Exit::done;
  }
  fmt::print("{}{}", narrative ? narrated(*narrative) : "",
             options.markdown ? report::to_markdown(explanation) : report::to_text(explanation));
  return Exit::done;
}

}  // namespace

void add_explain(CommandLine& app, Action& chosen) {
  Command command = app.add("explain", "Explain how a run found its winner, step by step, from its record");
  command.footer(
      "Examples:\n"
      "  accelopt explain\n"
      "  accelopt explain last --markdown > lesson.md\n"
      "  accelopt explain last --narrate --model default\n");
  auto options = std::make_shared<ExplainOptions>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last").show_default();
  command.flag("--markdown", options->markdown, "As Markdown");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  command.flag("--narrate", options->narrate,
               "Let a model retell it in prose; each number is checked against the record");
  declare(command, options->agents);
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return explain(shell, *options); }; });
}

}  // namespace accelopt::cli

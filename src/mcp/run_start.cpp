// SPDX-License-Identifier: Apache-2.0
#include "mcp/run_start.hpp"

#include <fmt/format.h>

#include "app/background.hpp"
#include "app/client_answers.hpp"
#include "app/estimate.hpp"
#include "app/run_state.hpp"
#include "app/workspace.hpp"
#include "base/text.hpp"
#include "mcp/schema.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::mcp {
namespace {

using base::Json;
using base::Result;
using base::text_at;

/// Runs that are active, or are about to be, or are about to end.
Result<std::vector<std::string>> active_runs(const Desk& desk) {
  std::vector<std::string> out;
  TRY_ASSIGN(const auto journal, app::open_workspace(desk.workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto control, journal::open_control(desk.workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto runs, journal->list_runs());
  for (const journal::RunInfo& run : runs) {
    const std::filesystem::path log = app::background_log(desk.workspace, run.id);
    bool active = app::goes_on_in_background(log);
    if (!active && run.status == model::RunStatus::running) {
      TRY_ASSIGN(const app::RunState state, app::state_of(*control, run.id));
      active = state.session ? state.alive == journal::Alive::yes : !app::exit_of_background(log).value_or(1);
    }
    if (active) out.push_back(run.id);
  }
  return out;
}

Result<ToolResult> start(Desk& desk, const Json& arguments, const Call& call) {
  TRY_ASSIGN(const auto folder, desk.folders.resolve(text_at(arguments, "task")));
  TRY_ASSIGN(const model::Task task, suites::load_task(folder.string()));
  TRY_ASSIGN(const app::Config config, app::load_config(desk.workspace, desk.shell.environment));
  TRY_ASSIGN(app::SearchFlags flags, search_flags(desk, arguments));
  if (text_at(arguments, "agents") == "client") {
    if (!flags.agents.model.empty())
      return base::fail(base::ErrorCode::invalid_argument,
                        "\"model\" names who answers, and with agents=\"client\" you do; leave one of them out");
    app::let_client_answer(flags.agents, desk.workspace, call.client);
  }
  TRY_ASSIGN(const app::RunSettings settings, app::settings_from(flags, config, desk.shell.environment));
  TRY(app::check_language(settings.agents, config, task));
  TRY(app::check_target(settings.device, task));
  const std::scoped_lock lock(desk.starting);
  TRY_ASSIGN(const auto journal, app::open_workspace(desk.workspace, journal::Access::read_write));
  TRY(check_room(desk, {}));
  TRY_ASSIGN(const search::Estimate estimate, app::estimate_run(task, settings, config, journal.get()));
  TRY_ASSIGN(const bool recipes, app::plays_recipes(settings.agents, config));
  TRY_ASSIGN(const journal::RunInfo run,
             app::start_run_in_background(desk.shell, *journal, {task, folder, settings, estimate}));
  const bool client = !settings.agents.mailbox.empty();
  const char* const who = client ? "you, the client" : recipes ? "the built-in recipes" : "the configured models";
  const char* const next = client ? "call next_question, and answer what it asks" : "call status until `ended` is true";
  return ToolResult{
      fmt::format("run {} of {} has begun; {} play the roles. Next: {}.", run.id, as_line(run.task_name), who, next),
      {{"run", run.id},
       {"task", run.task_name},
       {"agents", client    ? "client"
                  : recipes ? "recipes"
                            : "model"},
       {"estimate", app::json_line(estimate, task)}},
      links_of_run(run.id, {"", "events"}),
      run.id};
}

constexpr const char* kSearchProperties = R"json({
  "preset": {"type": "string", "enum": ["default", "nkibench", "paper"], "description": "paper: the published method exactly; nkibench: NKI kernels' whole outputs by the public benchmark's inputs and tolerance"},
  "iterations": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "Rounds (default 6)"},
  "beam": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Candidates kept (default 3)"},
  "plans": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Plans per candidate (default 4)"},
  "attempts": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Executor tries per plan (default 2)"},
  "fixes": {"type": "integer", "minimum": 0, "maximum": 100, "description": "Fixer tries per attempt (default 3)"},
  "patience": {"type": "integer", "minimum": 0, "maximum": 1000,
               "description": "Rounds without a gain before stopping (default 2; 0: never stops for that)"},
  "max_evaluations": {"type": "integer", "minimum": 1, "maximum": 1000000000, "description": "Maximum number of candidates to build and measure"},
  "max_tokens": {"type": "integer", "minimum": 1, "maximum": 1000000000000000, "description": "Maximum number of tokens, input and output together"},
  "max_usd": {"type": "number", "minimum": 0, "description": "Maximum cost in dollars; the price of each model must be known"},
  "max_time": {"type": "string", "maxLength": 20, "description": "Maximum wall time, like 90s, 3m or 2h"},
  "max_device_seconds": {"type": "string", "maxLength": 20, "description": "Maximum measuring time on the device, like 90 or 3m"},
  "seed": {"type": "integer", "minimum": 0, "description": "Seed of inputs and shuffles (default: random)"},
  "device": {"type": "string", "maxLength": 40, "description": "cpu, cpu:N for core N, or cuda:N (default cpu)"},
  "no_memory": {"type": "boolean", "description": "Learn nothing from other runs or for them"},
  "model": {"type": "string", "maxLength": 200, "description": "Name of a model in accelopt.toml (keys are never arguments)"},
  "replay": {"type": "string", "maxLength": 4000, "description": "Folder of recorded answers to use instead of asking a model"}
})json";

}  // namespace

Result<void> check_room(const Desk& desk, const std::string& besides) {
  TRY_ASSIGN(auto runs, active_runs(desk));
  std::erase(runs, besides);
  if (static_cast<int>(runs.size()) < desk.most_runs) return {};
  return base::fail(base::ErrorCode::exhausted,
                    fmt::format("{} runs are active, which is as many as this server starts: {}; wait for one with "
                                "status, or end one with stop",
                                runs.size(), base::joined(runs, ", ")));
}

Json search_properties() {
  return schema(kSearchProperties);
}

Result<app::SearchFlags> search_flags(const Desk& desk, const Json& arguments) {
  app::SearchFlags flags;
  base::read_field(arguments, "preset", flags.preset);
  base::read_field(arguments, "iterations", flags.iterations);
  base::read_field(arguments, "beam", flags.beam);
  base::read_field(arguments, "plans", flags.plans);
  base::read_field(arguments, "attempts", flags.attempts);
  base::read_field(arguments, "fixes", flags.fixes);
  base::read_field(arguments, "patience", flags.patience);
  base::read_field(arguments, "max_evaluations", flags.max_evaluations);
  base::read_field(arguments, "max_tokens", flags.max_tokens);
  base::read_field(arguments, "max_usd", flags.max_usd);
  for (const auto& [name, limit] :
       {std::pair("max_time", &flags.max_time), std::pair("max_device_seconds", &flags.max_device_seconds)}) {
    if (arguments.contains(name)) *limit = text_at(arguments, name);
  }
  base::read_field(arguments, "seed", flags.seed);
  base::read_field(arguments, "device", flags.device.device);
  flags.device.device_given = arguments.contains("device");
  base::read_field(arguments, "no_memory", flags.no_memory);
  base::read_field(arguments, "model", flags.agents.model);
  if (const std::string agents = text_at(arguments, "agents"); !agents.empty()) flags.agents.agents = agents;
  if (const std::string folder = text_at(arguments, "replay"); !folder.empty()) {
    TRY_ASSIGN(const auto path, desk.folders.resolve(folder));
    flags.agents.replay = path.string();
  }
  return flags;
}

Tool start_tool(Desk& desk) {
  Json input = schema(R"json({"type": "object", "properties": {
      "task": {"type": "string", "minLength": 1, "maxLength": 4000,
               "description": "Folder of the task (task.toml, reference, baseline)"},
      "agents": {"type": "string", "enum": ["auto", "recipes", "model", "client"],
                 "description": "Who plays the roles. auto: models where one is configured, else recipes; client: you, through next_question and answer"},
      "follow": {"type": "boolean", "description": "Where the client knows the protocol's tasks: answer with one, whose result is the run's"}},
      "required": ["task"], "additionalProperties": false})json");
  input["properties"].update(search_properties());
  return {
      .name = "start",
      .title = "Start a run",
      .description =
          "Begins a search for a faster kernel and returns the run's id at once. The run is a process of its own: "
          "it goes on when you or this server end. Follow it with status.",
      .effect = Effect::writes,
      .again = Again::more,
      .input = std::move(input),
      .output = schema(R"json({"type": "object", "properties": {"run": {"type": "string"}, "task": {"type": "string"},
              "agents": {"type": "string"}, "estimate": {"type": "object"}, "outcome": {"type": "string",
              "description": "as a task: the members of result"}}, "required": ["run", "task"]})json"),
      .follow = "follow",
      .run = [&desk](const Json& arguments, const Call& call) { return start(desk, arguments, call); }};
}

}  // namespace accelopt::mcp

// SPDX-License-Identifier: Apache-2.0
#include "cli/search_flags.hpp"
#include "report/text_width.hpp"

#include <fmt/format.h>

namespace accelopt::cli {

void declare(Command& command, app::SearchFlags& flags) {
  declare_search(command, flags);
  declare(command, flags.device);
}

void declare_search(Command& command, app::SearchFlags& flags) {
  command
      .option("--preset", &flags.preset,
              "default; paper: the published method exactly; nkibench: whole outputs of NKI kernels on a modelled "
              "Trainium, by the public benchmark's own inputs and tolerance")
      .show_default();
  command.option("--iterations", &flags.iterations, "Rounds (default 6)");
  command.option("--beam", &flags.beam, "Candidates kept (default 3)");
  command.option("--plans", &flags.plans, "Plans per candidate (default 4)");
  command.option("--attempts", &flags.attempts, "Executor tries per plan (default 2; recipes 1)");
  command.option("--fixes", &flags.fixes, "Fixer tries per attempt (default 3)");
  command.option("--patience", &flags.patience, "Rounds without a new incumbent before stopping (default 2; 0: never)");
  command.option("--near-roofline", &flags.near_roofline,
                 "Stop when every raced workload is this close to its roofline (default 0.05; 0: never)");
  command.option("--strategy", &flags.strategy, "beam (default), greedy, repeated-sampling");
  command
      .option(
          "--schedule", &flags.schedule,
          "pipeline: calls, builds and measurements overlap; stages: one stage after the other, as published; serial: "
          "one thing at a time. The decisions are the same")
      .one_of({"pipeline", "stages", "serial"})
      .show_default();
  command.flag("--no-memory", flags.no_memory, "Learn nothing, neither from round to round nor for other runs");
  command.option("--memory", &flags.memory,
                 "What planners see. ranked: the run's own experiences, then the best of the knowledge store "
                 "(default); queue: only the run's own (default with --preset paper, --record and --replay)");
  command.flag("--exclude-family", flags.exclude_family,
               "Ignore what was learned on the operator's own family (to measure transfer)");
  command.option("--knowledge", &flags.knowledge,
                 "Where experiences are kept across runs: a file, surreal://user@host:8000/namespace/database, or none "
                 "(default: ACCELOPT_KNOWLEDGE, else ~/.local/share/accelopt/knowledge.db)");
  command.option("--max-evaluations", &flags.max_evaluations, "Maximum number of candidates to build and measure");
  command
      .option("--max-time", &flags.max_time, "Maximum wall time, e.g. 90s 3m 2h; a share is kept for the confirmation")
      .not_empty();
  command
      .option("--max-device-seconds", &flags.max_device_seconds,
              "Maximum measuring time on the device, e.g. 90 or 3m; a share is kept for the confirmation")
      .not_empty();
  command.option("--max-tokens", &flags.max_tokens, "Maximum number of input and output tokens together");
  command.option("--max-usd", &flags.max_usd, "Maximum cost in dollars; the price of each model must be known");
  command.option("--allow-regression", &flags.allow_regression,
                 "How much slower a single workload may certainly be (default 0.05)");
  command.option("--seed", &flags.seed, "Seed of inputs and shuffles (default: random)");
  declare(command, flags.agents);
}

void declare(Command& command, app::AgentFlags& flags) {
  command
      .option("--agents", &flags.agents, "Who plays the roles: auto (models where one is configured), recipes, model")
      .one_of({"auto", "recipes", "model"})
      .show_default();
  command.option("--model", &flags.model, "A model of accelopt.toml, or a model's own name with --base-url");
  command.option("--base-url", &flags.base_url, "Endpoint of --model, e.g. http://localhost:8000/v1");
  command.option("--api", &flags.api, "Protocol of that endpoint (default openai: chat completions)")
      .one_of({"openai", "anthropic", "gemini"});
  command.option("--key-env", &flags.key_env, "Environment variable that holds the key for --base-url");
  command.option("--mailbox", &flags.mailbox,
                 "Folder in which somebody else answers: one file per question, one per answer");
  command.flag("--exit-when-waiting", flags.exit_when_waiting,
               "End with exit code 6 when nothing can continue without an answer in the mailbox; resume continues");
  command.option("--record", &flags.record, "Folder that keeps every answer, one JSON file each, for --replay");
  command.option("--replay", &flags.replay, "Folder of recorded answers to use instead of asking a model");
  command.option("--prompts", &flags.prompts, "Folder of prompts to use instead of the built-in ones");
}

void declare(Command& command, app::DeviceFlags& flags) {
  command.option("--device", &flags.device, app::device_names()).show_default().when_given([&flags] {
    flags.device_given = true;
  });
  command.option("--compiler", &flags.compiler,
                 "g++, clang++, or a path to one (default: the first one found); for cuda, NVRTC's library");
  declare_workers(command, flags.workers,
                  "Command that starts a worker elsewhere, e.g. \"ssh host accelopt worker --device cpu:1\"; may be "
                  "repeated (docs/devices.md)");
}

void declare_workers(Command& command, std::vector<app::WorkerConfig>& workers, const std::string& help) {
  command.option(
      "--worker", [&workers](const std::string& text) { workers.push_back({text}); }, help);
}

base::Result<Exit> refuse_options(const base::Error& error) {
  if (error.code != base::ErrorCode::invalid_argument) return tl::make_unexpected(error);
  fmt::print(stderr, "accelopt: {}\nRun with --help for more information.\n", report::printable_lines(error.message));
  return Exit::usage;
}

}  // namespace accelopt::cli

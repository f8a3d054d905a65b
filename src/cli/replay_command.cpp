// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/replay.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/run_summary.hpp"
#include "cli/search_flags.hpp"
#include "report/format.hpp"

namespace accelopt::cli {
namespace {

struct ReplayOptions {
  std::string run = "last";
  std::string workspace;
  std::vector<std::string> set;
  bool json = false;
};

base::Result<Exit> replay(app::Shell& shell, const ReplayOptions& options) {
  TRY_ASSIGN(const auto journal,
             app::open_workspace(app::find_workspace(options.workspace), journal::Access::read_only));
  TRY_ASSIGN(const journal::RunInfo run, journal->find_run(options.run));
  TRY_ASSIGN(app::RunSettings settings, app::run_settings_from(run.settings));
  for (const std::string& assignment : options.set) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos) {
      return refuse_options(
          {base::ErrorCode::invalid_argument, "--set " + assignment + ": write NAME=VALUE, e.g. --set beam=2"});
    }
    const auto set = search::set_by_name(settings.search, assignment.substr(0, equals), assignment.substr(equals + 1));
    if (!set) return refuse_options(set.error());
  }
  TRY_ASSIGN(const app::Replay replayed, app::replay_run(*journal, run, settings, shell.stops));
  const search::RunReport& report = replayed.report;
  const double seconds = replayed.seconds;
  const double run_seconds = run.result ? run.result->value("wall_seconds", 0.0) : 0.0;
  const int asked = report.steps_found + report.steps_absent;
  const bool unchanged = options.set.empty();
  const bool same = report.result.decision_hash == run.decision_hash;
  if (options.json) {
    const base::Json line = {{"type", "replay"},
                             {"schema", 1},
                             {"run", run.id},
                             {"decision_hash", report.result.decision_hash},
                             {"stored_hash", run.decision_hash.empty() ? base::Json() : base::Json(run.decision_hash)},
                             {"same", same},
                             {"steps_found", report.steps_found},
                             {"steps_absent", report.steps_absent},
                             {"share_on_record", asked == 0 ? 1.0 : 1.0 * report.steps_found / asked},
                             {"seconds", seconds},
                             {"run_seconds", run_seconds > 0 ? base::Json(run_seconds) : base::Json()},
                             {"result", search::to_result_json(report.result)}};
    fmt::print("{}\n", base::canonical(line));
  } else {
    fmt::print("run {}: {} of {} steps on record ({:.0f} %)", run.id, report.steps_found, asked,
               asked == 0 ? 100.0 : 100.0 * report.steps_found / asked);
    fmt::print(", replayed in {}{}\n", report::format_seconds(seconds),
               run_seconds > 0 ? "; the run took " + report::format_seconds(run_seconds) : std::string());
    if (!unchanged && report.steps_absent > 0)
      fmt::print("what is not on record was left out: these decisions rest on the rest alone\n");
    fmt::print("decisions {}\nstored    {}\n", report.result.decision_hash,
               run.decision_hash.empty() ? "none: the run did not end" : run.decision_hash);
    fmt::print("{}", describe(report.result));
  }
  if (unchanged && !run.decision_hash.empty() && !same) {
    const std::string& where = replayed.first_difference;
    fmt::print(stderr,
               "accelopt: the replay decided otherwise than the run did{}; the journal is damaged or this is another "
               "version (the run was made by {})\n",
               where.empty() ? "" : " (first difference: " + where + ")", run.program_version);
    return Exit::check_failed;
  }
  return Exit::done;
}

}  // namespace

void add_replay(CommandLine& app, Action& chosen) {
  Command command = app.add("replay", "Repeat a run's decisions from its record, without a model or a device");
  command.footer("Examples:\n  accelopt replay\n  accelopt replay last --set beam=1 --set plans=2\n");
  auto options = std::make_shared<ReplayOptions>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last").show_default();
  command.option("--set", &options->set, "Another value for one setting: NAME=VALUE");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--json", options->json, "One JSON object");
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return replay(shell, *options); }; });
}

}  // namespace accelopt::cli

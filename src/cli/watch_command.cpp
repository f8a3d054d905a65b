// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "app/watch.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/search_flags.hpp"
#include "cli/signals.hpp"
#include "report/event_json.hpp"
#include "report/progress.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {
namespace {

using base::Json;

struct WatchOptions {
  std::string run;
  std::string workspace;
  bool json = false;
  bool verbose = false;
};

/// Shows events as they were told to the journal, at the time at which they happened.
class Screen final : public app::WatchSink {
 public:
  Screen(const WatchOptions& watching, std::int64_t began_ms) : json_(watching.json), now_ms_(began_ms) {
    if (json_) return;
    report::TerminalOptions options;
    options.live = isatty(STDOUT_FILENO) == 1;
    options.detail = watching.verbose ? report::Detail::all : report::Detail::events;
    options.now = [this] {
      const std::int64_t past = now_ms_;
      return std::chrono::steady_clock::time_point(std::chrono::milliseconds(past > 0 ? past : journal::unix_ms()));
    };
    progress_ = report::make_terminal_progress(stdout, options);
  }

  base::Result<void> on(const journal::EventLine& line) override {
    TRY_ASSIGN(Json json, base::parse_json(line.text, "an event of the run"));
    if (json_) {
      json["at_ms"] = line.at_ms;
      fmt::print("{}\n", base::canonical(json));
      std::fflush(stdout);
      return {};
    }
    TRY_ASSIGN(const auto event, report::event_from_json(json));
    now_ms_ = line.at_ms;
    if (event) progress_->on(*event);
    return {};
  }

  /// What was told before has been shown: from now on time goes by itself.
  void catch_up() override { now_ms_ = 0; }

  void note(const std::string& text) override {
    if (progress_)
      progress_->on(model::Note{text});
    else
      fmt::print(stderr, "accelopt: {}\n", report::printable_lines(text));
  }

 private:
  bool json_;
  std::atomic<std::int64_t> now_ms_;  ///< of the event that is shown; 0: the present
  std::unique_ptr<model::EventSink> progress_;
};

base::Result<Exit> watch(app::Shell& shell, const WatchOptions& options) {
  say_on_stop("");
  auto run = app::WatchedRun::open(app::find_workspace(options.workspace), options.run);
  if (!run) return refuse_options(run.error());
  {
    Screen screen(options, run->session_began_ms());
    TRY(run->follow(screen, shell.stops.wind_down));
  }
  const app::RunState& state = run->state();
  if (state.status == model::RunStatus::running) return Exit::done;  // the watching ended, the run goes on
  if (state.status == model::RunStatus::dead) {
    if (options.json) {
      const Json line = {
          {"type", "dead"}, {"schema", 1}, {"run", run->id()}, {"text", app::death_notice(run->id(), state)}};
      fmt::print("{}\n", base::canonical(line));
    }
    fmt::print(stderr, "accelopt: {}\n", app::death_notice(run->id(), state));
    return Exit::error;
  }
  TRY_ASSIGN(const journal::RunInfo ended, run->info());
  if (options.json) {
    fmt::print("{}\n", base::canonical(ended.result ? *ended.result
                                                    : Json{{"type", "result"}, {"schema", 1}, {"run", run->id()}}));
  } else {
    fmt::print("run {}: {}; see: accelopt show {}\n", run->id(), to_string(ended.status), run->id());
  }
  return exit_of(ended);
}

}  // namespace

void add_watch(CommandLine& app, Action& chosen) {
  Command command = app.add("watch", "Follow a run in another process until it ends");
  command.footer(
      "Examples:\n"
      "  accelopt watch                         the active run, else the last one\n"
      "  accelopt watch 20261121-1015 --json    events and result as JSON lines (docs/events.md)\n");
  auto options = std::make_shared<WatchOptions>();
  command.option("run", &options->run, "A run's id, the beginning of one, or last (default: the active one)");
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--json", options->json, "Events and result as JSON lines (docs/events.md)");
  command.flag("-v,--verbose", options->verbose, "Also list every attempt and every lesson");
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return watch(shell, *options); }; });
}

}  // namespace accelopt::cli

// SPDX-License-Identifier: Apache-2.0
#include "app/run_progress.hpp"

#include "app/background.hpp"
#include "app/workspace.hpp"
#include "report/event_json.hpp"

namespace accelopt::app {
namespace {

using base::Json;
using model::RunStatus;

constexpr int kEventsAtOnce = 1000;
constexpr std::size_t kNotes = 3;

/// Folds one event after another into what is known.
class Fold {
 public:
  explicit Fold(RunProgress& progress) : it_(progress) {}

  void operator()(const model::RunStarted& event) {
    it_.device = event.device;
    it_.iterations = event.iterations;
    it_.attempts.clear();  // a session tells all of its run again
    it_.refused.clear();
    it_.doing = "the baseline is verified";
  }
  void operator()(const model::IterationStarted& event) {
    it_.iteration = event.iteration + 1;
    it_.doing = "round " + std::to_string(it_.iteration);
  }
  void operator()(const model::AttemptMoved& event) {
    if (event.state == model::AttemptState::done) {
      const bool refused = event.note.starts_with("no answer: ") || event.note.starts_with("no plan: ") ||
                           event.note.starts_with("no fix: ");
      if (refused) it_.refused = model::to_string(event.identity) + ": " + event.note;
      ++it_.attempts[event.note.empty() || event.status != model::Status::not_measured
                         ? std::string(to_string(event.status))
                         : std::string("NO_ANSWER")];
    }
  }
  void operator()(const model::Selected& event) {
    if (event.incumbent) it_.best = event.incumbent;
  }
  void operator()(const model::Confirming& event) { it_.doing = "confirming: " + event.title; }
  void operator()(const model::Note& event) {
    it_.notes.push_back(event.text);
    if (it_.notes.size() > kNotes) it_.notes.erase(it_.notes.begin());
  }
  template <class Other>
  void operator()(const Other& /*event*/) {}

 private:
  RunProgress& it_;
};

/// Whether nothing of it is kept here, found out without reading it as JSON: most of a long run's events tell of
/// attempts under way. Events are written dense.
bool is_passing(std::string_view line) {
  const auto has = [line](std::string_view part) { return line.find(part) != std::string_view::npos; };
  return has(R"("type":"spending")") || (has(R"("type":"attempt")") && !has(R"("state":"done")"));
}

base::Result<void> read_events(journal::Control& control, RunProgress& progress) {
  Fold fold(progress);
  for (std::int64_t last = 0;;) {
    TRY_ASSIGN(const auto lines, control.events(progress.run, last, kEventsAtOnce));
    for (const journal::EventLine& line : lines) {
      last = line.number;
      if (is_passing(line.text)) continue;
      TRY_ASSIGN(const Json json, base::parse_json(line.text, "an event of the run"));
      TRY_ASSIGN(const auto event, report::event_from_json(json));
      if (event) std::visit(fold, *event);
    }
    if (lines.size() < kEventsAtOnce) return {};
  }
}

/// A run in the background whose process ended before it began to work: its last words say why.
void find_failed_start(const std::filesystem::path& workspace, RunProgress& progress) {
  if (progress.state.status != RunStatus::running || progress.state.session) return;
  const auto exit = exit_of_background(background_log(workspace, progress.run));
  if (exit && !*exit) return;
  progress.state.status = RunStatus::dead;
  progress.trouble = "run " + progress.run + " could not be started: " + last_words(workspace, progress.run) +
                     "; when that is mended, continue it with: accelopt resume " + progress.run;
}

}  // namespace

bool RunProgress::ended() const {
  // One that was entered a moment ago, and whose process has not begun yet, goes on.
  return state.status != RunStatus::running && !closing;
}

base::Result<RunProgress> read_progress(const std::filesystem::path& workspace, const std::string& name) {
  RunProgress progress;
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto control, journal::open_control(workspace, journal::Access::read_only));
  TRY_ASSIGN(journal::RunInfo run, pick_run(*journal, *control, name));
  progress.run = run.id;
  progress.task = run.task_name;
  progress.created = run.created;
  TRY_ASSIGN(progress.state, state_of(*control, run.id));
  TRY(read_events(*control, progress));
  TRY_ASSIGN(progress.spent, control->spent(run.id));
  // After the state: what an ended run came to is on record then.
  TRY_ASSIGN(run, journal->find_run(run.id));
  if (progress.state.status != RunStatus::running) progress.result = run.result;
  find_failed_start(workspace, progress);
  if (progress.state.status == RunStatus::dead && progress.trouble.empty())
    progress.trouble = death_notice(run.id, progress.state);
  // What it came to is on record a moment before its process is gone.
  progress.closing =
      progress.state.status != RunStatus::running &&
      (progress.state.alive == journal::Alive::yes || goes_on_in_background(background_log(workspace, run.id)));
  if (progress.state.status == RunStatus::failed)
    progress.trouble = "run " + run.id + " failed: " + last_words(workspace, run.id);
  return progress;
}

Json to_json(const RunProgress& progress) {
  const auto& spent = progress.spent;
  Json best;
  if (progress.best) {
    const model::Interval& score = progress.best->score;
    best = {{"id", model::to_string(progress.best->identity)},
            {"title", progress.best->title},
            {"speedup", {{"estimate", score.estimate}, {"low", score.low}, {"high", score.high}}}};
  }
  return {{"run", progress.run},
          {"task", progress.task},
          {"status", to_string(progress.state.status)},
          {"ended", progress.ended()},
          {"device", progress.device},
          {"iteration", progress.iteration},
          {"iterations", progress.iterations},
          {"best", best},
          {"attempts", progress.attempts},
          {"doing", progress.ended() ? "" : progress.doing},
          {"notes", progress.notes},
          {"refused", progress.refused},
          {"spent",
           {{"calls", spent.usage.calls},
            {"tokens", spent.usage.tokens()},
            {"usd", spent.usage.usd ? Json(*spent.usage.usd) : Json()},
            {"evaluations", spent.evaluations},
            {"device_seconds", spent.device_seconds},
            {"wall_seconds", spent.wall_seconds}}},
          {"trouble", progress.trouble}};
}

}  // namespace accelopt::app

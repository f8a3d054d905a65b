// SPDX-License-Identifier: Apache-2.0
// Runs as the protocol's tasks: a task's id is its run's.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/client_answers.hpp"
#include "app/run_progress.hpp"
#include "app/watch.hpp"
#include "mcp/desk.hpp"
#include "mcp/run_start.hpp"

namespace accelopt::mcp {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using model::RunStatus;

/// The run of exactly this id: tasks have no abbreviations.
Result<app::RunProgress> progress_of(const Desk& desk, const std::string& id) {
  auto progress = app::read_progress(desk.workspace, id.empty() ? "none" : id);
  if (progress && progress->run == id) return progress;
  if (!progress && progress.error().code != ErrorCode::not_found &&
      progress.error().code != ErrorCode::invalid_argument)
    return progress;
  return fail(ErrorCode::not_found, "there is no task of that id; a task's id is that of its run, as start gave it");
}

std::string message_of(const Desk& desk, const app::RunProgress& progress) {
  if (!progress.ended()) {
    const auto questions = app::questions_of_run(desk.workspace, progress.run);
    if (questions && !questions->empty())
      return fmt::format("{} questions are open: call next_question and answer", questions->size());
  }
  return progress_text(progress);
}

Task task_of(const Desk& desk, const app::RunProgress& progress) {
  Task task{.id = progress.run, .message = message_of(desk, progress), .created = progress.created, .updated = {}};
  task.updated = progress.state.session
                     ? fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(progress.state.session->beat_ms / 1000))
                     : progress.created;
  if (!progress.ended()) return task;
  task.status = progress.state.status == RunStatus::interrupted ? Task::Status::cancelled : Task::Status::completed;
  if (task.status == Task::Status::completed) task.result = result_of(progress);
  return task;
}

}  // namespace

Tasks run_tasks(Desk& desk) {
  return {.get = [&desk](const std::string& id, double seconds, const std::stop_token& stop) -> Result<Task> {
            Result<app::RunProgress> progress;
            wait_until(seconds, stop, [&] {
              progress = progress_of(desk, id);
              return !progress || progress->ended();
            });
            if (!progress) return tl::make_unexpected(progress.error());
            return task_of(desk, *progress);
          },
          .cancel = [&desk](const std::string& id) -> Result<void> {
            TRY_ASSIGN(const app::RunProgress progress, progress_of(desk, id));
            if (progress.ended())
              return fail(ErrorCode::invalid_argument,
                          "run " + id + " has ended already: " + std::string(to_string(progress.state.status)));
            TRY_ASSIGN(auto run, app::WatchedRun::open(desk.workspace, id));
            return run.ask(journal::Request::stop_now);
          }};
}

}  // namespace accelopt::mcp

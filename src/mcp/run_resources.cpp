// SPDX-License-Identifier: Apache-2.0
// Runs as resources, and the prompt that leads through one.
#include "app/run_detail.hpp"
#include "app/run_state.hpp"
#include "app/run_story.hpp"
#include "app/workspace.hpp"
#include "base/text.hpp"
#include "journal/control.hpp"
#include "mcp/desk.hpp"
#include "mcp/run_start.hpp"
#include "report/html/run_page.hpp"

namespace accelopt::mcp {
namespace {

using base::Json;
using base::Result;
using base::text_at;

/// Most runs that are listed, newest first; status and result know all of them.
constexpr std::size_t kMostListed = 100;
constexpr int kMostEvents = 20'000;

Result<ResourceText> record_of(const Desk& desk, const std::string& run) {
  TRY_ASSIGN(const auto detail, app::RunDetail::read(desk.workspace, run));
  return ResourceText{"application/json", base::canonical(app::to_json(detail, app::RawSamples::left_out))};
}

/// The events, from the first on, as docs/events.md has them.
Result<ResourceText> events_of(const Desk& desk, const std::string& name) {
  TRY_ASSIGN(const auto journal, app::open_workspace(desk.workspace, journal::Access::read_only));
  TRY_ASSIGN(const journal::RunInfo run, journal->find_run(name));
  TRY_ASSIGN(const auto control, journal::open_control(desk.workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto events, control->events(run.id, 0, kMostEvents));
  std::string text;
  for (const journal::EventLine& event : events) text += event.text + "\n";
  return ResourceText{"application/jsonl", std::move(text)};
}

std::vector<std::string> ids_with(const Desk& desk, const std::string& beginning) {
  std::vector<std::string> ids;
  if (const auto runs = app::list_runs(desk.workspace)) {
    for (const app::ListedRun& run : *runs)
      if (run.info.id.starts_with(beginning)) ids.push_back(run.info.id);
  }
  return ids;
}

}  // namespace

std::vector<ResourceTemplate> run_resources(Desk& desk) {
  const auto complete = [&desk](const std::string& beginning) { return ids_with(desk, beginning); };
  return {{"accelopt://runs/{run}", "run", "the record of a run: settings, steps, result", "application/json",
           [&desk](const std::string& run) { return record_of(desk, run); }, complete},
          {"accelopt://runs/{run}/events", "events", "what a run told, as JSON lines (docs/events.md)",
           "application/jsonl", [&desk](const std::string& run) { return events_of(desk, run); }, complete},
          {"accelopt://runs/{run}/patch", "patch", "the winner against the baseline, as a unified diff", "text/x-diff",
           [&desk](const std::string& run) -> Result<ResourceText> {
             TRY_ASSIGN(DiffOfRun diff, diff_of(desk, run));
             return ResourceText{"text/x-diff", std::move(diff.text)};
           },
           complete},
          {"accelopt://runs/{run}/report", "report", "what a run did, as one HTML file for people", "text/html",
           [&desk](const std::string& run) -> Result<ResourceText> {
             TRY_ASSIGN(const auto story, app::read_run_story(desk.workspace, run));
             return ResourceText{"text/html", report::html::run_page(story)};
           },
           complete}};
}

Result<std::vector<Link>> run_links(const Desk& desk) {
  std::vector<Link> links;
  const auto runs = app::list_runs(desk.workspace);
  if (!runs && runs.error().code == base::ErrorCode::not_found) return links;
  if (!runs) return tl::make_unexpected(runs.error());
  for (std::size_t i = 0; i < std::min(runs->size(), kMostListed); ++i) {
    const app::ListedRun& run = (*runs)[i];
    links.push_back({"accelopt://runs/" + base::percent_encoded(run.info.id),
                     as_line(run.info.task_name) + " " + run.info.id,
                     run.info.created + ", " + std::string(to_string(run.status)), "application/json"});
  }
  return links;
}

Prompt make_faster_prompt() {
  return {
      "make_faster",
      "Make a kernel faster",
      "Leads through a run: task, start, status, result, patch.",
      {{"what", "a task folder, or a file and the function in it", true}},
      [](const Json& arguments) {
        return "Make this faster with accelopt: " + text_at(arguments, "what") +
               "\n\n1. If it is a task folder, call lint on it. If it is a function of a source file, make a task with "
               "init (say every array's shape and the size that matters), then lint. Mend what lint names; never "
               "loosen a tolerance or a workload to win.\n"
               "2. Call estimate, and tell the user what a run costs.\n"
               "3. Call start. If its answer says agents=client, you are the model: next_question and answer until "
               "`ended`. Otherwise call status until `ended`.\n"
               "4. Call result. Report the confirmed interval, and say so plainly where there is no gain. Do not time "
               "anything by hand.\n"
               "5. Show diff. With the user's consent, best writes the winner and a patch into a new folder.";
      }};
}

}  // namespace accelopt::mcp

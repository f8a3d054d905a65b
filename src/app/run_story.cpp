// SPDX-License-Identifier: Apache-2.0
#include "app/run_story.hpp"

#include "app/refactor_story.hpp"
#include "app/run_state.hpp"
#include "app/workspace.hpp"
#include "journal/control.hpp"
#include "report/event_json.hpp"

namespace accelopt::app {
namespace {

constexpr int kEventsARead = 1000;

base::Result<std::vector<model::Event>> read_events(journal::Control& control, const std::string& run) {
  std::vector<model::Event> events;
  for (std::int64_t last = 0;;) {
    TRY_ASSIGN(const auto lines, control.events(run, last, kEventsARead));
    for (const journal::EventLine& line : lines) {
      last = line.number;
      TRY_ASSIGN(const base::Json json, base::parse_json(line.text, "an event of the run"));
      TRY_ASSIGN(auto event, report::event_from_json(json));
      if (event) events.push_back(std::move(*event));
    }
    if (lines.size() < kEventsARead) return events;
  }
}

}  // namespace

base::Result<report::RunStory> read_run_story(const std::filesystem::path& workspace, const std::string& name) {
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto control, journal::open_control(workspace, journal::Access::read_only));
  report::RunRecord record;
  auto found = find_run(*journal, name);
  if (!found) return tl::make_unexpected(not_a_run(workspace, name, std::move(found.error())));
  record.run = std::move(*found);
  const std::string& run = record.run.id;
  TRY_ASSIGN(record.events, read_events(*control, run));
  TRY_ASSIGN(record.steps, journal->steps(run));
  TRY_ASSIGN(record.experiences, journal->experiences(run));
  return report::story_of(record);
}

}  // namespace accelopt::app

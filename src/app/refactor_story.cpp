// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_story.hpp"

#include "app/workspace.hpp"
#include "base/text.hpp"
#include "journal/refactor_log.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::Result;

Result<std::vector<report::RefactorStory>> list_refactorings(const std::filesystem::path& workspace) {
  std::vector<report::RefactorStory> stories;
  if (const auto journal = open_workspace(workspace, journal::Access::read_only); !journal) {
    if (journal.error().code == ErrorCode::not_found) return stories;
    return tl::make_unexpected(journal.error());
  }
  TRY_ASSIGN(const auto log, journal::open_refactor_log(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto records, log->list());
  for (const journal::RefactorRecord& record : records) {
    TRY_ASSIGN(auto story,
               base::decode<report::RefactorStory>(record.content, "the record of refactoring " + record.id));
    stories.push_back(std::move(story));
  }
  return stories;
}

Result<report::RefactorStory> find_refactoring(const std::filesystem::path& workspace, const std::string& name) {
  TRY_ASSIGN(const auto stories, list_refactorings(workspace));
  if (name == "last" && !stories.empty()) return stories.front();
  const report::RefactorStory* found = nullptr;
  for (const report::RefactorStory& story : stories) {
    if (story.run == name) return story;
    if (name.empty() || !story.run.starts_with(name)) continue;
    if (found != nullptr)
      return base::fail(ErrorCode::invalid_argument, "several refactorings begin with " + base::ascii_line(name, 40));
    found = &story;
  }
  if (found != nullptr) return *found;
  return base::fail(ErrorCode::not_found, "no refactoring " + base::ascii_line(name, 40) + " in " + workspace.string());
}

base::Error not_a_run(const std::filesystem::path& workspace, const std::string& name, base::Error error) {
  if (error.code != ErrorCode::not_found) return error;
  const auto found = find_refactoring(workspace, name);
  if (found)
    error.message = found->run + " is a refactoring, which has no search to show; see: accelopt report " + found->run;
  return error;
}

Result<void> record_refactoring(const std::filesystem::path& workspace, const report::RefactorStory& story) {
  TRY(open_workspace(workspace, journal::Access::read_write));
  TRY_ASSIGN(const auto log, journal::open_refactor_log(workspace, journal::Access::read_write));
  return log->enter({.id = story.run, .created = story.created, .content = story});
}

}  // namespace accelopt::app

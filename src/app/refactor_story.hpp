// SPDX-License-Identifier: Apache-2.0
// Refactorings that a workspace has on record.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "report/refactor_story.hpp"

namespace accelopt::app {

/// Newest first; none where there is no workspace. @error as journal::open_refactor_log.
base::Result<std::vector<report::RefactorStory>> list_refactorings(const std::filesystem::path& workspace);

/// By full id or unique prefix; "last" is the newest. @error not_found; invalid_argument: several fit; as
/// list_refactorings.
base::Result<report::RefactorStory> find_refactoring(const std::filesystem::path& workspace, const std::string& name);

/// The error where no run has this name; says so if it names a refactoring.
base::Error not_a_run(const std::filesystem::path& workspace, const std::string& name, base::Error error);

/// Enters it into the workspace, which is made where it is not there. @error as journal::open_journal.
base::Result<void> record_refactoring(const std::filesystem::path& workspace, const report::RefactorStory& story);

}  // namespace accelopt::app

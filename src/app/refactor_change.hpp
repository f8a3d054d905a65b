// SPDX-License-Identifier: Apache-2.0
// What all that examines changes of a repository does alike.
#pragma once

#include <memory>
#include <string>

#include "app/refactor.hpp"

namespace accelopt::app {

/// @error as refactor::load_task, refactor::Checker::prepare.
base::Result<std::unique_ptr<refactor::Checker>> prepare_checker(const Shell& shell, const RefactorOptions& options,
                                                                 std::uint64_t seed);
/// The name of the branch that a task's run leaves its commit on.
std::string branch_of(const std::string& task, const std::string& run);
/// The tree that a change makes of the base. @error invalid_argument: it does not apply; as vcs::Repository.
base::Result<std::string> tree_of_change(const refactor::Checker& checker, const RefactorChange& change);
/// Before the base is built, tested and run. @error as tree_of_change, refactor::load_task.
base::Result<void> expect_applies(const RefactorOptions& options, const RefactorChange& change);
/// A report without a result.
RefactorReport report_on(const refactor::Checker& checker, std::uint64_t seed);
/// Before the work that its commit ends. @error already_exists: another branch is in the way of its own.
base::Result<void> expect_room_for_commit(const refactor::Checker& checker, const RefactorReport& report);
/// Enters it into the workspace. One that cannot be recorded is as good as another, and only has no report.
void record_found(const Shell& shell, const RefactorOptions& options, const RefactorReport& report);
/// Stores what was learned, and makes the commit that names it; nothing where the change is not faster. Why it could
/// not be made is in the report, whose verdict stands.
void keep_change(const Shell& shell, const RefactorOptions& options, const refactor::Checker& checker,
                 RefactorReport& report, Commit commit);

}  // namespace accelopt::app

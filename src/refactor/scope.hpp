// SPDX-License-Identifier: Apache-2.0
// The first gate: what a change touches. Looks at texts alone and runs nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "refactor/task.hpp"
#include "vcs/git.hpp"

namespace accelopt::refactor {

/// One path that a change adds, removes or alters.
struct ChangedFile {
  std::string path;
  std::optional<vcs::EntryKind> kind_before;  ///< none: it is new
  std::optional<vcs::EntryKind> kind_after;   ///< none: it is removed
  std::string before;                         ///< its text
  std::string after;
};

/// The files in which two trees differ. @error as vcs::Repository.
base::Result<std::vector<ChangedFile>> changed_files(const vcs::Repository& repository, const vcs::Listing& before,
                                                     const vcs::Listing& after);

/// How many texts in it look like keys of well-known services, or private ones.
std::size_t count_secrets(std::string_view text);

/// Why the change is refused, a line each; none: it stays within the scope.
std::vector<std::string> scope_violations(const Task& task, const std::vector<ChangedFile>& changes);

}  // namespace accelopt::refactor

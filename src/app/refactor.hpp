// SPDX-License-Identifier: Apache-2.0
// Refactoring a function of a user's repository: a new task, one change examined, a search by recipes, the commit of
// what is proved, and what becomes of it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/shell.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "refactor/checker.hpp"
#include "report/refactor_story.hpp"

namespace accelopt::app {

struct RefactorInit {
  std::filesystem::path file;    ///< the user's source
  std::string function;          ///< empty: the whole file
  std::filesystem::path folder;  ///< to make; empty: accelopt-NAME beside the user
  std::function<void(const std::string&)> note = [](const std::string&) {};
};
/// Writes refactor.toml, and a driver to fill in. Gives the files. @error already_exists; not_found; io.
base::Result<std::vector<std::filesystem::path>> init_refactor(const RefactorInit& options);

/// What all that examines changes is told.
struct RefactorOptions {
  std::filesystem::path task;  ///< refactor.toml, or the folder with it
  std::vector<std::filesystem::path> tools{};
  std::optional<std::uint64_t> seed{};
  std::string knowledge{};  ///< --knowledge; "none": no store
  std::filesystem::path workspace{};
  std::function<void(const std::string&)> step = [](const std::string&) {};
  std::function<void(const std::string&)> note = [](const std::string&) {};        ///< a line that stays
  std::function<void(const refactor::Gate&)> gate = [](const refactor::Gate&) {};  ///< of any change, as it ends
  std::string base{};  ///< a revision in place of the task's; empty: the task's own
};

/// What is open in a task, and what its base does: a line each. Runs the base's tests and driver.
/// @error parse: refactor.toml has problems; invalid_argument: the base itself fails.
base::Result<std::vector<std::string>> lint_refactor(const Shell& shell, const RefactorOptions& options);

struct RefactorChange {
  std::filesystem::path file{};  ///< a diff, or the new text of the task's only file
  std::string commit{};          ///< instead: a commit of the repository
};

/// Whether what is proved becomes a commit on a branch of its own.
enum class Commit { no, yes };

struct RefactorReport {
  std::string id;  ///< names the run and its branch
  std::string task;
  std::string language;
  std::string created;  ///< UTC, ISO 8601
  refactor::Goal goal = refactor::Goal::time;
  std::vector<refactor::Scope> scope;
  std::string base;      ///< commit
  std::string strategy;  ///< of a recipe; empty: the change was given
  std::uint64_t seed = 0;
  refactor::CheckResult result;
  int tried = 0;  ///< proposals of a search
  std::vector<report::RefactorTrial> trials{};
  std::string branch{};
  std::string commit{};
  std::string not_committed{};         ///< why the commit that was asked for could not be made
  std::string experience{};            ///< content id in the store
  std::vector<std::string> authors{};  ///< models that wrote it
  std::string reviewed{};              ///< "first of 3, 3 of 3 pairs stable"; empty: nobody chose among several
};
/// As it is printed and recorded.
report::RefactorStory story_of(const RefactorReport& report);

base::Result<RefactorReport> check_refactor(const Shell& shell, const RefactorOptions& options,
                                            const RefactorChange& change, Commit commit);

/// A run's commit put onto a head that has moved since.
struct RefactorRebase {
  std::string commit;
  std::string onto;  ///< a revision that has the commit's base in its history
};
/// Applies the commit's change to the head and examines it there by every gate, anew. Where it is faster there as well,
/// the branch is the new commit, with its figures; else nothing changes. None: the head is the base.
/// @error invalid_argument: the base is not in the head's history, the change does not apply, or the branch is checked
/// out; already_exists: the branch moved meanwhile.
base::Result<std::optional<RefactorReport>> rebase_refactor(const Shell& shell, const RefactorOptions& options,
                                                            const RefactorRebase& rebase);
/// Tries the recipes of the language, the ones that worked before first, and confirms and commits the best. Both enter
/// what they found into the workspace.
base::Result<RefactorReport> run_refactor(const Shell& shell, const RefactorOptions& options);

/// The text of a pull request.
std::string pull_request_text(const RefactorReport& report);

/// What became of a run's commit. failed: it is reverted on its branch, and what was learned counts as refuted.
enum class Settled { passed, failed };
struct SettleOptions {
  std::filesystem::path repository;
  std::string run;
  Settled settled = Settled::passed;
  std::string command{};                       ///< decides in place of `settled`, by its exit; empty: there is none
  std::vector<std::filesystem::path> tools{};  ///< folders of programs that it needs
  int seconds = 1800;                          ///< of processor time that it may take
  std::string knowledge{};
  std::filesystem::path workspace{};
  std::function<void(const std::string&)> step = [](const std::string&) {};
};
/// Of address space that the command may take.
inline constexpr std::uint64_t kSettleMemoryBytes = 8ULL << 30;
struct SettleReport {
  std::string branch;
  std::string commit;  ///< that reverts it; empty: nothing was reverted
  Settled settled = Settled::passed;
  std::string end{};  ///< how the command ended; empty: there was none
  bool credited = false;
  bool reviewer_told = false;  ///< a reviewer had chosen it, and its record has what became of it
};
/// The command runs on the commit's files in the sandbox of the tests; where it fails on the commit before as well, it
/// says nothing.
/// @error not_found: no branch of that run; already_exists: it is settled; invalid_argument: the command fails without
/// the change as well, or the branch is to be reverted and is checked out in a worktree.
base::Result<SettleReport> settle_refactor(const Shell& shell, const SettleOptions& options);

}  // namespace accelopt::app

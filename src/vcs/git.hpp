// SPDX-License-Identifier: Apache-2.0
// A user's git repository through the `git` program, read without touching it. Objects that are made on the way go to a
// folder of our own; the repository gets objects and one new branch from `keep` alone.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace accelopt::vcs {

/// What a path is in a tree.
enum class EntryKind { file, executable, link, submodule };

struct Entry {
  EntryKind kind = EntryKind::file;
  std::string object;  ///< id of its content
  bool operator==(const Entry&) const = default;
};
/// Every path of a tree, with '/' between its parts.
using Listing = std::map<std::string, Entry>;

/// A commit to be made.
struct NewCommit {
  std::string tree;
  std::string parent;
  std::string message;
  std::string branch;  ///< full name: "refs/heads/accelopt/x"; may not be there yet, unless `replaces` says what it is
  std::string replaces = {};  ///< the commit that the branch is expected to name; empty: the branch is new
};

/// A commit of the history.
struct PastCommit {
  std::string id;
  std::string date;  ///< of its author, ISO 8601
  std::string message;
};

/// The environment is cleared, hooks, filters, monitors, replaced objects and lazy fetches are off, and no index, HEAD,
/// configuration or worktree of the user's is written.
class Repository {
 public:
  /// The repository that holds this folder. @error not_found: none does; unsupported: no git on this machine; io.
  static base::Result<Repository> open(const std::filesystem::path& folder);

  /// Makes a repository of a folder of plain files: one commit with all of them on the branch main, by a made-up author
  /// at a fixed time, so that the same files give the same commit. @error as open; already_exists: it is one.
  static base::Result<Repository> make(const std::filesystem::path& folder, std::string_view message);

  /// The top of its worktree; of a bare repository the repository itself.
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  /// Where it keeps objects and references.
  [[nodiscard]] const std::filesystem::path& store() const { return store_; }

  /// The full id of the commit. @error not_found.
  [[nodiscard]] base::Result<std::string> commit_id(std::string_view revision) const;
  [[nodiscard]] base::Result<std::string> tree_of(std::string_view commit) const;
  [[nodiscard]] base::Result<std::string> message_of(std::string_view commit) const;
  [[nodiscard]] base::Result<std::string> parent_of(std::string_view commit) const;
  /// Branches below this prefix, full names. @error io.
  [[nodiscard]] base::Result<std::vector<std::string>> branches(std::string_view prefix) const;

  /// Whether a branch of this full name could be there beside the others: git keeps no branch "a" beside "a/b".
  /// @error already_exists: the message names the branch in its way; io.
  [[nodiscard]] base::Result<void> expect_room(std::string_view branch) const;
  /// Where a branch is checked out, by its full name; empty: nowhere. @error io.
  [[nodiscard]] base::Result<std::filesystem::path> worktree_of(std::string_view branch) const;
  /// Whether `later` has `earlier` in its history, or is it. @error invalid_argument: one of them is no commit.
  [[nodiscard]] base::Result<bool> is_ancestor(std::string_view earlier, std::string_view later) const;
  /// Commits with one parent, the newest first, that change these files: patterns of git, none: any file. At most so
  /// many. @error invalid_argument: `from` is no commit.
  [[nodiscard]] base::Result<std::vector<PastCommit>> history(std::string_view from,
                                                              const std::vector<std::string>& patterns,
                                                              std::size_t most) const;

  /// @error corrupt: a path that no worktree may have, such as "../x" or ".git/config".
  [[nodiscard]] base::Result<Listing> list(std::string_view tree) const;
  /// The contents of these objects, in their order.
  [[nodiscard]] base::Result<std::vector<std::string>> contents(const std::vector<std::string>& objects) const;

  /// The tree that this unified diff makes of `tree`, kept in our own folder. Names with or without a/ and b/, context
  /// or none. @error invalid_argument: it does not apply.
  [[nodiscard]] base::Result<std::string> apply(std::string_view tree, std::string_view diff) const;
  /// `tree` with these files' contents. Their kinds stay; new ones become plain files.
  [[nodiscard]] base::Result<std::string> with_files(std::string_view tree,
                                                     const std::map<std::string, std::string>& files) const;
  /// The unified diff between two trees, whatever attributes say of files that are text.
  [[nodiscard]] base::Result<std::string> diff(std::string_view before, std::string_view after) const;

  /// Writes a tree with these files, the commit and the branch into the user's repository. Gives the commit's id.
  /// @error already_exists: the branch is there, or has moved.
  base::Result<std::string> keep(const std::string& base_tree, const std::map<std::string, std::string>& files,
                                 NewCommit commit) const;
  /// Writes a commit of a tree that the repository has.
  base::Result<std::string> commit(const NewCommit& commit) const;

 private:
  enum class Objects { ours, users };
  struct Call;
  Repository(std::filesystem::path root, base::TemporaryFolder own) : root_(std::move(root)), own_(std::move(own)) {}

  [[nodiscard]] base::Result<std::string> git(const Call& call) const;
  [[nodiscard]] base::Result<std::string> tree_with(std::string_view tree,
                                                    const std::map<std::string, std::string>& files,
                                                    Objects where) const;

  std::filesystem::path root_;
  std::filesystem::path git_folder_;  ///< of this worktree: its HEAD
  std::filesystem::path store_;       ///< what all worktrees share
  base::TemporaryFolder own_;         ///< objects and index of our own
};

/// Whether the text holds a diff that git applies: the head of a file's part, not only a line that begins like one.
bool has_diff(std::string_view text);

/// The text without the escape sequences that git's --color writes.
std::string without_colours(std::string_view text);

/// Writes a tree's files below an empty folder, as they are stored: no filter runs and no line end changes. Links are
/// made as links; submodules are left out. @error io, exhausted: over 2 GiB.
base::Result<void> lay_out(const Repository& repository, const Listing& listing, const std::filesystem::path& folder);

/// "submodules are left out: a, b", which lay_out() does; empty: the tree has none.
std::string describe_submodules(const Listing& listing);

/// Copies a laid-out tree. @error io, exhausted.
base::Result<void> copy_tree(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace accelopt::vcs

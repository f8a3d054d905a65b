// SPDX-License-Identifier: Apache-2.0
#include "vcs/git.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.hpp"
#include "sandbox/run.hpp"

namespace accelopt::vcs {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

constexpr const char* kGit = "/usr/bin/git";
constexpr std::chrono::milliseconds kGitWall{120'000};
constexpr std::size_t kMostOutput = 2UL << 30;

/// What a repository's own configuration could have run, or written beside objects and references.
const std::vector<std::string> kQuiet{"-c", "core.hooksPath=/dev/null",
                                      "-c", "core.fsmonitor=false",
                                      "-c", "core.attributesFile=/dev/null",
                                      "-c", "core.untrackedCache=false",
                                      "-c", "core.splitIndex=false",
                                      "-c", "core.logAllRefUpdates=false",
                                      "-c", "core.autocrlf=false",
                                      "-c", "gc.auto=0",
                                      "-c", "maintenance.auto=false",
                                      "-c", "protocol.allow=never",
                                      "-c", "commit.gpgSign=false",
                                      "-c", "core.pager=cat",
                                      "-c", "diff.external=",
                                      "-c", "core.quotePath=false"};

bool is_identity(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// A part of a path that no tree may have: it would leave the folder, or be git's own.
bool is_forbidden_part(std::string_view part) {
  return part.empty() || part == "." || part == ".." || base::lower(part) == ".git";
}

bool is_safe_path(std::string_view path) {
  while (true) {
    const std::size_t slash = path.find('/');
    if (is_forbidden_part(path.substr(0, slash))) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}

std::string without_line_end(std::string text) {
  return std::string(base::trimmed(text));
}

/// The first line, which is taken off the text.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = base::first_line(text);
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

/// Whether a diff names a file alike before and after, without the a/ and b/ that are to be left out: as git's
/// --no-prefix.
bool has_plain_names(std::string_view diff) {
  constexpr std::string_view kGitHead = "diff --git ";
  std::string_view before;
  while (!diff.empty()) {
    const std::string_view line = base::trimmed(take_line(diff), "\r");
    if (line.starts_with("@@ -")) return false;  // lines of code follow, which may look like a head
    if (line.starts_with(kGitHead)) {
      const std::string_view names = line.substr(kGitHead.size());  // "P P"
      const std::size_t half = names.size() / 2;
      if (names.size() % 2 == 1 && names[half] == ' ' && names.substr(0, half) == names.substr(half + 1)) return true;
    }
    const auto name = [](std::string_view head) { return head.substr(4, head.find('\t') - 4); };
    if (before.starts_with("--- ") && line.starts_with("+++ ") && name(before) == name(line)) return true;
    before = line;
  }
  return false;
}

/// Whether lines that stay are in it: git's -U0 leaves them out.
bool has_context(std::string_view diff) {
  bool in_hunk = false;
  while (!diff.empty()) {
    const std::string_view line = take_line(diff);
    if (line == "-- ") break;  // the end of a mail of git format-patch
    in_hunk = in_hunk || line.starts_with("@@ -");
    if (in_hunk && (line.empty() || line.front() == ' ')) return true;
  }
  return false;
}

/// A folder in a list of folders, between which git sees a colon unless they are quoted.
std::string quoted_in_list(const fs::path& folder) {
  std::string quoted = "\"";
  for (const char c : folder.string()) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? "\\n" : std::string(1, c);
  }
  return quoted + '"';
}

}  // namespace

struct Repository::Call {
  std::vector<std::string> arguments;
  std::string input{};
  Objects objects = Objects::ours;
  std::vector<std::string> environment{};
};

Result<std::string> Repository::git(const Call& call) const {
  TRY_ASSIGN(const auto scratch, base::TemporaryFolder::create("accelopt-git"));
  TRY(base::write_file(scratch.path() / "in", call.input));
  const base::FileDescriptor input(::open((scratch.path() / "in").c_str(), O_RDONLY | O_CLOEXEC));
  const base::FileDescriptor errors(
      ::open((scratch.path() / "errors").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!input.valid() || !errors.valid()) return base::fail_errno(errno, scratch.path().string());
  sandbox::SpawnOptions options;
  options.program = kGit;
  options.arguments = kQuiet;
  if (!git_folder_.empty()) options.arguments.push_back("--git-dir=" + git_folder_.string());
  options.arguments.insert(options.arguments.end(), call.arguments.begin(), call.arguments.end());
  options.environment = {"PATH=/usr/bin:/bin",          "LC_ALL=C",
                         "HOME=/nonexistent",           "GIT_CONFIG_NOSYSTEM=1",
                         "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
                         "GIT_ATTR_NOSYSTEM=1",         "GIT_TERMINAL_PROMPT=0",
                         "GIT_OPTIONAL_LOCKS=0",        "GIT_NO_REPLACE_OBJECTS=1",
                         "GIT_NO_LAZY_FETCH=1",         "GIT_INDEX_FILE=" + (own_.path() / "index").string()};
  if (call.objects == Objects::ours && !store_.empty()) {
    options.environment.push_back("GIT_OBJECT_DIRECTORY=" + (own_.path() / "objects").string());
    options.environment.push_back("GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoted_in_list(store_ / "objects"));
  }
  options.environment.insert(options.environment.end(), call.environment.begin(), call.environment.end());
  options.directory = root_.string();
  options.descriptors = {{input.get(), 0}, {errors.get(), 2}};
  options.own_namespaces = false;
  TRY_ASSIGN(auto ran, sandbox::run(std::move(options), {kGitWall, kMostOutput}, nullptr, {}));
  const std::string& command = call.arguments.front();
  if (ran.timed_out) return base::fail(ErrorCode::timed_out, "git " + command + " did not end within two minutes");
  if (!ran.state.exited || ran.state.code != 0) {
    TRY_ASSIGN(const std::string said, base::read_foreign_file(scratch.path() / "errors", 1UL << 20));
    const bool is_partial = said.find("promisor remote") != said.npos;
    return base::fail(ErrorCode::invalid_argument,
                      "git " + command + ": " + base::ascii_line(base::trimmed(said), 400, ' ') +
                          (is_partial ? "; the clone was made with --filter and lacks contents, which are not fetched "
                                        "here: git fetch --refetch --no-filter"
                                      : ""));
  }
  return std::move(ran.output);
}

Result<Repository> Repository::open(const fs::path& folder) {
  std::error_code failed;
  if (!fs::exists(kGit, failed))
    return base::fail(ErrorCode::unsupported, std::string(kGit) + " is not there; install git");
  fs::path root = fs::canonical(folder, failed);
  if (failed) return base::fail_errno(failed.value(), folder.string());
  if (!fs::is_directory(root)) root = root.parent_path();
  TRY_ASSIGN(auto own, base::TemporaryFolder::create("accelopt-vcs"));
  TRY(base::make_folders(own.path() / "objects"));
  Repository repository(root, std::move(own));
  const auto found = repository.git({.arguments = {"rev-parse", "--path-format=absolute", "--git-dir"}});
  if (!found) {
    return base::fail(ErrorCode::not_found,
                      folder.string() + " is in no git repository that git would read: " + found.error().message);
  }
  TRY_ASSIGN(const std::string store,
             repository.git({.arguments = {"rev-parse", "--path-format=absolute", "--git-common-dir"}}));
  repository.git_folder_ = without_line_end(*found);
  repository.store_ = without_line_end(store);
  fs::path top = root;
  while (top.has_relative_path() && !fs::exists(top / ".git", failed)) top = top.parent_path();
  repository.root_ = top.has_relative_path() ? top : repository.store_;
  return repository;
}

Result<Repository> Repository::make(const fs::path& folder, std::string_view message) {
  std::error_code failed;
  const fs::path root = fs::canonical(folder, failed);
  if (failed) return base::fail_errno(failed.value(), folder.string());
  if (fs::exists(root / ".git", failed))
    return base::fail(ErrorCode::already_exists, folder.string() + " is a git repository already");
  TRY_ASSIGN(auto own, base::TemporaryFolder::create("accelopt-vcs"));
  Repository repository(root, std::move(own));
  TRY(repository.git({.arguments = {"init", "--quiet", "--initial-branch=main", "--template="}}));
  repository.git_folder_ = root / ".git";
  TRY(repository.git({.arguments = {"--work-tree=.", "add", "--force", "--all", "."}, .objects = Objects::users}));
  TRY_ASSIGN(const std::string tree, repository.git({.arguments = {"write-tree"}, .objects = Objects::users}));
  TRY_ASSIGN(const std::string commit,
             repository.git(
                 {.arguments = {"commit-tree", without_line_end(tree), "-F", "-"},
                  .input = std::string(message) + "\n",
                  .objects = Objects::users,
                  .environment = {"GIT_AUTHOR_NAME=benchmark", "GIT_AUTHOR_EMAIL=benchmark@localhost",
                                  "GIT_COMMITTER_NAME=benchmark", "GIT_COMMITTER_EMAIL=benchmark@localhost",
                                  "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z"}}));
  TRY(repository.git({.arguments = {"update-ref", "refs/heads/main", without_line_end(commit)}}));
  return open(root);
}

Result<std::string> Repository::commit_id(std::string_view revision) const {
  // A revision is a user's text: it must not be taken for an option.
  auto said =
      git({.arguments = {"rev-parse", "--verify", "--quiet", "--end-of-options", std::string(revision) + "^{commit}"}});
  if (!said && revision == "HEAD" && !git({.arguments = {"rev-parse", "--verify", "--quiet", "HEAD"}})) {
    return base::fail(ErrorCode::not_found, "the branch that is checked out in " + root_.string() +
                                                " has no commit yet; `git commit` makes one");
  }
  if (!said) {
    return base::fail(ErrorCode::not_found, "no commit \"" + base::ascii_line(revision, 100) + "\" in " +
                                                root_.string() + "; `git log` lists those that are there");
  }
  return without_line_end(*said);
}

Result<std::string> Repository::tree_of(std::string_view commit) const {
  TRY_ASSIGN(const std::string said,
             git({.arguments = {"rev-parse", "--verify", "--end-of-options", std::string(commit) + "^{tree}"}}));
  return without_line_end(said);
}

Result<std::string> Repository::message_of(std::string_view commit) const {
  TRY_ASSIGN(const std::string said, git({.arguments = {"cat-file", "commit", std::string(commit)}}));
  const std::size_t head = said.find("\n\n");
  return head == said.npos ? std::string() : said.substr(head + 2);
}

Result<std::string> Repository::parent_of(std::string_view commit) const {
  return commit_id(std::string(commit) + "^1");
}

Result<std::vector<std::string>> Repository::branches(std::string_view prefix) const {
  TRY_ASSIGN(const std::string said, git({.arguments = {"for-each-ref", "--format=%(refname)", std::string(prefix)}}));
  std::vector<std::string> names;
  for (const std::string_view word : base::split_words(said)) names.emplace_back(word);
  return names;
}

Result<void> Repository::expect_room(std::string_view branch) const {
  constexpr std::string_view kHeads = "refs/heads/";
  for (std::size_t slash = branch.find('/', kHeads.size()); slash != branch.npos; slash = branch.find('/', slash + 1)) {
    const std::string_view other = branch.substr(0, slash);
    TRY_ASSIGN(const auto names, branches(other));
    if (std::ranges::find(names, other) == names.end()) continue;
    const std::string name(other.substr(kHeads.size()));
    return base::fail(ErrorCode::already_exists, "git makes no branch " + std::string(branch.substr(kHeads.size())) +
                                                     " beside the branch " + name + "; rename that: git branch -m " +
                                                     name + " " + name + "-old");
  }
  return {};
}

Result<fs::path> Repository::worktree_of(std::string_view branch) const {
  TRY_ASSIGN(const std::string said,
             git({.arguments = {"for-each-ref", "--format=%(worktreepath)", std::string(branch)}}));
  return fs::path(base::first_line(said));
}

Result<bool> Repository::is_ancestor(std::string_view earlier, std::string_view later) const {
  TRY_ASSIGN(const std::string first, commit_id(earlier));
  TRY_ASSIGN(const std::string second, commit_id(later));
  // It tells by its exit code, which is an error here; what the two have in common says as much.
  const auto common = git({.arguments = {"merge-base", first, second}});
  return common && without_line_end(*common) == first;
}

Result<std::vector<PastCommit>> Repository::history(std::string_view from, const std::vector<std::string>& patterns,
                                                    std::size_t most) const {
  TRY_ASSIGN(const std::string start, commit_id(from));
  Call call{.arguments = {"log", "--no-merges", "-z", "--no-color", "--no-show-signature", "--encoding=UTF-8",
                          "--max-count=" + std::to_string(most), "--format=%H %aI%n%B", start, "--"}};
  call.arguments.insert(call.arguments.end(), patterns.begin(), patterns.end());
  TRY_ASSIGN(const std::string said, git(call));
  std::vector<PastCommit> commits;
  std::string_view rest = said;
  while (!rest.empty()) {  // ID DATE\nMESSAGE\0
    const std::string_view one = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const std::string_view head = base::first_line(one);
    const auto words = base::split_words(head);
    if (words.size() != 2 || !is_identity(words[0]))
      return base::fail(ErrorCode::corrupt, "git log gave a commit that it should not");
    commits.push_back({std::string(words[0]), std::string(words[1]),
                       std::string(base::trimmed(one.substr(std::min(one.size(), head.size()))))});
  }
  return commits;
}

Result<Listing> Repository::list(std::string_view tree) const {
  TRY_ASSIGN(const std::string said, git({.arguments = {"ls-tree", "-r", "-z", "--full-tree", std::string(tree)}}));
  Listing listing;
  std::string_view rest = said;
  while (!rest.empty()) {  // MODE TYPE OBJECT\tPATH\0
    const std::string_view line = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t tab = line.find('\t');
    const auto words = base::split_words(line.substr(0, tab));
    if (tab == line.npos || words.size() != 3 || !is_identity(words[2]))
      return base::fail(ErrorCode::corrupt, "git ls-tree gave a line that it should not");
    const std::string path(line.substr(tab + 1));
    if (!is_safe_path(path)) {
      return base::fail(ErrorCode::corrupt,
                        "the tree holds the path \"" + base::ascii_line(path, 200) + "\", which no worktree may have");
    }
    const EntryKind kind = words[0] == "100755"   ? EntryKind::executable
                           : words[0] == "120000" ? EntryKind::link
                           : words[0] == "160000" ? EntryKind::submodule
                                                  : EntryKind::file;
    listing[path] = {kind, std::string(words[2])};
  }
  return listing;
}

Result<std::vector<std::string>> Repository::contents(const std::vector<std::string>& objects) const {
  std::string wanted;
  for (const std::string& object : objects) wanted += object + "\n";
  TRY_ASSIGN(const std::string said, git({.arguments = {"cat-file", "--batch"}, .input = wanted}));
  std::vector<std::string> out;
  std::string_view rest = said;
  for (const std::string& object : objects) {  // OBJECT TYPE SIZE\nBYTES\n
    const std::string_view head = base::first_line(rest);
    const auto words = base::split_words(head);
    std::size_t bytes = 0;
    if (words.size() == 3) bytes = std::strtoull(std::string(words[2]).c_str(), nullptr, 10);
    if (words.size() != 3 || words[0] != object || rest.size() < head.size() + bytes + 2)
      return base::fail(ErrorCode::corrupt, "object " + object + " cannot be read from " + root_.string());
    out.emplace_back(rest.substr(head.size() + 1, bytes));
    rest.remove_prefix(head.size() + bytes + 2);
  }
  return out;
}

Result<std::string> Repository::apply(std::string_view tree, std::string_view diff) const {
  TRY(git({.arguments = {"read-tree", std::string(tree)}}));
  Call call{.arguments = {"apply", "--cached", "--whitespace=nowarn", has_plain_names(diff) ? "-p0" : "-p1"},
            .input = std::string(diff)};
  // Without context only the number of a line says where it belongs: git wants to be asked for that.
  if (!has_context(diff)) call.arguments.emplace_back("--unidiff-zero");
  if (const auto applied = git(call); !applied) {
    return base::fail(ErrorCode::invalid_argument, "the diff does not apply to the base: " + applied.error().message +
                                                       "; make it against the commit that refactor.toml names");
  }
  TRY_ASSIGN(const std::string made, git({.arguments = {"write-tree"}}));
  return without_line_end(made);
}

Result<std::string> Repository::tree_with(std::string_view tree, const std::map<std::string, std::string>& files,
                                          Objects where) const {
  TRY_ASSIGN(const Listing listing, list(tree));
  TRY(git({.arguments = {"read-tree", std::string(tree)}, .objects = where}));
  std::string entries;
  for (const auto& [path, text] : files) {
    TRY_ASSIGN(const std::string object,
               git({.arguments = {"hash-object", "-w", "--no-filters", "--stdin"}, .input = text, .objects = where}));
    const auto before = listing.find(path);
    const bool executable = before != listing.end() && before->second.kind == EntryKind::executable;
    entries += std::string(executable ? "100755 " : "100644 ") + without_line_end(object) + "\t" + path + '\0';
  }
  TRY(git({.arguments = {"update-index", "-z", "--index-info"}, .input = entries, .objects = where}));
  TRY_ASSIGN(const std::string made, git({.arguments = {"write-tree"}, .objects = where}));
  return without_line_end(made);
}

Result<std::string> Repository::with_files(std::string_view tree,
                                           const std::map<std::string, std::string>& files) const {
  return tree_with(tree, files, Objects::ours);
}

Result<std::string> Repository::diff(std::string_view before, std::string_view after) const {
  Call call{.arguments = {"diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames",
                          std::string(before), std::string(after)}};
  TRY_ASSIGN(std::string said, git(call));
  if (said.find("\nBinary files ") == said.npos) return said;
  // An attribute may say so of a file that is text.
  call.arguments.insert(call.arguments.begin() + 1, "--text");
  TRY_ASSIGN(std::string text, git(call));
  return text.find('\0') == text.npos ? text : said;
}

Result<std::string> Repository::commit(const NewCommit& commit) const {
  TRY_ASSIGN(const std::string made,
             git({.arguments = {"commit-tree", commit.tree, "-p", commit.parent, "-F", "-"},
                  .input = commit.message,
                  .objects = Objects::users,
                  .environment = {"GIT_AUTHOR_NAME=accelopt", "GIT_AUTHOR_EMAIL=accelopt@localhost",
                                  "GIT_COMMITTER_NAME=accelopt", "GIT_COMMITTER_EMAIL=accelopt@localhost"}}));
  const std::string id = without_line_end(made);
  const std::string expected = commit.replaces.empty() ? std::string(id.size(), '0') : commit.replaces;
  const auto updated = git({.arguments = {"update-ref", "--no-deref", commit.branch, id, expected}});
  if (!updated) {
    TRY(expect_room(commit.branch));
    return base::fail(ErrorCode::already_exists,
                      commit.branch + (commit.replaces.empty() ? " is there already" : " has moved meanwhile") +
                          "; nothing was changed: " + updated.error().message);
  }
  return id;
}

Result<std::string> Repository::keep(const std::string& base_tree, const std::map<std::string, std::string>& files,
                                     NewCommit commit) const {
  TRY_ASSIGN(commit.tree, tree_with(base_tree, files, Objects::users));
  return this->commit(commit);
}

bool has_diff(std::string_view text) {
  constexpr auto kHeads = std::to_array<std::string_view>(
      {"index ", "old mode ", "new file mode ", "deleted file mode ", "similarity index ", "dissimilarity index "});
  std::string_view before;
  std::string_view last;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const auto begins = [&](std::string_view head) { return line.starts_with(head); };
    if (before.starts_with("--- ") && last.starts_with("+++ ") && begins("@@ -")) return true;
    if (last.starts_with("diff --git ") && std::ranges::any_of(kHeads, begins)) return true;
    before = last;
    last = line;
  }
  return false;
}

std::string without_colours(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find("\x1b["), text.size());
    plain += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    const std::size_t end = text.find_first_not_of("0123456789;", 2);
    const bool is_colour = end != text.npos && (text[end] == 'm' || text[end] == 'K');
    if (!is_colour) plain += text.substr(0, 2);
    text.remove_prefix(is_colour ? end + 1 : 2);
  }
  return plain;
}

}  // namespace accelopt::vcs

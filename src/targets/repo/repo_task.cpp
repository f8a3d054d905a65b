// SPDX-License-Identifier: Apache-2.0
#include "targets/repo/repo_task.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "refactor/functions.hpp"
#include "targets/repo/description.hpp"
#include "vcs/git.hpp"

namespace accelopt::targets::repo {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

constexpr std::size_t kMostFileBytes = 16UL << 20;  ///< of the task's folder

/// What the task's folder holds: SHA-256 over all of its plain files, path by path, and of each.
struct Content {
  std::string all;
  std::map<std::string, std::string> files;
};

Result<Content> content_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string path = at->path().lexically_relative(folder).generic_string();
    // What Python leaves there when a driver is tried by hand is nobody's input.
    if (!at->is_regular_file() || path.find("__pycache__/") != path.npos) continue;
    TRY_ASSIGN(files[path], base::read_foreign_file(at->path(), kMostFileBytes));
  }
  if (failed) return base::fail_errno(failed.value(), folder.string());
  Content content;
  std::string all;
  for (const auto& [path, text] : files) {
    all += fmt::format("{} {}\n{}", path, text.size(), text);
    content.files[path] = base::sha256_hex(text);
  }
  content.all = base::sha256_hex(all);
  return content;
}

/// " (driver.py is changed, notes.txt is new)"; empty where the run's own files are not on record.
std::string changes_between(const std::map<std::string, std::string>& before,
                            const std::map<std::string, std::string>& after) {
  if (before.empty()) return {};
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> changes;
  const auto tell = [&](const std::string& path, const char* what) {
    changes.push_back(base::ascii_line(path, 120) + what);
  };
  for (const auto& [path, hash] : before) {
    const auto now = after.find(path);
    if (now == after.end())
      tell(path, " is gone");
    else if (now->second != hash)
      tell(path, " is changed");
  }
  for (const auto& [path, hash] : after) {
    if (!before.contains(path)) tell(path, " is new");
  }
  if (changes.empty()) return {};
  const std::size_t more = changes.size() - std::min(changes.size(), kMostNamed);
  changes.resize(changes.size() - more);
  if (more > 0) changes.push_back(fmt::format("and {} more", more));
  return " (" + base::joined(changes, ", ") + ")";
}

model::Role role_of(refactor::Role role) {
  switch (role) {
    case refactor::Role::race:
      return model::Role::race;
    case refactor::Role::check:
      return model::Role::check;
    case refactor::Role::held_out:
      break;
  }
  return model::Role::held_out;
}

/// The largest size of a raced family decides; the others are verified.
std::vector<model::Workload> workloads_of(const refactor::Task& task) {
  std::vector<model::Workload> out;
  for (const refactor::Workload& family : task.workloads) {
    for (const std::int64_t size : family.sizes) {
      const bool decides = family.role == refactor::Role::race && size == family.sizes.back();
      const model::Role role =
          decides || family.role != refactor::Role::race ? role_of(family.role) : model::Role::check;
      out.push_back({.name = workload_name(family.name, size), .axes = {{"n", size}}, .role = role});
    }
  }
  return out;
}

std::string described(const refactor::Task& task) {
  const std::string scope =
      base::joined(task.scope, ", ", [](const refactor::Scope& one) { return refactor::to_string(one); });
  return fmt::format("{} in {}, wanted for its {}", scope, task.language.name, refactor::to_string(task.goal));
}

}  // namespace

std::string workload_name(std::string_view family, std::int64_t size) {
  return fmt::format("{} n={}", family, size);
}

Result<model::Task> load_repo_task(const fs::path& place) {
  TRY_ASSIGN(const refactor::Task task, refactor::load_task(place));
  TRY_ASSIGN(const vcs::Repository repository, vcs::Repository::open(task.repository));
  // What a run finds ends on a branch below this.
  TRY(repository.expect_room("refs/heads/accelopt/" + task.name));
  model::RepoPart part;
  std::error_code failed;
  part.file = fs::absolute(task.file, failed).lexically_normal().string();
  part.language = task.language.name;
  TRY_ASSIGN(Content content, content_of(task.folder));
  part.content = std::move(content.all);
  part.files = std::move(content.files);
  TRY_ASSIGN(part.commit, repository.commit_id(task.base));
  TRY_ASSIGN(const std::string tree, repository.tree_of(part.commit));
  TRY_ASSIGN(const vcs::Listing listing, repository.list(tree));

  model::Task out;
  out.target = description().name;
  out.definition.name = task.name;
  out.definition.op_type = refactor::to_string(task.goal);
  out.definition.description = described(task);
  out.definition.axes = {{.name = "n", .value = {}}};
  out.workloads = workloads_of(task);
  out.baseline.language = description().languages.front().language;
  for (const refactor::Scope& scope : task.scope) {
    part.scope.push_back(refactor::to_string(scope));
    const auto has = [&](const model::SourceFile& file) { return file.name == scope.path; };
    if (std::ranges::any_of(out.baseline.sources, has)) continue;
    const auto found = listing.find(scope.path);
    if (found == listing.end())
      return base::fail(ErrorCode::not_found, scope.path + " is not in the commit " + part.commit.substr(0, 12));
    TRY_ASSIGN(auto texts, repository.contents({found->second.object}));
    out.baseline.sources.push_back({scope.path, std::move(texts.front())});
  }
  out.repo = std::move(part);
  return out;
}

Result<refactor::Task> refactor_task_of(const model::Task& task) {
  ACCELOPT_ASSERT(task.repo.has_value(), "a task of a repository");
  TRY_ASSIGN(refactor::Task read, refactor::load_task(task.repo->file));
  TRY_ASSIGN(const Content content, content_of(read.folder));
  if (content.all != task.repo->content) {
    return base::fail(ErrorCode::invalid_argument,
                      read.folder.string() + changes_between(task.repo->files, content.files) +
                          " has changed since the run began: what was measured would not compare with what is "
                          "measured now; put it back as it was and resume the run, or start a new one");
  }
  read.base = task.repo->commit;
  return read;
}

}  // namespace accelopt::targets::repo

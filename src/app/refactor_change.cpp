// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_change.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/knowledge_place.hpp"
#include "app/refactor_record.hpp"
#include "app/refactor_story.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "targets/cpu/machine_hold.hpp"

namespace accelopt::app {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

constexpr std::size_t kMostChangeBytes = 16UL << 20;

/// A repository's tasks may be run with one seed, and a task again: no two runs have one id.
std::string fresh_id(const refactor::Checker& checker, std::uint64_t seed) {
  return base::sha256_hex(
             fmt::format("refactor {} {} {} {}", checker.task().name, checker.base_commit(), seed, base::random_seed()))
      .substr(0, 8);
}

/// The base's files, before it is built or after.
struct Base {
  const vcs::Repository& repository;
  const refactor::Task& task;
  const std::string& tree;
};

/// The base's text of a file. @error not_found.
Result<std::string> text_of(const Base& base, const std::string& path) {
  TRY_ASSIGN(const vcs::Listing listing, base.repository.list(base.tree));
  const auto found = listing.find(path);
  if (found == listing.end()) return base::fail(ErrorCode::not_found, path + " is not in the base");
  TRY_ASSIGN(auto texts, base.repository.contents({found->second.object}));
  return std::move(texts.front());
}

bool looks_like_diff(std::string_view text) {
  return vcs::has_diff(text) || vcs::has_diff(vcs::without_colours(text));
}

Result<std::string> tree_of(const Base& base, const RefactorChange& change) {
  const vcs::Repository& repository = base.repository;
  if (!change.commit.empty()) {
    TRY_ASSIGN(const std::string commit, repository.commit_id(change.commit));
    return repository.tree_of(commit);
  }
  TRY_ASSIGN(const std::string text, base::read_foreign_file(change.file, kMostChangeBytes));
  const auto& scope = base.task.scope;
  const bool one = std::ranges::all_of(scope, [&](const auto& it) { return it.path == scope.front().path; });
  std::string old;
  if (one) {
    TRY_ASSIGN(old, text_of(base, scope.front().path));
  }
  // Where the base's own text looks like a diff, so does the new text of the task's only file.
  if (looks_like_diff(text) && !looks_like_diff(old))
    return repository.apply(base.tree, vcs::has_diff(text) ? text : vcs::without_colours(text));
  if (!one) {
    return base::fail(ErrorCode::invalid_argument,
                      change.file.string() + " is no diff, and the task's scope has several files; give a diff");
  }
  // A checkout's lines may end otherwise than the commit's.
  return repository.with_files(base.tree, {{scope.front().path, base::with_line_ends_of(old, text)}});
}

}  // namespace

Result<std::unique_ptr<refactor::Checker>> prepare_checker(const Shell& shell, const RefactorOptions& options,
                                                           std::uint64_t seed) {
  TRY_ASSIGN(refactor::Task task, refactor::load_task(options.task));
  if (!options.base.empty()) task.base = options.base;
  TRY_ASSIGN(auto hold, targets::cpu::machine_hold(shell.stops.wind_down, [step = options.step](const auto& wait) {
               step(model::describe(wait));
             }));
  return refactor::Checker::prepare(task, {.seed = seed,
                                           .tools = options.tools,
                                           .stop = shell.stops.wind_down,
                                           .step = options.step,
                                           .gate = options.gate,
                                           .hold = std::move(hold)});
}

Result<std::string> tree_of_change(const refactor::Checker& checker, const RefactorChange& change) {
  return tree_of({checker.repository(), checker.task(), checker.base_tree()}, change);
}

Result<void> expect_applies(const RefactorOptions& options, const RefactorChange& change) {
  TRY_ASSIGN(const refactor::Task task, refactor::load_task(options.task));
  TRY_ASSIGN(const vcs::Repository repository, vcs::Repository::open(task.repository));
  TRY_ASSIGN(const std::string commit, repository.commit_id(options.base.empty() ? task.base : options.base));
  TRY_ASSIGN(const std::string base, repository.tree_of(commit));
  TRY(tree_of({repository, task, base}, change));
  return {};
}

RefactorReport report_on(const refactor::Checker& checker, std::uint64_t seed) {
  RefactorReport report;
  report.id = fresh_id(checker, seed);
  report.task = checker.task().name;
  report.language = checker.task().language.name;
  report.created = base::utc_now();
  report.goal = checker.task().goal;
  report.scope = checker.task().scope;
  report.base = checker.base_commit();
  report.seed = seed;
  return report;
}

void record_found(const Shell& shell, const RefactorOptions& options, const RefactorReport& report) {
  const auto recorded = record_refactoring(options.workspace, story_of(report));
  if (!recorded) shell.warn("the refactoring was not recorded: " + recorded.error().message);
}

std::string branch_of(const std::string& task, const std::string& run) {
  return fmt::format("refs/heads/accelopt/{}-{}", task, run);
}

Result<void> expect_room_for_commit(const refactor::Checker& checker, const RefactorReport& report) {
  return checker.repository().expect_room(branch_of(report.task, report.id));
}

void keep_change(const Shell& shell, const RefactorOptions& options, const refactor::Checker& checker,
                 RefactorReport& report, Commit commit) {
  if (report.result.verdict != refactor::Verdict::better) return;
  const model::Experience experience = refactor_experience(report, checker.task());
  if (options.knowledge != kNoKnowledge) {
    auto store = open_knowledge(shell, options.knowledge, options.workspace, KnowledgeUse::writing);
    const auto stored = store ? (*store)->insert(std::span(&experience, 1), memory::Forgotten::stays)
                              : tl::make_unexpected(store.error());
    if (stored)
      report.experience = model::content_id(experience);
    else
      shell.warn("the experience was not stored: " + stored.error().message);
  }
  if (commit == Commit::no) return;
  const std::string branch = branch_of(report.task, report.id);
  auto kept = checker.repository().keep(checker.base_tree(), report.result.files,
                                        {.tree = {},
                                         .parent = checker.base_commit(),
                                         .message = commit_message(report, checker.task()),
                                         .branch = branch});
  if (kept) {
    report.branch = branch;
    report.commit = std::move(*kept);
  } else {
    report.not_committed = kept.error().message;
  }
}

}  // namespace accelopt::app

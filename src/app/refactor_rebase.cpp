// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "app/refactor_change.hpp"
#include "app/refactor_record.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::Result;

/// The values of a trailer that may stand several times.
std::vector<std::string> trailers_of(std::string_view message, const std::string& name) {
  std::vector<std::string> values;
  const std::string mark = "\n" + name + ": ";
  for (std::size_t at = message.find(mark); at != message.npos; at = message.find(mark, at + 1))
    values.emplace_back(base::first_line(message.substr(at + mark.size())));
  return values;
}

/// "perf: Make f faster\n\nA strategy, in file#f.\n..." -> "A strategy"; empty: the change was given.
std::string strategy_of(std::string_view message) {
  const std::size_t body = message.find("\n\n");
  if (body == message.npos) return {};
  const std::string_view line = base::first_line(message.substr(body + 2));
  const std::size_t where = line.rfind(", in ");
  return where == line.npos ? std::string() : std::string(line.substr(0, where));
}

/// The run's branch, which must still end in the commit and be checked out nowhere.
Result<std::string> movable_branch(const vcs::Repository& repository, const std::string& task, const std::string& run,
                                   const std::string& commit) {
  const std::string branch = branch_of(task, run);
  TRY_ASSIGN(const auto branches, repository.branches(branch));
  if (std::ranges::find(branches, branch) == branches.end())
    return base::fail(ErrorCode::not_found, branch + " is not there; only the commit of a run can be put onto a head");
  TRY_ASSIGN(const std::string head, repository.commit_id(branch));
  if (head != commit)
    return base::fail(ErrorCode::already_exists, branch + " ends in another commit than the run's own");
  TRY_ASSIGN(const auto worktree, repository.worktree_of(branch));
  if (worktree.empty()) return branch;
  return base::fail(ErrorCode::invalid_argument,
                    branch + " is checked out in " + worktree.string() +
                        "; switch to another branch there, and put it onto the head again");
}

}  // namespace

Result<std::optional<RefactorReport>> rebase_refactor(const Shell& shell, const RefactorOptions& options,
                                                      const RefactorRebase& rebase) {
  const std::uint64_t seed = options.seed.value_or(base::random_seed() >> 16U);
  TRY_ASSIGN(const refactor::Task task, refactor::load_task(options.task));
  TRY_ASSIGN(const vcs::Repository repository, vcs::Repository::open(task.repository));
  TRY_ASSIGN(const std::string commit, repository.commit_id(rebase.commit));
  TRY_ASSIGN(const std::string base, repository.parent_of(commit));
  TRY_ASSIGN(const std::string head, repository.commit_id(rebase.onto));
  if (head == base) return std::nullopt;
  TRY_ASSIGN(const std::string message, repository.message_of(commit));
  const std::string run = trailer_of("\n" + message, "Accelopt-Run");
  TRY_ASSIGN(const std::string branch, movable_branch(repository, task.name, run, commit));
  TRY_ASSIGN(const bool follows, repository.is_ancestor(base, head));
  if (!follows) {
    return base::fail(
        ErrorCode::invalid_argument,
        fmt::format("{} does not have the base {} in its history, so that what was proved says nothing of "
                    "it; start a run on it instead",
                    rebase.onto, base.substr(0, 12)));
  }
  RefactorOptions there = options;
  there.base = head;
  TRY_ASSIGN(const auto checker, prepare_checker(shell, there, seed));
  TRY_ASSIGN(const std::string before, repository.tree_of(base));
  TRY_ASSIGN(const std::string after, repository.tree_of(commit));
  TRY_ASSIGN(const std::string diff, repository.diff(before, after));
  TRY_ASSIGN(const std::string tree, checker->repository().apply(checker->base_tree(), diff));
  RefactorReport report = report_on(*checker, seed);
  report.id = run;
  report.tried = 1;
  report.strategy = strategy_of(message);
  report.authors = trailers_of(message, "Assisted-By");
  report.experience = trailer_of(message, "Accelopt-Experience");
  report.reviewed = trailer_of(message, "Reviewed-Blind");
  report.branch = branch;
  TRY_ASSIGN(report.result, checker->check(tree, refactor::Depth::confirm));
  if (report.result.verdict == refactor::Verdict::better) {
    TRY_ASSIGN(report.commit, checker->repository().keep(checker->base_tree(), report.result.files,
                                                         {.tree = {},
                                                          .parent = head,
                                                          .message = commit_message(report, checker->task()),
                                                          .branch = branch,
                                                          .replaces = commit}));
  }
  return report;
}

}  // namespace accelopt::app

// SPDX-License-Identifier: Apache-2.0
// What becomes of a run's commit: CI's word for it, the commit that reverts it, and what memory is told.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "app/knowledge_place.hpp"
#include "app/refactor.hpp"
#include "app/refactor_record.hpp"
#include "app/reviewer_history.hpp"
#include "base/files.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "refactor/jail.hpp"

namespace accelopt::app {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

/// The branch of a run, and its commit.
struct RunCommit {
  std::string branch;
  std::string commit;
  std::string parent;
  std::string message;
};

Result<RunCommit> commit_of(const vcs::Repository& repository, const std::string& run) {
  TRY_ASSIGN(const auto branches, repository.branches("refs/heads/accelopt/"));
  std::vector<std::string> found;
  std::ranges::copy_if(branches, std::back_inserter(found),
                       [&](const std::string& name) { return !run.empty() && name.ends_with("-" + run); });
  if (found.empty()) {
    return base::fail(ErrorCode::not_found, "no branch of run " + base::ascii_line(run, 40) + " below accelopt/ in " +
                                                repository.root().string() +
                                                "; `git branch --list 'accelopt/*'` lists them");
  }
  if (found.size() > 1) {
    return base::fail(ErrorCode::invalid_argument,
                      fmt::format("several branches end with the id of run {}: {}; delete or rename all but one",
                                  base::ascii_line(run, 40), base::joined(found, ", ")));
  }
  RunCommit out{.branch = found.front(), .commit = {}, .parent = {}, .message = {}};
  TRY_ASSIGN(out.commit, repository.commit_id(out.branch));
  TRY_ASSIGN(out.message, repository.message_of(out.commit));
  if (trailer_of("\n" + out.message, "Accelopt-Run") != run || !trailer_of(out.message, "Accelopt-Reverts").empty()) {
    return base::fail(
        ErrorCode::already_exists,
        out.branch + " ends in another commit than the run's own: it is settled, or somebody went on with it");
  }
  TRY_ASSIGN(out.parent, repository.parent_of(out.commit));
  return out;
}

/// Runs the command in a commit's files.
Result<refactor::JailedResult> run_on(const vcs::Repository& repository, const refactor::Jail& jail,
                                      const std::vector<std::string>& command, const std::string& commit) {
  TRY_ASSIGN(const auto own, base::TemporaryFolder::create("accelopt-settle"));
  TRY_ASSIGN(const std::string tree, repository.tree_of(commit));
  TRY_ASSIGN(const vcs::Listing listing, repository.list(tree));
  const fs::path files = own.path() / "files";
  TRY(base::make_folders(files));
  TRY(vcs::lay_out(repository, listing, files));
  return jail.run(
      {.command = command, .tree = files, .access = refactor::TreeAccess::write, .scratch = own.path() / "scratch"});
}

/// What the user's command says of the commit. It runs in the sandbox of a run's tests: a change that models wrote is
/// no more to be trusted now than it was then.
Result<Settled> ask_command(const Shell& shell, const SettleOptions& options, const vcs::Repository& repository,
                            const RunCommit& commit, std::string& end) {
  TRY_ASSIGN(const auto command, base::split_command(options.command));
  refactor::Task task;
  task.repository = repository.root();
  task.language = refactor::code_language("other");
  task.limits.seconds = options.seconds;
  task.limits.memory_bytes = kSettleMemoryBytes;
  TRY_ASSIGN(const auto jail, refactor::Jail::create(task, options.tools, shell.stops.wind_down));
  options.step("running the command on " + commit.commit.substr(0, 12));
  TRY_ASSIGN(const auto after, run_on(repository, jail, command, commit.commit));
  end = after.end;
  if (after.succeeded) return Settled::passed;
  options.step("it fails (" + after.end + "); running it on the commit before");
  TRY_ASSIGN(const auto before, run_on(repository, jail, command, commit.parent));
  if (before.succeeded) {
    // A commit is not taken back for a test that fails now and then.
    TRY_ASSIGN(const auto again, run_on(repository, jail, command, commit.commit));
    if (!again.succeeded) return Settled::failed;
    return base::fail(
        ErrorCode::invalid_argument,
        fmt::format("the command fails once ({}) and then passes on the same commit, and says nothing of it; "
                    "give --passed or --failed",
                    after.end));
  }
  const std::string said =
      base::ascii_line(base::trimmed(before.errors.empty() ? before.output : before.errors), 300, ' ');
  return base::fail(
      ErrorCode::invalid_argument,
      fmt::format("the command fails without the change as well ({}: {}), and says nothing of it; it runs "
                  "without network, in the commit's files alone. Where it needs more, run it yourself and "
                  "give --passed or --failed",
                  before.end, said));
}

/// Puts a commit with the parent's tree on the branch.
Result<std::string> revert(const vcs::Repository& repository, const RunCommit& commit, const std::string& run,
                           const std::string& reason) {
  TRY_ASSIGN(const std::string tree, repository.tree_of(commit.parent));
  return repository.commit({.tree = tree,
                            .parent = commit.commit,
                            .message = fmt::format("revert: {}\n\n{}\n\nAccelopt-Reverts: {}\nAccelopt-Run: {}\n",
                                                   base::first_line(commit.message), reason, commit.commit, run),
                            .branch = commit.branch,
                            .replaces = commit.commit});
}

/// Tells the store what became of the experience, once. Whether it counted.
Result<bool> credit(const Shell& shell, const SettleOptions& options, Settled settled, const std::string& experience) {
  if (experience.empty() || options.knowledge == kNoKnowledge) return false;
  TRY_ASSIGN(const auto store, open_knowledge(shell, options.knowledge, options.workspace, KnowledgeUse::writing));
  const bool passed = settled == Settled::passed;
  const auto event = [&](const std::string& lesson, const std::string& suffix) {
    return memory::CreditEvent{
        .id = "refactor " + options.run + (passed ? " passed" : " failed") + suffix,
        .experience = lesson,
        .kind = passed ? memory::CreditEvent::Kind::confirmed : memory::CreditEvent::Kind::refuted,
        .run = options.run};
  };
  std::vector<memory::CreditEvent> events{event(experience, "")};
  // Other pairs of the run may have taught the same: all of it holds or fails with the commit.
  if (const auto winner = store->get(experience)) {
    TRY_ASSIGN(const auto lessons, store->list({.run = winner->experience.run, .limit = 0}));
    for (const memory::Item& item : lessons) {
      if (item.experience.title == winner->experience.title && item.experience.id != experience)
        events.push_back(event(item.experience.id, " " + item.experience.id));
    }
  }
  TRY_ASSIGN(const int counted, store->credit(events));
  return counted > 0;
}

}  // namespace

Result<SettleReport> settle_refactor(const Shell& shell, const SettleOptions& options) {
  TRY_ASSIGN(const vcs::Repository repository, vcs::Repository::open(options.repository));
  TRY_ASSIGN(const RunCommit commit, commit_of(repository, options.run));
  SettleReport report{.branch = commit.branch, .commit = {}, .settled = options.settled};
  if (!options.command.empty()) {
    TRY_ASSIGN(report.settled, ask_command(shell, options, repository, commit, report.end));
  }
  if (report.settled == Settled::failed) {
    TRY_ASSIGN(const fs::path worktree, repository.worktree_of(commit.branch));
    if (!worktree.empty()) {
      return base::fail(
          ErrorCode::invalid_argument,
          fmt::format("{} is checked out in {}, whose files would not follow when the branch moves; switch "
                      "to another branch there first. Nothing was changed",
                      commit.branch, worktree.string()));
    }
    const std::string reason = options.command.empty()
                                   ? "It failed where it was used."
                                   : fmt::format("`{}` fails on it ({}), and not on the commit before.",
                                                 base::ascii_line(options.command, 200), report.end);
    TRY_ASSIGN(report.commit, revert(repository, commit, options.run, reason));
  }
  TRY_ASSIGN(report.reviewer_told, settle_review(options.workspace, options.run, report.settled));
  TRY_ASSIGN(report.credited,
             credit(shell, options, report.settled, trailer_of(commit.message, "Accelopt-Experience")));
  return report;
}

}  // namespace accelopt::app

// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_winner.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/knowledge_place.hpp"
#include "app/refactor_record.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "memory/sanitation.hpp"
#include "refactor/check_json.hpp"
#include "targets/repo/repo_task.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::Result;

/// Those who answered in the run: the answers' authors, without repetition.
Result<std::set<std::string>> authors_of(journal::Journal& journal, const std::string& run) {
  std::set<std::string> authors;
  TRY_ASSIGN(const auto steps, journal.steps(run));
  for (const journal::StepRecord& step : steps) {
    const auto kind = model::step_kind(step.key.kind);
    const bool writes_code = kind == model::StepKind::plan || kind == model::StepKind::plans ||
                             kind == model::StepKind::execute || kind == model::StepKind::fix;
    if (!writes_code || !step.output.is_object()) continue;
    std::string author;
    base::read_field(step.output, "author", author);
    author = base::ascii_line(author, 120, ' ');
    if (!author.empty()) authors.insert(author);
  }
  return authors;
}

/// The commit that the run made before it was cut off; empty: it made none.
Result<std::string> commit_of_run(const vcs::Repository& repository, const std::string& branch,
                                  const std::string& run) {
  TRY_ASSIGN(const auto branches, repository.branches(branch));
  if (std::ranges::find(branches, branch) == branches.end()) return std::string();
  TRY_ASSIGN(const std::string commit, repository.commit_id(branch));
  TRY_ASSIGN(const std::string message, repository.message_of(commit));
  if (trailer_of("\n" + message, "Accelopt-Run") == run) return commit;
  return base::fail(ErrorCode::already_exists, branch + " is there, and was not made by run " + run);
}

/// What the summarizer wrote of the change that the winner is, as the store has it; none: it wrote nothing of it.
Result<std::optional<model::Experience>> lesson_of(journal::Journal& journal, const std::string& run,
                                                   const std::string& winner) {
  TRY_ASSIGN(const auto experiences, journal.experiences(run));
  for (const model::Experience& experience : experiences) {
    if (experience.fast == winner && experience.polarity == model::Polarity::improves)
      return memory::made_fit(experience).experience;
  }
  return std::nullopt;
}

void learn(const Shell& shell, const std::filesystem::path& workspace, const std::string& knowledge,
           const model::Experience& experience, RefactorReport& report) {
  if (knowledge == kNoKnowledge) return;
  auto store = open_knowledge(shell, knowledge, workspace, KnowledgeUse::writing);
  const auto stored = store ? (*store)->insert(std::span(&experience, 1), memory::Forgotten::stays)
                            : tl::make_unexpected(store.error());
  if (stored)
    report.experience = model::content_id(experience);
  else
    shell.warn("the experience was not stored: " + stored.error().message);
}

}  // namespace

Result<void> keep_refactoring(const Shell& shell, journal::Journal& journal, const journal::RunInfo& run,
                              const std::string& knowledge, search::RunResult& result) {
  const model::RepoPart& repo = *run.task.repo;
  result.branch = fmt::format("refs/heads/accelopt/{}-{}", run.task_name, run.id);
  TRY_ASSIGN(const refactor::Task known, refactor::load_task(repo.file));
  TRY_ASSIGN(const vcs::Repository repository, vcs::Repository::open(known.repository));
  TRY_ASSIGN(result.commit, commit_of_run(repository, result.branch, run.id));
  if (!result.commit.empty()) return {};

  TRY_ASSIGN(const refactor::Task task, targets::repo::refactor_task_of(run.task));
  RefactorReport report;
  report.id = run.id;
  report.task = run.task_name;
  report.language = repo.language;
  report.created = run.created;
  report.goal = task.goal;
  report.scope = task.scope;
  report.base = repo.commit;
  report.strategy = result.strategy;
  report.reviewed = result.reviewed;
  report.seed = run.seed;
  TRY_ASSIGN(report.result,
             base::decode<refactor::CheckResult>(result.confirmation->details, "the confirmation of run " + run.id));
  TRY_ASSIGN(const auto authors, authors_of(journal, run.id));
  report.authors.assign(authors.begin(), authors.end());

  TRY_ASSIGN(const auto lesson, lesson_of(journal, run.id, result.solution_id));
  if (lesson) {
    // The search has given it to the store: what becomes of the commit counts for it.
    if (knowledge != kNoKnowledge) report.experience = lesson->id;
  } else {
    model::Experience experience = refactor_experience(report, task);
    experience.created = run.created;
    experience.device = result.device;
    experience.fast = result.solution_id;
    experience.slow = model::source_id(run.task.baseline);
    if (!report.authors.empty()) experience.model = report.authors.front();
    learn(shell, journal.folder(), knowledge, experience, report);
  }

  TRY_ASSIGN(const std::string base_tree, repository.tree_of(repo.commit));
  TRY_ASSIGN(
      result.commit,
      repository.keep(
          base_tree, report.result.files,
          {.tree = {}, .parent = repo.commit, .message = commit_message(report, task), .branch = result.branch}));
  return {};
}

}  // namespace accelopt::app

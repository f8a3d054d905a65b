// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_mine.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <span>

#include <fmt/format.h>

#include "app/knowledge_place.hpp"
#include "app/refactor_record.hpp"
#include "base/text.hpp"
#include "memory/sanitation.hpp"
#include "refactor/languages.hpp"
#include "refactor/scope.hpp"
#include "vcs/git.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::Result;

/// Larger changes do more than one thing.
constexpr std::size_t kMostFiles = 4;
constexpr std::size_t kMostDiffBytes = 24'000;
constexpr std::size_t kMostMessageBytes = 2'000;
constexpr std::size_t kLongestSubject = 500;
/// What an experience of the history names as its run and its author.
constexpr const char* kMined = "mined";

bool is_test(std::string_view path) {
  const std::string text = base::lower(path);
  return text.find("test") != text.npos || text.find("spec/") != text.npos || text.find("bench") != text.npos;
}

/// The commits that later ones take back.
std::set<std::string> reverted_in(const std::vector<vcs::PastCommit>& commits) {
  static const std::regex kReverts("This reverts commit ([0-9a-f]{7,64})");
  std::set<std::string> ids;
  for (const vcs::PastCommit& commit : commits) {
    const std::string message = commit.message.substr(0, kMostMessageBytes);
    for (std::sregex_iterator at(message.begin(), message.end(), kReverts), end; at != end; ++at)
      ids.insert((*at)[1].str());
  }
  return ids;
}

/// The language of all code that the change touches outside of tests; empty: several, or none.
std::string language_of(const std::vector<refactor::ChangedFile>& changes) {
  std::string name;
  for (const refactor::ChangedFile& file : changes) {
    const refactor::CodeLanguage* language = refactor::language_of_file(file.path);
    if (language == nullptr || is_test(file.path)) continue;
    if (!name.empty() && name != language->name) return {};
    name = language->name;
  }
  return name;
}

/// "perf(core): Do less" -> "Do less"
std::string title_of(std::string_view subject) {
  static const std::regex kPrefix(R"(^\s*\w+(\([^)]*\))?!?:\s*)");
  const std::string line = base::ascii_line(subject, memory::kLongestTitle, ' ');
  const std::string title = std::regex_replace(line, kPrefix, "", std::regex_constants::format_first_only);
  return title.empty() ? line : title;
}

model::Experience experience_of(const vcs::PastCommit& commit, const std::string& language, std::string diff) {
  model::Experience experience;
  experience.title = title_of(base::first_line(commit.message));
  experience.strategy = fmt::format(
      "Mined from the history of a repository, commit {} of {}; nobody measured what it gains. Its author "
      "wrote:\n{}",
      commit.id.substr(0, 12), commit.date.substr(0, 10), commit.message.substr(0, kMostMessageBytes));
  experience.diff = std::move(diff);
  experience.language = language;
  experience.target = kRefactorTarget;
  experience.op_type = refactor::to_string(refactor::Goal::time);
  experience.run = kMined;
  experience.model = kMined;
  experience.created = commit.date;
  return memory::made_fit(experience).experience;
}

/// The patterns of git for files of a known language.
std::vector<std::string> code_patterns() {
  std::vector<std::string> patterns;
  for (const refactor::CodeLanguage& language : refactor::code_languages()) {
    for (const std::string& extension : language.extensions) patterns.push_back("*" + extension);
  }
  return patterns;
}

Result<void> mine_commit(const vcs::Repository& repository, const vcs::PastCommit& commit, MineReport& report) {
  const auto parent = repository.parent_of(commit.id);
  if (!parent) return {};  // the first commit, or a shallow clone's last
  TRY_ASSIGN(const std::string before, repository.tree_of(*parent));
  TRY_ASSIGN(const std::string after, repository.tree_of(commit.id));
  TRY_ASSIGN(std::string diff, repository.diff(before, after));
  if (diff.size() > kMostDiffBytes) {
    ++report.too_large;
    return {};
  }
  TRY_ASSIGN(const vcs::Listing old_files, repository.list(before));
  TRY_ASSIGN(const vcs::Listing new_files, repository.list(after));
  TRY_ASSIGN(const auto changes, refactor::changed_files(repository, old_files, new_files));
  const std::string language = language_of(changes);
  if (language.empty() || changes.size() > kMostFiles) {
    ++report.too_large;
    return {};
  }
  if (refactor::count_secrets(diff) + refactor::count_secrets(commit.message) > 0) {
    ++report.secrets;
    return {};
  }
  report.mined.push_back(experience_of(commit, language, std::move(diff)));
  return {};
}

}  // namespace

bool speaks_of_speed(std::string_view subject) {
  static const std::regex kSpeed(
      R"(^perf\b|\boptimi[sz](e|es|ed|ing|ation|ations)\b|\bspeed(s|ed|ing)?[ -]?up\b|\bfaster\b|\bquadratic\b|\bo\(n|\bperformance\b|\bhot (path|loop)\b)");
  const std::string text = base::lower(subject.substr(0, kLongestSubject));
  if (text.starts_with("revert") || text.starts_with("merge ")) return false;
  return std::regex_search(text, kSpeed);
}

Result<MineReport> mine_history(const Shell& shell, const MineOptions& options) {
  const std::string chosen = chosen_knowledge(options.knowledge, shell.environment);
  if (options.knowledge.empty() && chosen.find("://") != chosen.npos) {
    return base::fail(ErrorCode::invalid_argument,
                      "the knowledge store of the environment is a server; give it by --knowledge to send code of this "
                      "repository there, or a file to keep it here");
  }
  TRY_ASSIGN(const vcs::Repository repository, vcs::Repository::open(options.repository));
  TRY_ASSIGN(const auto commits, repository.history(options.from, code_patterns(), options.most));
  const std::set<std::string> reverted = reverted_in(commits);
  MineReport report;
  report.looked_at = commits.size();
  for (const vcs::PastCommit& commit : commits) {
    if (!speaks_of_speed(base::first_line(commit.message))) continue;
    const bool taken_back =
        std::ranges::any_of(reverted, [&](const std::string& id) { return commit.id.starts_with(id); });
    if (taken_back) continue;
    ++report.said_so;
    TRY(mine_commit(repository, commit, report));
  }
  if (options.knowledge == kNoKnowledge || report.mined.empty()) return report;
  TRY_ASSIGN(const auto store, open_knowledge(shell, options.knowledge, options.workspace, KnowledgeUse::writing));
  TRY_ASSIGN(report.stored, store->insert(report.mined, memory::Forgotten::stays));
  return report;
}

}  // namespace accelopt::app

// SPDX-License-Identifier: Apache-2.0
#include "suites/refactor_suite.hpp"

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"

namespace accelopt::suites {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Problem;
using base::Result;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::string_view kHashLine = "hash = ";
constexpr auto kKinds = std::to_array<base::Named<RefactorTaskKind>>(
    {{RefactorTaskKind::slow, "slow"}, {RefactorTaskKind::trap, "trap"}, {RefactorTaskKind::optimal, "optimal"}});

/// The line that states the hash: where it begins and ends. None: npos twice.
std::pair<std::size_t, std::size_t> hash_line(const std::string& text) {
  std::size_t begin = text.starts_with(kHashLine) ? 0 : text.find("\n" + std::string(kHashLine));
  if (begin == text.npos) return {text.npos, text.npos};
  if (begin > 0) ++begin;
  return {begin, std::min(text.find('\n', begin), text.size())};
}

/// Of every file of tasks and solutions by its path, and of suite.toml without its hash.
Result<std::string> hash_of(const fs::path& folder, const std::string& toml) {
  std::set<fs::path> files;
  for (const char* part : {"tasks", "solutions"}) {
    std::error_code failed;
    fs::recursive_directory_iterator entry(folder / part, failed);
    for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
      if (entry->is_regular_file(failed) || entry->is_symlink(failed))
        files.insert(entry->path().lexically_relative(folder));
    }
    if (failed) return base::fail_errno(failed.value(), (folder / part).string());
  }
  const auto [begin, end] = hash_line(toml);
  std::string all = begin == toml.npos ? toml : toml.substr(0, begin) + toml.substr(end);
  for (const fs::path& file : files) {
    TRY_ASSIGN(const std::string text, base::read_foreign_file(folder / file, kMostBytes));
    all += "\n" + file.generic_string() + " " + base::sha256_hex(text);
  }
  return "sha256:" + base::sha256_hex(all);
}

RefactorSuiteTask read_task(const base::TomlNode& table, std::vector<Problem>& problems) {
  base::TableReader read(table, "tasks", problems);
  RefactorSuiteTask task;
  task.name = read.string("name", "the task's folder in tasks/").value_or("");
  task.family = read.string("family", "the family of its cause").value_or("");
  task.language = read.string("language", "\"python\"").value_or("");
  task.program = read.string("program", "the program that must be installed").value_or("");
  const std::string kind = read.string("kind", "\"slow\", \"trap\" or \"optimal\"").value_or("");
  if (const auto known = base::value_in(kKinds, kind))
    task.kind = *known;
  else
    read.refuse("kind", "write \"slow\", \"trap\" or \"optimal\"");
  const auto peak = read.real("peak", "the speed-up of the reference solution");
  if (peak.has_value() == (task.kind == RefactorTaskKind::optimal) || peak.value_or(2) <= 1)
    read.refuse("peak", "write the speed-up of the reference solution, over 1; an optimal task has none");
  task.peak = peak.value_or(1);
  for (const char* key : {"name", "family", "language", "program"}) {
    if (!read.has(key)) read.require(key, "a text");
  }
  if (task.name.find('/') != task.name.npos || task.name.starts_with('.')) read.refuse("name", "write a folder's name");
  read.finish();
  return task;
}

/// The suite as its text says. Every problem with its line.
Result<RefactorSuite> read_suite(const fs::path& folder, const std::string& text) {
  const std::string file = (folder / "suite.toml").string();
  const auto root = base::parse_toml(text);
  if (!root) return base::fail(ErrorCode::parse, to_string(root.error(), file));
  std::vector<Problem> problems;
  base::TableReader read(*root, "", problems);
  RefactorSuite suite{.folder = folder, .name = {}, .hash = {}, .tasks = {}};
  if (read.integer("schema", "1") != 1) read.refuse("schema", "this version reads schema 1 alone");
  if (read.string("kind", "\"refactor\"") != "refactor") read.refuse("kind", "write \"refactor\"");
  suite.name = read.string("name", "the suite's name").value_or("");
  suite.version = static_cast<int>(read.integer("version", "1").value_or(0));
  suite.hash = read.string("hash", "what `accelopt bench SUITE --freeze` states").value_or("");
  suite.budget_seconds = read.real("budget_seconds", "600").value_or(0);
  suite.budget_evaluations = static_cast<int>(read.integer("budget_evaluations", "40").value_or(0));
  suite.resolved_share = read.real("resolved_share", "0.9").value_or(0);
  if (suite.budget_seconds <= 0) read.refuse("budget_seconds", "write seconds over 0");
  if (suite.budget_evaluations <= 0) read.refuse("budget_evaluations", "write a number over 0");
  if (suite.resolved_share <= 0 || suite.resolved_share > 1) read.refuse("resolved_share", "write a share up to 1");
  std::set<std::string> names;
  for (const base::TomlNode* table : read.tables("tasks", "[[tasks]]")) {
    suite.tasks.push_back(read_task(*table, problems));
    if (!names.insert(suite.tasks.back().name).second)
      problems.push_back({.line = table->line,
                          .key = "tasks.name",
                          .message = "the task " + suite.tasks.back().name + " is there already",
                          .file = {}});
  }
  if (suite.tasks.empty()) read.require("tasks", "[[tasks]]");
  read.finish();
  if (!problems.empty()) {
    return base::fail(ErrorCode::parse,
                      base::joined(problems, "\n", [&](const Problem& problem) { return to_string(problem, file); }));
  }
  return suite;
}

struct SuiteReading {
  RefactorSuite suite;
  std::string text;
  std::string hash;  ///< as its files are
};
Result<SuiteReading> read(const fs::path& folder) {
  TRY_ASSIGN(std::string text, base::read_foreign_file(folder / "suite.toml", kMostBytes));
  TRY_ASSIGN(RefactorSuite suite, read_suite(folder, text));
  for (const RefactorSuiteTask& task : suite.tasks) {
    std::error_code ignored;
    if (!fs::is_directory(folder / "tasks" / task.name, ignored))
      return base::fail(ErrorCode::not_found, (folder / "tasks" / task.name).string() + " is not there");
  }
  TRY_ASSIGN(std::string hash, hash_of(folder, text));
  return SuiteReading{std::move(suite), std::move(text), std::move(hash)};
}

}  // namespace

std::string_view to_string(RefactorTaskKind kind) {
  return base::name_in(kKinds, kind);
}

const RefactorSuiteTask* RefactorSuite::find(std::string_view task) const {
  const auto found = std::ranges::find(tasks, task, &RefactorSuiteTask::name);
  return found == tasks.end() ? nullptr : &*found;
}

bool is_refactor_suite(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "suite.toml", ignored);
}

Result<RefactorSuite> load_refactor_suite(const fs::path& folder) {
  TRY_ASSIGN(SuiteReading reading, read(folder));
  if (reading.hash != reading.suite.hash) {
    return base::fail(
        ErrorCode::corrupt,
        (folder / "suite.toml").string() +
            ": tasks, solutions or the suite itself are not what was frozen, so that figures could not be "
            "compared; undo the change, or raise the version and run `accelopt bench " +
            folder.string() + " --freeze`");
  }
  return std::move(reading.suite);
}

Result<std::string> freeze_refactor_suite(const fs::path& folder) {
  TRY_ASSIGN(const SuiteReading reading, read(folder));
  const auto [begin, end] = hash_line(reading.text);
  std::string text = reading.text;
  text.replace(begin, end - begin, std::string(kHashLine) + "\"" + reading.hash + "\"");
  TRY(base::write_file(folder / "suite.toml", text));
  return reading.hash;
}

}  // namespace accelopt::suites

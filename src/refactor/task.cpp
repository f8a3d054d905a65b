// SPDX-License-Identifier: Apache-2.0
#include "refactor/task.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"

namespace accelopt::refactor {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Problem;
using base::Result;
using base::TableReader;

constexpr std::size_t kMostTaskBytes = 1UL << 20;
constexpr std::int64_t kLargestSize = 1'000'000'000;
constexpr std::int64_t kMostCases = 100'000;
constexpr std::size_t kMostSizes = 32;
constexpr std::int64_t kMostDevelopers = 6;
constexpr std::int64_t kMostGeneratedTests = 16;

constexpr auto kGoals = std::to_array<base::Named<Goal>>({{Goal::time, "time"},
                                                          {Goal::complexity, "complexity"},
                                                          {Goal::memory, "memory"},
                                                          {Goal::readability, "readability"}});
constexpr auto kFormats = std::to_array<base::Named<TestFormat>>({{TestFormat::junit, "junit"},
                                                                  {TestFormat::tap, "tap"},
                                                                  {TestFormat::go_json, "go-json"},
                                                                  {TestFormat::unittest, "unittest"},
                                                                  {TestFormat::exit, "exit"}});
constexpr auto kRoles =
    std::to_array<base::Named<Role>>({{Role::race, "race"}, {Role::check, "check"}, {Role::held_out, "held_out"}});
constexpr auto kCompares = std::to_array<base::Named<Compare>>({{Compare::bytes, "bytes"}, {Compare::json, "json"}});

/// What no change may touch, whatever the task says: git's own files, CI, builds and locks of dependencies.
constexpr auto kAlwaysProtected = std::to_array<std::string_view>({".git*",
                                                                   "**/.git*",
                                                                   ".github/**",
                                                                   ".gitlab-ci.yml",
                                                                   ".ci/**",
                                                                   ".circleci/**",
                                                                   "Jenkinsfile",
                                                                   "**/*.lock",
                                                                   "*.lock",
                                                                   "**/go.sum",
                                                                   "go.sum",
                                                                   "**/go.mod",
                                                                   "go.mod",
                                                                   "Makefile",
                                                                   "**/Makefile",
                                                                   "CMakeLists.txt",
                                                                   "**/CMakeLists.txt",
                                                                   "*.cmake",
                                                                   "**/*.cmake",
                                                                   "package.json",
                                                                   "**/package.json",
                                                                   "package-lock.json",
                                                                   "pyproject.toml",
                                                                   "setup.py",
                                                                   "setup.cfg",
                                                                   "tox.ini",
                                                                   "pytest.ini",
                                                                   "conftest.py",
                                                                   "**/conftest.py",
                                                                   "sitecustomize.py",
                                                                   "usercustomize.py",
                                                                   "Cargo.toml",
                                                                   "**/Cargo.toml",
                                                                   "build.rs",
                                                                   "**/build.rs"});

template <class E, std::size_t N>
std::vector<std::string> names_of(const std::array<base::Named<E>, N>& table) {
  std::vector<std::string> names;
  for (const auto& [value, name] : table) names.emplace_back(name);
  return names;
}

template <class E, std::size_t N>
void read_name(TableReader& reader, std::string_view key, const std::array<base::Named<E>, N>& table, E& target) {
  const std::vector<std::string> names = names_of(table);
  const auto text = reader.string(key, base::join_names(names));
  if (!text) return;
  if (const auto value = base::value_in(table, *text))
    target = *value;
  else
    reader.refuse(key, base::unknown_name(key, *text, names));
}

void read_count(TableReader& reader, std::string_view key, std::int64_t least, std::int64_t most,
                std::int64_t& target) {
  const auto number = reader.integer(key, "a whole number");
  if (!number) return;
  if (*number < least || *number > most)
    reader.refuse(key, fmt::format("is {}; write a number from {} to {}", *number, least, most));
  else
    target = *number;
}

void read_scope(TableReader& reader, Task& task) {
  const char* example = "[\"path/to/file#function\"], or [\"path/to/file\"] for the whole file";
  const auto texts = reader.strings("scope", example);
  if (!reader.has("scope")) reader.require("scope", example);
  for (const std::string& text : texts.value_or(std::vector<std::string>())) {
    const std::size_t mark = text.find('#');
    Scope scope{text.substr(0, mark), mark == text.npos ? "" : text.substr(mark + 1)};
    const fs::path path(scope.path);
    const bool leaves = path.is_absolute() || path.lexically_normal().string().starts_with("..");
    if (scope.path.empty() || leaves || (mark != text.npos && scope.function.empty())) {
      reader.refuse("scope", base::in_quotes(text) + " is no path of the repository; write " + example);
      continue;
    }
    scope.path = path.lexically_normal().generic_string();
    if (!scope.function.empty() && task.language.form == FunctionForm::none) {
      reader.refuse("scope", "functions of " + task.language.name +
                                 " cannot be told apart yet; write the file alone, \"" + scope.path + "\"");
    }
    task.scope.push_back(scope);
  }
  if (texts && texts->empty()) reader.refuse("scope", std::string("is empty; write ") + example);
}

void read_commands(const base::TomlNode& table, Task& task, std::vector<Problem>& problems) {
  TableReader reader(table, "commands", problems);
  const char* example = "an argument list like [\"python3\", \"-m\", \"unittest\", \"-v\"]";
  task.build = reader.strings("build", example).value_or(std::vector<std::string>());
  if (const base::TomlNode* test = reader.table("test", "{ run = [...], format = \"junit\" }")) {
    TableReader inner(*test, "commands.test", problems);
    const auto run = inner.strings("run", example);
    if (!inner.has("run") || (run && run->empty())) inner.require("run", example);
    task.test = run.value_or(std::vector<std::string>());
    read_name(inner, "format", kFormats, task.test_format);
    inner.finish();
  }
  reader.finish();
}

void read_driver(const base::TomlNode& table, Task& task, std::vector<Problem>& problems) {
  TableReader reader(table, "driver", problems);
  const char* cases = R"(["python3", "{task}/cases.py", "{workload}", "{seed}", "{size}", "{count}", "{out}"])";
  const char* run = R"(["python3", "{task}/driver.py", "{cases}", "{results}"])";
  task.cases = reader.strings("cases", cases).value_or(std::vector<std::string>());
  task.run = reader.strings("run", run).value_or(std::vector<std::string>());
  if (!reader.has("cases")) reader.require("cases", cases);
  if (!reader.has("run")) reader.require("run", run);
  const auto names = [](const std::vector<std::string>& list, const char* word) {
    return std::ranges::any_of(list, [word](const std::string& one) { return one.find(word) != one.npos; });
  };
  if (!task.cases.empty() &&
      (!names(task.cases, "{out}") || !names(task.cases, "{seed}") || !names(task.cases, "{size}")))
    reader.refuse("cases", std::string("must use {seed}, {size} and {out}; write ") + cases);
  if (!task.run.empty() && (!names(task.run, "{cases}") || !names(task.run, "{results}")))
    reader.refuse("run", std::string("must use {cases} and {results}; write ") + run);
  read_name(reader, "compare", kCompares, task.compare);
  reader.finish();
}

void read_workload(const base::TomlNode& table, std::size_t number, Task& task, std::vector<Problem>& problems) {
  TableReader reader(table, fmt::format("workloads[{}]", number), problems);
  Workload workload;
  workload.name = reader.string("name", "a short name").value_or("");
  if (!reader.has("name")) reader.require("name", "a short name");
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  if (reader.has("name") && (workload.name.empty() || workload.name.find_first_not_of(kLetters) != std::string::npos))
    reader.refuse("name", "must be of letters, digits, _ and -");
  if (std::ranges::count(task.workloads, workload.name, &Workload::name) > 0)
    reader.refuse("name", "another workload has the name \"" + workload.name + "\"");
  const auto sizes = reader.integers("sizes", "sizes like [100, 200, 400]");
  if (!reader.has("sizes")) reader.require("sizes", "sizes like [100, 200, 400]");
  workload.sizes = sizes.value_or(std::vector<std::int64_t>());
  const bool odd = std::ranges::any_of(workload.sizes, [](auto size) { return size < 1 || size > kLargestSize; });
  const bool ascends = std::ranges::adjacent_find(workload.sizes, std::greater_equal<>()) == workload.sizes.end();
  if (sizes && (sizes->empty() || sizes->size() > kMostSizes || odd || !ascends))
    reader.refuse("sizes", fmt::format("must be 1 to {} ascending numbers from 1 to {}", kMostSizes, kLargestSize));
  read_name(reader, "role", kRoles, workload.role);
  std::int64_t count = workload.count;
  read_count(reader, "count", 1, kMostCases, count);
  workload.count = static_cast<int>(count);
  reader.finish();
  task.workloads.push_back(std::move(workload));
}

/// "512M", "2G".
std::optional<std::uint64_t> bytes_of(std::string_view text) {
  const char unit = text.empty() ? ' ' : text.back();
  const std::uint64_t factor = unit == 'G' ? 1ULL << 30 : unit == 'M' ? 1ULL << 20 : 0;
  const std::string_view digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
  if (factor == 0 || digits.empty() || digits.size() > 5 || digits.find_first_not_of("0123456789") != digits.npos)
    return std::nullopt;
  return factor * std::strtoull(std::string(digits).c_str(), nullptr, 10);
}

void read_limits(const base::TomlNode& table, TaskLimits& limits, std::vector<Problem>& problems) {
  TableReader reader(table, "limits", problems);
  read_count(reader, "seconds", 1, 3600, limits.seconds);
  read_count(reader, "patch_lines", 1, 100'000, limits.patch_lines);
  read_count(reader, "new_files", 0, 100, limits.new_files);
  if (const auto memory = reader.string("memory", "\"2G\" or \"512M\"")) {
    const auto bytes = bytes_of(*memory);
    if (!bytes || *bytes < (64ULL << 20))
      reader.refuse("memory", "is \"" + *memory + "\"; write at least 64M, like \"2G\" or \"512M\"");
    else
      limits.memory_bytes = *bytes;
  }
  reader.finish();
}

Critical read_critical(const base::TomlNode& table, std::vector<Problem>& problems) {
  Critical critical;
  TableReader reader(table, "critical", problems);
  read_count(reader, "developers", 2, kMostDevelopers, critical.developers);
  read_count(reader, "tests", 0, kMostGeneratedTests, critical.tests);
  reader.finish();
  return critical;
}

/// Why no change of a file in scope could ever pass; empty: it could.
std::string protected_scope(const Task& task) {
  for (const Scope& scope : task.scope) {
    const std::string pattern = protected_by(task, scope.path);
    if (!pattern.empty()) return scope.path + " is protected (" + pattern + "), and no change of it could pass";
  }
  return "";
}

Task read_task(const base::TomlNode& root, std::vector<Problem>& problems) {
  Task task;
  TableReader reader(root, "", problems);
  const auto schema = reader.integer("schema", "1");
  if (!schema) reader.require("schema", "1");
  if (schema && *schema != 1)
    reader.refuse("schema", fmt::format("is {}; this program reads 1, a newer one may read it", *schema));
  const auto kind = reader.string("kind", "\"refactor\"");
  if (!kind || *kind != "refactor") reader.refuse("kind", "must be \"refactor\"");
  task.name = reader.string("name", "a short name").value_or("");
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  if (task.name.empty() || task.name.size() > 60 || task.name.find_first_not_of(kLetters) != std::string::npos)
    reader.refuse("name", "must be of small letters, digits, _ and -, up to 60; it names the branch");
  task.repository = reader.string("repository", "the repository's folder, from this file's folder").value_or(".");
  task.base = reader.string("base", "a commit, like \"HEAD\"").value_or("HEAD");
  const auto language = reader.string("language", "the language's name");
  if (!language) reader.require("language", "the language's name");
  task.language = code_language(language.value_or(""));
  read_name(reader, "goal", kGoals, task.goal);
  read_scope(reader, task);
  task.protected_paths =
      reader.strings("protected", "patterns like [\"tests/**\"]").value_or(std::vector<std::string>());
  if (const std::string refusal = protected_scope(task); !refusal.empty()) reader.refuse("scope", refusal);
  if (const auto* commands = reader.table("commands", "a table of commands")) read_commands(*commands, task, problems);
  const auto* driver = reader.table("driver", "the driver's commands");
  if (driver != nullptr) read_driver(*driver, task, problems);
  if (!reader.has("driver")) reader.require("driver", "[driver] with cases and run, as `accelopt refactor init` does");
  const auto workloads = reader.tables("workloads", "[[workloads]]");
  for (const auto* workload : workloads) read_workload(*workload, task.workloads.size(), task, problems);
  if (std::ranges::none_of(task.workloads, [](const Workload& one) { return one.role == Role::race; }))
    reader.require("workloads", "at least one [[workloads]] of role \"race\"");
  if (const auto* limits = reader.table("limits", "limits")) read_limits(*limits, task.limits, problems);
  if (const auto* critical = reader.table("critical", "critical")) task.critical = read_critical(*critical, problems);
  reader.finish();
  return task;
}

}  // namespace

std::string_view to_string(Goal goal) {
  return base::name_in(kGoals, goal);
}
std::string_view to_string(TestFormat format) {
  return base::name_in(kFormats, format);
}
std::string_view to_string(Role role) {
  return base::name_in(kRoles, role);
}
std::string to_string(const Scope& scope) {
  return scope.function.empty() ? scope.path : scope.path + "#" + scope.function;
}

Result<Task> load_task(const fs::path& place) {
  std::error_code failed;
  const fs::path file = fs::is_directory(place, failed) ? place / "refactor.toml" : place;
  TRY_ASSIGN(const std::string text, base::read_foreign_file(file, kMostTaskBytes));
  const auto root = base::parse_toml(text);
  if (!root) return base::fail(ErrorCode::parse, base::to_string(root.error(), file.string()));
  std::vector<Problem> problems;
  Task task = read_task(*root, problems);
  if (!problems.empty()) {
    std::ranges::stable_sort(problems, {}, &Problem::line);
    return base::fail(ErrorCode::parse, base::joined(problems, "\n", [&](const Problem& problem) {
                        return base::to_string(problem, file.string());
                      }));
  }
  task.file = fs::canonical(file);
  task.folder = task.file.parent_path();
  task.repository = fs::weakly_canonical(task.folder / task.repository);
  // Now the task's own folder is known as well.
  if (const std::string refusal = protected_scope(task); !refusal.empty())
    return base::fail(ErrorCode::parse, file.string() + ": scope: " + refusal);
  return task;
}

bool fits_pattern(std::string_view path, std::string_view pattern) {
  if (pattern.empty()) return path.empty();
  if (pattern.front() != '*')
    return !path.empty() && path.front() == pattern.front() && fits_pattern(path.substr(1), pattern.substr(1));
  const bool deep = pattern.starts_with("**");
  std::string_view rest =
      pattern.substr(pattern.find_first_not_of('*') == pattern.npos ? pattern.size() : pattern.find_first_not_of('*'));
  if (deep && rest.starts_with('/') && fits_pattern(path, rest.substr(1))) return true;  // "**/x" fits "x"
  for (std::size_t taken = 0; taken <= path.size(); ++taken) {
    if (fits_pattern(path.substr(taken), rest)) return true;
    if (taken < path.size() && path[taken] == '/' && !deep) return false;
  }
  return false;
}

std::string protected_by(const Task& task, std::string_view path) {
  for (const std::string_view pattern : kAlwaysProtected) {
    if (fits_pattern(path, pattern)) return std::string(pattern);
  }
  for (const std::string& pattern : task.protected_paths) {
    if (fits_pattern(path, pattern)) return pattern;
  }
  const std::string folder = task.folder.lexically_relative(task.repository).generic_string();
  const bool inside = folder != "." && !folder.starts_with("..");
  if (inside && path.starts_with(folder + "/")) return folder + "/**";
  return "";
}

}  // namespace accelopt::refactor

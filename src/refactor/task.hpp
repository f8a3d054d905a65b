// SPDX-License-Identifier: Apache-2.0
// refactor.toml: what is to be refactored, and how that is built, tested and driven (docs/refactor.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "base/result.hpp"
#include "refactor/languages.hpp"

namespace accelopt::refactor {

/// What a change is wanted for: less processor time, a lower exponent of its growth, a smaller peak of memory,
/// simpler code.
enum class Goal { time, complexity, memory, readability };
std::string_view to_string(Goal goal);

/// One file, or one function of it, that may be changed.
struct Scope {
  std::string path;
  std::string function;  ///< empty: the whole file
};
std::string to_string(const Scope& scope);

/// How a test command says what became of each test. exit: by its exit code alone.
enum class TestFormat { junit, tap, go_json, unittest, exit };
std::string_view to_string(TestFormat format);

enum class Role { race, check, held_out };
std::string_view to_string(Role role);

/// Inputs of one kind, by its name: the driver's generator is told it.
struct Workload {
  std::string name;
  std::vector<std::int64_t> sizes;  ///< ascending
  Role role = Role::race;
  int count = 1;  ///< cases in one run
};

/// bytes: results are equal byte for byte. json: they are the same value.
enum class Compare { bytes, json };

struct TaskLimits {
  std::int64_t seconds = 60;  ///< processor time of one process
  std::uint64_t memory_bytes = 2ULL << 30;
  std::int64_t patch_lines = 300;
  std::int64_t new_files = 0;
};

/// For code that must not break: developers work beside each other and a reviewer decides (docs/review.md).
struct Critical {
  std::int64_t developers = 3;
  std::int64_t tests = 6;  ///< at most, of a tester
};

struct Task {
  std::filesystem::path file;        ///< refactor.toml
  std::filesystem::path folder;      ///< that holds it, with the driver
  std::filesystem::path repository;  ///< absolute
  std::string base = "HEAD";
  std::string name;
  CodeLanguage language;
  Goal goal = Goal::time;
  std::vector<Scope> scope;
  std::vector<std::string> protected_paths;
  std::vector<std::string> build;  ///< empty: nothing to build
  std::vector<std::string> test;   ///< empty: no tests
  TestFormat test_format = TestFormat::exit;
  std::vector<std::string> cases;
  std::vector<std::string> run;
  Compare compare = Compare::bytes;
  std::vector<Workload> workloads;
  TaskLimits limits;
  std::optional<Critical> critical;
};

/// The task of a refactor.toml, or of the folder that holds one. @error parse: every problem with its line; not_found,
/// io.
base::Result<Task> load_task(const std::filesystem::path& place);

/// Whether the path fits the pattern: `*` stands for what has no '/', `**` for anything.
bool fits_pattern(std::string_view path, std::string_view pattern);
/// The pattern that keeps a change from this path: the task's, or one that always holds; empty: it is free.
std::string protected_by(const Task& task, std::string_view path);

/// The texts of a new task folder by file name: refactor.toml, driver and generator to fill in.
struct NewFile {
  std::string name;
  std::string text;
};
/// What a new task is of.
struct NewTask {
  std::string path{};
  std::string function{};   ///< empty: the whole file
  std::string signature{};  ///< of the function; empty: not known
  CodeLanguage language{};
  std::string repository{};  ///< from the task's folder
};
std::vector<NewFile> new_task(const NewTask& task);
/// The arguments that a call has to give, by the text of the function's header: parameters without a default, besides
/// the object of a method. One where the header shows none of that.
int arguments_of(const NewTask& task);
/// "cases.py:11": lines of the driver's files that still say TODO.
std::vector<std::string> open_places(const Task& task);

}  // namespace accelopt::refactor

// SPDX-License-Identifier: Apache-2.0
// A task's command in the sandbox: a tree to read, a home and temporary folder that vanish after it, no network.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "refactor/task.hpp"

namespace accelopt::refactor {

enum class TreeAccess { read, write };

/// usual: files in its scratch folder, and processes of its own. counted: one process, which may write its results and
/// nothing else, so that its peak of resident memory is all that it keeps.
enum class Keeping { usual, counted };

struct JailedRun {
  std::vector<std::string> command;
  std::map<std::string, std::string> words{};  ///< {name} in the command -> its value
  std::filesystem::path tree;                  ///< its working folder
  TreeAccess access = TreeAccess::read;
  std::filesystem::path scratch;  ///< a folder of its own, writable: home, temporary files, results
  std::vector<std::filesystem::path> readable{};
  std::uint64_t hash_seed = 0;  ///< the same for old and new
  Keeping keeping = Keeping::usual;
  std::filesystem::path results{};         ///< in the scratch folder; of a counted run the one file that it may write
  std::int64_t most_seconds = 0;           ///< of processor time, where the task allows more; 0: what it allows
  std::vector<std::string> environment{};  ///< besides the language's: "NAME=value"
  /// Of standard output, and of standard error as many; more is dropped.
  std::size_t output_bytes = 4UL << 20;
};

struct JailedResult {
  bool succeeded = false;
  std::string end;              ///< "exit 1", "signal 11", "over 60 s"
  std::string output;           ///< standard output, its begin
  std::string errors;           ///< standard error, its end
  bool output_dropped = false;  ///< in part: it was longer than allowed
  bool errors_dropped = false;
  double cpu_seconds = 0;
  double wall_seconds = 0;
  std::uint64_t peak_bytes = 0;
};

/// What every command of one task shares.
class Jail {
 public:
  /// `tools`: folders of programs beside the machine's, which have them in `bin`, in `node_modules/.bin` or `.bin` as
  /// npm installs them, or themselves; what lies in them is readable.
  /// @error unsupported: this machine lacks what keeps a program from the user's files.
  static base::Result<Jail> create(const Task& task, std::vector<std::filesystem::path> tools, std::stop_token stop);

  /// Programs of the task's commands that neither the machine's folders nor the tools have.
  [[nodiscard]] std::vector<std::string> missing_programs() const;

  /// @error cancelled; not_found: there is no such program; io. How the program itself ended is the result.
  [[nodiscard]] base::Result<JailedResult> run(const JailedRun& run) const;

 private:
  Jail(Task task, std::vector<std::filesystem::path> tools, std::stop_token stop)
      : task_(std::move(task)), tools_(std::move(tools)), stop_(std::move(stop)) {}
  [[nodiscard]] std::string path_variable() const;

  Task task_;
  std::vector<std::filesystem::path> tools_;
  std::stop_token stop_;
};

}  // namespace accelopt::refactor

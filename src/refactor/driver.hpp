// SPDX-License-Identifier: Apache-2.0
// Old and new code on one fresh file of cases, each in a process of its own that is timed from outside.
#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "refactor/jail.hpp"
#include "refactor/task.hpp"

namespace accelopt::refactor {

/// The inputs of one pair.
struct CaseRequest {
  std::string workload;
  std::int64_t size = 0;
  int count = 1;
  std::uint64_t seed = 0;
};
/// "random, size 40, seed 7".
std::string to_string(const CaseRequest& request);

/// One laid-out tree. `tools` built it where the task says how.
struct Trees {
  std::filesystem::path old_tree;
  std::filesystem::path new_tree;
};

struct PairResult {
  JailedResult old_run;
  JailedResult new_run;
  std::string difference;  ///< what the new code did otherwise; empty: nothing
};

/// Whether both runs of a pair hash alike. apart: what depends on the hashes differs.
enum class HashSeeds { alike, apart };

class Driver {
 public:
  /// Copies the driver's files from the task's folder. @error io.
  static base::Result<Driver> create(const Task& task, const Jail& jail, std::uint64_t seed);

  /// Runs both, in random order, on fresh cases that the base's tree made.
  /// @error invalid_argument: the cases could not be made, or the old code's driver failed.
  base::Result<PairResult> run_pair(const Trees& trees, const CaseRequest& request);

  /// The same on these bytes, as the file of cases.
  base::Result<PairResult> run_on(const Trees& trees, std::string_view cases, HashSeeds seeds);
  /// What the generator writes. @error invalid_argument: it fails.
  base::Result<std::string> cases_of(const std::filesystem::path& tree, const CaseRequest& request);

  /// The copies of the driver's files: {task} in commands.
  [[nodiscard]] std::filesystem::path files() const { return own_.path() / "task"; }

 private:
  Driver(const Task& task, const Jail& jail, base::TemporaryFolder own, std::uint64_t seed)
      : task_(&task), jail_(&jail), own_(std::move(own)), random_(seed) {}

  struct Run {
    JailedResult process;
    base::Result<std::string> results;
  };
  base::Result<std::filesystem::path> make_cases(const std::filesystem::path& tree, const CaseRequest& request);
  base::Result<Run> run_once(const std::filesystem::path& tree, const std::filesystem::path& cases,
                             std::uint64_t hash_seed);
  /// Runs both on the file, in random order; `what` names the cases in messages.
  base::Result<PairResult> run_both(const Trees& trees, const std::filesystem::path& cases, const std::string& what,
                                    HashSeeds seeds);
  std::filesystem::path fresh_folder();

  const Task* task_;
  const Jail* jail_;
  base::TemporaryFolder own_;
  std::mt19937_64 random_;
};

}  // namespace accelopt::refactor

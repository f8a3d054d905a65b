// SPDX-License-Identifier: Apache-2.0
// Old and new code on one fresh file of cases, each in a process of its own that is timed from outside.
#pragma once

#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// A file of cases that the generator wrote; it is gone with this.
class MadeCases {
 public:
  MadeCases(std::filesystem::path file, std::string what) : file_(std::move(file)), what_(std::move(what)) {}
  MadeCases(MadeCases&& other) noexcept : file_(std::exchange(other.file_, {})), what_(std::move(other.what_)) {}
  MadeCases& operator=(MadeCases&& other) = delete;
  ~MadeCases();
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] const std::string& what() const { return what_; }  ///< in messages

 private:
  std::filesystem::path file_;
  std::string what_;
};

/// One laid-out tree. `tools` built it where the task says how.
struct Trees {
  std::filesystem::path old_tree;
  std::filesystem::path new_tree;
  std::filesystem::path base{};  ///< makes the cases, where the old tree is a change as well; empty: the old tree does

  [[nodiscard]] const std::filesystem::path& makes_cases() const { return base.empty() ? old_tree : base; }
};

struct PairResult {
  JailedResult old_run;
  JailedResult new_run;
  std::string difference;  ///< what the new code did otherwise; empty: nothing
};

/// What the code of one tree did on a file of cases.
struct DriverRun {
  JailedResult process;
  base::Result<std::string> results;
};

class Driver {
 public:
  /// Copies the driver's files from the task's folder. @error io.
  static base::Result<Driver> create(const Task& task, const Jail& jail, std::uint64_t seed);

  /// Fresh cases, made by this tree. @error invalid_argument: the generator fails.
  base::Result<MadeCases> make_cases(const std::filesystem::path& tree, const CaseRequest& request);
  /// Runs both on the cases, in random order. @error invalid_argument: the old code's driver failed.
  base::Result<PairResult> run_pair(const Trees& trees, const MadeCases& cases);
  /// The same on cases that the base's tree makes for it, which nobody times: each of these pairs runs in the next of
  /// several time zones.
  base::Result<PairResult> run_pair(const Trees& trees, const CaseRequest& request);

  /// One tree on these bytes, as the file of cases. `most_seconds`: JailedRun's.
  base::Result<DriverRun> run_on(const std::filesystem::path& tree, std::string_view cases, std::uint64_t hash_seed,
                                 std::int64_t most_seconds);
  /// @error invalid_argument: the old code's driver failed on these cases, which `what` names.
  [[nodiscard]] base::Result<void> expect_success(const DriverRun& old_run, std::string_view cases,
                                                  const std::string& what) const;
  /// The same text for runs between which there is no difference.
  [[nodiscard]] std::string what_it_did(const DriverRun& run) const;
  /// What the new code did otherwise; empty: nothing.
  [[nodiscard]] std::string difference(const DriverRun& old_run, const DriverRun& new_run) const;
  /// The calls' share of the processor time that this tree takes besides its start-up; none: its driver does not tell.
  base::Result<std::optional<double>> share_of_calls(const std::filesystem::path& tree, const MadeCases& cases,
                                                     double start_up_seconds);
  /// What the generator writes. @error invalid_argument: it fails.
  base::Result<std::string> cases_of(const std::filesystem::path& tree, const CaseRequest& request);

  /// The copies of the driver's files: {task} in commands.
  [[nodiscard]] std::filesystem::path files() const { return own_.path() / "task"; }

 private:
  Driver(const Task& task, const Jail& jail, base::TemporaryFolder own, std::uint64_t seed)
      : task_(&task), jail_(&jail), own_(std::move(own)), random_(seed), zone_(random_()) {}

  struct RunSettings {
    std::uint64_t hash_seed = 0;
    std::int64_t most_seconds = 0;           ///< JailedRun's
    std::vector<std::string> environment{};  ///< JailedRun's
  };
  /// `what`: the cases, in messages.
  base::Result<PairResult> run_both(const Trees& trees, const std::filesystem::path& cases, const std::string& what,
                                    const RunSettings& settings);
  base::Result<DriverRun> run_once(const std::filesystem::path& tree, const std::filesystem::path& cases,
                                   const RunSettings& settings);
  std::filesystem::path fresh_folder();

  const Task* task_;
  const Jail* jail_;
  base::TemporaryFolder own_;
  std::mt19937_64 random_;
  std::size_t zone_;  ///< turn of the next pair that is not timed
};

}  // namespace accelopt::refactor

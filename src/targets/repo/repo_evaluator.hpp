// SPDX-License-Identifier: Apache-2.0
// What a search asks about changes of a repository, answered by the gates of src/refactor. It runs in the coordinator:
// a candidate's code runs in the sandbox of refactor::Jail alone, and nothing of it is loaded here.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "evaluation/evaluator.hpp"
#include "refactor/checker.hpp"

namespace accelopt::targets::repo {

struct RepoOptions {
  std::vector<std::filesystem::path> tools{};  ///< folders of programs beside the machine's
  std::stop_token stop{};                      ///< ends the program that runs at the time
  std::function<void(const std::string&)> notice = [](const std::string&) {};  ///< what a person should know
  /// The base was built, tested and run, which took this.
  std::function<void(const refactor::Costs&)> opened = [](const refactor::Costs&) {};
};

/// Answers one request at a time, whoever asks. Of a model::Task that has a repo part.
/// Open @error invalid_argument: the base does not build, pass or run, or the task's folder has changed since.
class RepoEvaluator : public evaluation::Evaluator {
 public:
  /// Of these kernels, in their order; without a folder: it does not build.
  using Changes = std::vector<refactor::CheckResult>;
  using Use = std::function<base::Outcome<void>(refactor::Checker&, const Changes&)>;
  /// Hands out the checker with these kernels as changes, each built; opens the task where no request has done so yet.
  /// Nothing is measured meanwhile. @error as Open, and as `use`.
  virtual base::Outcome<void> with_checker(const evaluation::Open& open, const std::vector<model::Kernel>& kernels,
                                           const Use& use) = 0;
  /// Tests that every candidate has to pass from now on, besides the base's own.
  virtual void hold_to(std::vector<refactor::GeneratedTest> tests) = 0;
};

std::unique_ptr<RepoEvaluator> make_repo_evaluator(RepoOptions options);

}  // namespace accelopt::targets::repo

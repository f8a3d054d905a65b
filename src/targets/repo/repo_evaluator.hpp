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
std::unique_ptr<evaluation::Evaluator> make_repo_evaluator(RepoOptions options);

}  // namespace accelopt::targets::repo

// SPDX-License-Identifier: Apache-2.0
// What a critical run on a repository has besides a search: tests that a tester wrote from the base alone, and a
// reviewer who decides among the finalists.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/team.hpp"
#include "base/json.hpp"
#include "base/outcome.hpp"
#include "refactor/generated_tests.hpp"
#include "search/finalist_review.hpp"
#include "targets/repo/repo_evaluator.hpp"

namespace accelopt::app {

/// Whom a run asks besides its team, and where what they say is run. Everything outlives it.
struct CriticalPorts {
  llm::ChatModel* chat = nullptr;
  targets::repo::RepoEvaluator& evaluator;
  evaluation::Open open;  ///< the task, as the search opens it
  std::filesystem::path workspace;
  int at_once = 8;  ///< questions in flight
  std::function<void(const std::string&)> notice = [](const std::string&) {};
};

/// Reviews as `accelopt review` does. A reviewer that is not calibrated in the workspace only advises.
std::unique_ptr<search::FinalistReviewer> make_finalist_reviewer(CriticalPorts ports);

/// What a tester wrote, and what was kept of it.
struct WrittenTests {
  refactor::TestSelection selection;
  model::Usage usage;
  double device_seconds = 0;
  std::string refused{};  ///< why there are none
};
void to_json(base::Json& out, const WrittenTests& tests);
void from_json(const base::Json& in, WrittenTests& tests);

/// Asks for at most `count` tests once a run, tries them, and charges for them.
/// Put off: the answer is not there yet. @error as the evaluator and the model.
base::Outcome<WrittenTests> tests_of_run(const CriticalPorts& ports, search::Recorder& recorder, search::Budget& budget,
                                         int count, const std::stop_token& stop);
/// "3 of 6 tests kept; they kill 4 of 9 mutants that nothing else kills".
std::string describe(const WrittenTests& tests);

}  // namespace accelopt::app

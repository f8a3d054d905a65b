// SPDX-License-Identifier: Apache-2.0
// Passes through a suite of refactorings with memory cold, warm and shuffled: does the player resolve tasks faster with
// what it learned (benchmarks/README.md)?
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/config.hpp"
#include "app/search_options.hpp"
#include "app/shell.hpp"
#include "base/result.hpp"
#include "report/resolve_times.hpp"
#include "suites/refactor_suite.hpp"

namespace accelopt::app {

struct RefactorSuiteRequest {
  std::filesystem::path suite;
  std::vector<std::string> only{};             ///< names of tasks; none: all
  std::vector<report::MemoryArm> arms{};       ///< of the passes after the first; none: all
  int rounds = 1;                              ///< passes; memory grows from each to the next
  int jobs = 1;                                ///< games that are played side by side
  std::uint64_t seed = 1;                      ///< of all inputs
  std::vector<std::filesystem::path> tools{};  ///< folders of programs that tasks need
  SearchFlags search{};                        ///< of a player with models
  Config config{};                             ///< its models
  std::filesystem::path results{};             ///< file to append to; empty: results/DATE-MACHINE.jsonl in the suite
};

/// A suite run that can begin.
struct RefactorSuitePlan {
  RefactorSuiteRequest request;
  suites::RefactorSuite suite;
  std::vector<suites::RefactorSuiteTask> tasks;  ///< that are played
  std::vector<std::string> left_out{};           ///< each with the reason
  std::string machine;
  base::Json player{};  ///< as player_of() says
  std::filesystem::path results;
};

/// @error as load_refactor_suite; not_found: none of the tasks has such a name, or can be played here.
base::Result<RefactorSuitePlan> plan_refactor_suite(const Shell& shell, RefactorSuiteRequest request);

struct RefactorSuitePorts {
  std::function<void(const std::string&)> step = [](const std::string&) {};
  std::function<void(const report::ResolveLine&)> finished = [](const report::ResolveLine&) {};
};

struct RefactorSuiteReport {
  std::vector<report::ResolveLine> lines;
  std::filesystem::path results;  ///< that the lines were appended to
  bool interrupted = false;
};

/// Plays every task in every arm, round by round, each in a repository, a workspace and a store of its own. The ports
/// are called from several threads where games are played side by side. A line is written as soon as it is known. In
/// the first round memory is empty, so that it has a cold arm alone.
/// @error io; what fails within one task is in its line.
base::Result<RefactorSuiteReport> run_refactor_suite(const Shell& shell, const RefactorSuitePlan& plan,
                                                     const RefactorSuitePorts& ports);

/// What memory holds in an arm, of what was learned so far. warm: what was learned on tasks of other families.
/// shuffled: the same, where each keeps what it was learned on, and gets the lesson of another.
std::vector<model::Experience> memory_of(report::MemoryArm arm, const std::vector<model::Experience>& learned,
                                         const suites::RefactorSuite& suite, const suites::RefactorSuiteTask& task,
                                         std::uint64_t seed);

/// The lines of all results of the suite, by the files' names. @error as read_resolve_lines, io.
base::Result<std::vector<report::ResolveLine>> read_refactor_results(const std::filesystem::path& suite);

/// Writes TREND.md and trend.svg beside the suite's results. Gives the files. @error as read_refactor_results.
base::Result<std::vector<std::filesystem::path>> write_refactor_trend(const std::filesystem::path& suite);

}  // namespace accelopt::app

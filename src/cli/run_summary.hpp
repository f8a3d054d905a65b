// SPDX-License-Identifier: Apache-2.0
// A run's result as people read it on a terminal.
#pragma once

#include <filesystem>
#include <string>

#include "model/task.hpp"
#include "search/result.hpp"

namespace accelopt::cli {

/// The outcome, the table of workloads, what became of the attempts, and what it cost.
std::string describe(const search::RunResult& result);

/// "40 attempts: 30 PASSED (11 were known programs), 6 NOT_MEASURED, 4 NO_ANSWER": the counts add up to the attempts.
std::string attempts_text(const search::RunResult& result);

/// Of a run that found a winner: the beginning of its change, where it is, and the next command. Else empty.
std::string describe_winner(const search::RunResult& result, const model::Task& task,
                            const std::filesystem::path& workspace);

}  // namespace accelopt::cli

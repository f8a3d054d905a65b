// SPDX-License-Identifier: Apache-2.0
// Whether a task's reference and baseline build, found out before anything is drawn or paid for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/shell.hpp"
#include "base/problem.hpp"
#include "base/result.hpp"
#include "model/task.hpp"

namespace accelopt::app {

/// Builds a reference in C or C++, and such a baseline of a task for the processor, as a measurement does; what is made
/// stays in the compiler's cache. The errors by file and line; without a compiler, an advice that nothing was built.
/// `compiler`: empty takes the first that there is. @error cancelled, io.
base::Result<std::vector<base::Problem>> build_problems(const Shell& shell, const std::string& compiler,
                                                        const model::Task& task, const std::filesystem::path& folder);

/// The errors of a compiler's output, which says `NAME:LINE:COLUMN: error: MESSAGE`, as problems of `file`; of one that
/// names no line, as one problem.
std::vector<base::Problem> compiler_problems(const std::string& output, const std::string& file);

}  // namespace accelopt::app

// SPDX-License-Identifier: Apache-2.0
// suite.toml: a suite of refactorings that a player is measured by (benchmarks/README.md). It is frozen by a hash, so
// that figures of different days are of the same tasks.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::suites {

/// slow: it has a cause that can be mended. trap: so it has, and the obvious change gives other results on rare inputs.
/// optimal: nothing that is worth having is left.
enum class RefactorTaskKind { slow, trap, optimal };
std::string_view to_string(RefactorTaskKind kind);

struct RefactorSuiteTask {
  std::string name;    ///< of its folder in tasks/ and in its refactor.toml
  std::string family;  ///< of causes; "none": optimal
  std::string language;
  std::string program;  ///< that must be installed
  RefactorTaskKind kind = RefactorTaskKind::slow;
  double peak = 1;  ///< speed-up of our reference solution; 1: optimal
};

struct RefactorSuite {
  std::filesystem::path folder;
  std::string name;
  int version = 1;
  std::string hash;           ///< that the file states
  double budget_seconds = 0;  ///< of one task
  int budget_evaluations = 0;
  double resolved_share = 1;  ///< of log peak: what resolves a task
  std::vector<RefactorSuiteTask> tasks;

  [[nodiscard]] const RefactorSuiteTask* find(std::string_view task) const;
};

/// Whether the folder is such a suite.
bool is_refactor_suite(const std::filesystem::path& folder);

/// @error parse: every problem with its line; not_found: no suite.toml, or no folder of a task; corrupt: a file of the
/// suite is not what was frozen.
base::Result<RefactorSuite> load_refactor_suite(const std::filesystem::path& folder);

/// States the hash of the suite as it is now in its suite.toml, and gives it. @error as load_refactor_suite; io.
base::Result<std::string> freeze_refactor_suite(const std::filesystem::path& folder);

}  // namespace accelopt::suites

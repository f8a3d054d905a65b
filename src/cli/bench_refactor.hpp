// SPDX-License-Identifier: Apache-2.0
// `accelopt bench` of a suite of refactorings (benchmarks/).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/search_options.hpp"
#include "app/shell.hpp"
#include "base/result.hpp"
#include "cli/exit.hpp"

namespace accelopt::cli {

struct RefactorBenchFlags {
  std::string suite;
  std::vector<std::string> only;
  std::vector<std::string> arms;
  std::vector<std::string> tools;
  std::string results;
  std::string workspace;
  app::SearchFlags search;
  std::optional<std::uint64_t> seed;
  int rounds = 1;
  int jobs = 1;
  bool json = false;
};

base::Result<Exit> run_refactor_bench(const app::Shell& shell, const RefactorBenchFlags& flags);
/// Writes TREND.md and trend.svg.
base::Result<Exit> plot_refactor_bench(const RefactorBenchFlags& flags);
base::Result<Exit> freeze_refactor_bench(const RefactorBenchFlags& flags);

}  // namespace accelopt::cli

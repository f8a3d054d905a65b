// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/run.hpp"
#include "base/result.hpp"
#include "refactor/task.hpp"

namespace accelopt::app {

/// The knobs of a run, as somebody gives them; what is not given keeps the preset's value.
struct SearchFlags {
  std::string preset = "default";
  std::optional<int> iterations, beam, plans, attempts, fixes, patience;
  std::optional<double> near_roofline;
  std::string strategy;
  std::string schedule = "pipeline";
  bool no_memory = false;
  std::string memory;  ///< "queue", "ranked"; empty: as the preset says
  bool exclude_family = false;
  std::string knowledge;  ///< path, address or "none"
  std::optional<int> max_evaluations;
  std::optional<std::int64_t> max_tokens;
  std::optional<double> max_usd;
  std::optional<std::string> max_device_seconds;  ///< "90", "90s", "3m"; an empty text is refused, not no limit
  std::optional<std::string> max_time;            ///< "90s", "3m", "2h"; likewise
  bool critical = false;                          ///< a reviewer decides among the finalists, of a task of a repository
  int developers = 3;                             ///< over the beam of a critical run
  std::optional<int> tests{};                     ///< that a tester is asked for, of a task of a repository
  double allow_regression = 0.05;
  std::optional<std::uint64_t> seed;
  AgentFlags agents;
  DeviceFlags device;
};

/// For tasks of a repository, where a check takes seconds and not a tenth of that: fewer of them unless more are asked
/// for.
void take_repo_defaults(SearchFlags& flags);

/// What refactor.toml says of critical code holds for every run of it; a number of tests that somebody gives goes
/// before.
void take_critical_of(const refactor::Task& task, SearchFlags& flags);

/// The settings that the flags ask for; recipes try each plan once unless told otherwise, because they answer alike.
/// @error invalid_argument: a value outside its range, an unknown preset or strategy, a malformed duration.
base::Result<RunSettings> settings_from(const SearchFlags& flags, const Config& config, const Environment& environment);

/// Whether the models that settings name can be used. @error invalid_argument: the flags contradict each other or do
/// nothing, a role has no model, as check_prices.
base::Result<void> check_models(const RunSettings& settings, const Config& config);

/// Whether the dollars that a limit speaks of can be counted. @error invalid_argument: a model's price is not known.
base::Result<void> check_prices(const RunSettings& settings, const Config& config);

/// Seconds of "90s", "3m", "2h", "1.5h". @error invalid_argument.
base::Result<double> parse_duration(const std::string& text);

}  // namespace accelopt::app

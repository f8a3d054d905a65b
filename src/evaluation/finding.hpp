// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>

#include "base/names.hpp"

namespace accelopt::evaluation {

/// One line of `accelopt doctor`: something that evaluating needs, and whether this machine has it.
struct Finding {
  enum class State { ok, degraded, missing };
  std::string name;
  State state = State::ok;
  std::string detail;
  std::string advice{};  ///< what to do; empty: nothing
};
using Report = std::function<void(const Finding&)>;

inline constexpr auto kFindingStates = std::to_array<base::Named<Finding::State>>(
    {{Finding::State::ok, "ok"}, {Finding::State::degraded, "degraded"}, {Finding::State::missing, "missing"}});
constexpr std::string_view to_string(Finding::State state) {
  return base::name_in(kFindingStates, state);
}

/// Variables of the process's environment, those that are set.
using Environment = std::map<std::string, std::string>;

}  // namespace accelopt::evaluation

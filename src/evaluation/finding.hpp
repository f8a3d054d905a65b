// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

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

/// Variables of the process's environment, those that are set.
using Environment = std::map<std::string, std::string>;

}  // namespace accelopt::evaluation

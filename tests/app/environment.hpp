// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "app/shell.hpp"

namespace accelopt::app {

/// An environment with these variables alone.
inline Environment environment_of(std::map<std::string, std::string> variables = {}) {
  return [variables = std::move(variables)](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace accelopt::app

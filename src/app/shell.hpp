// SPDX-License-Identifier: Apache-2.0
// What a use case knows of the process that it works for.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "search/attempt.hpp"

namespace accelopt::app {

/// The value of an environment variable; nothing where it is not set or empty. May be called from any thread.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

struct Shell {
  std::string program;  ///< path of this very binary
  search::Stops stops;  ///< first Ctrl-C: wind down; second: abort
  Environment environment;
  std::function<void(const std::string&)> warn;  ///< says something to the person who waits; any thread
};

}  // namespace accelopt::app

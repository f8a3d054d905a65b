// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "app/shell.hpp"
#include "base/result.hpp"
#include "evaluation/finding.hpp"
#include "evaluation/target.hpp"

namespace accelopt::app {

/// The variables that targets look at (targets/registry.hpp), where set.
evaluation::Environment target_environment(const Environment& environment);

/// The target that measures on a device of this machine; `compiler` empty: the first that there is. Measured peaks are
/// kept below $XDG_CACHE_HOME/accelopt or ~/.cache/accelopt. @error as parse_device.
base::Result<std::unique_ptr<evaluation::Target>> make_target(const Shell& shell, const std::string& device,
                                                              const std::string& compiler);

}  // namespace accelopt::app

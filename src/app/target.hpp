// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/shell.hpp"
#include "base/result.hpp"
#include "evaluation/finding.hpp"
#include "evaluation/target.hpp"

namespace accelopt::app {

/// Where peaks and what compilers made are kept: below $XDG_CACHE_HOME or ~/.cache; empty: nowhere.
std::filesystem::path cache_folder(const Environment& environment);

/// The variables that targets look at (targets/registry.hpp), where set.
evaluation::Environment target_environment(const Environment& environment);

/// The target that measures on a device of this machine; `compiler` empty: the first that there is. @error as
/// parse_device.
base::Result<std::unique_ptr<evaluation::Target>> make_target(const Shell& shell, const std::string& device,
                                                              const std::string& compiler);

}  // namespace accelopt::app

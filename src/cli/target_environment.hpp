// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/finding.hpp"

namespace accelopt::cli {

/// The variables that targets look at (targets/registry.hpp), where set. To be called before any thread is started.
evaluation::Environment target_environment();

}  // namespace accelopt::cli

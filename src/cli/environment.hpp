// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/shell.hpp"

namespace accelopt::cli {

/// This process's environment. The first call takes the knowledge store's password out of it, so that no child
/// inherits it; to be made before any thread starts.
app::Environment environment();

}  // namespace accelopt::cli

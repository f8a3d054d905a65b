// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.hpp"

namespace accelopt::targets::trainium {

/// Calls `work(0)` to `work(count - 1)`, each in a thread of its own, the last one in the caller's. Gives the first
/// error, in this order, when all have ended. @error exhausted: memory ran out in one of them.
base::Result<void> side_by_side(std::size_t count, const std::function<base::Result<void>(std::size_t)>& work);

}  // namespace accelopt::targets::trainium

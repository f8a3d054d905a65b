// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace accelopt::base {

/// The unified diff that turns `before` into `after`: minimal (Myers), three lines of context, `patch` and `git apply`
/// take it. Empty when they are equal. The names stand in the `---` and `+++` lines as given.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name);

}  // namespace accelopt::base

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace accelopt::model {

/// Why the name cannot be a parameter or an axis of a generated header, or a tuned name; empty when it can. It must be
/// a C identifier and no keyword of C or C++ and no name that the header uses itself.
std::string refuse_c_name(std::string_view name);

/// Letters, digits and underscores, not beginning with a digit.
bool is_identifier(std::string_view name);

}  // namespace accelopt::model

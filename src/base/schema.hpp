// SPDX-License-Identifier: Apache-2.0
// The version that a stored or exchanged JSON object states (docs/versions.md).
#pragma once

#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace accelopt::base {

/// Whether this program can read the object: its `schema` is `newest` or older. One that states none is older than the
/// statement. `what` names the object in the message.
/// @error unsupported: it is newer; corrupt: its `schema` is no whole number from 1.
Result<void> check_schema(const Json& object, int newest, std::string_view what);

}  // namespace accelopt::base

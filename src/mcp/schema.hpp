// SPDX-License-Identifier: Apache-2.0
// The part of JSON Schema that the tools' arguments need.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace accelopt::mcp {

/// A schema from its text, which is part of the program.
base::Json schema(std::string_view text);

/// Whether the value is as the schema says; it may use: type, properties, required, additionalProperties, items, enum,
/// minimum, maximum, minLength, maxLength, pattern is not among them. @error invalid_argument: what is wrong, by the
/// argument's name, and what is possible.
base::Result<void> check(const base::Json& value, const base::Json& schema, const std::string& name = {});

}  // namespace accelopt::mcp

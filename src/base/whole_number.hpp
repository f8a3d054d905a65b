// SPDX-License-Identifier: Apache-2.0
// Whole numbers in JSON that anybody may have written.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.hpp"

namespace accelopt::base {

/// The number where the value is a whole one of 64 bits with a sign; none for anything else. JSON's own check of its
/// kind also holds for larger ones, which nothing here can be.
inline std::optional<std::int64_t> whole_number(const Json& value) {
  if (!value.is_number_integer() || !fits<std::int64_t>(value)) return std::nullopt;
  return value.get<std::int64_t>();
}

}  // namespace accelopt::base

// SPDX-License-Identifier: Apache-2.0
// Arrays that a function declares itself, whose lengths its arguments may not exceed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace accelopt::scaffold {

/// The value of an expression of whole numbers and constants that the source defines, as "MAX_ORDER + 1"; none: its
/// value is not found.
std::optional<std::int64_t> constant_value(const std::string& expression, const std::string& source);

/// The lengths of the arrays that the source declares, of each dimension, as far as they are constant: 25 of
/// `double c[MAX_ORDER + 1]` or `std::array<double, 25> c`. The source has no comments.
std::vector<std::int64_t> own_array_lengths(const std::string& source);

}  // namespace accelopt::scaffold

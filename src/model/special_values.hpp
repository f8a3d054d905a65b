// SPDX-License-Identifier: Apache-2.0
// Code that asks for NaN and infinity, and flags under which the compiler takes for granted that there is none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelopt::model {

/// How a C-family text asks for NaN or infinity, or names one: "isnan", "INFINITY", or that it
/// compares a value with itself. Empty: it does not.
std::string special_value_named(std::string_view source);

/// Whether the text itself gives such flags, by a pragma or an attribute: `#pragma GCC optimize("fast-math")`.
bool asks_for_finite_math(std::string_view source);

/// Whether the compiler may assume that no value is NaN or infinite, by the last of the flags that says so.
bool assumes_finite_math(const std::vector<std::string>& flags);

}  // namespace accelopt::model

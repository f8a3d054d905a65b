// SPDX-License-Identifier: Apache-2.0
// Code that asks for NaN and infinity, and flags under which the compiler takes for granted that there is none.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/solution.hpp"

namespace accelopt::model {

/// How a C-family text asks for NaN or infinity, or names one: "isnan", "INFINITY", or that it
/// compares a value with itself. Empty: it does not.
std::string special_value_named(std::string_view source);

/// Whether what a C-family text does with NaN may be meant, though it names none: as above, or by fmax and the like,
/// `!(a < b)`, `a < b` beside `a >= b`, or what special_values_asked finds. Whether it is, only a call with NaN tells.
bool may_handle_nan(std::string_view source);

/// What a C-family text means to do with special values that it is given.
enum class SpecialValues {
  not_asked,  ///< nothing that is seen; an infinity from which a maximum begins, or a result of NaN, asks nothing
  maybe_nan,  ///< fmax and the like, `!(a < b)`, or `a < b` beside `a >= b`
  asked       ///< by isnan and the like, a comparison with itself, infinity or FLT_MAX, `v - v`, or exponents' bits
};
SpecialValues special_values_asked(std::string_view source);

/// The names of what a C-family text asks so, as `isnan(v)`, and of what that was assigned or passed from: with
/// `float v = x[i] * s`, v, x and s. Indices are not among them; what goes through macros and lambdas is not followed.
std::set<std::string> names_asked_for_special_values(std::string_view source);

/// Whether the text itself gives such flags, by a pragma or an attribute: `#pragma GCC optimize("fast-math")`. Options
/// that a macro makes, `optimize(TEXT_OF(fast-math))`, are taken for such: what they are stands nowhere.
bool asks_for_finite_math(std::string_view source);

/// Whether the compiler may assume that no value is NaN or infinite, by the last of the flags that says so.
bool assumes_finite_math(const std::vector<std::string>& flags);

/// The same of a solution in C or C++, by its own flags, those of the user's build, and its text.
bool is_built_with_finite_math(const Solution& solution);

}  // namespace accelopt::model

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::base {

/// Value of an integer expression over named values: + - * / (floor) %, parentheses, cdiv(a, b), min(a, b), max(a, b);
/// == != < <= > >= and && || ! give 1 or 0, and what && and || need not look at may fail.
/// @error parse: malformed, with the column; invalid_argument: an unknown name, a division by zero or an overflow of 64
/// bits.
Result<std::int64_t> evaluate_expression(std::string_view text, const std::map<std::string, std::int64_t>& values);

struct ExpressionFault {
  std::size_t offset = 0;  ///< in the text, from 0
  std::string reason;
};
/// Where and why the text is no expression; none when it is one.
std::optional<ExpressionFault> expression_fault(std::string_view text);

/// The names that the expression uses, each once. @error parse.
Result<std::vector<std::string>> expression_names(std::string_view text);

}  // namespace accelopt::base

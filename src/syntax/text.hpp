// SPDX-License-Identifier: Apache-2.0
// Small questions to a C-family text that need no syntax tree.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "syntax/source.hpp"

namespace accelopt::syntax {

/// The #include lines of the text, in order.
std::vector<Include> includes_of(std::string_view source);

/// End of the identifier, macro call or number that begins at the offset: past `NAME` or `NAME(...)`.
std::size_t end_of_name(std::string_view source, std::size_t offset);

/// Offset past the next ';' when nothing but white space and comments stands before it; otherwise the offset itself.
std::size_t past_semicolon(std::string_view source, std::size_t offset);

}  // namespace accelopt::syntax

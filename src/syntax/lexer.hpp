// SPDX-License-Identifier: Apache-2.0
// The lexer of the C family, without any library: what makes two texts the same program apart from layout.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/source.hpp"

namespace accelopt::syntax {

enum class TokenKind { identifier, number, string, character, punctuator, preprocessor, directive };

struct Token {
  TokenKind kind = TokenKind::punctuator;
  std::string text;  ///< preprocessor and directive: the line, inner white space reduced to single spaces
  std::size_t offset = 0;
};

/// The tokens of a C-family text. Comments and layout are dropped; preprocessor lines are one token each (continuations
/// joined); so are directives (`//@ ...`). An unterminated literal or comment ends with the text.
std::vector<Token> tokens(std::string_view source);

/// The #include lines of the text, in order.
std::vector<Include> includes_of(std::string_view source);

/// End of the identifier, macro call or number that begins at the offset: past `NAME` or `NAME(...)`.
std::size_t end_of_name(std::string_view source, std::size_t offset);

/// Offset past the next ';' when nothing but white space and comments stands before it; otherwise the offset itself.
std::size_t past_semicolon(std::string_view source, std::size_t offset);

}  // namespace accelopt::syntax

// SPDX-License-Identifier: Apache-2.0
// The lexer of the C family, without any library: what makes two texts the same program apart from layout.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::model {

enum class TokenKind { identifier, number, string, character, punctuator, preprocessor, directive };

struct Token {
  TokenKind kind = TokenKind::punctuator;
  std::string text;  ///< preprocessor and directive: the line, inner white space reduced to single spaces
  std::size_t offset = 0;
  std::size_t end = 0;  ///< in the source; of a preprocessor line: with its comments, before its line end
};

/// The tokens of a C-family text. Comments and layout are dropped; preprocessor lines are one token each (continuations
/// joined); so are directives (`//@ ...`). An unterminated literal ends with its line, an unterminated comment with the
/// text.
std::vector<Token> c_tokens(std::string_view source);

/// Their texts, which decide the meaning: two sources with equal ones compile to the same program, unless they use
/// __LINE__.
std::vector<std::string> canonical_tokens(std::string_view source);

}  // namespace accelopt::model

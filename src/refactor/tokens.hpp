// SPDX-License-Identifier: Apache-2.0
// The words and marks of a source whose blocks are told by braces, without its comments.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "refactor/languages.hpp"

namespace accelopt::refactor {

/// literal: a string, a character, a template or a regular expression as a whole. directive: a line of the C
/// preprocessor, with the lines that continue it.
enum class TokenKind { word, literal, mark, directive };

struct Token {
  TokenKind kind = TokenKind::mark;
  std::string_view text;  ///< marks are one character, or one of "=>", "->" and "::"
  std::size_t line = 0;   ///< from 0, of its first character
  std::size_t last_line = 0;
};

/// The tokens view into `source`. Code that its compiler refuses gives some tokens as well.
std::vector<Token> tokens_of(const CodeLanguage& language, std::string_view source);

}  // namespace accelopt::refactor

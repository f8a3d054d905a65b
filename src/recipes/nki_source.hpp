// SPDX-License-Identifier: Apache-2.0
// The text of an NKI kernel as logical lines and tokens: as much of Python as the recipes have to know. Whatever is not
// understood is left alone.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::recipes::nki {

struct Token {
  enum class Kind { name, number, text, symbol };
  Kind kind = Kind::symbol;
  std::string value;
  std::size_t at = 0;  ///< in the text that was read
};

/// Whether the token is this name or symbol, and no text.
bool is(const Token& token, std::string_view value);

/// Comments and blanks are left out; symbols are single characters.
std::vector<Token> tokens_of(std::string_view text);

/// One statement, which may go over several lines of the file.
struct Statement {
  std::size_t indent = 0;
  std::string text;           ///< without the indentation of its first line
  std::vector<Token> tokens;  ///< of the text
  std::string target;         ///< of "name = ..."; empty: it is something else
  std::string variable;       ///< of "for name in nl.affine_range(n):"; empty: it is no loop
  std::string kind;           ///< of a loop: "affine_range", "range"
  std::string range;          ///< of a loop: what stands between its parentheses
};

Statement statement_of(std::size_t indent, std::string text);

/// A file's statements, without empty lines and comments of their own.
std::vector<Statement> statements_of(std::string_view source);
std::string text_of(const std::vector<Statement>& statements);

/// Behind the last statement of the block that the statement begins.
std::size_t block_end(const std::vector<Statement>& statements, std::size_t head);

/// What the statement gives a value, wholly or in part ("x = ", "x[...] = ", "x += "); empty: nothing.
std::string written(const Statement& statement);
/// Whether it makes a tile without data: "x = nl.zeros((128, 512), ...)".
bool declares(const Statement& statement);

/// Names that the statement reads: no attributes, no names of arguments, not its target.
std::set<std::string> reads(const Statement& statement);
/// How often it reads the name.
std::size_t times_read(const Statement& statement, std::string_view name);
/// Whether it calls a function of this name, whatever the module: "nl.copy(".
bool calls(const Statement& statement, std::string_view function);
/// With every reading of the name replaced.
Statement with_name_replaced(const Statement& statement, std::string_view name, std::string_view by);

/// The arguments of "name = module.function(...)", if that is the whole statement.
struct Call {
  std::string function;                ///< without its module
  std::vector<std::string> arguments;  ///< "x", "scale=-1.0"
};
std::optional<Call> call_of(const Statement& statement);
/// The same of what is assigned to a part of a tile too: "name[...] = module.function(...)".
std::optional<Call> assigned_call(const Statement& statement);
/// The value of a named argument; empty: it is not there.
std::string named(const Call& call, std::string_view name);

}  // namespace accelopt::recipes::nki

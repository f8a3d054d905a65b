// SPDX-License-Identifier: Apache-2.0
// What the readers of `//@` lines share: finding the lines, walking along one, and the directives that every language
// knows. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/directives.hpp"

namespace accelopt::model {

/// A line of the source that begins with `//@`.
struct DirectiveLine {
  std::string_view text;   ///< from the `//@` to the end of the line
  std::size_t offset = 0;  ///< of the text in the source
  int line = 1;            ///< from 1
  int column = 1;          ///< from 1
};

/// The directives of a C-family text; those within block comments and raw strings are none. Refused: one that does not
/// begin its line.
tl::expected<std::vector<DirectiveLine>, DirectiveProblem> directive_lines(std::string_view source);

/// Text of a source as a message may quote it: at most `most` characters, what is not printable ASCII as `\xNN`.
std::string quotable(std::string_view text, std::size_t most = 60);

/// Offset of the name as a word of its own in the text; 0 where it is none.
std::size_t word_offset(std::string_view text, std::string_view word);

/// Walks along one directive. Every refusal names line and column.
class DirectiveReader {
 public:
  /// Stands behind the `//@`.
  explicit DirectiveReader(const DirectiveLine& line) : line_(line) {}

  [[nodiscard]] bool at_end() { return peek() == '\0'; }
  /// The next character that is no blank, where the reader then stands; 0 at the end of the line.
  char peek();
  /// Steps over the character if it is the next one.
  bool take(char letter);
  /// Steps over letters, digits and underscores and returns them; empty where there are none.
  std::string_view take_word();
  /// Steps over everything up to the next blank.
  std::string_view take_until_blank();
  /// An identifier, or a refusal: "expected <what>, found ...".
  tl::expected<std::string, DirectiveProblem> take_name(std::string_view what);
  /// `(E, E, ...)`: expressions, at least one and at most `most`, between the two brackets. `what` is what they belong
  /// to, for messages.
  tl::expected<std::vector<PlacedExpression>, DirectiveProblem> take_expressions(char open, char close,
                                                                                 std::string_view what,
                                                                                 std::size_t most);

  /// An expression that ends with the line, or before the next `word=`.
  tl::expected<PlacedExpression, DirectiveProblem> take_expression();

  /// The rest of `//@ tune`: NAME in {VALUE, ...}, once or several times.
  tl::expected<void, DirectiveProblem> read_tune(TuneDirectives& out);
  /// The rest of `//@ require`: an expression.
  tl::expected<void, DirectiveProblem> read_require(TuneDirectives& out);
  /// The rest of `//@ flags`: flags, each of which `allowed` accepts.
  tl::expected<void, DirectiveProblem> read_flags(std::vector<std::string>& out, bool (*allowed)(std::string_view));

  [[nodiscard]] int line() const { return line_.line; }
  /// Of the character that the reader stands at, from 1.
  [[nodiscard]] int column() const { return column_at(at_); }
  /// Refuses the place where the reader stands.
  [[nodiscard]] tl::unexpected<DirectiveProblem> refuse(std::string message) const;
  /// Refuses the word that was just taken.
  [[nodiscard]] tl::unexpected<DirectiveProblem> refuse_word(std::string_view word, std::string message) const;
  /// ", found 'x'" or ", found the end of the line".
  [[nodiscard]] std::string found() const;

 private:
  [[nodiscard]] char here() const { return at_ < line_.text.size() ? line_.text[at_] : '\0'; }
  [[nodiscard]] int column_at(std::size_t offset) const { return line_.column + static_cast<int>(offset); }
  tl::expected<void, DirectiveProblem> read_tuned_name(TuneDirectives& out);
  tl::expected<void, DirectiveProblem> read_tuned_value(TunedName& tuned);
  tl::expected<PlacedExpression, DirectiveProblem> expression_between(std::size_t begin, std::size_t end);
  [[nodiscard]] std::size_t end_of_expression(char close) const;

  DirectiveLine line_;
  std::size_t at_ = 3;  ///< in the line's text
};

}  // namespace accelopt::model

// SPDX-License-Identifier: Apache-2.0
// Where functions stand in a source, in every language that tells them from the text around them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "refactor/languages.hpp"

namespace accelopt::refactor {

/// Bytes of the longest line that regular expressions are tried on: matching takes stack for each. Longer lines are
/// minified or made to harm.
inline constexpr std::size_t kLongestMatchedLine = 4096;

/// A line of a source, and whether it begins a statement.
struct SourceLine {
  std::string_view text;  ///< with its line end
  bool inside = false;    ///< begins within a string, brackets or a continued line
  int indent = 0;
  bool blank = false;  ///< nothing, or only a comment
};
/// The lines view into `source`.
std::vector<SourceLine> lines_of(const CodeLanguage& language, std::string_view source);

/// A function or method. Lines are counted from 0, `last` is past the end.
struct FunctionPlace {
  std::string name;       ///< "f", "Class.method", "f.inner"; in C++ "space::Class::method"
  std::size_t first = 0;  ///< its first decorator, or its header
  std::size_t header = 0;
  std::size_t body = 0;  ///< first line after the header
  std::size_t last = 0;
  std::string signature;     ///< the header, by its text or by its tokens
  std::string decorators{};  ///< Python's, by their text: what is called under the name is what they make of it
  bool shares_line = false;  ///< other code stands on its first or last line
};
/// None where the language does not tell functions.
std::vector<FunctionPlace> functions_of(const CodeLanguage& language, std::string_view source);

/// The innermost function that the place lies in; empty: none, so that it may be called from outside.
std::string enclosing_function(const std::vector<FunctionPlace>& all, const FunctionPlace& place);

/// By its name; in C++ the enclosing namespaces may be left out.
/// @error not_found: none has the name (the message lists some, those of this name within others first);
/// invalid_argument: several have, or it shares a line with other code.
base::Result<FunctionPlace> find_function(const CodeLanguage& language, std::string_view source, std::string_view name);

/// The text of these lines.
std::string text_of(const std::vector<SourceLine>& lines, std::size_t first, std::size_t last);

}  // namespace accelopt::refactor

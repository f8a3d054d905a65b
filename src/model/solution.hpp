// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "model/language.hpp"

namespace accelopt::model {

struct SourceFile {
  std::string name;
  std::string text;
  bool operator==(const SourceFile&) const = default;
};

/// Source files and, in their directives, the declared way to launch them.
struct Solution {
  Language language = Language::cpp;
  std::vector<SourceFile> sources;  ///< the first one holds the entry
  bool operator==(const Solution&) const = default;
};

/// The main file's text. Requires at least one source.
const std::string& main_text(const Solution& solution);
/// The same solution with the main file's text replaced.
Solution with_main_text(const Solution& solution, std::string text);
/// What a candidate may change: the main file's text, or of a repository every file behind a line with its path.
std::string changeable_text(const Solution& solution);
/// Source id: SHA-256 over language, entry and, file by file in name order, the lexer's tokens with comments and layout
/// dropped, preprocessor lines and directives kept (C family), or the exact text with LF line ends (other languages).
std::string source_id(const Solution& solution);

void to_json(base::Json& out, const SourceFile& file);
void from_json(const base::Json& in, SourceFile& file);
void write_json(base::JsonText& out, const SourceFile& file);
void to_json(base::Json& out, const Solution& solution);
void from_json(const base::Json& in, Solution& solution);
void write_json(base::JsonText& out, const Solution& solution);

}  // namespace accelopt::model

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "report/text_table.hpp"

namespace accelopt::report {

/// What a command prints: headings, text and tables in order, for a terminal or as Markdown.
class Document {
 public:
  explicit Document(std::string title) : title_(std::move(title)) {}

  void heading(std::string text) { parts_.emplace_back(Heading{std::move(text)}); }
  void text(std::string lines) { parts_.emplace_back(std::move(lines)); }  ///< each line with its end
  void table(TextTable table) { parts_.emplace_back(std::move(table)); }

  /// Without the title. A heading stands behind an empty line.
  [[nodiscard]] std::string to_text() const;
  /// Text is set as it is, in a block that nothing in it can end.
  [[nodiscard]] std::string to_markdown() const;

 private:
  struct Heading {
    std::string text;
  };

  std::string title_;
  std::vector<std::variant<Heading, std::string, TextTable>> parts_;
};

/// Writes the document as Markdown to the file that --export-markdown names; empty: nowhere. @error as
/// base::write_file.
base::Result<void> export_markdown(const Document& document, const std::string& file);

}  // namespace accelopt::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace accelopt::report {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
};

/// A table in plain text: titles, a rule, rows; columns as wide as their widest cell, two blanks apart.
class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row; missing cells are empty. Requires no more cells than there are columns.
  void add(std::vector<std::string> cells);

  /// The table, each line with its end; empty when there are no rows.
  [[nodiscard]] std::string render() const;
  /// The same as a table of Markdown.
  [[nodiscard]] std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Text that stands in Markdown as itself: nothing in it is markup, and it stays on its line.
std::string markdown_cell(const std::string& text);

}  // namespace accelopt::report

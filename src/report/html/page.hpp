// SPDX-License-Identifier: Apache-2.0
// A whole HTML document of this program's look: one file, without a script, that asks nothing of anywhere.
#pragma once

#include <string>
#include <vector>

#include "report/html/markup.hpp"
#include "report/text_table.hpp"

namespace accelopt::report::html {

/// A table with a caption; a figure's numbers stand in one.
struct Table {
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Markup>> rows;
};
/// Nothing where there is no row.
Markup to_markup(const Table& table);
/// A row of text cells.
std::vector<Markup> cells(const std::vector<std::string>& texts);

/// What is folded away on a screen, and open on paper.
Markup folded(const std::string& summary, const Markup& content);
/// A part of the page under a heading.
Markup section(const std::string& id, const std::string& heading, const Markup& content);
/// A paragraph for each line.
Markup paragraphs(std::string_view lines);

/// The document: `body` is what <main> holds. Its policy of content allows the style sheet and nothing else.
std::string page(const std::string& title, const Markup& header, const Markup& body);

}  // namespace accelopt::report::html

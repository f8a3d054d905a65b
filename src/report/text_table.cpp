// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.hpp"

#include <algorithm>
#include <string_view>

#include "base/result.hpp"
#include "report/text_width.hpp"

namespace accelopt::report {
namespace {

constexpr std::size_t kGap = 2;

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::string blanks(width - display_width(cell), ' ');
  return align == Align::right ? blanks + cell : cell + blanks;
}

/// Without the blanks that the last column's padding leaves.
std::string finished(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

void TextTable::add(std::vector<std::string> cells) {
  ACCELOPT_ASSERT(cells.size() <= columns_.size(), "a row with more cells than the table has columns");
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::render() const {
  if (rows_.empty()) return {};
  std::string titles;
  std::string rule;
  std::vector<std::string> lines(rows_.size());
  for (std::size_t place = 0; place < columns_.size(); ++place) {
    const Column& column = columns_[place];
    std::size_t width = display_width(column.title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[place]));
    const std::string gap(place == 0 ? 0 : kGap, ' ');
    titles += gap + padded(column.title, width, column.align);
    rule += gap + std::string(width, '-');
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      lines[row] += gap + padded(rows_[row][place], width, column.align);
    }
  }
  std::string text = finished(titles) + rule + "\n";
  for (const std::string& line : lines) text += finished(line);
  return text;
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char letter : printable(text)) {
    if (std::string_view("\\`*_[]<>|#").find(letter) != std::string_view::npos) out += '\\';
    out += letter;
  }
  return out;
}

std::string TextTable::markdown() const {
  if (rows_.empty()) return {};
  std::string titles = "|";
  std::string rule = "|";
  for (const Column& column : columns_) {
    titles += " " + markdown_cell(column.title) + " |";
    rule += column.align == Align::right ? "---:|" : "---|";
  }
  std::string text = titles + "\n" + rule + "\n";
  for (const auto& row : rows_) {
    text += "|";
    for (const std::string& cell : row) text += " " + markdown_cell(cell) + " |";
    text += "\n";
  }
  return text;
}

}  // namespace accelopt::report

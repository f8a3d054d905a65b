// SPDX-License-Identifier: Apache-2.0
#include "report/document.hpp"

#include <algorithm>

#include "base/output_file.hpp"
#include "report/text_width.hpp"

namespace accelopt::report {
namespace {

/// Longer than any run of backticks in the text.
std::string fence_for(const std::string& text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char letter : text) {
    run = letter == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

std::string fenced(const std::string& text) {
  const std::string fence = fence_for(text);
  const std::string end = text.empty() || text.back() == '\n' ? "" : "\n";
  return fence + "text\n" + text + end + fence + "\n";
}

}  // namespace

std::string Document::to_text() const {
  std::string out;
  for (const auto& part : parts_) {
    if (const auto* heading = std::get_if<Heading>(&part)) out += "\n" + heading->text + "\n";
    if (const auto* text = std::get_if<std::string>(&part)) out += *text;
    if (const auto* table = std::get_if<TextTable>(&part)) out += table->render();
  }
  return out;
}

std::string Document::to_markdown() const {
  std::string out = "# " + markdown_cell(title_) + "\n";
  for (const auto& part : parts_) {
    if (const auto* heading = std::get_if<Heading>(&part)) out += "\n## " + markdown_cell(heading->text) + "\n";
    if (const auto* text = std::get_if<std::string>(&part)) {
      const std::size_t begin = text->find_first_not_of('\n');
      if (begin != std::string::npos) out += "\n" + fenced(printable_lines(text->substr(begin)));
    }
    if (const auto* table = std::get_if<TextTable>(&part)) {
      if (const std::string rows = table->markdown(); !rows.empty()) out += "\n" + rows;
    }
  }
  return out;
}

base::Result<void> export_markdown(const Document& document, const std::string& file) {
  if (file.empty()) return {};
  return base::write_output(file, document.to_markdown());
}

}  // namespace accelopt::report

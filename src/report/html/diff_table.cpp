// SPDX-License-Identifier: Apache-2.0
#include "report/html/diff_table.hpp"

#include <algorithm>
#include <charconv>

#include "base/unified_diff.hpp"

namespace accelopt::report::html {
namespace {

/// The first line's number of "-12,3" or "+12"; 0 where there is none.
int number_after(std::string_view header, char sign) {
  const std::size_t at = header.find(sign);
  int number = 0;
  if (at != std::string_view::npos) std::from_chars(header.data() + at + 1, header.data() + header.size(), number);
  return number;
}

/// Puts the lines of one unified diff side by side.
class SideBySide {
 public:
  std::vector<DiffRow> rows(std::string_view unified) {
    bool inside = false;  // behind the names of the files
    while (!unified.empty()) {
      const std::size_t end = std::min(unified.find('\n'), unified.size());
      const std::string_view line = unified.substr(0, end);
      unified.remove_prefix(std::min(end + 1, unified.size()));
      if (line.starts_with("@@ ")) {
        begin_hunk(line);
        inside = true;
      } else if (inside && !line.starts_with('\\')) {
        add(line);
      }
    }
    settle();
    return std::move(rows_);
  }

 private:
  void begin_hunk(std::string_view header) {
    settle();
    before_ = number_after(header, '-');
    after_ = number_after(header, '+');
    if (!rows_.empty() || before_ > 1) rows_.push_back({.before = {}, .after = {}, .gap = true});
  }

  void add(std::string_view line) {
    const std::string text(line.substr(std::min<std::size_t>(1, line.size())));
    if (line.starts_with('-')) {
      if (!added_.empty()) settle();
      removed_.push_back(text);
    } else if (line.starts_with('+')) {
      added_.push_back(text);
    } else {
      settle();
      rows_.push_back({before_++, after_++, text, text});
    }
  }

  void settle() {
    for (std::size_t i = 0; i < std::max(removed_.size(), added_.size()); ++i) {
      DiffRow row{.before = {}, .after = {}, .changed = true};
      if (i < removed_.size()) {
        row.before_number = before_++;
        row.before = removed_[i];
      }
      if (i < added_.size()) {
        row.after_number = after_++;
        row.after = added_[i];
      }
      rows_.push_back(std::move(row));
    }
    removed_.clear();
    added_.clear();
  }

  std::vector<DiffRow> rows_;
  std::vector<std::string> removed_;
  std::vector<std::string> added_;
  int before_ = 0;
  int after_ = 0;
};

/// One side of a row: the line's number and its text.
Markup side(int number, const std::string& line, bool changed, const std::string& which) {
  const std::string style = number == 0 ? "none" : changed ? which : "same";
  Markup cells = element("td", {{"class", "number " + style}}, number == 0 ? std::string() : std::to_string(number));
  // A word for those who do not see the colour; "ins" and "del" are read out.
  const Markup code = element("code", line);
  const Markup marked = !changed || number == 0 ? code : element(which == "old" ? "del" : "ins", code);
  cells += element("td", {{"class", "line " + style}}, number == 0 ? Markup() : marked);
  return cells;
}

}  // namespace

std::vector<DiffRow> side_by_side(std::string_view unified) {
  return SideBySide().rows(unified);
}

Markup diff_table(std::string_view before, std::string_view after, const std::string& caption,
                  const std::string& before_title, const std::string& after_title) {
  const Markup table = diff_table(base::unified_diff(before, after, "a", "b"), caption, before_title, after_title);
  return table.empty() ? element("p", "Both are the same text.") : table;
}

Markup diff_table(std::string_view unified, const std::string& caption, const std::string& before_title,
                  const std::string& after_title) {
  const auto rows = side_by_side(unified);
  if (rows.empty()) return {};
  Markup body;
  for (const DiffRow& row : rows) {
    if (row.gap) {
      body += element("tr", element("td", {{"colspan", "4"}, {"class", "gap"}}, "lines that did not change"));
      continue;
    }
    Markup cells = side(row.before_number, row.before, row.changed, "old");
    cells += side(row.after_number, row.after, row.changed, "new");
    body += element("tr", cells);
  }
  Markup heads = element("th", {{"colspan", "2"}, {"scope", "col"}}, before_title);
  heads += element("th", {{"colspan", "2"}, {"scope", "col"}}, after_title);
  Markup table = element("caption", caption);
  const Markup narrow = empty_element("col", {{"class", "narrow"}});
  Markup columns;
  for (int side = 0; side < 2; ++side) {
    columns += narrow;
    columns += empty_element("col", {});
  }
  table += element("colgroup", columns);
  table += element("thead", element("tr", heads));
  table += element("tbody", body);
  return element("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", caption}},
                 element("table", {{"class", "diff"}}, table));
}

}  // namespace accelopt::report::html

// SPDX-License-Identifier: Apache-2.0
// HTML and SVG that are put together from parts, so that text of others never becomes markup: the only way from a
// string to Markup is through text() and the values of attributes, which escape.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace accelopt::report::html {

class Markup {
 public:
  Markup() = default;
  Markup& operator+=(const Markup& other) {
    source_ += other.source_;
    return *this;
  }
  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] bool empty() const { return source_.empty(); }

 private:
  friend Markup text(std::string_view characters);
  friend Markup element(std::string_view name, const std::vector<std::pair<std::string_view, std::string>>& attributes,
                        const Markup& content);
  friend Markup empty_element(std::string_view name,
                              const std::vector<std::pair<std::string_view, std::string>>& attributes);
  friend Markup style(std::string_view rules);
  std::string source_;
};

/// Names of attributes are this program's own; their values are escaped.
using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// The characters as themselves; line feeds stay, tabs become four blanks. Control characters, and those that reorder
/// text and so can make source read as what it is not, become blanks, bytes that are no UTF-8 '?'.
Markup text(std::string_view characters);
/// <name attribute="value">content</name>
Markup element(std::string_view name, const Attributes& attributes, const Markup& content);
inline Markup element(std::string_view name, const Markup& content) {
  return element(name, Attributes{}, content);
}
/// An element around text.
inline Markup element(std::string_view name, std::string_view characters) {
  return element(name, Attributes{}, text(characters));
}
inline Markup element(std::string_view name, const Attributes& attributes, std::string_view characters) {
  return element(name, attributes, text(characters));
}
/// An element without an end: <meta ...>, <circle .../>.
Markup empty_element(std::string_view name, const Attributes& attributes);
/// A style sheet of this program.
Markup style(std::string_view rules);

}  // namespace accelopt::report::html

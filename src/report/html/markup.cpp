// SPDX-License-Identifier: Apache-2.0
#include "report/html/markup.hpp"

#include "base/result.hpp"
#include "report/text_width.hpp"

namespace accelopt::report::html {
namespace {

/// A tab is as wide in every diff and on every screen.
constexpr std::string_view kTab = "    ";

std::string escaped(std::string_view characters) {
  std::string out;
  out.reserve(characters.size() + characters.size() / 16);
  std::string untabbed;
  for (const char character : characters) {
    if (character == '\t')
      untabbed += kTab;
    else
      untabbed += character;
  }
  for (const char character : printable_lines(untabbed)) {
    switch (character) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += character;
    }
  }
  return out;
}

std::string opening(std::string_view name, const Attributes& attributes) {
  std::string out = "<";
  out += name;
  for (const auto& [key, value] : attributes) {
    out += ' ';
    out += key;
    out += "=\"";
    out += escaped(value);
    out += '"';
  }
  return out + ">";
}

}  // namespace

Markup text(std::string_view characters) {
  Markup out;
  out.source_ = escaped(characters);
  return out;
}

Markup element(std::string_view name, const Attributes& attributes, const Markup& content) {
  Markup out;
  out.source_ = opening(name, attributes);
  out.source_ += content.source_;
  out.source_ += "</";
  out.source_ += name;
  out.source_ += '>';
  return out;
}

Markup empty_element(std::string_view name, const Attributes& attributes) {
  Markup out;
  out.source_ = opening(name, attributes);
  // In SVG what is not closed holds what follows; HTML's own need no end.
  if (name != "meta" && name != "col") out.source_.insert(out.source_.size() - 1, "/");
  return out;
}

Markup style(std::string_view rules) {
  ACCELOPT_ASSERT(rules.find('<') == std::string_view::npos, "a style sheet has no markup");
  Markup out;
  out.source_ = "<style>" + std::string(rules) + "</style>";
  return out;
}

}  // namespace accelopt::report::html

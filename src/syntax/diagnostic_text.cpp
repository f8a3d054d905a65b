// SPDX-License-Identifier: Apache-2.0
#include "syntax/diagnostic_text.hpp"

#include <algorithm>
#include <cctype>

namespace accelopt::syntax {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    out.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

std::string without_paths(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool starts_path = text[at] == '/' && at + 1 < text.size() &&
                             std::isalpha(static_cast<unsigned char>(text[at + 1])) &&
                             (at == 0 || std::string_view(" \t'\"(<[`").find(text[at - 1]) != std::string_view::npos);
    if (!starts_path) {
      out += text[at];
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \t'\"):,>]", at), text.size());
    const std::string_view path = text.substr(at, end - at);
    out += path.substr(path.rfind('/') + 1);
    at = end - 1;
  }
  return out;
}

std::string printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f) c = '?';
  }
  return text;
}

}  // namespace accelopt::syntax

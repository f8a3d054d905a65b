// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/tool_text.hpp"

#include <algorithm>
#include <regex>

namespace accelopt::devices::cuda {

std::string_view tool_line_start(std::string_view line) {
  // Regular expressions take stack by the letter.
  constexpr std::size_t kMostRead = 2000;
  return line.substr(0, kMostRead);
}

std::string plain_tool_line(std::string_view line) {
  constexpr std::size_t kMostBytes = 240;
  static const std::regex address(R"((\s*\bat\s+|\+|\s+)0x[0-9a-fA-F]+)");
  static const std::regex folder(R"re((^|[\s("'=])/[^\s:()"']*/)re");
  const std::string start(tool_line_start(line));
  const std::string text = std::regex_replace(std::regex_replace(start, address, ""), folder, "$1");
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\r';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e ? '?' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out.size() > kMostBytes ? out.substr(0, kMostBytes) + "..." : out;
}

}  // namespace accelopt::devices::cuda

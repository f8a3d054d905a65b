// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/diagnostics.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include "syntax/diagnostic_text.hpp"

namespace accelopt::targets::cpu {
namespace {

constexpr std::size_t kMostCharacters = 6000;

/// "name:12:3: error: text" split at the place; none when the line does not begin like that.
struct Located {
  std::string_view file;
  int line = 0;
  std::string_view message;
};

std::optional<Located> located(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  Located out{text.substr(0, colon), 0, {}};
  const char* start = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto [after, failure] = std::from_chars(start, end, out.line);
  if (failure != std::errc{} || after == end || *after != ':') return std::nullopt;
  out.message = std::string_view(after + 1, static_cast<std::size_t>(end - after - 1));
  return out;
}

bool is_own(std::string_view file, const std::vector<std::string>& own) {
  return std::find(own.begin(), own.end(), file) != own.end();
}

/// Where standard headers live. What is wrong in any other file may quote that file.
bool is_standard(std::string_view file) {
  return file.starts_with("/usr/") || file.starts_with("/opt/") || file.starts_with("/nix/store/") || file == "task.h";
}

/// The message of an error in a file that is not the candidate's: what was wrong there, without where and without its
/// text.
std::string_view foreign_error(std::string_view line) {
  for (const std::string_view mark : {": fatal error: ", ": error: "}) {
    if (const auto at = line.find(mark); at != std::string_view::npos) return line.substr(at + 2);
  }
  return {};
}

/// A linker's complaint without its paths.
std::string_view linker_error(std::string_view line) {
  for (const std::string_view mark : {"undefined reference to", "multiple definition of", "relocation "}) {
    if (const auto at = line.find(mark); at != std::string_view::npos) return line.substr(at);
  }
  return {};
}

}  // namespace

std::string own_diagnostics(std::string_view output, const std::vector<std::string>& own) {
  std::string out;
  std::string foreign;
  bool keep_excerpt = false;
  const auto add = [](std::string& to, std::string_view text) {
    to += syntax::printable(syntax::without_paths(text)) + '\n';
  };
  for (const std::string_view line : syntax::lines_of(output)) {
    if (const auto place = located(line)) {
      keep_excerpt = is_own(place->file, own);
      if (keep_excerpt) {
        add(out, line);
      } else if (const auto message = foreign_error(line); !message.empty() && is_standard(place->file)) {
        add(foreign, "in a standard header: " + std::string(message));
      }
    } else if (const auto complaint = linker_error(line); !complaint.empty()) {
      keep_excerpt = false;
      add(out, "link error: " + std::string(complaint));
    } else if (line.starts_with(' ') && keep_excerpt) {
      add(out, line);  // the source line and its caret
    } else {
      keep_excerpt = false;
    }
    if (out.size() > kMostCharacters) break;
  }
  if (out.find("error") == std::string::npos) out += foreign;
  if (out.size() > kMostCharacters) {
    out.resize(out.rfind('\n', kMostCharacters) + 1);
    out += "(more left out)\n";
  }
  return out;
}

std::vector<std::string> own_remarks(std::string_view output, const std::vector<std::string>& own, std::size_t most) {
  std::map<int, std::vector<std::string>> by_line;
  for (const std::string_view line : syntax::lines_of(output)) {
    const auto place = located(line);
    if (!place || place->line <= 0 || !is_own(place->file, own)) continue;
    std::string_view message = place->message;
    bool remark = false;
    for (const std::string_view mark : {" optimized: ", " missed: ", " remark: "}) {
      if (const auto at = message.find(mark); at != std::string_view::npos) {
        message = message.substr(at + mark.size());
        remark = true;
        break;
      }
    }
    // Each missed statement of a loop gets a line of its own; the loop's own verdict is what helps.
    const bool noise = message.find("statement clobbers memory") != std::string_view::npos ||
                       message.starts_with("***") || message.starts_with("  ") ||
                       message.find("versioned for vectorization because") != std::string_view::npos;
    if (!remark || noise) continue;
    while (message.starts_with(' ')) message.remove_prefix(1);
    auto& list = by_line[place->line];
    const std::string text = syntax::without_paths(message.substr(0, 160));
    if (list.size() < 3 && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  }
  std::vector<std::string> out;
  for (const auto& [line, messages] : by_line) {
    for (const std::string& message : messages) {
      if (out.size() == most) return out;
      out.push_back("line " + std::to_string(line) + ": " + message);
    }
  }
  return out;
}

}  // namespace accelopt::targets::cpu

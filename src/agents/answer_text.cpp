// SPDX-License-Identifier: Apache-2.0
#include "agents/answer_text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"

namespace accelopt::agents {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr auto kThoughts = std::to_array<std::string_view>({"think", "thinking", "thought", "thoughts", "reasoning"});
constexpr std::size_t kLongestName = 9;

/// A tag around what is thought aloud.
struct Tag {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view name;
  bool closes = false;
};

/// The tag that begins at `text[at]` == '<'; none: it is no such tag, or a file has it as a text of its own.
std::optional<Tag> tag_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kQuotes = "\"'";
  const bool closes = text.substr(at + 1).starts_with('/');
  const std::size_t from = at + (closes ? 2 : 1);
  const std::size_t length = text.substr(from, kLongestName + 1).find('>');
  if (length == std::string_view::npos) return std::nullopt;
  const std::size_t to = from + length;
  const std::string name = base::lower(text.substr(from, length));
  const auto* const known = std::ranges::find(kThoughts, name);
  const bool quoted = at > 0 && to + 1 < text.size() && text[at - 1] == text[to + 1] &&
                      kQuotes.find(text[at - 1]) != std::string_view::npos;
  if (known == kThoughts.end() || quoted) return std::nullopt;
  return Tag{at, to + 1, *known, closes};
}

/// Moved left by `indent` where all lines stand that far to the right.
std::string moved_left(const std::string& text, std::size_t indent) {
  const std::vector<std::string_view> lines = lines_of(text);
  const auto stands_left = [indent](std::string_view line) {
    return std::min(line.find_first_not_of(' '), line.size()) < std::min(indent, line.size());
  };
  if (indent == 0 || std::ranges::any_of(lines, stands_left)) return text;
  std::string out;
  for (const std::string_view line : lines) out += std::string(line.substr(std::min(indent, line.size()))) + "\n";
  return out;
}

}  // namespace

std::string without_thoughts(std::string_view text) {
  std::string out;
  std::size_t kept = 0;  // from where the text is not in `out` yet
  std::optional<Tag> open;
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string_view::npos; ++at) {
    const auto tag = tag_at(text, at);
    if (!tag) continue;
    if (!tag->closes) {
      if (!open) open = tag;
      continue;
    }
    if (open && open->name == tag->name)
      out += text.substr(kept, open->begin - kept);
    else
      out.clear();  // all of it was a thought
    kept = tag->end;
    open.reset();
  }
  out += text.substr(kept);
  // A thought that never ended: there is no answer after it.
  const std::size_t first = std::min(out.find_first_not_of(base::kBlanks), out.size());
  const auto endless = first < out.size() && out[first] == '<' ? tag_at(out, first) : std::nullopt;
  return endless ? std::string() : out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::optional<FenceLine> fence_line(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos) return std::nullopt;
  line.remove_prefix(indent);
  const char mark = line[0];
  if (mark != '`' && mark != '~') return std::nullopt;
  const std::size_t length = std::min(line.find_first_not_of(mark), line.size());
  if (length < 3) return std::nullopt;
  const std::string_view info = base::trimmed(line.substr(length));
  if (mark == '`' && info.find('`') != std::string_view::npos) return std::nullopt;  // code within a line
  return FenceLine{indent, mark, length, info};
}

std::vector<FencedBlock> blocks_of(std::string_view text) {
  constexpr std::size_t kFartherRight = 3;  // than its beginning the end of a block may stand
  std::vector<FencedBlock> blocks;
  std::optional<FenceLine> open;
  const auto closes = [&](const FenceLine& fence) {
    return fence.mark == open->mark && fence.length >= open->length && fence.info.empty() &&
           fence.indent <= open->indent + kFartherRight;
  };
  for (const std::string_view line : lines_of(text)) {
    const auto fence = fence_line(line);
    if (!open) {
      if (!fence) continue;
      open = fence;
      blocks.push_back({base::lower(fence->info), {}, false});
    } else if (fence && closes(*fence)) {
      blocks.back().text = moved_left(blocks.back().text, open->indent);
      blocks.back().closed = true;
      open.reset();
    } else {
      blocks.back().text += std::string(line) + "\n";
    }
  }
  return blocks;
}

std::string with_escapes(std::string_view object) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < object.size(); ++i) {
    const char c = object[i];
    if (in_string && c == '\\' && i + 1 < object.size()) {
      out += c;
      out += object[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    const unsigned int code = static_cast<unsigned char>(c);
    if (in_string && code < 0x20)
      out += fmt::format("\\u{:04x}", code);
    else
      out += c;
  }
  return out;
}

}  // namespace accelopt::agents

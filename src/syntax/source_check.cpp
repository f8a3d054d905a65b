// SPDX-License-Identifier: Apache-2.0
#include "syntax/source_check.hpp"

#include <array>
#include <cctype>
#include <vector>

namespace accelopt::syntax {
namespace {

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

/// One line as the preprocessor sees it: splices joined, comments replaced by a space, literals kept.
struct LogicalLine {
  std::string text;
  int line = 1;    ///< of its first character that is not a space, from 1
  int column = 1;  ///< from 1
};

/// Cuts a text into logical lines.
class LineReader {
 public:
  explicit LineReader(std::string_view source) : source_(source) {}

  std::vector<LogicalLine> lines() {
    while (skip_splices(), at_ < source_.size()) step();
    end_line();
    return std::move(lines_);
  }

 private:
  /// A backslash, blanks and a line end: as if they were not there.
  void skip_splices() {
    while (at_ < source_.size() && source_[at_] == '\\') {
      const auto end = source_.find_first_not_of(" \t\r\f\v", at_ + 1);
      if (end == std::string_view::npos || source_[end] != '\n') return;
      at_ = end + 1;
      ++line_;
      line_start_ = at_;
    }
  }

  [[nodiscard]] char now() {
    skip_splices();
    return at_ < source_.size() ? source_[at_] : '\0';
  }

  /// Takes one character as it stands.
  char take() {
    const char c = source_[at_++];
    if (c == '\n') {
      ++line_;
      line_start_ = at_;
    }
    return c;
  }

  void put(char c) {
    if (current_.text.find_first_not_of(" \t") == std::string::npos && c != ' ' && c != '\t') {
      current_.line = line_;
      current_.column = static_cast<int>(at_ - line_start_);
    }
    current_.text += c;
  }

  void end_line() {
    lines_.push_back(std::move(current_));
    current_ = {};
  }

  void step() {
    const char c = take();
    if (c == '\n') return end_line();
    if (c == '/' && now() == '/') return skip_to_line_end();
    if (c == '/' && now() == '*') return skip_comment();
    if (c == '"' && is_raw()) return take_raw_string();
    const bool digit_separator = c == '\'' && !current_.text.empty() && in_name(current_.text.back());
    put(c);
    if (c == '"' || (c == '\'' && !digit_separator)) take_literal(c);
  }

  void skip_to_line_end() {
    while (at_ < source_.size() && now() != '\n' && at_ < source_.size()) take();
  }

  void skip_comment() {
    take();
    char before = '\0';
    while (skip_splices(), at_ < source_.size()) {
      const char c = take();
      if (before == '*' && c == '/') break;
      before = c;
    }
    put(' ');
  }

  /// Whether the quote that was just taken follows R, LR, uR, UR or u8R.
  [[nodiscard]] bool is_raw() const {
    const std::string& text = current_.text;
    if (text.empty() || text.back() != 'R') return false;
    std::size_t begin = text.size();
    while (begin > 0 && in_name(text[begin - 1])) --begin;
    const std::string prefix = text.substr(begin);
    return prefix == "R" || prefix == "LR" || prefix == "uR" || prefix == "UR" || prefix == "u8R";
  }

  /// Splices count as text in it.
  void take_raw_string() {
    const auto open = source_.find('(', at_);
    const std::string closing =
        open == std::string_view::npos ? "\"" : ")" + std::string(source_.substr(at_, open - at_)) + "\"";
    const auto end = source_.find(closing, at_);
    const std::size_t stop = end == std::string_view::npos ? source_.size() : end + closing.size();
    put('"');
    while (at_ < stop) {
      const char c = take();
      put(c == '\n' ? ' ' : c);
    }
  }

  /// Up to the closing quote or the line's end.
  void take_literal(char quote) {
    while (skip_splices(), at_ < source_.size() && source_[at_] != '\n') {
      const char c = take();
      put(c);
      if (c == quote) return;
      if (c == '\\' && now() != '\n' && at_ < source_.size()) put(take());
    }
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t line_start_ = 0;
  LogicalLine current_;
  std::vector<LogicalLine> lines_;
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\f\v");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

/// Takes a name from the front.
std::string_view take_name(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && in_name(text[end])) ++end;
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end);
  return name;
}

/// Why what follows #include or __has_include( may not stand there; empty when it may.
std::string refused_header(std::string_view text, const std::string& what) {
  text = trimmed(text);
  if (text.empty() || (text.front() != '<' && text.front() != '"')) {
    return what + " of a macro is refused; name the header";
  }
  const std::string_view path = text.substr(1, text.find(text.front() == '<' ? '>' : '"', 1) - 1);
  if (path.starts_with('/') || path.find("..") != std::string_view::npos || path.find('\\') != std::string_view::npos) {
    return what + " by an absolute or parent path is refused; include standard headers by name";
  }
  return {};
}

std::string refused_pragma(std::string_view text) {
  for (const std::string_view word : {"dependency", "pch_preprocess"}) {
    if (text.find(word) != std::string_view::npos)
      return "#pragma GCC " + std::string(word) + " looks at other files and is refused";
  }
  return {};
}

/// Whether a condition asks for files that it may not ask for.
std::string refused_probe(std::string_view text, std::string_view directive) {
  for (const std::string_view word : {"__has_include_next", "__has_include", "__has_embed"}) {
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      std::string_view rest = trimmed(text.substr(at + word.size()));
      if (!rest.starts_with('(')) continue;  // defined __has_include
      if (directive != "if" && directive != "elif")
        return std::string(word) + " in a macro is refused; ask for the header in #if itself";
      if (std::string reason = refused_header(rest.substr(1), std::string(word)); !reason.empty()) return reason;
    }
  }
  return {};
}

/// Why a directive is refused; empty when it is not, or when the line is none.
std::string refused_directive(std::string_view line) {
  std::string_view text = trimmed(line);
  bool is_directive = false;
  for (const std::string_view mark : {"#", "%:", "?\?="}) {
    if (!is_directive && text.starts_with(mark)) {
      is_directive = true;
      text.remove_prefix(mark.size());
    }
  }
  if (!is_directive) return {};
  text = trimmed(text);
  const std::string_view name = take_name(text);
  if (name == "include" || name == "include_next" || name == "import")
    return refused_header(text, "#" + std::string(name));
  if (name == "embed") return "#embed reads files into the kernel and is refused";
  if (name == "line" || (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0))
    return "#line is refused; what the compiler says must be about the kernel's own lines";
  if (name == "pragma") return refused_pragma(text);
  return refused_probe(text, name);
}

std::string refused_anywhere(std::string_view line) {
  for (const std::string_view word : {".incbin", ".include"}) {
    if (line.find(word) != std::string_view::npos)
      return std::string(word) + " reads files into the kernel and is refused";
  }
  return line.find("_Pragma") == std::string_view::npos ? std::string() : refused_pragma(line);
}

/// In lower case and without what stands in quotes: directives are neither.
std::string directives_only(std::string_view line) {
  std::string out;
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (quoted && line[at] == '\\') {
      ++at;
    } else if (line[at] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(line[at])));
    }
  }
  return out;
}

}  // namespace

std::string refused_assembly(std::string_view assembly) {
  while (!assembly.empty()) {
    const auto end = assembly.find('\n');
    const std::string line = directives_only(assembly.substr(0, end));
    for (const std::string_view word : {".incbin", ".include", ".macro", ".irp", ".altmacro"}) {
      if (line.find(word) != std::string::npos)
        return "error: the assembler's " + std::string(word) + " can read files into the kernel and is refused";
    }
    assembly.remove_prefix(end == std::string_view::npos ? assembly.size() : end + 1);
  }
  return {};
}

std::string refused_text(std::string_view source) {
  for (const LogicalLine& line : LineReader(source).lines()) {
    for (const auto check : {&refused_directive, &refused_anywhere}) {
      if (const std::string reason = check(line.text); !reason.empty())
        return std::to_string(line.line) + ":" + std::to_string(line.column) + ": error: " + reason;
    }
  }
  return {};
}

}  // namespace accelopt::syntax

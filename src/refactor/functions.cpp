// SPDX-License-Identifier: Apache-2.0
#include "refactor/functions.hpp"

#include <algorithm>
#include <iterator>

#include "base/problem.hpp"
#include "base/text.hpp"
#include "refactor/brace_functions.hpp"

namespace accelopt::refactor {
namespace {

/// What a line leaves open for the next one.
class OpenText {
 public:
  [[nodiscard]] bool is_open() const { return !quote_.empty() || brackets_ > 0 || continued_; }

  void read(std::string_view line) {
    continued_ = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (!quote_.empty()) {
        at += in_string(line.substr(at));
        continue;
      }
      const char c = line[at];
      if (c == '#') break;
      if (c == '"' || c == '\'') {
        const std::string_view three = line.substr(at, 3);
        quote_ = three == "\"\"\"" || three == "'''" ? std::string(three) : std::string(1, c);
        at += quote_.size() - 1;
      } else if (c == '(' || c == '[' || c == '{') {
        ++brackets_;
      } else if (c == ')' || c == ']' || c == '}') {
        brackets_ = std::max(0, brackets_ - 1);
      } else if (c == '\\' && base::trimmed(line.substr(at + 1)).empty()) {
        continued_ = true;
      }
    }
    // A string of one quote ends with its line, unless that is continued.
    if (quote_.size() == 1 && !base::trimmed(line, "\r\n").ends_with('\\')) quote_.clear();
  }

 private:
  /// Characters to pass over besides this one.
  std::size_t in_string(std::string_view rest) {
    if (rest.front() == '\\') return 1;
    if (!rest.starts_with(quote_)) return 0;
    const std::size_t passed = quote_.size() - 1;
    quote_.clear();
    return passed;
  }

  std::string quote_;
  int brackets_ = 0;
  bool continued_ = false;
};

/// The name after the keyword, as in "def name(" and "class Name:"; empty where the line is none.
std::string name_after(std::string_view line, std::string_view keyword) {
  std::string_view rest = base::trimmed(line);
  if (rest.starts_with("async ")) rest = base::trimmed(rest.substr(6));
  if (!rest.starts_with(keyword) || rest.size() <= keyword.size() || rest[keyword.size()] != ' ') return "";
  rest = base::trimmed(rest.substr(keyword.size()));
  return std::string(rest.substr(0, rest.find_first_of("(:[ \t\\")));
}

constexpr std::size_t kMostNames = 10;  ///< of functions in a message

struct Block {
  std::string name;
  int indent = 0;
  bool is_function = false;
  std::size_t place = 0;  ///< in the list of functions
};

std::string qualified(const std::vector<Block>& open, const std::string& name) {
  std::string full;
  for (const Block& block : open) full += block.name + ".";
  return full + name;
}

std::size_t first_decorator(const std::vector<SourceLine>& lines, std::size_t header) {
  std::size_t first = header;
  for (std::size_t at = header; at > 0; --at) {
    const SourceLine& line = lines[at - 1];
    if (line.inside) continue;
    if (line.indent != lines[header].indent || !base::trimmed(line.text).starts_with('@')) break;
    first = at - 1;
  }
  return first;
}

std::vector<SourceLine> indented_lines_of(std::string_view source) {
  std::vector<SourceLine> lines;
  OpenText open;
  while (!source.empty()) {
    const std::size_t end = source.find('\n');
    SourceLine line;
    line.text = source.substr(0, end == source.npos ? source.npos : end + 1);
    line.inside = open.is_open();
    for (const char c : line.text) {
      if (c != ' ' && c != '\t') break;
      line.indent += c == '\t' ? 8 - line.indent % 8 : 1;
    }
    const std::string_view shown = base::trimmed(line.text);
    line.blank = !line.inside && (shown.empty() || shown.front() == '#');
    open.read(line.text);
    source.remove_prefix(line.text.size());
    lines.push_back(line);
  }
  return lines;
}

std::vector<FunctionPlace> indented_functions_of(std::string_view source) {
  const std::vector<SourceLine> lines = indented_lines_of(source);
  std::vector<FunctionPlace> found;
  std::vector<Block> open;
  std::size_t code_end = 0;  // past the last line that is not blank
  // Comments behind a function's last line are its own if they are indented as its lines are.
  const auto end_of = [&](const Block& block) {
    std::size_t end = code_end;
    for (std::size_t at = code_end; at < lines.size() && lines[at].blank; ++at) {
      const bool is_comment = !base::trimmed(lines[at].text).empty();
      if (is_comment && lines[at].indent <= block.indent) break;
      if (is_comment) end = at + 1;
    }
    return end;
  };
  const auto close_to = [&](int indent) {
    while (!open.empty() && open.back().indent >= indent) {
      if (open.back().is_function) found[open.back().place].last = end_of(open.back());
      open.pop_back();
    }
  };
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const SourceLine& line = lines[at];
    if (line.blank) continue;
    if (!line.inside) {
      close_to(line.indent);
      const std::string function = name_after(line.text, "def");
      const std::string type = function.empty() ? name_after(line.text, "class") : "";
      if (!function.empty()) {
        std::size_t body = at + 1;
        while (body < lines.size() && lines[body].inside) ++body;
        const std::size_t first = first_decorator(lines, at);
        found.push_back({.name = qualified(open, function),
                         .first = first,
                         .header = at,
                         .body = body,
                         .signature = text_of(lines, at, body),
                         .decorators = text_of(lines, first, at)});
        open.push_back({function, line.indent, true, found.size() - 1});
      } else if (!type.empty()) {
        open.push_back({type, line.indent, false, 0});
      }
    }
    code_end = at + 1;
  }
  close_to(0);
  return found;
}

/// With some of the functions that there are.
std::string unknown_function(const std::vector<FunctionPlace>& all, std::string_view name) {
  std::vector<std::string> names;
  for (const FunctionPlace& place : all) {
    if (std::ranges::find(names, place.name) == names.end()) names.push_back(place.name);
  }
  const std::string meant(base::nearest_name(name, names));
  const std::string member = "." + std::string(name);
  const std::string in_space = "::" + std::string(name);
  std::ranges::stable_sort(names, {}, [&](const std::string& known) {
    return known.ends_with(member) || known.ends_with(in_space) ? 0 : known == meant ? 1 : 2;
  });
  const std::size_t more = names.size() - std::min(names.size(), kMostNames);
  names.resize(names.size() - more);
  std::string message = base::unknown_name("function", name, names);
  if (more > 0) message += " and " + std::to_string(more) + " more";
  return message;
}

}  // namespace

std::vector<SourceLine> lines_of(const CodeLanguage& language, std::string_view source) {
  return language.form == FunctionForm::braces ? brace_lines_of(language, source) : indented_lines_of(source);
}

std::vector<FunctionPlace> functions_of(const CodeLanguage& language, std::string_view source) {
  switch (language.form) {
    case FunctionForm::none:
      return {};
    case FunctionForm::indentation:
      return indented_functions_of(source);
    case FunctionForm::braces:
      return brace_functions_of(language, source);
  }
  return {};
}

std::string enclosing_function(const std::vector<FunctionPlace>& all, const FunctionPlace& place) {
  std::string innermost;
  for (const FunctionPlace& other : all) {
    const bool holds = other.first <= place.first && place.last <= other.last;
    if (holds && place.name.starts_with(other.name + ".") && other.name.size() > innermost.size())
      innermost = other.name;
  }
  return innermost;
}

base::Result<FunctionPlace> find_function(const CodeLanguage& language, std::string_view source,
                                          std::string_view name) {
  const std::vector<FunctionPlace> all = functions_of(language, source);
  std::vector<FunctionPlace> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const FunctionPlace& it) { return it.name == name; });
  if (found.empty() && language.form == FunctionForm::braces) {
    const std::string end = "::" + std::string(name);
    std::ranges::copy_if(all, std::back_inserter(found),
                         [&](const FunctionPlace& it) { return it.name.ends_with(end); });
  }
  if (found.empty()) {
    return base::fail(base::ErrorCode::not_found, unknown_function(all, name));
  }
  const char* problem = found.size() > 1            ? "several functions are named \""
                        : found.front().shares_line ? "other code shares a line with the function \""
                                                    : nullptr;
  if (problem != nullptr) {
    return base::fail(base::ErrorCode::invalid_argument,
                      problem + std::string(name) + "\"; make the scope the whole file");
  }
  return found.front();
}

std::string text_of(const std::vector<SourceLine>& lines, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t at = first; at < last && at < lines.size(); ++at) text += lines[at].text;
  return text;
}

}  // namespace accelopt::refactor

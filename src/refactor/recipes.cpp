// SPDX-License-Identifier: Apache-2.0
#include "refactor/recipes.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <regex>

#include <fmt/format.h>

#include "base/text.hpp"
#include "refactor/brace_recipes.hpp"
#include "refactor/functions.hpp"

namespace accelopt::refactor {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kQueue = "List used as a queue -> deque";
constexpr const char* kMembership = "Membership in a list inside a loop -> set";
constexpr const char* kPattern = "Regular expression compiled in a loop -> hoisted";
constexpr const char* kConcat = "Repeated string concatenation -> join";

int indent_of(const std::string& line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at == line.npos ? 0 : static_cast<int>(at);
}

bool is_code(const std::string& line) {
  const auto text = base::trimmed(line);
  return !text.empty() && text.front() != '#';
}

/// The line of the loop that encloses this one most closely, and starts at an indentation below its own.
std::optional<std::size_t> loop_around(const Lines& body, std::size_t at) {
  static const std::regex kLoop(R"(\s*(for\s.+|while\s.+):\s*)");
  int indent = indent_of(body[at]);
  for (std::size_t before = at; before-- > 0;) {
    if (!is_code(body[before]) || indent_of(body[before]) >= indent) continue;
    indent = indent_of(body[before]);
    if (std::regex_match(std::string(base::trimmed(body[before], "\r\n")), kLoop)) return before;
  }
  return std::nullopt;
}

/// How often the name stands in the line as a word.
std::ptrdiff_t count_word(const std::string& line, const std::string& name) {
  const std::regex word("\\b" + name + "\\b");
  return std::distance(std::sregex_iterator(line.begin(), line.end(), word), std::sregex_iterator());
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

/// `name = [...]` and `name.pop(0)` or `name.insert(0, x)`; nothing but what both types know besides.
std::optional<std::string> queue_to_deque(Lines body) {
  static const std::regex kTaken(R"(\b([A-Za-z_]\w*)\.pop\(0\))");
  std::smatch found;
  std::string name;
  for (const std::string& line : body) {
    if (std::regex_search(line, found, kTaken)) name = found[1];
  }
  if (name.empty()) return std::nullopt;
  const std::regex made("^(\\s*)" + name + R"(\s*=\s*(\[.*\]|list\(.*\))\s*(#.*)?\s*$)");
  const std::regex pop("\\b" + name + R"(\.pop\(0\))");
  const std::regex insert("\\b" + name + R"(\.insert\(0,\s*)");
  const std::regex slice("\\b" + name + R"(\[[^\]]*:)");
  bool is_made = false;
  for (std::string& line : body) {
    if (std::regex_search(line, slice)) return std::nullopt;
    const std::string text(base::trimmed(line, "\r\n"));
    if (std::regex_match(text, found, made)) {
      line = found[1].str() + name + " = deque(" + found[2].str() + ")\n";
      is_made = true;
    }
    line = std::regex_replace(line, pop, name + ".popleft()");
    line = std::regex_replace(line, insert, name + ".appendleft(");
  }
  return is_made ? std::optional(joined(body)) : std::nullopt;
}

/// `x not in name` in a loop, where `name` is a list that the function makes and appends to: a set beside it.
std::optional<std::string> membership_to_set(Lines body) {
  static const std::regex kAsked(R"(\b(?:not\s+)?in\s+([A-Za-z_]\w*)\s*(?::|and\b|or\b|\)|$))");
  for (std::size_t at = 0; at < body.size(); ++at) {
    std::smatch found;
    const std::string line(base::trimmed(body[at], "\r\n"));
    if (base::trimmed(line).starts_with("for ") || !std::regex_search(line, found, kAsked) || !loop_around(body, at))
      continue;
    const std::string name = found[1];
    const std::string set = name + "_set";
    const std::regex made("^(\\s*)" + name + R"(\s*=\s*\[\s*\]\s*$)");
    const std::regex append("^(\\s*)" + name + R"(\.append\((.*)\)\s*$)");
    const std::regex other("\\b" + name + R"(\s*(\.(?!append\()|\[[^\]]*\]\s*=|\+=|=[^=]))");
    const std::regex asked("\\bin\\s+" + name + "\\b");
    Lines out;
    bool is_made = false;
    bool fits = true;
    for (const std::string& each : body) {
      const std::string text(base::trimmed(each, "\r\n"));
      std::smatch parts;
      if (std::regex_match(text, parts, made)) {
        out.push_back(each);
        out.push_back(parts[1].str() + set + " = set()\n");
        is_made = true;
      } else if (std::regex_match(text, parts, append)) {
        out.push_back(each);
        out.push_back(parts[1].str() + set + ".add(" + parts[2].str() + ")\n");
      } else {
        fits = fits && !std::regex_search(text, other);
        const bool loops = base::trimmed(text).starts_with("for ");
        out.push_back(loops ? each : std::regex_replace(each, asked, "in " + set));
      }
    }
    if (is_made && fits) return joined(out);
  }
  return std::nullopt;
}

/// `re.compile("...")`, and `re.match("...", x)`, of a constant pattern inside a loop.
std::optional<std::string> hoist_pattern(Lines body) {
  static const std::regex kCompiled(R"(re\.compile\((r?"[^"]*"|r?'[^']*')\))");
  static const std::regex kUsed(R"(re\.(match|search|fullmatch|sub|findall|split)\((r?"[^"]*"|r?'[^']*'),\s*)");
  for (std::size_t at = 0; at < body.size(); ++at) {
    auto loop = loop_around(body, at);
    std::smatch found;
    if (!loop) continue;
    std::string pattern;
    std::string replaced;
    if (std::regex_search(body[at], found, kCompiled)) {
      pattern = found[1];
      replaced = found.prefix().str() + "compiled_pattern" + found.suffix().str();
    } else if (std::regex_search(body[at], found, kUsed)) {
      pattern = found[2];
      replaced = found.prefix().str() + "compiled_pattern." + found[1].str() + "(" + found.suffix().str();
    } else {
      continue;
    }
    while (const auto outer = loop_around(body, *loop)) loop = outer;
    body[at] = replaced;
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(*loop),
                std::string(static_cast<std::size_t>(indent_of(body[*loop])), ' ') + "compiled_pattern = re.compile(" +
                    pattern + ")\n");
    return joined(body);
  }
  return std::nullopt;
}

/// `out = ""`, `out += x` or `out = out + x` in loops, and one use of it after them.
std::optional<std::string> concat_to_join(Lines body) {
  static const std::regex kMade(R"(^(\s*)([A-Za-z_]\w*)\s*=\s*(""|'')\s*$)");
  for (std::size_t at = 0; at < body.size(); ++at) {
    std::smatch found;
    const std::string line(base::trimmed(body[at], "\r\n"));
    if (!std::regex_match(line, found, kMade)) continue;
    const std::string name = found[2];
    const std::string parts = name + "_parts";
    const std::regex add("^(\\s*)" + name + "\\s*(?:\\+=|=\\s*" + name + R"(\s*\+)\s*(.+)$)");
    Lines out = body;
    out[at] = found[1].str() + parts + " = []\n";
    std::size_t last_added = 0;
    for (std::size_t each = at + 1; each < out.size(); ++each) {
      std::smatch piece;
      const std::string text(base::trimmed(body[each], "\r\n"));
      if (!std::regex_match(text, piece, add) || !loop_around(body, each)) continue;
      if (count_word(piece[2].str(), name) > 0) return std::nullopt;
      out[each] = piece[1].str() + parts + ".append(" + piece[2].str() + ")\n";
      last_added = each;
    }
    if (last_added == 0) continue;
    bool fits = true;
    for (std::size_t each = at + 1; each < out.size(); ++each) {
      if (count_word(out[each], name) == 0) continue;
      fits = fits && each > last_added;
      out[each] = std::regex_replace(out[each], std::regex("\\b" + name + "\\b"), "\"\".join(" + parts + ")");
    }
    if (fits) return joined(out);
  }
  return std::nullopt;
}

struct Recipe {
  const char* strategy;
  const char* why;
  const char* import;  ///< what it needs at the function's start; empty: nothing
  std::optional<std::string> (*change)(Lines);
};

constexpr Recipe kRecipes[] = {
    {kQueue, "list.pop(0) moves every element, deque.popleft() moves none.", "from collections import deque",
     queue_to_deque},
    {kMembership, "A list is searched from its beginning each time, a set is not.", "", membership_to_set},
    {kConcat, "Each concatenation may copy all that was written before; join copies once.", "", concat_to_join},
    {kPattern, "The pattern is the same in every turn of the loop.", "", hoist_pattern},
};

/// Whether the file imports it already at its top.
bool has_import(const std::vector<SourceLine>& lines, std::string_view import) {
  return std::ranges::any_of(lines, [&](const SourceLine& line) { return base::trimmed(line.text, "\r\n") == import; });
}

/// The first line of the body that is no docstring.
std::size_t first_statement(const std::vector<SourceLine>& lines, const FunctionPlace& place) {
  std::size_t at = place.body;
  while (at < place.last && lines[at].blank) ++at;
  const std::string_view text = at < place.last ? base::trimmed(lines[at].text) : "";
  if (!text.starts_with('"') && !text.starts_with('\'')) return at;
  ++at;
  while (at < place.last && lines[at].inside) ++at;
  return at;
}

bool has_long_line(const std::vector<SourceLine>& lines, const FunctionPlace& place) {
  for (std::size_t at = place.body; at < place.last; ++at) {
    if (lines[at].text.size() > kLongestMatchedLine) return true;
  }
  return false;
}

}  // namespace

std::vector<Proposal> propose(const CodeLanguage& language, const std::string& source, const std::string& function) {
  std::vector<Proposal> out;
  std::string only = function;
  if (const auto found = find_function(language, source, function); found) only = found->name;
  const std::vector<SourceLine> lines = lines_of(language, source);
  for (const FunctionPlace& place : functions_of(language, source)) {
    if ((!only.empty() && place.name != only) || has_long_line(lines, place)) continue;
    if (language.form == FunctionForm::braces) {
      std::ranges::move(propose_for_braces(language, lines, place), std::back_inserter(out));
      continue;
    }
    const std::size_t start = first_statement(lines, place);
    Lines body;
    for (std::size_t at = start; at < place.last; ++at) body.emplace_back(lines[at].text);
    if (body.empty()) continue;
    for (const Recipe& recipe : kRecipes) {
      const auto changed = recipe.change(body);
      if (!changed || *changed == joined(body)) continue;
      std::string import;
      if (*recipe.import != '\0' && !has_import(lines, recipe.import))
        import = std::string(static_cast<std::size_t>(indent_of(body.front())), ' ') + recipe.import + "\n";
      out.push_back({recipe.strategy, recipe.why,
                     text_of(lines, 0, start) + import + *changed + text_of(lines, place.last, lines.size())});
    }
  }
  return out;
}

}  // namespace accelopt::refactor

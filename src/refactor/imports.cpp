// SPDX-License-Identifier: Apache-2.0
#include "refactor/imports.hpp"

#include <algorithm>
#include <regex>

#include "base/text.hpp"
#include "refactor/tokens.hpp"

namespace accelopt::refactor {
namespace {

/// What an import binds.
struct Bound {
  std::set<std::string> names;
  std::set<std::string> packages;  ///< by Python's "import a.b", which gives a what "import a" gives it
  bool any = false;                ///< names that the line does not show, or what the code means
};

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_python_import(std::string_view text) {
  const bool imports = text.starts_with("import ") || (text.starts_with("from ") && text.find(" import ") != text.npos);
  // Of letters outside of ASCII Python makes others: a name would not be what it seems.
  const bool ascii = std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  return imports && ascii && text.find_first_of(";(\\") == text.npos;
}

const std::regex& import_form(BraceSyntax syntax) {
  static const std::regex kC(R"re(#\s*include\s*(<[\w./+-]+>|"[\w./+-]+"))re");
  static const std::regex kScript(
      R"re(import\s+([\w$*{},\s]+\s+from\s+)?["'][^"'\\]+["'];?|(const|let|var)\s+[\w$]+\s*=\s*require\(["'][^"'\\]+["']\);?)re");
  static const std::regex kGo(R"re(import\s+([\w.]+\s+)?"[^"`;]+")re");
  static const std::regex kRust(R"re(use\s+[\w:*{},\s]+;)re");
  switch (syntax) {
    case BraceSyntax::c:
      return kC;
    case BraceSyntax::script:
      return kScript;
    case BraceSyntax::go:
      return kGo;
    case BraceSyntax::rust:
      break;
  }
  return kRust;
}

bool fits_form(std::string_view text, const std::regex& form) {
  return std::regex_match(text.begin(), text.end(), form);
}

/// Whether each line begins outside of all brackets.
std::vector<bool> top_level(const CodeLanguage& language, std::string_view source, std::size_t lines) {
  std::vector<bool> top(lines, true);
  int depth = 0;
  std::size_t line = 0;
  const auto reach = [&](std::size_t next) {
    for (; line < std::min(next, lines); ++line) top[line] = depth == 0;
  };
  for (const Token& token : tokens_of(language, source)) {
    reach(token.line + 1);
    if (token.kind != TokenKind::mark) continue;
    const char mark = token.text.front();
    if (mark == '{' || mark == '(' || mark == '[') ++depth;
    if (mark == '}' || mark == ')' || mark == ']') --depth;
  }
  reach(lines);
  return top;
}

/// An import of Go may be in brackets, whose lines are then the imports.
class GoImports {
 public:
  bool read(std::string_view text) {
    if (text == "import (") {
      in_group_ = true;
      return true;
    }
    if (in_group_ && text == ")") {
      in_group_ = false;
      return true;
    }
    static const std::regex kGrouped(R"re(([\w.]+\s+)?"[^"`;]+")re");
    return fits_form(text, in_group_ ? kGrouped : import_form(BraceSyntax::go));
  }

 private:
  bool in_group_ = false;
};

/// Past the string of Python whose quote stands at `at`.
std::size_t past_python_string(std::string_view text, std::size_t at) {
  const std::string_view three = text.substr(at, 3);
  const std::string_view quote = three == "\"\"\"" || three == "'''" ? three : text.substr(at, 1);
  for (at += quote.size(); at < text.size(); ++at) {
    if (text.substr(at).starts_with(quote)) return at + quote.size();
    if (quote.size() == 1 && text[at] == '\n') return at;
    if (text[at] == '\\') ++at;
  }
  return text.size();
}

/// Every word of a text in which code and other text are not told apart.
void add_words(std::string_view text, std::set<std::string>& names) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t first = at;
    while (at < text.size() && is_name_letter(text[at])) ++at;
    if (at > first) names.emplace(text.substr(first, at - first));
  }
}

std::set<std::string> names_of_python(std::string_view code) {
  std::set<std::string> names;
  char before = '\n';  // the last character of the line that is no blank
  for (std::size_t at = 0; at < code.size();) {
    const char c = code[at];
    std::size_t end = at + 1;
    if (c == '#') {
      end = std::min(code.find('\n', at), code.size());
    } else if (c == '"' || c == '\'') {
      end = past_python_string(code, at);
    } else if (is_name_letter(c)) {
      while (end < code.size() && is_name_letter(code[end])) ++end;
      const std::string_view word = code.substr(at, end - at);
      const bool is_prefix = end < code.size() && (code[end] == '"' || code[end] == '\'');
      if (is_prefix && word.find_first_of("fF") != word.npos) {
        at = end;
        end = past_python_string(code, at);
        add_words(code.substr(at, end - at), names);
      } else if (before != '.') {
        names.emplace(word);
      }
    }
    if (c != ' ' && c != '\t') before = c;
    at = end;
  }
  return names;
}

Bound bound_by_python(std::string_view line) {
  Bound bound;
  line = base::trimmed(line.substr(0, line.find('#')));
  const bool is_from = line.starts_with("from ");
  const std::size_t list = is_from ? line.find(" import ") + 8 : 7;
  bound.any = line.starts_with("from __future__ ");
  std::string_view rest = line.substr(std::min(list, line.size()));
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const auto words = base::split_words(one);
    if (words.empty()) continue;
    if (words.front() == "*") bound.any = true;
    if (words.size() > 1)
      bound.names.emplace(words.back());  // "a as b"
    else if (is_from)
      bound.names.emplace(words.front());
    else
      bound.packages.emplace(words.front().substr(0, words.front().find('.')));
  }
  return bound;
}

/// "import a, {b as c} from 'm'" and "const a = require('m')".
Bound bound_by_script(std::string_view line) {
  Bound bound;
  std::string_view head = line.substr(0, line.find_first_of("\"'="));
  if (line.starts_with("import")) {
    head = base::trimmed(head.substr(6));
    if (!head.ends_with("from")) return bound;  // for what the module does as it is loaded
    head.remove_suffix(4);
  }
  while (!head.empty()) {
    const std::string_view one = head.substr(0, head.find_first_of(",{}"));
    head.remove_prefix(std::min(head.size(), one.size() + 1));
    if (const auto words = base::split_words(one); !words.empty()) bound.names.emplace(words.back());
  }
  return bound;
}

/// Without another name a package has its own, which Go lets stand for nothing else in the file.
Bound bound_by_go(std::string_view line) {
  Bound bound;
  const auto words = base::split_words(line.substr(0, line.find('"')));
  if (words.empty() || words.back() == "import" || words.back() == "(" || words.back() == ")") return bound;
  bound.any = words.back() == ".";
  if (words.back() != "_") bound.names.emplace(words.back());
  return bound;
}

/// "use a::{self, b as c, d::e};".
Bound bound_by_rust(std::string_view line) {
  Bound bound;
  std::string_view rest = base::trimmed(line.substr(3, line.find(';') - 3));
  const auto last_part = [](std::string_view path) {
    const std::size_t mark = path.rfind("::");
    return mark == path.npos ? path : path.substr(mark + 2);
  };
  std::string_view outer;
  while (!rest.empty()) {
    std::string_view one = rest.substr(0, rest.find_first_of(",{}"));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const auto words = base::split_words(one);
    if (words.empty()) continue;
    one = words.back();
    if (one.ends_with("::")) {
      outer = last_part(one.substr(0, one.size() - 2));
      continue;
    }
    const std::string_view name = last_part(one);
    bound.any = bound.any || name == "*";
    if (name != "_") bound.names.emplace(name == "self" ? outer : name);
  }
  return bound;
}

Bound bound_by(const CodeLanguage& language, std::string_view line) {
  if (language.form == FunctionForm::indentation) return bound_by_python(line);
  switch (language.braces) {
    case BraceSyntax::c:
      return {};
    case BraceSyntax::script:
      return bound_by_script(line);
    case BraceSyntax::go:
      return bound_by_go(line);
    case BraceSyntax::rust:
      break;
  }
  return bound_by_rust(line);
}

}  // namespace

std::vector<bool> import_lines(const CodeLanguage& language, std::string_view source,
                               const std::vector<SourceLine>& lines) {
  std::vector<bool> found(lines.size(), false);
  const bool by_braces = language.form == FunctionForm::braces;
  const std::vector<bool> top =
      by_braces ? top_level(language, source, lines.size()) : std::vector<bool>(lines.size(), true);
  GoImports go;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string_view text = base::trimmed(lines[at].text);
    if (lines[at].inside || text.size() > kLongestMatchedLine) continue;
    if (!by_braces)
      found[at] = is_python_import(lines[at].text);
    else if (language.braces == BraceSyntax::go)
      found[at] = go.read(text);
    else
      found[at] = top[at] && fits_form(text, import_form(language.braces));
  }
  return found;
}

std::set<std::string> used_names(const CodeLanguage& language, std::string_view code) {
  if (language.form != FunctionForm::braces) return names_of_python(code);
  std::set<std::string> names;
  const auto tokens = tokens_of(language, code);
  const auto is_mark = [&](std::size_t at, std::string_view mark) {
    return at < tokens.size() && tokens[at].kind == TokenKind::mark && tokens[at].text == mark;
  };
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].kind == TokenKind::literal && tokens[at].text.starts_with('`')) add_words(tokens[at].text, names);
    if (tokens[at].kind != TokenKind::word) continue;
    // a.b and a::b, but not ...b and 0..b; at - 1 of the first is past the end
    const bool is_member = is_mark(at - 1, "::") || (is_mark(at - 1, ".") && !is_mark(at - 2, "."));
    if (!is_member) names.emplace(tokens[at].text);
  }
  return names;
}

std::vector<std::string> import_conflicts(const CodeLanguage& language, const std::vector<std::string_view>& before,
                                          const std::vector<std::string_view>& added, std::string_view code) {
  std::vector<std::string> conflicts;
  if (added.empty()) return conflicts;
  std::set<std::string> taken = used_names(language, code);
  std::set<std::string> packages;
  for (const std::string_view line : before) {
    const Bound bound = bound_by(language, line);
    taken.insert(bound.names.begin(), bound.names.end());
    taken.insert(bound.packages.begin(), bound.packages.end());
    packages.insert(bound.packages.begin(), bound.packages.end());
  }
  for (const std::string_view line : added) {
    const std::string shown = "the import \"" + base::ascii_line(line, 100) + "\" ";
    const Bound bound = bound_by(language, line);
    if (bound.any) conflicts.push_back(shown + "changes more than the names that it shows");
    const auto check = [&](const std::string& name) {
      const bool is_special = language.form == FunctionForm::indentation && name.starts_with("__");
      if (!is_special && !taken.contains(name)) return;
      conflicts.push_back(shown + "binds " + base::ascii_line(name, 60) +
                          ", which code outside of the scope uses; import it within the function, or by another name");
    };
    for (const std::string& name : bound.names) check(name);
    for (const std::string& name : bound.packages) {
      if (!packages.contains(name)) check(name);
    }
  }
  return conflicts;
}

}  // namespace accelopt::refactor

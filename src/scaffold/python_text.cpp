// SPDX-License-Identifier: Apache-2.0
#include "scaffold/python_text.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace accelopt::scaffold {
namespace {

/// Where text stands that is code: neither in a comment nor in a string.
class PythonState {
 public:
  /// Takes in one character; `rest` begins with it. How many characters it took.
  std::size_t take(std::string_view rest) {
    if (!quote_.empty()) {
      if (rest[0] == '\\' && rest.size() > 1) return 2;
      if (rest.starts_with(quote_)) {
        const std::size_t length = quote_.size();
        quote_.clear();
        return length;
      }
      if (rest[0] == '\n' && quote_.size() == 1) quote_.clear();  // not valid, and no reason to read on as a string
      return 1;
    }
    if (rest[0] == '#') return std::min(rest.find('\n'), rest.size());
    for (const char* mark : {"\"\"\"", "'''", "\"", "'"}) {
      if (!rest.starts_with(mark)) continue;
      quote_ = mark;
      return quote_.size();
    }
    if (std::string_view("([{").find(rest[0]) != std::string_view::npos) ++depth_;
    if (std::string_view(")]}").find(rest[0]) != std::string_view::npos) --depth_;
    return 1;
  }
  [[nodiscard]] bool is_code() const { return quote_.empty(); }
  [[nodiscard]] bool is_open() const { return depth_ > 0 || !quote_.empty(); }
  [[nodiscard]] int depth() const { return depth_; }

 private:
  std::string quote_;
  int depth_ = 0;
};

/// Whole logical lines: those within brackets and strings, and behind a backslash, belong to the one before.
std::vector<std::string> logical_lines(std::string_view source) {
  std::vector<std::string> lines;
  PythonState state;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < source.size();) {
    const bool ends = source[at] == '\n' && !state.is_open() && (at == 0 || source[at - 1] != '\\');
    const std::size_t taken = state.take(source.substr(at));
    at += taken;
    if (!ends) continue;
    lines.emplace_back(source.substr(begin, at - begin));
    begin = at;
  }
  if (begin < source.size()) lines.push_back(std::string(source.substr(begin)) + "\n");
  return lines;
}

bool begins_statement(const std::string& line) {
  return !line.empty() && std::string_view(" \t\r\n#").find(line[0]) == std::string_view::npos;
}

/// "try: ... except: ..." is one statement.
bool continues_statement(const std::string& line) {
  static const std::regex kClause(R"(^(?:except|else|elif|finally)\b)");
  return std::regex_search(line, kClause);
}

std::vector<std::string> comma_separated(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view part = base::trimmed(std::string_view(list).substr(begin, end - begin));
    if (!part.empty()) out.emplace_back(part);
    begin = end + 1;
  }
  return out;
}

/// One part of an import: "torch.nn as nn".
struct ImportedName {
  std::string text;
  std::string bound;
  bool is_tritons = false;
};

/// What stands before the parts ("import ", "from torch import "), and these.
std::pair<std::string, std::vector<ImportedName>> import_parts(const std::string& line) {
  static const std::regex kImport(R"(^\s*(?:from\s+([\w.]+)\s+)?import\b)");
  static const std::regex kNoise(R"(#[^\n]*|[()\\])");
  static const std::regex kTritons(R"(^triton(?:\.|$))");
  std::pair<std::string, std::vector<ImportedName>> out;
  std::smatch match;
  if (!std::regex_search(line, match, kImport)) return out;
  const std::string module = match[1];
  out.first = (module.empty() ? "" : "from " + module + " ") + "import ";
  for (const std::string& text : comma_separated(std::regex_replace(match.suffix().str(), kNoise, ""))) {
    const std::string imported = text.substr(0, text.find_first_of(" \t"));
    const std::size_t as = text.rfind(' ');
    const std::string bound = as != std::string::npos ? text.substr(as + 1)
                              : module.empty()        ? imported.substr(0, imported.find('.'))
                                                      : imported;
    out.second.push_back({text, bound, std::regex_search(module.empty() ? imported : module, kTritons)});
  }
  return out;
}

/// Names that a statement at the top level gives a value: imported, assigned (a list of targets, too), defined; in the
/// blocks of "try" and "if" as well.
std::vector<std::string> bound_by(const PythonStatement& statement) {
  static const std::regex kTargets(R"(^\s*\(?\s*(\w+(?:\s*,\s*\w+)*)\s*,?\s*\)?\s*(?::[^=]*)?=[^=])");
  using Kind = PythonStatement::Kind;
  if (statement.kind == Kind::function) return {statement.name};
  std::vector<std::string> out;
  if (!statement.name.empty()) out.push_back(statement.name);
  if (statement.kind == Kind::definition && statement.text.starts_with("class ")) return out;
  for (const std::string& line : logical_lines(statement.text)) {
    for (const ImportedName& one : import_parts(line).second) out.push_back(one.bound);
    std::smatch match;
    if (!std::regex_search(line, match, kTargets)) continue;
    for (const std::string& target : comma_separated(match[1].str())) out.push_back(target);
  }
  return out;
}

PythonStatement statement_of(const std::string& decorators, const std::string& line) {
  static const std::regex kFunction(R"(^(?:async\s+)?def\s+(\w+))");
  static const std::regex kClass(R"(^class\s+(\w+))");
  static const std::regex kName(R"(^\(?\s*(\w+)(?:\s*,\s*\w+)*\s*,?\s*\)?\s*(?::[^=]*)?=[^=])");
  PythonStatement out;
  out.text = decorators + line;
  out.is_kernel = decorators.find("triton.") != std::string::npos || decorators.find("@jit") != std::string::npos;
  std::smatch match;
  using Kind = PythonStatement::Kind;
  if (line.starts_with("import ") || line.starts_with("from ")) {
    out.kind = Kind::import;
  } else if (std::regex_search(line, match, kFunction)) {
    out.kind = Kind::function;
    out.name = match[1];
  } else if (std::regex_search(line, match, kClass) || std::regex_search(line, match, kName)) {
    out.kind = Kind::definition;
    out.name = match[1];
  }
  return out;
}

/// Names that the code uses, comments and strings aside: neither attributes ("torch.softmax") nor names of arguments
/// ("dim=-1").
std::set<std::string> names_in(std::string_view text) {
  std::set<std::string> names;
  PythonState state;
  std::string word;
  char before = ' ';  // the last character of the code that is no blank and in no name
  const auto names_argument = [&](std::size_t at) {
    const std::size_t next = text.find_first_not_of(" \t", at);
    return state.depth() > 0 && next != std::string_view::npos && text[next] == '=' && text.substr(next, 2) != "==";
  };
  for (std::size_t at = 0; at < text.size();) {
    const bool code = state.is_code();
    const char c = text[at];
    const bool letter = code && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
    if (letter) {
      word += c;
    } else {
      const std::string name = std::exchange(word, "");
      if (!name.empty() && before != '.' && !names_argument(at)) names.insert(name);
      if (!name.empty()) before = ' ';
      if (code && std::isspace(static_cast<unsigned char>(c)) == 0) before = c;
    }
    at += state.take(text.substr(at));
  }
  if (!word.empty() && before != '.') names.insert(word);
  return names;
}

}  // namespace

std::vector<PythonStatement> python_statements(std::string_view source) {
  std::vector<PythonStatement> out;
  std::string decorators;
  std::string between;  // blank lines and comments that may be inside of a statement
  bool last_is_open = false;
  for (const std::string& line : logical_lines(source)) {
    if (line.starts_with("@")) {
      decorators += line;
      last_is_open = false;
    } else if (last_is_open && continues_statement(line)) {
      out.back().text += between + line;
    } else if (begins_statement(line)) {
      out.push_back(statement_of(decorators, line));
      decorators.clear();
      last_is_open = true;
    } else if (base::trimmed(line).empty() || line[0] == '#') {
      between += line;
      continue;
    } else if (last_is_open) {
      out.back().text += between + line;
    }
    between.clear();
  }
  for (PythonStatement& one : out) one.binds = bound_by(one);
  return out;
}

std::optional<std::vector<PythonParameter>> python_parameters(const PythonStatement& function) {
  const std::size_t open = function.text.find('(', function.text.find("def " + function.name));
  std::vector<PythonParameter> out;
  if (open == std::string::npos) return out;
  PythonState state;
  std::string one;
  const std::string_view text = function.text;
  const auto end_parameter = [&]() -> bool {
    const std::string_view trimmed = base::trimmed(one);
    if (trimmed.starts_with("*") && trimmed.size() > 1) return false;
    if (!trimmed.empty() && trimmed != "*" && trimmed != "/") {
      const std::size_t end = trimmed.find_first_of(":= \t\n");
      out.push_back({std::string(trimmed.substr(0, end)), trimmed.find('=') != std::string_view::npos});
    }
    one.clear();
    return true;
  };
  for (std::size_t at = open; at < text.size();) {
    const char c = text[at];
    const bool code = state.is_code();
    const std::size_t taken = state.take(text.substr(at));
    const bool comment = code && c == '#';
    if (code && state.depth() == 0) break;
    if (code && c == ',' && state.depth() == 1) {
      if (!end_parameter()) return std::nullopt;
    } else if (at > open && !comment) {
      one += text.substr(at, taken);
    }
    at += taken;
  }
  if (!end_parameter()) return std::nullopt;
  return out;
}

std::vector<PythonStatement> python_closure(const std::vector<PythonStatement>& statements, const std::string& name,
                                            std::vector<std::string>& kernels, std::vector<std::string>& missing) {
  using Kind = PythonStatement::Kind;
  const auto binds = [](const PythonStatement& one, const std::string& wanted) {
    return std::ranges::find(one.binds, wanted) != one.binds.end();
  };
  const auto add = [](std::vector<std::string>& list, const std::string& one) {
    if (std::ranges::find(list, one) == list.end()) list.push_back(one);
  };
  std::set<const PythonStatement*> taken;
  std::set<std::string> seen;
  std::vector<std::string> left{name};
  while (!left.empty()) {
    const std::string next = left.back();
    left.pop_back();
    if (!seen.insert(next).second) continue;
    for (const PythonStatement& one : statements) {
      if (!binds(one, next)) continue;
      if (one.is_kernel) {
        add(kernels, next);
      } else if (taken.insert(&one).second && one.kind != Kind::import) {
        for (const std::string& used : names_in(one.text)) left.push_back(used);
      }
    }
  }
  std::vector<PythonStatement> out;
  const bool found = std::ranges::any_of(taken, [&](const PythonStatement* one) { return one->name == name; });
  if (!found) return out;
  for (const PythonStatement& one : statements) {
    const bool always = one.kind == Kind::import && (one.text.starts_with("from __future__") || binds(one, "*"));
    if (!taken.contains(&one) && !always) continue;
    out.push_back(one);
    if (one.kind != Kind::import) continue;
    const auto [start, parts] = import_parts(one.text);
    std::string kept;
    for (const ImportedName& part : parts) {
      if (!seen.contains(part.bound) && !always) continue;
      if (part.is_tritons && !always)
        add(missing, part.bound);
      else if (!part.is_tritons)
        kept += (kept.empty() ? "" : ", ") + part.text;
    }
    out.back().text = kept.empty() ? "" : start + kept + "\n";
    if (kept.empty()) out.pop_back();
  }
  return out;
}

std::vector<std::string> python_imports(const std::vector<PythonStatement>& statements) {
  static const std::regex kModule(R"(^(?:from|import)\s+([\w.]+))");
  std::vector<std::string> out;
  for (const PythonStatement& one : statements) {
    std::smatch match;
    if (one.kind != PythonStatement::Kind::import || !std::regex_search(one.text, match, kModule)) continue;
    const std::string module = match[1];
    const std::size_t dot = module.find('.', 1);
    out.push_back(module.substr(0, dot));
  }
  return out;
}

}  // namespace accelopt::scaffold

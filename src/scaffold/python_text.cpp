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

PythonStatement statement_of(const std::string& decorators, const std::string& line) {
  static const std::regex kFunction(R"(^(?:async\s+)?def\s+(\w+))");
  static const std::regex kClass(R"(^class\s+(\w+))");
  static const std::regex kName(R"(^(\w+)\s*(?::[^=]*)?=[^=])");
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

/// Identifiers of the code, comments and strings aside.
std::set<std::string> names_in(std::string_view text) {
  std::set<std::string> names;
  PythonState state;
  std::string word;
  for (std::size_t at = 0; at < text.size();) {
    const bool code = state.is_code();
    const char c = text[at];
    const bool letter = code && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
    if (letter) {
      word += c;
    } else if (!word.empty()) {
      names.insert(std::exchange(word, ""));
    }
    at += state.take(text.substr(at));
  }
  if (!word.empty()) names.insert(word);
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
                                            std::vector<std::string>& kernels) {
  using Kind = PythonStatement::Kind;
  static const std::regex kKernelModule(R"(\btriton\b)");
  const auto find = [&](const std::string& wanted) {
    return std::ranges::find_if(statements, [&](const PythonStatement& one) {
      return (one.kind == Kind::function || one.kind == Kind::definition) && one.name == wanted;
    });
  };
  std::set<std::string> taken;
  std::vector<std::string> left{name};
  while (!left.empty()) {
    const std::string next = left.back();
    left.pop_back();
    const auto found = find(next);
    if (found == statements.end() || taken.contains(next)) continue;
    if (found->is_kernel) {
      if (std::ranges::find(kernels, next) == kernels.end()) kernels.push_back(next);
      continue;
    }
    taken.insert(next);
    for (const std::string& used : names_in(found->text)) left.push_back(used);
  }
  std::vector<PythonStatement> out;
  if (!taken.contains(name)) return out;
  for (const PythonStatement& one : statements) {
    const bool import = one.kind == Kind::import && !std::regex_search(one.text, kKernelModule);
    if (import || taken.contains(one.name)) out.push_back(one);
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

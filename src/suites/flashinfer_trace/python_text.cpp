// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/python_text.hpp"

#include "base/text.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

/// Walks over Python so that strings and comments are passed as wholes.
class Walker {
 public:
  explicit Walker(std::string_view source) : source_(source) {}

  [[nodiscard]] bool ended() const { return at_ >= source_.size(); }
  [[nodiscard]] std::size_t place() const { return at_; }

  /// Passes one character, one comment or one string; gives the character, or a blank for the other two.
  char step() {
    const char letter = source_[at_];
    if (letter == '#') {
      const auto end = source_.find('\n', at_);
      at_ = end == std::string_view::npos ? source_.size() : end;
      return ' ';
    }
    if (letter == '"' || letter == '\'') {
      pass_string(letter);
      return ' ';
    }
    ++at_;
    return letter;
  }

 private:
  void pass_string(char quote) {
    const std::string three(3, quote);
    const std::string mark = source_.substr(at_).starts_with(three) ? three : std::string(1, quote);
    at_ += mark.size();
    while (at_ < source_.size() && !source_.substr(at_).starts_with(mark)) {
      if (mark.size() == 1 && source_[at_] == '\n') return;
      at_ += source_[at_] == '\\' ? 2 : 1;
    }
    at_ += mark.size();
  }

  std::string_view source_;
  std::size_t at_ = 0;
};

/// Where the parameters of `def function(` begin, at the beginning of a line; none: nowhere.
std::optional<std::size_t> find_definition(std::string_view source, std::string_view function) {
  Walker walker(source);
  bool at_line_start = true;
  while (!walker.ended()) {
    const std::size_t place = walker.place();
    if (at_line_start && source.substr(place).starts_with("def ")) {
      const std::string_view rest = base::trimmed(source.substr(place + 4, 200), " \t");
      if (rest.starts_with(function) && base::trimmed(rest.substr(function.size()), " \t").starts_with("("))
        return source.find('(', place) + 1;
    }
    at_line_start = walker.step() == '\n';
  }
  return std::nullopt;
}

/// Reads the parameters up to the closing parenthesis; the place behind it. None: it does not close.
std::optional<std::size_t> read_parameters(std::string_view text, PythonFunction& out) {
  Walker walker(text);
  std::string parameter;
  int depth = 0;
  bool by_position = true;
  while (!walker.ended()) {
    const char letter = walker.step();
    if (letter == '(' || letter == '[' || letter == '{') ++depth;
    const bool closes = letter == ')' || letter == ']' || letter == '}';
    if (depth == 0 && (letter == ',' || closes)) {
      const std::string_view name = base::trimmed(std::string_view(parameter).substr(0, parameter.find_first_of(":=")));
      if (name.starts_with("*")) {
        out.takes_any = out.takes_any || (name.size() > 1 && name[1] != '*');
        by_position = false;  // what follows is passed by name
      } else if (by_position && !name.empty() && name != "/") {
        out.parameters.emplace_back(name);
      }
      parameter.clear();
      if (closes) return walker.place();
    } else {
      parameter += letter;
    }
    if (closes) --depth;
  }
  return std::nullopt;
}

/// Up to the next line that begins in the first column.
std::string_view body_at(std::string_view text) {
  Walker walker(text);
  bool at_line_start = false;
  while (!walker.ended()) {
    const std::size_t place = walker.place();
    const bool blank = base::kBlanks.find(text[place]) != std::string_view::npos || text[place] == '#';
    if (at_line_start && !blank) return text.substr(0, place);
    at_line_start = walker.step() == '\n';
  }
  return text;
}

bool has_return_value(std::string_view body) {
  Walker walker(body);
  bool at_statement = false;
  while (!walker.ended()) {
    const std::string_view rest = body.substr(walker.place());
    if (at_statement && rest.starts_with("return ")) {
      const std::string_view value = base::trimmed(base::first_line(rest.substr(7)));
      if (!value.empty() && !value.starts_with("#") && value != "None") return true;
    }
    const char letter = walker.step();
    at_statement =
        letter == '\n' || letter == ';' || letter == ':' || (at_statement && (letter == ' ' || letter == '\t'));
  }
  return false;
}

}  // namespace

std::optional<PythonFunction> find_function(std::string_view source, std::string_view name) {
  const auto begin = find_definition(source, name);
  if (!begin) return std::nullopt;
  PythonFunction out;
  const auto end = read_parameters(source.substr(*begin), out);
  if (!end) return std::nullopt;
  out.body = body_at(source.substr(*begin + *end));
  out.returns_value = has_return_value(out.body);
  return out;
}

}  // namespace accelopt::suites::flashinfer_trace

// SPDX-License-Identifier: Apache-2.0
#include "scaffold/words.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

#include "model/c_tokens.hpp"

namespace accelopt::scaffold {
namespace {

void collect(std::string_view source, std::size_t base, std::vector<Word>& result) {
  std::string previous;
  for (const model::Token& token : model::c_tokens(source)) {
    if (token.kind == model::TokenKind::preprocessor) {
      const bool is_include = token.text.find("include") != std::string::npos && token.text.size() > 1 &&
                              token.text.find("include") <= token.text.find_first_not_of("# ");
      const std::size_t begin = token.offset + 1;  // past '#': the rest of the line reads as ordinary tokens
      if (!is_include) {
        collect(source.substr(begin, token.end - begin), base + begin, result);
      }
    } else if (token.kind == model::TokenKind::identifier || token.kind == model::TokenKind::number) {
      const bool qualified = previous == "." || previous == "->" || previous == "::";
      result.push_back({token.text, base + token.offset, token.kind == model::TokenKind::number, qualified});
    }
    previous = token.text;
  }
}

/// End of the line that holds the offset, its line end excluded, continued lines included.
std::size_t end_of_logical_line(std::string_view source, std::size_t offset) {
  for (std::size_t end = offset;; ++end) {
    end = source.find('\n', end);
    if (end == std::string_view::npos) return source.size();
    const bool carriage = end > offset && source[end - 1] == '\r';
    const std::size_t last = carriage ? end - 1 : end;
    if (last == offset || source[last - 1] != '\\') return end;
  }
}

/// End of the string or character that begins at the offset; the offset where none does, as within 1'000.
std::size_t end_of_literal(std::string_view source, std::size_t at) {
  const char quote = source[at];
  if (quote != '"' && quote != '\'') return at;
  std::size_t word = at;
  while (word > 0 && (std::isalnum(static_cast<unsigned char>(source[word - 1])) != 0 || source[word - 1] == '_'))
    --word;
  if (quote == '\'' && std::isdigit(static_cast<unsigned char>(source[word])) != 0) return at;
  if (quote == '"' && word < at && source[at - 1] == 'R') {
    const std::size_t open = std::min(source.find('(', at), source.size());
    const std::string close = ")" + std::string(source.substr(at + 1, open - at - 1)) + "\"";
    const std::size_t end = source.find(close, open);
    return end == std::string_view::npos ? source.size() : end + close.size();
  }
  std::size_t end = at + 1;
  while (end < source.size() && source[end] != quote && source[end] != '\n') end += source[end] == '\\' ? 2 : 1;
  return std::min(end + (end < source.size() && source[end] == quote ? 1 : 0), source.size());
}

constexpr std::string_view kMark = "\xEF\xBB\xBF";

}  // namespace

FileForm form_of(std::string_view text) {
  FileForm form{text.starts_with(kMark), text.find('\n') != std::string_view::npos};
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    form.has_returns = form.has_returns && at > 0 && text[at - 1] == '\r';
  }
  return form;
}

std::string plain_text(std::string_view text) {
  const FileForm form = form_of(text);
  if (form.has_mark) text.remove_prefix(kMark.size());
  std::string out(text);
  if (form.has_returns) std::erase(out, '\r');
  return out;
}

std::string in_form(const std::string& text, const FileForm& form) {
  std::string out(form.has_mark ? kMark : "");
  for (const char c : text) {
    if (c == '\n' && form.has_returns) out += '\r';
    out += c;
  }
  return out;
}

std::size_t end_of_comment(std::string_view source, std::size_t at) {
  if (source.substr(at, 2) == "//") return end_of_logical_line(source, at);
  if (source.substr(at, 2) != "/*") return at;
  const std::size_t end = source.find("*/", at + 2);
  return end == std::string_view::npos ? source.size() : end + 2;
}

std::string without_comments(std::string_view source) {
  std::string result;
  std::size_t line = 0;      // where the line begins in the result
  bool had_comment = false;  // on that line
  const auto end_line = [&] {
    const bool empty = result.find_first_not_of(" \t\r", line) == std::string::npos;
    if (empty && had_comment) {
      result.erase(line);
    } else {
      if (had_comment) result.erase(result.find_last_not_of(" \t\r") + 1);
      result += '\n';
    }
    line = result.size();
    had_comment = false;
  };
  for (std::size_t at = 0; at < source.size();) {
    if (const std::size_t end = end_of_comment(source, at); end != at) {
      if (source[at + 1] == '*') result += ' ';
      had_comment = true;
      at = end;
    } else if (const std::size_t literal = end_of_literal(source, at); literal != at) {
      result += source.substr(at, literal - at);
      at = literal;
    } else if (source[at++] == '\n') {
      end_line();
    } else {
      result += source[at - 1];
    }
  }
  return result;
}

std::vector<Word> words(std::string_view source) {
  std::vector<Word> result;
  collect(source, 0, result);
  return result;
}

bool has_word(std::string_view source, std::string_view name) {
  const std::vector<Word> all = words(source);
  return std::any_of(all.begin(), all.end(), [&](const Word& word) { return word.text == name; });
}

bool changes_variable(std::string_view source, std::string_view name) {
  static const std::regex kAssigned(R"(^\s*(?:\+\+|--|=(?!=)|(?:[-+*/%&|^]|<<|>>)=))");
  static const std::regex kStep(R"((?:\+\+|--)\s*$)");
  static const std::regex kPointedTo(R"(\*\s*$)");
  static const std::regex kAddress(R"((?:^|[^\w)\]&\s])\s*&\s*$)");
  static const std::regex kExchange(R"(\b(?:swap|exchange|advance)\s*\([^()]*$)");
  for (const Word& word : words(source)) {
    if (word.text != name || word.is_number || word.is_qualified) continue;
    // No operator and no call of these is longer.
    constexpr std::size_t kFar = 80;
    const std::size_t begin = word.offset - std::min(word.offset, kFar);
    const std::string before(source.substr(begin, word.offset - begin));
    const std::string behind(source.substr(word.offset + name.size(), kFar));
    std::smatch operation;
    const bool steps =
        std::regex_search(before, kStep) || std::regex_search(before, kAddress) || std::regex_search(before, kExchange);
    if (steps) return true;
    if (!std::regex_search(behind, operation, kAssigned)) continue;
    // `*p++` changes p, `*p = 0` what it points to.
    const bool is_step = operation.str().ends_with("++") || operation.str().ends_with("--");
    if (is_step || !std::regex_search(before, kPointedTo)) return true;
  }
  return false;
}

std::string change_words(std::string_view source,
                         const std::function<std::optional<std::string>(const Word&)>& change) {
  std::string result;
  std::size_t at = 0;
  for (const Word& word : words(source)) {
    const std::optional<std::string> other = change(word);
    if (!other) continue;
    result += source.substr(at, word.offset - at);
    result += *other;
    at = word.offset + word.text.size();
  }
  result += source.substr(at);
  return result;
}

}  // namespace accelopt::scaffold

// SPDX-License-Identifier: Apache-2.0
#include "scaffold/words.hpp"

#include <algorithm>

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
        collect(source.substr(begin, end_of_logical_line(source, begin) - begin), base + begin, result);
      }
    } else if (token.kind == model::TokenKind::identifier || token.kind == model::TokenKind::number) {
      const bool qualified = previous == "." || previous == "->" || previous == "::";
      result.push_back({token.text, base + token.offset, token.kind == model::TokenKind::number, qualified});
    }
    previous = token.text;
  }
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

std::size_t end_of_logical_line(std::string_view source, std::size_t offset) {
  for (std::size_t end = offset;; ++end) {
    end = source.find('\n', end);
    if (end == std::string_view::npos) return source.size();
    const bool carriage = end > offset && source[end - 1] == '\r';
    const std::size_t last = carriage ? end - 1 : end;
    if (last == offset || source[last - 1] != '\\') return end;
  }
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

// SPDX-License-Identifier: Apache-2.0
#include "syntax/text.hpp"

#include <algorithm>
#include <cctype>

#include "model/c_tokens.hpp"

namespace accelopt::syntax {
namespace {

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

std::size_t skip_blank(std::string_view source, std::size_t at) {
  while (at < source.size()) {
    if (std::isspace(static_cast<unsigned char>(source[at])) != 0) {
      ++at;
    } else if (source.substr(at).starts_with("//")) {
      at = std::min(source.find('\n', at), source.size());
    } else if (source.substr(at).starts_with("/*")) {
      const std::size_t end = source.find("*/", at);
      at = end == std::string_view::npos ? source.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

}  // namespace

std::vector<Include> includes_of(std::string_view source) {
  std::vector<Include> result;
  for (const model::Token& token : model::c_tokens(source)) {
    if (token.kind != model::TokenKind::preprocessor) continue;
    const std::size_t word = token.text.find("include");
    if (word == std::string::npos || token.text.find_first_not_of("# ") != word) continue;
    const std::size_t begin = token.text.find_first_of("<\"", word);
    if (begin == std::string::npos) continue;
    const std::size_t end = token.text.find(token.text[begin] == '<' ? '>' : '"', begin + 1);
    if (end == std::string::npos) continue;
    result.push_back({token.text.substr(begin, end - begin + 1), {token.offset, token.end}});
  }
  return result;
}

std::size_t end_of_name(std::string_view source, std::size_t offset) {
  std::size_t at = offset;
  while (at < source.size() && (is_name_part(source[at]) || source[at] == '.')) ++at;
  const std::size_t open = skip_blank(source, at);
  if (at == offset || !is_name_start(source[offset]) || open >= source.size() || source[open] != '(') return at;
  int depth = 0;
  for (std::size_t i = open; i < source.size(); ++i) {
    if (source[i] == '(') ++depth;
    if (source[i] == ')' && --depth == 0) return i + 1;
  }
  return at;
}

std::size_t past_semicolon(std::string_view source, std::size_t offset) {
  const std::size_t at = skip_blank(source, offset);
  return at < source.size() && source[at] == ';' ? at + 1 : offset;
}

}  // namespace accelopt::syntax

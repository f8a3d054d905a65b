// SPDX-License-Identifier: Apache-2.0
#include "base/shell.hpp"

namespace accelopt::base {

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_of(" \t\n'\"\\$&();<>|*?[]{}#~`!") == std::string_view::npos;
  return plain ? std::string(text) : shell_quoted(text);
}

Result<std::vector<std::string>> split_command(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "the command " + std::string(text) + ": " + why);
  };
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    const bool escapes = c == '\\' && quote != '\'';
    if (escapes && i + 1 == text.size()) return refuse("nothing follows its last backslash");
    if (escapes && (quote == 0 || text[i + 1] == '"' || text[i + 1] == '\\'))
      words.back() += text[++i];
    else if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else
      words.back() += c;
  }
  if (quote != 0) return refuse(std::string("a quote (") + quote + ") is not closed");
  if (words.empty()) return refuse("it is empty; give a program, e.g. \"ssh host accelopt worker\"");
  return words;
}

}  // namespace accelopt::base

// SPDX-License-Identifier: Apache-2.0
#include "recipes/nki_source.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace accelopt::recipes::nki {
namespace {

bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Behind a string literal that begins here.
std::size_t end_of_text(std::string_view text, std::size_t at) {
  const std::string_view quote = text.substr(at, 3);
  const bool triple = quote == "\"\"\"" || quote == "'''";
  for (std::size_t i = at + (triple ? 3 : 1); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (triple ? text.substr(i, 3) == quote : text[i] == text[at]) {
      return std::min(text.size(), i + (triple ? 3 : 1));
    }
  }
  return text.size();
}

/// Whether the name at this place is read: no attribute, no name of an argument, no target.
bool is_read(const Statement& statement, std::size_t place) {
  const std::vector<Token>& all = statement.tokens;
  if (all[place].kind != Token::Kind::name || (place > 0 && is(all[place - 1], "."))) return false;
  const bool assigned =
      place + 1 < all.size() && is(all[place + 1], "=") && !(place + 2 < all.size() && is(all[place + 2], "="));
  return !assigned;
}

}  // namespace

bool is(const Token& token, std::string_view value) {
  return token.value == value && token.kind != Token::Kind::text;
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    Token::Kind kind = Token::Kind::symbol;
    if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      ++i;
      continue;
    }
    if (text[i] == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (text[i] == '"' || text[i] == '\'') {
      kind = Token::Kind::text;
      end = end_of_text(text, i);
    } else if (base::is_word(text[i])) {
      kind = begins_name(text[i]) ? Token::Kind::name : Token::Kind::number;
      const auto exponent = [&](std::size_t at) {
        return kind == Token::Kind::number && (text[at] == '-' || text[at] == '+') &&
               (text[at - 1] == 'e' || text[at - 1] == 'E');
      };
      while (end < text.size() &&
             (base::is_word(text[end]) || (kind == Token::Kind::number && text[end] == '.') || exponent(end)))
        ++end;
    }
    out.push_back({kind, std::string(text.substr(i, end - i)), i});
    i = end;
  }
  return out;
}

Statement statement_of(std::size_t indent, std::string text) {
  Statement out;
  out.indent = indent;
  out.text = std::move(text);
  out.tokens = tokens_of(out.text);
  const std::vector<Token>& all = out.tokens;
  if (all.size() > 2 && all[0].kind == Token::Kind::name && is(all[1], "=") && !is(all[2], "="))
    out.target = all[0].value;
  const auto open = std::find_if(all.begin(), all.end(), [](const Token& token) { return is(token, "("); });
  if (all.size() > 6 && is(all[0], "for") && is(all[2], "in") && open != all.end() && is(all.back(), ":") &&
      is(all[all.size() - 2], ")")) {
    out.variable = all[1].value;
    out.kind = (open - 1)->value;
    out.range = out.text.substr(open->at + 1, all[all.size() - 2].at - open->at - 1);
  }
  return out;
}

std::vector<Statement> statements_of(std::string_view source) {
  std::vector<Statement> out;
  std::string pending;
  std::size_t indent = 0;
  int depth = 0;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    if (pending.empty()) {
      const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
      if (first == line.size() || line[first] == '#') continue;
      indent = first;
      depth = 0;
      line.remove_prefix(first);
    } else {
      pending += '\n';
    }
    pending += line;
    for (const Token& token : tokens_of(line)) {
      if (token.kind == Token::Kind::symbol && std::string_view("([{").find(token.value) != std::string_view::npos)
        ++depth;
      if (token.kind == Token::Kind::symbol && std::string_view(")]}").find(token.value) != std::string_view::npos)
        --depth;
    }
    if (depth > 0 && !source.empty()) continue;
    while (!pending.empty() && std::isspace(static_cast<unsigned char>(pending.back())) != 0) pending.pop_back();
    out.push_back(statement_of(indent, std::move(pending)));
    pending.clear();
  }
  return out;
}

std::string text_of(const std::vector<Statement>& statements) {
  std::string out = "# SPDX-License-Identifier: Apache-2.0\n";
  for (const Statement& one : statements) {
    if (one.text.starts_with("@")) out += "\n\n";
    out += std::string(one.indent, ' ') + one.text + "\n";
  }
  return out;
}

std::size_t block_end(const std::vector<Statement>& statements, std::size_t head) {
  std::size_t end = head + 1;
  while (end < statements.size() && statements[end].indent > statements[head].indent) ++end;
  return end;
}

std::string written(const Statement& statement) {
  const std::vector<Token>& t = statement.tokens;
  if (!statement.target.empty()) return statement.target;
  if (!statement.variable.empty() || t.size() < 3 || t[0].kind != Token::Kind::name) return {};
  return is(t[1], "[") || (is(t[1], "+") && is(t[2], "=")) ? t[0].value : std::string();
}

bool declares(const Statement& statement) {
  static const std::set<std::string> kMakes{"zeros", "ndarray", "full", "ones"};
  const auto call = call_of(statement);
  return call && kMakes.contains(call->function) && !call->arguments.empty();
}

std::set<std::string> reads(const Statement& statement) {
  std::set<std::string> out;
  for (std::size_t i = 0; i < statement.tokens.size(); ++i) {
    if (is_read(statement, i)) out.insert(statement.tokens[i].value);
  }
  return out;
}

std::size_t times_read(const Statement& statement, std::string_view name) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < statement.tokens.size(); ++i) {
    if (statement.tokens[i].value == name && is_read(statement, i)) ++out;
  }
  return out;
}

bool calls(const Statement& statement, std::string_view function) {
  for (std::size_t i = 0; i + 1 < statement.tokens.size(); ++i) {
    if (is(statement.tokens[i], function) && is(statement.tokens[i + 1], "(")) return true;
  }
  return false;
}

Statement with_name_replaced(const Statement& statement, std::string_view name, std::string_view by) {
  std::string text = statement.text;
  for (std::size_t i = statement.tokens.size(); i-- > 0;) {
    if (statement.tokens[i].value == name && is_read(statement, i))
      text.replace(statement.tokens[i].at, name.size(), by);
  }
  return statement_of(statement.indent, std::move(text));
}

std::optional<Call> call_of(const Statement& statement) {
  return statement.target.empty() ? std::nullopt : assigned_call(statement);
}

std::optional<Call> assigned_call(const Statement& statement) {
  const std::vector<Token>& all = statement.tokens;
  std::size_t equal = 1;
  if (all.size() > 2 && all[0].kind == Token::Kind::name && is(all[1], "[")) {
    while (equal + 1 < all.size() && !(is(all[equal - 1], "]") && is(all[equal], "="))) ++equal;
  }
  const std::size_t open = equal + 4;
  if (all.size() < open + 2 || !is(all[equal], "=") || is(all[equal + 1], "=") || !is(all[equal + 2], ".") ||
      !is(all[open], "(") || !is(all.back(), ")"))
    return std::nullopt;
  Call out{all[equal + 3].value, {}};
  int depth = 0;
  std::size_t begin = all[open].at + 1;
  for (std::size_t i = open; i < all.size(); ++i) {
    if (all[i].kind != Token::Kind::symbol) continue;
    const char c = all[i].value[0];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if ((c == ',' && depth == 1) || depth == 0) {
      if (all[i].at > begin) out.arguments.emplace_back(base::trimmed(statement.text.substr(begin, all[i].at - begin)));
      begin = all[i].at + 1;
    }
    if (depth == 0 && i + 1 < all.size()) return std::nullopt;  // the call is a part of an expression
  }
  return out;
}

std::string named(const Call& call, std::string_view name) {
  for (const std::string& argument : call.arguments) {
    if (argument.size() > name.size() && argument.starts_with(name) && argument[name.size()] == '=')
      return argument.substr(name.size() + 1);
  }
  return {};
}

}  // namespace accelopt::recipes::nki

// SPDX-License-Identifier: Apache-2.0
#include "recipes/triton_source.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace accelopt::recipes::triton {
namespace {

/// 1 for what opens, -1 for what closes.
int depth_of(const Token& token) {
  if (token.kind != Token::Kind::symbol) return 0;
  if (token.value == "(" || token.value == "[" || token.value == "{") return 1;
  return token.value == ")" || token.value == "]" || token.value == "}" ? -1 : 0;
}

/// The token that closes what the one at `open` opens; tokens.size(): none does.
std::size_t closing(const std::vector<Token>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    depth += depth_of(tokens[i]);
    if (depth == 0) return i;
  }
  return tokens.size();
}

/// Without comments and the blanks around it.
std::string uncommented(std::string_view text) {
  std::string out;
  std::size_t end = 0;
  for (const Token& token : nki::tokens_of(text)) {
    const std::string_view gap = text.substr(end, token.at - end);
    if (!out.empty()) out += gap.find('#') == std::string_view::npos ? gap : " ";
    out += token.value;
    end = token.at + token.value.size();
  }
  return out;
}

std::string between(const Statement& statement, std::size_t open, std::size_t close) {
  const std::size_t from = statement.tokens[open].at + 1;
  return std::string(base::trimmed(std::string_view(statement.text).substr(from, statement.tokens[close].at - from)));
}

std::optional<Launch> launch_in(const Statement& statement, std::string_view kernel) {
  const std::vector<Token>& t = statement.tokens;
  if (t.size() < 5 || !is(t[0], kernel) || !is(t[1], "[")) return std::nullopt;
  const std::size_t end_of_grid = closing(t, 1);
  if (end_of_grid + 1 >= t.size() || !is(t[end_of_grid + 1], "(") || closing(t, end_of_grid + 1) + 1 != t.size())
    return std::nullopt;
  Launch out;
  out.grid = uncommented(between(statement, 1, end_of_grid));
  out.arguments = parts_of(between(statement, end_of_grid + 1, t.size() - 1));
  return out;
}

}  // namespace

std::string text_of(const Statements& all) {
  std::string out = "# SPDX-License-Identifier: Apache-2.0\n";
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool decorated = i > 0 && all[i - 1].text.starts_with("@");
    const bool begins = all[i].text.starts_with("@") || all[i].text.starts_with("def ") ||
                        all[i].text.starts_with("class ") || (i > 0 && all[i - 1].indent > 0);
    if (all[i].indent == 0 && begins && !decorated) out += "\n\n";
    out += std::string(all[i].indent, ' ') + all[i].text + "\n";
  }
  return out;
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  int depth = 0;
  const auto add = [&](std::size_t end) {
    if (std::string part = uncommented(text.substr(begin, end - begin)); !part.empty()) out.push_back(std::move(part));
  };
  for (const Token& token : nki::tokens_of(text)) {
    depth += depth_of(token);
    if (depth != 0 || !is(token, ",")) continue;
    add(token.at);
    begin = token.at + 1;
  }
  add(text.size());
  return out;
}

std::optional<int> number_of(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

std::vector<JitKernel> kernels_of(const Statements& all) {
  std::vector<JitKernel> out;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::vector<Token>& t = all[i].tokens;
    const bool plain = i < 2 || !all[i - 2].text.starts_with("@");
    if (all[i - 1].text != "@triton.jit" || all[i].indent != 0 || t.size() < 5 || !is(t[0], "def") || !is(t[2], "("))
      continue;
    const std::size_t close = closing(t, 2);
    if (close == t.size() || !is(t.back(), ":")) continue;
    out.push_back({i, nki::block_end(all, i), plain, t[1].value, parts_of(between(all[i], 2, close))});
  }
  return out;
}

bool is_constant(const JitKernel& kernel, std::string_view parameter) {
  return std::ranges::any_of(kernel.parameters, [&](const std::string& one) {
    const std::vector<Token> t = nki::tokens_of(one);
    return t.size() > 2 && is(t[0], parameter) && is(t[1], ":") && one.find("constexpr") != std::string::npos;
  });
}

std::vector<Launch> launches_of(const Statements& all, const JitKernel& kernel) {
  std::vector<Launch> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == kernel.head) continue;
    const auto mentioned =
        std::ranges::count_if(all[i].tokens, [&](const Token& token) { return is(token, kernel.name); });
    if (mentioned == 0) continue;
    auto launch = launch_in(all[i], kernel.name);
    if (!launch || mentioned > 1) return {};
    launch->place = i;
    out.push_back(std::move(*launch));
  }
  return out;
}

Statement launch_of(std::size_t indent, const std::string& kernel, const std::string& grid,
                    const std::vector<std::string>& arguments) {
  return nki::statement_of(indent, kernel + "[" + grid + "](" + base::joined(arguments, ", ") + ")");
}

std::string argument_of(const Launch& launch, std::string_view name) {
  for (const std::string& argument : launch.arguments) {
    const std::vector<Token> t = nki::tokens_of(argument);
    if (t.size() > 2 && is(t[0], name) && is(t[1], "=")) return argument.substr(t[2].at);
  }
  return {};
}

std::set<std::string> given_by(const Statement& statement) {
  const std::vector<Token>& t = statement.tokens;
  if (!statement.variable.empty()) return {statement.variable};
  std::set<std::string> out;
  std::size_t at = 0;
  for (; at < t.size() && t[at].kind == Token::Kind::name; at += 2) {
    out.insert(t[at].value);
    if (at + 1 >= t.size() || !is(t[at + 1], ",")) break;
  }
  const auto at_is = [&](std::size_t place, std::string_view value) { return place < t.size() && is(t[place], value); };
  if (at_is(at + 1, "=") && !at_is(at + 2, "=")) return out;
  const bool changed = at == 0 && t.size() > 3 && depth_of(t[1]) == 0 && t[1].kind == Token::Kind::symbol &&
                       !at_is(1, ".") && !at_is(1, ":") &&
                       (at_is(2, "=") || (at_is(3, "=") && t[1].value == t[2].value));
  const bool annotated =
      at == 0 && at_is(1, ":") && std::ranges::any_of(t, [](const auto& one) { return is(one, "="); });
  const bool compared = at_is(1, "=") || at_is(1, "!") || at_is(1, "<") || at_is(1, ">");
  if ((changed && !compared) || annotated) return out;
  return {};
}

Scope scope_of(const Statements& all, std::size_t place) {
  for (std::size_t i = place; i-- > 0;) {
    if (all[i].indent < all[place].indent && all[i].text.starts_with("def ")) return {i + 1, nki::block_end(all, i)};
  }
  return {0, all.size()};
}

std::optional<std::size_t> only_giver(const Statements& all, const Scope& scope, std::string_view name) {
  std::optional<std::size_t> out;
  for (std::size_t i = scope.begin; i < scope.end; ++i) {
    if (!given_by(all[i]).contains(std::string(name))) continue;
    if (out) return std::nullopt;
    out = i;
  }
  return out;
}

std::string value_text(const Statement& statement) {
  const auto equals = std::ranges::find_if(statement.tokens, [](const Token& token) { return is(token, "="); });
  return equals == statement.tokens.end() ? "" : uncommented(std::string_view(statement.text).substr(equals->at + 1));
}

}  // namespace accelopt::recipes::triton

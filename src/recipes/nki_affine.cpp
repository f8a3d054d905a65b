// SPDX-License-Identifier: Apache-2.0
#include "recipes/nki_affine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace accelopt::recipes::nki {
namespace {

using Statements = std::vector<Statement>;

bool is_symbol(const Token& token, std::string_view value) {
  return token.kind == Token::Kind::symbol && token.value == value;
}

/// The text from a bracket to the one that closes it.
std::string bracketed(const Statement& one, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < one.tokens.size(); ++i) {
    const Token& token = one.tokens[i];
    if (is_symbol(token, "[") || is_symbol(token, "(")) ++depth;
    if (is_symbol(token, "]") || is_symbol(token, ")")) --depth;
    if (depth == 0) return one.text.substr(one.tokens[open].at, token.at + 1 - one.tokens[open].at);
  }
  return {};
}

bool reads_name(const std::string& text, const std::string& name) {
  return reads(statement_of(0, text)).contains(name);
}

/// The part of a tile that "name[index] = ..." writes; none: it is something else.
std::optional<std::string> written_part(const Statement& one) {
  const std::vector<Token>& t = one.tokens;
  if (t.size() < 4 || t[0].kind != Token::Kind::name || !is_symbol(t[1], "[")) return std::nullopt;
  return bracketed(one, 1);
}

/// "total[...] = nl.add(total, part)": the part.
std::optional<std::string> added(const Statement& one) {
  const auto call = assigned_call(one);
  if (!written_part(one) || !call || call->function != "add" || call->arguments.size() != 2) return std::nullopt;
  const std::string own = one.tokens[0].value;
  if (*written_part(one) != "[...]" || call->arguments[0] != own || reads_name(call->arguments[1], own))
    return std::nullopt;
  return call->arguments[1];
}

class Body {
 public:
  Body(const Statements& all, std::size_t loop) : all_(all), begin_(loop + 1), end_(block_end(all, loop)) {
    for (std::size_t i = begin_; i < end_; ++i) {
      if (!all[i].target.empty()) own_.insert(all[i].target);
    }
    variable_ = all[loop].variable;
  }

  [[nodiscard]] bool independent() const {
    for (std::size_t i = begin_; i < end_; ++i) {
      if (!keeps_to_itself(i)) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] bool keeps_to_itself(std::size_t at) const {
    const Statement& one = all_[at];
    for (std::size_t i = 0; i + 3 < one.tokens.size(); ++i) {
      if (one.tokens[i].value != "store" || !is_symbol(one.tokens[i + 1], "(")) continue;
      if (!is_symbol(one.tokens[i + 3], "[") || !reads_name(bracketed(one, i + 3), variable_)) return false;
    }
    const auto part = written_part(one);
    if (!part || own_.contains(one.tokens[0].value)) return true;
    const std::string& name = one.tokens[0].value;
    if (added(one)) return readers(name) == 1;
    return reads_name(*part, variable_) && only_part(name, *part);
  }

  [[nodiscard]] std::size_t readers(const std::string& name) const {
    std::size_t out = 0;
    for (std::size_t i = begin_; i < end_; ++i) {
      const bool writes = !all_[i].tokens.empty() && all_[i].tokens[0].value == name && written_part(all_[i]);
      out += times_read(all_[i], name) - (writes ? 1 : 0);
    }
    return out;
  }

  /// Whether the iteration uses no other part of the tile.
  [[nodiscard]] bool only_part(const std::string& name, const std::string& part) const {
    for (std::size_t i = begin_; i < end_; ++i) {
      const std::vector<Token>& t = all_[i].tokens;
      for (std::size_t k = 0; k < t.size(); ++k) {
        if (t[k].kind != Token::Kind::name || t[k].value != name) continue;
        if (k + 1 == t.size() || !is_symbol(t[k + 1], "[") || bracketed(all_[i], k + 1) != part) return false;
      }
    }
    return true;
  }

  const Statements& all_;
  std::size_t begin_;
  std::size_t end_;
  std::string variable_;
  std::set<std::string> own_;  ///< names that an iteration makes
};

}  // namespace

std::optional<Statements> made_affine(const Statements& all, std::size_t loop) {
  const Statement& head = all[loop];
  if (head.variable.empty() || (head.kind != "sequential_range" && head.kind != "range")) return std::nullopt;
  if (!Body(all, loop).independent()) return std::nullopt;
  Statements out = all;
  out[loop] = statement_of(head.indent, fmt::format("for {} in nl.affine_range({}):", head.variable, head.range));
  for (std::size_t i = loop + 1; i < block_end(all, loop); ++i) {
    if (const auto part = added(all[i]))
      out[i] = statement_of(all[i].indent, fmt::format("{} += {}", all[i].tokens[0].value, *part));
  }
  return out;
}

}  // namespace accelopt::recipes::nki

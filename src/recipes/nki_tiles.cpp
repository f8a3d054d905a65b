// SPDX-License-Identifier: Apache-2.0
#include "recipes/nki_tiles.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/text.hpp"

namespace accelopt::recipes::nki {
namespace {

using Statements = std::vector<Statement>;

/// What "rows = nl.arange(128)[:, None]" says: partitions 128; "[None, :]": elements 128.
void note_index(const Statement& one, std::map<std::string, Extent>& indices) {
  const std::vector<Token>& t = one.tokens;
  for (std::size_t i = 2; i + 8 < t.size(); ++i) {
    if (t[i].value != "arange" || t[i + 3].value != ")" || t[i + 4].value != "[") continue;
    Extent& entry = indices[one.target];
    (t[i + 5].value == "None" ? entry.second : entry.first) = t[i + 2].value;
  }
}

/// Of what is indexed by index tensors, or of a tile's name; a part that is not known is empty.
Extent extent_of(const std::string& expression, const Tiles& known) {
  if (const auto tile = known.tiles.find(expression); tile != known.tiles.end()) return tile->second;
  Extent out;
  for (const std::string& name : reads(statement_of(0, expression))) {
    const auto index = known.indices.find(name);
    if (index == known.indices.end()) continue;
    if (!index->second.first.empty()) out.first = index->second.first;
    if (!index->second.second.empty()) out.second = index->second.second;
  }
  return out;
}

/// Of a shape with two axes, "(128, 512)" or "(nl.par_dim(128), 512)".
Extent extent_of_shape(const std::string& shape) {
  const std::vector<Token> t = tokens_of(shape);
  std::vector<std::string> plain;
  for (const Token& token : t) {
    if (token.kind == Token::Kind::name && (token.value == "nl" || token.value == "par_dim")) continue;
    if (token.kind == Token::Kind::symbol && std::string_view("().,").find(token.value) != std::string_view::npos)
      continue;
    if (token.kind == Token::Kind::symbol) return {};  // computed
    plain.push_back(token.value);
  }
  return plain.size() == 2 ? Extent{plain[0], plain[1]} : Extent{};
}

Extent extent_of_call(const Call& call, const Tiles& known) {
  static const std::set<std::string> kMakes{"zeros", "ndarray", "full", "ones", "memset"};
  static const std::set<std::string> kReduces{"tensor_reduce", "sum", "max", "min", "mean", "nc_matmul", "matmul"};
  if (call.arguments.empty() || kReduces.contains(call.function)) return {};
  if (kMakes.contains(call.function) || call.function == "broadcast_to") return extent_of_shape(call.arguments[0]);
  const bool second = call.function == "activation" && call.arguments.size() > 1;
  Extent out = extent_of(call.arguments[second ? 1 : 0], known);
  if (call.function == "nc_transpose" || call.function == "transpose") std::swap(out.first, out.second);
  return out;
}

}  // namespace

Tiles tiles_of(const Statements& all) {
  Tiles out;
  for (const Statement& one : all) {
    if (one.target.empty()) continue;
    note_index(one, out.indices);
    const auto call = call_of(one);
    if (!call || call->function == "arange") continue;
    const Extent extent = extent_of_call(*call, out);
    if (!extent.first.empty() && !extent.second.empty()) out.tiles[one.target] = extent;
  }
  return out;
}

int number_of(const Statements& all, const std::string& text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc() && end == text.data() + text.size()) return value;
  if (times_assigned(all, text) != 1) return 0;
  for (const Statement& one : all) {
    if (one.target == text && one.tokens.size() == 3 && one.tokens[2].value != text)
      return number_of(all, one.tokens[2].value);
  }
  return 0;
}

std::size_t times_assigned(const Statements& all, const std::string& name) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const Statement& one) { return one.target == name; }));
}

}  // namespace accelopt::recipes::nki

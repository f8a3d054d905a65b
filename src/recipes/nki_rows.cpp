// SPDX-License-Identifier: Apache-2.0
#include "recipes/nki_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "recipes/nki_keep.hpp"
#include "recipes/nki_tiles.hpp"

namespace accelopt::recipes::nki {
namespace {

using Statements = std::vector<Statement>;

constexpr int kMostChanges = 12;

/// name = nl.load(tensor[row, WIDTH * loop + columns], ...) in a loop of a known number of iterations.
struct Piece {
  std::size_t at = 0;
  std::size_t loop = 0;  ///< the one over the pieces
  std::string tensor;
  std::string row;         ///< index of the partition axis
  std::string rows;        ///< the nl.arange in it
  std::string column;      ///< index of the free axis
  std::string width;       ///< elements of a piece
  std::string rest;        ///< further arguments, each behind a comma
  std::string partitions;  ///< of the tile
};

/// Loops around a statement, the innermost one first.
std::vector<std::size_t> loops_around(const Statements& all, std::size_t at) {
  std::vector<std::size_t> out;
  for (std::size_t i = at; i-- > 0;) {
    if (!all[i].variable.empty() && block_end(all, i) > at) out.push_back(i);
  }
  return out;
}

/// "x[row, column]" in its parts.
std::optional<std::array<std::string, 3>> indexed(const std::string& text) {
  const std::vector<Token> t = tokens_of(text);
  if (t.size() < 6 || t[0].kind != Token::Kind::name || t[1].value != "[" || t.back().value != "]") return std::nullopt;
  int depth = 0;
  std::optional<std::size_t> comma;
  for (std::size_t i = 1; i < t.size(); ++i) {
    if (t[i].value == "[" || t[i].value == "(") ++depth;
    if (t[i].value == "]" || t[i].value == ")") --depth;
    if (depth == 0 && i + 1 < t.size()) return std::nullopt;
    if (t[i].value != "," || depth != 1) continue;
    if (comma) return std::nullopt;  // three axes
    comma = i;
  }
  if (!comma) return std::nullopt;
  const std::size_t begin = t[1].at + 1;
  const std::size_t middle = t[*comma].at;
  return std::array{t[0].value, std::string(base::trimmed(text.substr(begin, middle - begin))),
                    std::string(base::trimmed(text.substr(middle + 1, t.back().at - middle - 1)))};
}

std::optional<Piece> piece_at(const Statements& all, const Tiles& known, std::size_t at) {
  const Statement& one = all[at];
  const auto call = call_of(one);
  if (!call || call->function != "load" || call->arguments.empty() || times_assigned(all, one.target) != 1)
    return std::nullopt;
  const auto parts = indexed(call->arguments[0]);
  const std::vector<std::size_t> loops = loops_around(all, at);
  if (!parts || loops.empty()) return std::nullopt;
  Piece out;
  out.at = at;
  out.loop = loops[0];
  out.tensor = (*parts)[0];
  out.row = (*parts)[1];
  out.column = (*parts)[2];
  const Statement& loop = all[out.loop];
  const std::vector<Token> column = tokens_of(out.column);
  const bool follows = column.size() == 5 && column[1].value == "*" && column[2].value == loop.variable &&
                       column[3].value == "+" && known.indices.contains(column[4].value) &&
                       known.indices.at(column[4].value).second == column[0].value;
  if (!follows || loop.range.find(',') != std::string::npos || one.indent != all[out.loop + 1].indent)
    return std::nullopt;
  out.width = column[0].value;
  for (std::size_t i = 1; i < call->arguments.size(); ++i) {
    if (reads(statement_of(0, call->arguments[i])).contains(loop.variable)) return std::nullopt;
    out.rest += ", " + call->arguments[i];
  }
  for (const std::string& name : reads(statement_of(0, out.row))) {
    const auto index = known.indices.find(name);
    if (name == loop.variable) return std::nullopt;
    if (index == known.indices.end() || index->second.first.empty()) continue;
    out.rows = name;
    out.partitions = index->second.first;
  }
  return out.rows.empty() ? std::nullopt : std::optional(out);
}

/// The outermost loop that gives nothing a value that the row or its mask reads, with only such loops between; none:
/// the loop over the pieces is none.
std::optional<std::size_t> place_of(const Statements& all, const Piece& piece) {
  const std::set<std::string> needed = reads(statement_of(0, piece.row + piece.rest));
  std::optional<std::size_t> out;
  for (const std::size_t loop : loops_around(all, piece.at)) {
    bool changes = false;
    for (std::size_t i = loop; i < block_end(all, loop); ++i)
      changes = changes || needed.contains(all[i].variable) || needed.contains(all[i].target);
    if (changes) break;
    out = loop;
  }
  return out;
}

std::optional<Statements> with_one_row(const Statements& all) {
  const Tiles known = tiles_of(all);
  for (std::size_t at = 0; at < all.size(); ++at) {
    const auto piece = piece_at(all, known, at);
    if (!piece) continue;
    const std::optional<std::size_t> place = place_of(all, *piece);
    if (!place) continue;
    const std::string name = "row_of_" + all[at].target;
    const Statement row = statement_of(
        all[*place].indent, fmt::format("{} = nl.load({}[{}, nl.arange({} * ({}))[None, :]]{})", name, piece->tensor,
                                        piece->row, piece->width, all[piece->loop].range, piece->rest));
    const std::string part = fmt::format("{}[{}, {}]", name, piece->rows, piece->column);
    Statements out;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i == *place) out.push_back(row);
      if (i != at) out.push_back(with_name_replaced(all[i], all[at].target, part));
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Statements> with_whole_rows(Statements all) {
  bool changed = false;
  for (int i = 0; i < kMostChanges; ++i) {
    auto next = with_one_row(all);
    if (!next) break;
    all = std::move(*next);
    changed = true;
  }
  if (!changed) return std::nullopt;
  return all;
}

std::optional<Statements> reused(const Statements& all, int least_changes) {
  int changes = 0;
  Statements out = all;
  if (auto rows = with_whole_rows(out)) {
    out = std::move(*rows);
    ++changes;
  }
  for (int i = 0; i < kMostChanges; ++i) {
    const std::vector<Keeping> found = keepings(out);
    if (found.empty()) break;
    auto next = kept(out, found.front().loop);
    if (!next) break;
    out = std::move(*next);
    ++changes;
  }
  if (changes < least_changes) return std::nullopt;
  return out;
}

}  // namespace accelopt::recipes::nki

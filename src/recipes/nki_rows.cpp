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

/// "x[row, column]" in its parts; of more axes all but the last are the row.
std::optional<std::array<std::string, 3>> indexed(const std::string& text) {
  const std::vector<Token> t = tokens_of(text);
  if (t.size() < 6 || t[0].kind != Token::Kind::name || t[1].value != "[" || t.back().value != "]") return std::nullopt;
  int depth = 0;
  std::optional<std::size_t> comma;
  for (std::size_t i = 1; i < t.size(); ++i) {
    if (t[i].value == "[" || t[i].value == "(") ++depth;
    if (t[i].value == "]" || t[i].value == ")") --depth;
    if (depth == 0 && i + 1 < t.size()) return std::nullopt;
    if (t[i].value == "," && depth == 1) comma = i;
  }
  if (!comma) return std::nullopt;
  const std::size_t begin = t[1].at + 1;
  const std::size_t middle = t[*comma].at;
  return std::array{t[0].value, std::string(base::trimmed(text.substr(begin, middle - begin))),
                    std::string(base::trimmed(text.substr(middle + 1, t.back().at - middle - 1)))};
}

/// Whether the column is "WIDTH * variable + columns" of a loop from 0 on, so that iterations are neighbours.
bool follows(const std::string& index, const Statement& loop, const Tiles& known) {
  const std::vector<Token> column = tokens_of(index);
  return column.size() == 5 && column[1].value == "*" && column[2].value == loop.variable && column[3].value == "+" &&
         known.indices.contains(column[4].value) && known.indices.at(column[4].value).second == column[0].value &&
         loop.range.find(',') == std::string::npos;
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
  if (!follows(out.column, loop, known) || one.indent != all[out.loop + 1].indent) return std::nullopt;
  out.width = tokens_of(out.column)[0].value;
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

/// "nl.store(tensor[row, WIDTH * loop + columns], tile, mask=...)" at the end of a loop that makes the tile.
std::optional<Statements> with_one_store(const Statements& all, std::size_t at, const Tiles& known) {
  const Statement& one = all[at];
  const std::vector<std::size_t> loops = loops_around(all, at);
  const auto call = call_of(statement_of(0, "stored = " + one.text));
  if (loops.empty() || !one.target.empty() || !call || call->function != "store" || call->arguments.size() < 2)
    return std::nullopt;
  const Statement& loop = all[loops[0]];
  const std::size_t end = block_end(all, loops[0]);
  const auto parts = indexed(call->arguments[0]);
  if (!parts || !follows((*parts)[2], loop, known) || call->arguments.size() > 3) return std::nullopt;
  const std::string tile = call->arguments[1];
  std::optional<std::size_t> made;
  std::size_t uses = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    uses += times_read(all[i], tile);
    if (all[i].target == tile && all[i].indent == one.indent && i > loops[0] && i < at) made = i;
  }
  if (!made || uses != 1 || times_assigned(all, tile) != 1 || !call_of(all[*made])) return std::nullopt;
  std::string rows;
  for (const std::string& name : reads(statement_of(0, (*parts)[1]))) {
    const auto index = known.indices.find(name);
    if (index != known.indices.end() && !index->second.first.empty()) rows = name;
  }
  const std::string width = fmt::format("{} * ({})", tokens_of((*parts)[2])[0].value, loop.range);
  std::string mask = named(*call, "mask");
  if (call->arguments.size() == 3 && mask.empty()) return std::nullopt;
  for (std::size_t i = loops[0] + 1; i < at; ++i) {
    if (!mask.empty() && all[i].target == mask) mask = all[i].text.substr(all[i].tokens[2].at);
  }
  const std::string columns = fmt::format("nl.arange({})[None, :]", width);
  for (std::size_t place = mask.find((*parts)[2]); place != std::string::npos; place = mask.find((*parts)[2], place)) {
    mask.replace(place, (*parts)[2].size(), columns);
    place += columns.size();
  }
  const std::set<std::string> needed = reads(statement_of(0, (*parts)[1] + (mask.empty() ? "" : ", " + mask)));
  for (std::size_t i = loops[0]; i < end; ++i) {
    if (needed.contains(all[i].variable) || needed.contains(all[i].target)) return std::nullopt;
  }
  if (rows.empty()) return std::nullopt;
  const std::string name = "row_of_" + tile;
  Statements out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == loops[0])
      out.push_back(statement_of(loop.indent, fmt::format("{} = nl.ndarray((nl.par_dim({}), {}), dtype=nl.float32, "
                                                          "buffer=nl.sbuf)",
                                                          name, known.indices.at(rows).first, width)));
    if (i == *made) {
      out.push_back(statement_of(one.indent, fmt::format("{}[{}, {}] = {}", name, rows, (*parts)[2],
                                                         all[i].text.substr(all[i].tokens[2].at))));
    } else if (i != at) {
      out.push_back(all[i]);
    }
    if (i + 1 == end)
      out.push_back(statement_of(loop.indent, fmt::format("nl.store({}[{}, {}], {}{})", (*parts)[0], (*parts)[1],
                                                          columns, name, mask.empty() ? "" : ", mask=" + mask)));
  }
  return out;
}

}  // namespace

std::optional<Statements> with_whole_stores(Statements all) {
  bool changed = false;
  for (std::size_t at = 0; at < all.size(); ++at) {
    auto next = with_one_store(all, at, tiles_of(all));
    if (!next) continue;
    all = std::move(*next);
    changed = true;
    at = 0;
  }
  if (!changed) return std::nullopt;
  return all;
}

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

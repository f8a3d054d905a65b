// SPDX-License-Identifier: Apache-2.0
#include "recipes/nki_keep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "recipes/nki_tiles.hpp"

namespace accelopt::recipes::nki {
namespace {

using Statements = std::vector<Statement>;

constexpr double kLoads = 1.2;
constexpr double kTransposes = 1.4;

bool is_pure_call(const std::optional<Call>& call) {
  if (!call) return false;
  static const std::set<std::string> kPure{
      "load", "broadcast_to", "nc_transpose",  "transpose", "copy", "tensor_copy", "activation", "multiply",
      "add",  "subtract",     "tensor_scalar", "square",    "exp",  "sigmoid",     "silu",       "reciprocal"};
  return kPure.contains(call->function);
}

/// Whether its value depends on the arguments of one call alone.
bool is_pure(const Statement& statement) {
  return is_pure_call(call_of(statement));
}

/// Everything that a block gives a value, its loops' variables too, also by `x[...] =` and `x += `.
std::set<std::string> given(const Statements& all, std::size_t begin, std::size_t end) {
  std::set<std::string> out;
  for (std::size_t i = begin; i < end; ++i) {
    const Statement& one = all[i];
    if (!one.variable.empty()) out.insert(one.variable);
    const bool element = one.tokens.size() > 1 && one.tokens[1].value != "." && one.variable.empty();
    if (!one.target.empty() || element) out.insert(one.tokens[0].value);
  }
  return out;
}

bool disjoint(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::none_of(a.begin(), a.end(), [&](const std::string& name) { return b.contains(name); });
}

/// "name[...] = nl.load(...)": a part of a tile from its arguments alone.
bool fills(const Statement& statement) {
  return statement.target.empty() && statement.tokens.size() > 1 && statement.tokens[1].value == "[" &&
         is_pure_call(assigned_call(statement));
}

/// Whether a loop only makes what neither depends on these names nor is anything but its own or a part of such a tile.
bool fills_alone(const Statements& all, std::size_t loop, const std::set<std::string>& changing,
                 const std::set<std::string>& tiles) {
  const std::size_t end = block_end(all, loop);
  std::set<std::string> own = given(all, loop, end);
  std::set<std::string> outside = changing;
  for (const std::string& name : own) outside.erase(name);
  if (all[loop].range.find(',') != std::string::npos) return false;
  for (std::size_t i = loop; i < end; ++i) {
    const Statement& one = all[i];
    if (!disjoint(reads(one.variable.empty() ? one : statement_of(0, one.range)), outside)) return false;
    if (!one.variable.empty()) continue;
    if (fills(one) ? !tiles.contains(one.tokens[0].value) : !is_pure(one) || times_assigned(all, one.target) != 1)
      return false;
  }
  return true;
}

/// Statements of the block [begin, end), at its own indentation, that neither depend on what `changing` names nor on
/// what the block computes otherwise; with loops that do nothing but fill tiles that are made so.
std::vector<std::size_t> invariant(const Statements& all, std::size_t begin, std::size_t end,
                                   std::set<std::string> changing) {
  std::vector<std::size_t> out;
  for (std::size_t i = begin; i < end; i = block_end(all, i)) {
    const Statement& one = all[i];
    if (one.indent != all[begin].indent) continue;
    // A tile, and right behind it the loop that fills it: no one else may write it.
    const std::size_t next = block_end(all, i);
    if (declares(one) && next < end && !all[next].variable.empty() && times_assigned(all, one.target) == 1) {
      const std::size_t last = block_end(all, next);
      bool elsewhere = false;
      for (std::size_t k = 0; k < all.size(); ++k) {
        elsewhere = elsewhere || (k != i && written(all[k]) == one.target && (k < next || k >= last));
      }
      std::set<std::string> without = changing;
      for (const std::string& name : given(all, next, last)) without.erase(name);
      without.erase(one.target);
      if (!elsewhere && disjoint(reads(one), changing) && fills_alone(all, next, without, {one.target})) {
        for (std::size_t k = i; k < last; ++k) out.push_back(k);
        for (const std::string& name : given(all, i, last)) changing.erase(name);
        i = next;
        continue;
      }
    }
    if (!is_pure(one) || !disjoint(reads(one), changing)) continue;
    if (times_assigned(all, one.target) != 1) continue;
    out.push_back(i);
    changing.erase(one.target);
  }
  return out;
}

/// A loop, a loop right in it, and what the inner one makes without the outer one's help.
struct Found {
  std::size_t outer = 0;
  std::size_t inner = 0;  ///< equal to `outer`: the statements are the outer one's own
  std::vector<std::size_t> statements;
};

std::vector<Found> find(const Statements& all) {
  std::vector<Found> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].variable.empty()) continue;
    const std::size_t end = block_end(all, i);
    std::set<std::string> changing = given(all, i, end);
    if (auto own = invariant(all, i + 1, end, changing); !own.empty()) out.push_back({i, i, std::move(own)});
    for (std::size_t k = i + 1; k < end; ++k) {
      if (all[k].variable.empty() || all[k].indent != all[i + 1].indent) continue;
      if (!disjoint(reads(statement_of(0, all[k].range)), changing) || all[k].range.find(',') != std::string::npos)
        continue;
      std::set<std::string> without = changing;
      without.erase(all[k].variable);
      if (auto inner = invariant(all, k + 1, block_end(all, k), without); !inner.empty())
        out.push_back({i, k, std::move(inner)});
    }
  }
  return out;
}

Statement moved(const Statement& statement, std::size_t indent) {
  return statement_of(indent, statement.text);
}

std::optional<Statements> hoisted(const Statements& all, const Found& found) {
  const std::size_t indent = all[found.outer].indent;
  Statements before;
  Statements rest(all.begin() + static_cast<std::ptrdiff_t>(found.outer), all.end());
  const auto in_rest = [&](std::size_t place) { return place - found.outer; };
  if (found.inner == found.outer) {
    for (const std::size_t place : found.statements)
      before.push_back(moved(all[place], indent + all[place].indent - all[found.outer + 1].indent));
  } else {
    const Statement& loop = all[found.inner];
    const std::map<std::string, Extent> tiles = tiles_of(all).tiles;
    Statements body;
    Statements keeping;  // behind everything that fills the tiles
    for (const std::size_t place : found.statements) {
      const Statement& one = all[place];
      body.push_back(moved(one, indent + 4 + one.indent - all[found.inner + 1].indent));
      if (one.target.empty()) continue;
      std::size_t used = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const bool also_moved =
            std::find(found.statements.begin(), found.statements.end(), i) != found.statements.end();
        if (!also_moved) used += times_read(all[i], one.target);
      }
      if (used == 0) continue;
      const auto tile = tiles.find(one.target);
      if (tile == tiles.end()) return std::nullopt;
      const std::string name = "kept_" + one.target;
      before.push_back(statement_of(indent, fmt::format("{} = nl.ndarray(({}, nl.par_dim({}), {}), dtype=nl.float32, "
                                                        "buffer=nl.sbuf)",
                                                        name, loop.range, tile->second.first, tile->second.second)));
      keeping.push_back(statement_of(indent + 4, fmt::format("{}[{}] = {}", name, loop.variable, one.target)));
      for (Statement& other : rest)
        other = with_name_replaced(other, one.target, fmt::format("{}[{}]", name, loop.variable));
    }
    before.push_back(moved(loop, indent));
    before.insert(before.end(), body.begin(), body.end());
    before.insert(before.end(), keeping.begin(), keeping.end());
  }
  for (std::size_t i = found.statements.size(); i-- > 0;)
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(in_rest(found.statements[i])));
  Statements out(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(found.outer));
  out.insert(out.end(), before.begin(), before.end());
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace

std::vector<Keeping> keepings(const Statements& all) {
  std::vector<Keeping> out;
  for (const Found& found : find(all)) {
    if (!hoisted(all, found)) continue;
    Keeping one{all[found.outer].variable, "", kLoads};
    if (found.inner != found.outer) one.loop += "/" + all[found.inner].variable;
    for (const std::size_t place : found.statements) {
      if (!all[place].target.empty()) one.names += (one.names.empty() ? "" : ", ") + all[place].target;
      if (calls(all[place], "nc_transpose") || calls(all[place], "transpose")) one.prior = kTransposes;
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::optional<Statements> kept(Statements all, const std::string& loop) {
  for (const Found& found : find(all)) {
    const std::string& outer = all[found.outer].variable;
    if (loop == (found.inner == found.outer ? outer : outer + "/" + all[found.inner].variable))
      return hoisted(all, found);
  }
  return std::nullopt;
}

}  // namespace accelopt::recipes::nki

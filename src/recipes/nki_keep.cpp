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

/// Functions whose result depends on their arguments alone.
bool is_pure(const Statement& statement) {
  const auto call = call_of(statement);
  if (!call) return false;
  static const std::set<std::string> kPure{
      "load", "broadcast_to", "nc_transpose",  "transpose", "copy", "tensor_copy", "activation", "multiply",
      "add",  "subtract",     "tensor_scalar", "square",    "exp",  "sigmoid",     "silu",       "reciprocal"};
  return kPure.contains(call->function);
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

/// Statements of the block [begin, end), at its own indentation, that neither depend on what `changing` names nor on
/// what the block computes otherwise.
std::vector<std::size_t> invariant(const Statements& all, std::size_t begin, std::size_t end,
                                   std::set<std::string> changing) {
  std::vector<std::size_t> out;
  for (std::size_t i = begin; i < end; ++i) {
    const Statement& one = all[i];
    if (one.indent != all[begin].indent || !is_pure(one) || !disjoint(reads(one), changing)) continue;
    const auto same = [&](const Statement& other) { return other.target == one.target; };
    if (std::count_if(all.begin(), all.end(), same) != 1) continue;
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
    for (const std::size_t place : found.statements) before.push_back(moved(all[place], indent));
  } else {
    const Statement& loop = all[found.inner];
    const std::map<std::string, Extent> tiles = tiles_of(all).tiles;
    Statements body;
    for (const std::size_t place : found.statements) {
      const Statement& one = all[place];
      body.push_back(moved(one, indent + 4));
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
      body.push_back(statement_of(indent + 4, fmt::format("{}[{}] = {}", name, loop.variable, one.target)));
      for (Statement& other : rest)
        other = with_name_replaced(other, one.target, fmt::format("{}[{}]", name, loop.variable));
    }
    before.push_back(moved(loop, indent));
    before.insert(before.end(), body.begin(), body.end());
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
      one.names += (one.names.empty() ? "" : ", ") + all[place].target;
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

// SPDX-License-Identifier: Apache-2.0
#include "recipes/nki_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "recipes/nki_psum.hpp"
#include "recipes/nki_tiles.hpp"

namespace accelopt::recipes::nki {
namespace {

using Statements = std::vector<Statement>;

constexpr std::size_t kShared = 0;  ///< of no group: the iterations have it in common

bool stores(const Statement& one) {
  return one.tokens.size() > 3 && is(one.tokens[0], "nl") && is(one.tokens[2], "store");
}

/// Iterations [begin, end) of statements of one loop, made side by side.
class Blocks {
 public:
  Blocks(const Statements& all, std::size_t loop, int most)
      : all_(all), loop_(loop), end_(block_end(all, loop)), most_(most), groups_(all.size(), kShared) {}

  std::optional<Statements> text() {
    const Statement& head = all_[loop_];
    if (head.kind != "affine_range" || head.range.find(',') != std::string::npos || !understood()) return std::nullopt;
    variable_ = head.variable;
    if (variable_.ends_with("_block") || variable_.ends_with("_part")) return std::nullopt;  // it is one already
    if (mentioned(block()) || mentioned(part()) || mentioned(parts())) return std::nullopt;
    find_varying();
    if (!shares_loads(loop_ + 1, end_)) return std::nullopt;
    std::size_t last = kShared;
    group(loop_ + 1, end_, last);
    if (!find_places()) return std::nullopt;
    Statements out(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(loop_));
    std::string choice;
    for (int many = most_; many > 1; many /= 2)
      choice += fmt::format("{} if ({}) % {} == 0 else ", many, head.range, many);
    out.push_back(statement_of(head.indent, fmt::format("{} = {}1", parts(), choice)));
    out.push_back(
        statement_of(head.indent, fmt::format("for {} in nl.affine_range(({}) // {}):", block(), head.range, parts())));
    write(out, loop_ + 1, end_);
    out.insert(out.end(), all_.begin() + static_cast<std::ptrdiff_t>(end_), all_.end());
    return out;
  }

 private:
  [[nodiscard]] std::string block() const { return variable_ + "_block"; }
  [[nodiscard]] std::string part() const { return variable_ + "_part"; }
  [[nodiscard]] std::string parts() const { return variable_ + "_parts"; }

  [[nodiscard]] bool mentioned(const std::string& name) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Statement& one) {
      return one.variable == name || one.target == name || times_read(one, name) > 0;
    });
  }

  /// Only loops, stores, and values for tiles that the iteration makes itself.
  [[nodiscard]] bool understood() const {
    std::set<std::string> own;
    for (std::size_t i = loop_ + 1; i < end_; ++i) {
      const Statement& one = all_[i];
      if (!one.target.empty()) own.insert(one.target);
      const bool known_loop = one.kind == "affine_range" || one.kind == "sequential_range" || one.kind == "range";
      if (!one.variable.empty() ? !known_loop : written(one).empty() && !stores(one)) return false;
      if (one.variable == all_[loop_].variable || one.target == all_[loop_].variable) return false;
    }
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const bool inside = i > loop_ && i < end_;
      if (inside && !written(all_[i]).empty() && !own.contains(written(all_[i]))) return false;
      if (!inside && std::any_of(own.begin(), own.end(), [&](const std::string& name) {
            return all_[i].target == name || times_read(all_[i], name) > 0;
          }))
        return false;
    }
    return true;
  }

  [[nodiscard]] bool reads_varying(const Statement& one) const {
    const std::set<std::string> names = reads(one.variable.empty() ? one : statement_of(0, one.range));
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return varying_.contains(name); });
  }

  void find_varying() {
    varying_ = {variable_};
    for (std::size_t before = 0; before != varying_.size();) {
      before = varying_.size();
      for (std::size_t i = loop_ + 1; i < end_; ++i) {
        const std::string name = written(all_[i]);
        if (!name.empty() && reads_varying(all_[i])) varying_.insert(name);
      }
    }
  }

  /// Whether the statement is done for each of the iterations.
  [[nodiscard]] bool varies(std::size_t at) const {
    const std::string name = written(all_[at]);
    return stores(all_[at]) || reads_varying(all_[at]) || (!name.empty() && varying_.contains(name));
  }

  [[nodiscard]] bool all_the_same(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (varies(i)) return false;
    }
    return true;
  }

  /// Whether a loop in these statements loads what the iterations have in common.
  [[nodiscard]] bool shares_loads(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (all_[i].variable.empty() || reads_varying(all_[i])) continue;
      for (std::size_t k = i + 1; k < block_end(all_, i); ++k) {
        if (!varies(k) && calls(all_[k], "load") && in_loops_of_all(i, k)) return true;
      }
    }
    return false;
  }

  /// Whether no loop between the two has a range that differs.
  [[nodiscard]] bool in_loops_of_all(std::size_t outer, std::size_t at) const {
    for (std::size_t i = outer; i < at; ++i) {
      if (!all_[i].variable.empty() && block_end(all_, i) > at && reads_varying(all_[i])) return false;
    }
    return true;
  }

  /// A loop that is taken apart: it loads what all have in common, and does more.
  [[nodiscard]] bool opens(std::size_t at) const {
    const std::size_t end = block_end(all_, at);
    if (all_[at].variable.empty() || reads_varying(all_[at]) || all_the_same(at, end)) return false;
    for (std::size_t k = at + 1; k < end; ++k) {
      if (!varies(k) && calls(all_[k], "load") && in_loops_of_all(at, k)) return true;
    }
    return false;
  }

  /// Neighbours that vary are a group: one loop over the iterations.
  void group(std::size_t begin, std::size_t end, std::size_t& last) {
    bool follows = false;
    for (std::size_t i = begin; i < end; i = block_end(all_, i)) {
      const std::size_t next = block_end(all_, i);
      if (all_the_same(i, next)) {
        follows = false;
      } else if (opens(i)) {
        group(i + 1, next, last);
        follows = false;
      } else {
        if (!follows) ++last;
        for (std::size_t k = i; k < next; ++k) groups_[k] = last;
        follows = true;
      }
    }
  }

  /// Tiles that more than one group uses have a place for each iteration. False: one of them is not understood.
  bool find_places() {
    std::map<std::string, std::set<std::size_t>> users;
    for (std::size_t i = loop_ + 1; i < end_; ++i) {
      std::set<std::string> names = reads(all_[i]);
      names.insert(written(all_[i]));
      for (const std::string& name : names) {
        if (varying_.contains(name) && name != variable_) users[name].insert(groups_[i]);
      }
    }
    const std::map<std::string, Extent> tiles = tiles_of(all_).tiles;
    for (const auto& [name, groups] : users) {
      if (groups.contains(kShared)) return false;
      if (groups.size() < 2) continue;
      for (std::size_t i = loop_ + 1; i < end_; ++i) {
        if (all_[i].target != name) continue;
        if (times_assigned(all_, name) != 1) return false;
        if (declares(all_[i])) {
          const auto shape = declared(i);
          if (!shape) return false;
          places_.emplace(name, *shape);
          continue;
        }
        const auto tile = tiles.find(name);
        const auto call = call_of(all_[i]);
        if (tile == tiles.end() || !call) return false;
        places_.emplace(
            name, fmt::format("{} = nl.ndarray(({}, nl.par_dim({}), {}), dtype=nl.float32, buffer=nl.{})", name,
                              parts(), tile->second.first, tile->second.second, lies_in_psum(*call) ? "psum" : "sbuf"));
      }
    }
    return true;
  }

  /// A declaration with one place for each iteration.
  [[nodiscard]] std::optional<std::string> declared(std::size_t at) const {
    const Statement& one = all_[at];
    const std::string shape = call_of(one)->arguments[0];
    if (shape.size() < 5 || shape.front() != '(' || shape.back() != ')') return std::nullopt;
    const std::string axes = shape.substr(1, shape.size() - 2);
    std::string wide = fmt::format("({}, {})", parts(), axes);
    if (axes.find("par_dim") == std::string::npos) {
      const std::size_t comma = axes.find(',');
      if (comma == std::string::npos || axes.find_first_of(",([", comma + 1) != std::string::npos) return std::nullopt;
      wide = fmt::format("({}, nl.par_dim({}){})", parts(), axes.substr(0, comma), axes.substr(comma));
    }
    std::string text = one.text;
    return text.replace(text.find(shape), shape.size(), wide);
  }

  /// The statement as one of the iterations has it.
  [[nodiscard]] Statement of_one(const Statement& one, std::size_t indent) const {
    std::string text = one.text;
    const std::vector<Token>& t = one.tokens;
    for (std::size_t i = t.size(); i-- > 0;) {
      const bool name = t[i].kind == Token::Kind::name && !(i > 0 && is(t[i - 1], "."));
      const bool argument = i > 0 && i + 1 < t.size() && is(t[i + 1], "=") && !(i + 2 < t.size() && is(t[i + 2], "="));
      if (!name || argument) continue;
      if (t[i].value == variable_) {
        text.replace(t[i].at, variable_.size(), fmt::format("({} * {} + {})", parts(), block(), part()));
      } else if (places_.contains(t[i].value)) {
        const bool indexed = i + 1 < t.size() && is(t[i + 1], "[");
        const bool whole = indexed && i + 5 < t.size() && is(t[i + 2], ".") && is(t[i + 4], ".") && is(t[i + 5], "]");
        const std::size_t end = t[i].at + t[i].value.size();
        if (whole) {
          text.replace(end, t[i + 5].at + 1 - end, "[" + part() + "]");
        } else if (indexed) {
          text.insert(t[i + 1].at + 1, part() + ", ");
        } else {
          text.insert(end, "[" + part() + "]");
        }
      }
    }
    return statement_of(indent, std::move(text));
  }

  void write(Statements& out, std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end;) {
      if (groups_[i] == kShared) {
        out.push_back(all_[i]);
        ++i;
        continue;
      }
      std::size_t last = i;
      while (last < end && groups_[last] == groups_[i]) ++last;
      const std::size_t indent = all_[i].indent;
      Statements body;
      for (std::size_t k = i; k < last; ++k) {
        const auto place = places_.find(all_[k].target);
        if (place != places_.end()) {
          out.push_back(statement_of(indent, place->second));
          if (declares(all_[k])) continue;
        }
        body.push_back(of_one(all_[k], all_[k].indent + 4));
      }
      if (!body.empty()) {
        out.push_back(statement_of(indent, fmt::format("for {} in nl.affine_range({}):", part(), parts())));
        out.insert(out.end(), body.begin(), body.end());
      }
      i = last;
    }
  }

  const Statements& all_;
  std::size_t loop_;
  std::size_t end_;
  int most_;
  std::string variable_;
  std::set<std::string> varying_;              ///< names that differ between iterations
  std::vector<std::size_t> groups_;            ///< by statement
  std::map<std::string, std::string> places_;  ///< tiles with a place for each iteration, and what makes them
};

}  // namespace

std::optional<Statements> blocked(const Statements& all, std::size_t loop, int most) {
  if (loop >= all.size() || all[loop].variable.empty() || most < 2) return std::nullopt;
  return Blocks(all, loop, most).text();
}

std::optional<Statements> blocked(const Statements& all, int most) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (auto changed = blocked(all, i, most)) return changed;
  }
  return std::nullopt;
}

}  // namespace accelopt::recipes::nki

// SPDX-License-Identifier: Apache-2.0
#include "recipes/nki_psum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "recipes/nki_tiles.hpp"

namespace accelopt::recipes::nki {
namespace {

using Statements = std::vector<Statement>;

constexpr int kBank = 512;                ///< elements of a partition of a bank of PSUM
constexpr std::size_t kMostTiles = 4;     ///< of eight banks, two places for each tile of a loop
constexpr const char* kCopied = "psum_";  ///< before the name of what is copied

/// VectorE on two tiles of one shape.
struct Pair {
  std::size_t at = 0;
  std::string operands[2];
};

class Psum {
 public:
  explicit Psum(const Statements& all) : all_(all), tiles_(tiles_of(all).tiles) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (const auto pair = pair_at(i)) pairs_.push_back(*pair);
      const auto call = call_of(all[i]);
      if (call && lies_in_psum(*call)) psum_.insert(all[i].target);
    }
  }

  void leave_results() {
    for (const Pair& pair : pairs_) {
      const std::string& name = all_[pair.at].target;
      if (!name.empty() && fits(name) && only_readers_of_psum(name) && may_add(name)) {
        psum_.insert(name);
        left_.insert(name);
      }
    }
  }

  void copy_operands() {
    std::map<std::string, std::size_t> uses;
    for (const Pair& pair : pairs_) {
      for (const std::string& name : pair.operands) uses[name] += gains(pair, name) ? 1 : 0;
    }
    std::vector<std::pair<std::string, std::size_t>> order(uses.begin(), uses.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [name, times] : order) {
      if (!fits(name) || !may_add(name) || times_assigned(all_, kCopied + name) > 0) continue;
      psum_.insert(name);
      copied_.insert(name);
    }
  }

  [[nodiscard]] std::optional<Statements> text() const {
    if (left_.empty() && copied_.empty()) return std::nullopt;
    Statements out;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      Statement one = all_[i];
      if (is_pair(i)) {
        for (const std::string& name : copied_) one = with_name_replaced(one, name, kCopied + name);
      }
      const std::string& name = all_[i].target;
      if (left_.contains(name)) {
        out.push_back(declared(one.indent, name, name));
        out.push_back(statement_of(one.indent, name + "[...]" + one.text.substr(one.tokens[1].at - 1)));
        continue;
      }
      out.push_back(one);
      if (copied_.contains(name)) {
        out.push_back(declared(one.indent, kCopied + name, name));
        const std::string mask = call_of(all_[i]) ? named(*call_of(all_[i]), "mask") : "";
        out.push_back(statement_of(one.indent, fmt::format("{}{}[...] = nl.copy({}{})", kCopied, name, name,
                                                           mask.empty() ? "" : ", mask=" + mask)));
      }
    }
    return out;
  }

 private:
  [[nodiscard]] std::optional<Pair> pair_at(std::size_t at) const {
    static const std::set<std::string> kPairs{"add", "subtract", "multiply", "maximum", "minimum", "tensor_tensor"};
    const std::vector<Token>& t = all_[at].tokens;
    const bool sum = t.size() == 4 && t[1].value == "+" && t[2].value == "=";  // total += part
    const auto call = assigned_call(all_[at]);
    if (!sum && (!call || !kPairs.contains(call->function) || call->arguments.size() < 2)) return std::nullopt;
    const auto a = tiles_.find(sum ? t[0].value : call->arguments[0]);
    const auto b = tiles_.find(sum ? t[3].value : call->arguments[1]);
    if (a == tiles_.end() || b == tiles_.end() || a->second != b->second || a->first == b->first) return std::nullopt;
    return Pair{at, {a->first, b->first}};
  }

  [[nodiscard]] bool is_pair(std::size_t at) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const Pair& pair) { return pair.at == at; });
  }

  /// Its tile is a bank of PSUM at most, and nothing else is written to it.
  [[nodiscard]] bool fits(const std::string& name) const {
    const auto tile = tiles_.find(name);
    if (tile == tiles_.end() || psum_.contains(name) || times_assigned(all_, name) != 1) return false;
    const int width = number_of(all_, tile->second.second);
    const bool written = std::any_of(all_.begin(), all_.end(), [&](const Statement& one) {
      return one.target.empty() && one.variable.empty() && !one.tokens.empty() && one.tokens[0].value == name;
    });
    return width > 1 && width <= kBank && !written;
  }

  /// All who read it are instructions that can read PSUM, and take it whole.
  [[nodiscard]] bool only_readers_of_psum(const std::string& name) const {
    static const std::set<std::string> kReaders{"activation", "tensor_scalar", "tensor_reduce", "exp",
                                                "square",     "sigmoid",       "sum",           "max"};
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (times_read(all_[i], name) == 0 || is_pair(i)) continue;
      const auto call = assigned_call(all_[i]);
      if (!call || !kReaders.contains(call->function)) return false;
      if (std::find(call->arguments.begin(), call->arguments.end(), name) == call->arguments.end()) return false;
    }
    return true;
  }

  /// Whether the instruction is faster with this operand in PSUM.
  [[nodiscard]] bool gains(const Pair& pair, const std::string& name) const {
    return (pair.operands[0] == name || pair.operands[1] == name) && !psum_.contains(pair.operands[0]) &&
           !psum_.contains(pair.operands[1]);
  }

  /// Some instruction gains, none gets two operands in PSUM, and there is room.
  [[nodiscard]] bool may_add(const std::string& name) const {
    bool some = false;
    for (const Pair& pair : pairs_) {
      if (pair.operands[0] != name && pair.operands[1] != name) continue;
      if (!gains(pair, name)) return false;
      some = true;
    }
    return some && psum_.size() < kMostTiles;
  }

  [[nodiscard]] Statement declared(std::size_t indent, const std::string& name, const std::string& tile) const {
    const Extent& extent = tiles_.at(tile);
    return statement_of(indent, fmt::format("{} = nl.ndarray((nl.par_dim({}), {}), dtype=nl.float32, buffer=nl.psum)",
                                            name, extent.first, extent.second));
  }

  const Statements& all_;
  std::map<std::string, Extent> tiles_;
  std::vector<Pair> pairs_;
  std::set<std::string> psum_;  ///< names of tiles in PSUM
  std::set<std::string> left_;
  std::set<std::string> copied_;
};

}  // namespace

bool lies_in_psum(const Call& call) {
  static const std::set<std::string> kResults{"nc_matmul", "matmul", "nc_transpose", "transpose", "broadcast_to"};
  return kResults.contains(call.function) || named(call, "buffer").ends_with("psum");
}

std::optional<Statements> through_psum(const Statements& all, InPsum which) {
  Psum psum(all);
  psum.leave_results();
  if (which == InPsum::copies) psum.copy_operands();
  return psum.text();
}

}  // namespace accelopt::recipes::nki

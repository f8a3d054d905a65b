// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/repeats.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace accelopt::targets::trainium {
namespace {

/// assumed: where one part in so many of SBUF would not stay free, what can be computed again is not kept.
constexpr std::int64_t kFree = 16;

using Recipe = std::vector<std::int64_t>;  ///< equal for tiles of equal contents

class Finder {
 public:
  Finder(const Program& program, const Generation& chip, Policy policy)
      : program_(program), chip_(chip), policy_(policy), tiles_(program.buffers.size()) {}

  Repeats run() {
    for (std::uint32_t i = 0; i < program_.buffers.size(); ++i) out_.place.push_back(i);
    note_uses();
    settle();
    if (policy_ == Policy::hoist && most_at_once() > chip_.sbuf_bytes - chip_.sbuf_bytes / kFree) {
      computes_ = false;  // what is computed again needs no room
      settle();
    }
    for (std::uint32_t i = 0; i < program_.instructions.size(); ++i)
      out_.loads += out_.dropped[i] && program_.instructions[i].op == Op::load ? 1 : 0;
    return std::move(out_);
  }

 private:
  struct Tile {
    std::vector<std::uint32_t> writes;  ///< instructions
    std::vector<std::uint32_t> reads;
    std::optional<std::uint32_t> root;  ///< the tensor in HBM that it is made of; none: of something else
    std::uint32_t equal = 0;            ///< the earlier tile of its contents
    bool repeats = false;               ///< there is one
  };

  void settle() {
    given_up_.clear();
    for (Tile& tile : tiles_) {
      tile.root.reset();
      tile.repeats = false;
    }
    find_equal();
    do {
      drop();
    } while (give_up_one());
  }

  /// Bytes of a partition of SBUF, if every tile stayed from its first use to its last.
  [[nodiscard]] std::int64_t most_at_once() const {
    const std::size_t end = program_.instructions.size();
    std::vector<std::size_t> first(tiles_.size(), end);
    std::vector<std::size_t> last(tiles_.size(), 0);
    const auto use = [&](std::uint32_t view, std::size_t at) {
      const std::uint32_t buffer = out_.place[program_.view(view).buffer];
      first[buffer] = std::min(first[buffer], at);
      last[buffer] = at;
    };
    for (std::size_t i = 0; i < end; ++i) {
      if (out_.dropped[i]) continue;
      use(program_.instructions[i].target, i);
      for (const std::uint32_t source : program_.instructions[i].sources) use(source, i);
    }
    std::vector<std::int64_t> change(end + 1, 0);
    for (std::uint32_t buffer = 0; buffer < tiles_.size(); ++buffer) {
      if (first[buffer] == end || program_.buffers[buffer].space != Space::sbuf) continue;
      const std::int64_t bytes = program_.buffers[buffer].shape[1] * kElementBytes;
      change[first[buffer]] += bytes;
      change[last[buffer] + 1] -= bytes;
    }
    return peak_of(change);
  }

  void note_uses() {
    for (std::uint32_t i = 0; i < program_.instructions.size(); ++i) {
      const Instruction& one = program_.instructions[i];
      tiles_[program_.view(one.target).buffer].writes.push_back(i);
      for (const std::uint32_t source : one.sources) tiles_[program_.view(source).buffer].reads.push_back(i);
    }
  }

  /// What the policy does not repeat: loads; under hoist also what only moves, and VectorE's work on two tiles of what
  /// was loaded (the vendor's mamba kernels write a product in a loop that their told times have no room for).
  [[nodiscard]] bool may_share(const Instruction& one) const {
    if (one.op == Op::load) return true;
    if (policy_ == Policy::literal) return false;
    return one.op == Op::copy || one.op == Op::transpose || (one.op == Op::tensor_tensor && computes_) ||
           (one.op == Op::matmul && one.flags == 2);
  }

  /// Nothing: it is not made of tensors that nobody writes, by what may be shared alone, before it is read.
  std::optional<Recipe> recipe_of(std::uint32_t buffer) {
    Tile& tile = tiles_[buffer];
    const Buffer& own = program_.buffers[buffer];
    if (!tile.reads.empty() && tile.reads.front() <= tile.writes.back()) return std::nullopt;
    Recipe out{static_cast<std::int64_t>(own.space), own.shape[1], own.shape[0], own.fill ? 1 : 0};
    const auto add = [&](std::uint32_t number, std::uint32_t contents) {
      const View& view = program_.view(number);
      out.insert(out.end(), {contents, view.offset, static_cast<std::int64_t>(view.axes.size())});
      for (const Axis& axis : view.axes) out.insert(out.end(), {axis.count, axis.stride});
    };
    for (const std::uint32_t write : tile.writes) {
      const Instruction& one = program_.instructions[write];
      if (!may_share(one)) return std::nullopt;
      out.push_back(static_cast<std::int64_t>(one.op));
      for (const Arithmetic operation : one.operations) out.push_back(static_cast<std::int64_t>(operation));
      add(one.target, 0);
      for (const std::uint32_t source : one.sources) {
        const std::uint32_t from = program_.view(source).buffer;
        const Space space = program_.buffers[from].space;
        if (on_chip(space) ? !tiles_[from].root : space != Space::input && space != Space::constant)
          return std::nullopt;
        if (!tile.root) tile.root = on_chip(space) ? *tiles_[from].root : from;
        add(source, tiles_[from].repeats ? tiles_[from].equal : from);
      }
    }
    return out;
  }

  void find_equal() {
    std::map<Recipe, std::uint32_t> known;
    for (std::uint32_t i = 0; i < program_.instructions.size(); ++i) {
      const std::uint32_t buffer = program_.view(program_.instructions[i].target).buffer;
      if (!on_chip(program_.buffers[buffer].space) || tiles_[buffer].writes.back() != i) continue;
      const std::optional<Recipe> recipe = recipe_of(buffer);
      if (!recipe) {
        tiles_[buffer].root.reset();
        continue;
      }
      const auto [entry, fresh] = known.try_emplace(*recipe, buffer);
      tiles_[buffer].repeats = !fresh;
      tiles_[buffer].equal = entry->second;
    }
  }

  [[nodiscard]] bool kept(std::uint32_t buffer) const {
    return tiles_[buffer].repeats && !given_up_.contains(*tiles_[buffer].root) && !single_.contains(buffer);
  }

  /// What makes a tile that is kept is dropped; PSUM is not kept for what still reads it.
  void drop() {
    single_.clear();
    out_.dropped.assign(program_.instructions.size(), false);
    for (std::uint32_t buffer = 0; buffer < tiles_.size(); ++buffer) {
      if (!kept(buffer)) continue;
      for (const std::uint32_t write : tiles_[buffer].writes) out_.dropped[write] = true;
    }
    for (std::uint32_t buffer = 0; buffer < tiles_.size(); ++buffer) {
      const bool needed = std::any_of(tiles_[buffer].reads.begin(), tiles_[buffer].reads.end(),
                                      [&](std::uint32_t read) { return !out_.dropped[read]; });
      if (program_.buffers[buffer].space != Space::psum || !kept(buffer) || !needed) continue;
      single_.insert(buffer);
      for (const std::uint32_t write : tiles_[buffer].writes) out_.dropped[write] = false;
    }
    for (std::uint32_t buffer = 0; buffer < tiles_.size(); ++buffer)
      out_.place[buffer] = kept(buffer) ? tiles_[buffer].equal : buffer;
  }

  /// The tensor whose kept tiles take the most room at once, where all together do not fit.
  bool give_up_one() {
    const std::size_t end = program_.instructions.size();
    std::map<std::uint32_t, std::vector<std::int64_t>> change;  // by tensor: bytes that come and go, by instruction
    std::vector<std::uint32_t> last(tiles_.size(), 0);
    std::vector<bool> shared(tiles_.size(), false);
    for (std::uint32_t buffer = 0; buffer < tiles_.size(); ++buffer) {
      const std::uint32_t place = out_.place[buffer];
      shared[place] = shared[place] || place != buffer;
      for (const std::uint32_t read : tiles_[buffer].reads) {
        if (!out_.dropped[read]) last[place] = std::max(last[place], read);
      }
    }
    for (std::uint32_t buffer = 0; buffer < tiles_.size(); ++buffer) {
      if (!shared[buffer] || program_.buffers[buffer].space != Space::sbuf) continue;
      std::vector<std::int64_t>& own = change.try_emplace(*tiles_[buffer].root, end + 1, 0).first->second;
      const std::int64_t bytes = program_.buffers[buffer].shape[1] * kElementBytes;
      own[tiles_[buffer].writes.front()] += bytes;
      own[std::max(last[buffer], tiles_[buffer].writes.back()) + 1] -= bytes;
    }
    std::vector<std::int64_t> together(end + 1, 0);
    std::uint32_t largest = 0;
    std::int64_t most = 0;
    for (const auto& [tensor, own] : change) {
      for (std::size_t i = 0; i <= end; ++i) together[i] += own[i];
      const std::int64_t peak = peak_of(own);
      if (peak > most) {
        most = peak;
        largest = tensor;
      }
    }
    if (peak_of(together) <= chip_.sbuf_bytes) return false;
    given_up_.insert(largest);
    return true;
  }

  static std::int64_t peak_of(const std::vector<std::int64_t>& changes) {
    std::int64_t now = 0;
    std::int64_t most = 0;
    for (const std::int64_t change : changes) most = std::max(most, now += change);
    return most;
  }

  const Program& program_;
  const Generation& chip_;
  Policy policy_;
  std::vector<Tile> tiles_;           ///< by buffer; of tensors in HBM only their uses
  bool computes_ = true;              ///< what is computed is shared too
  std::set<std::uint32_t> given_up_;  ///< tensors of which nothing is kept
  std::set<std::uint32_t> single_;    ///< tiles in PSUM that are made again, because they are read again
  Repeats out_;
};

}  // namespace

Repeats find_repeats(const Program& program, const Generation& chip, Policy policy) {
  return Finder(program, chip, policy).run();
}

}  // namespace accelopt::targets::trainium

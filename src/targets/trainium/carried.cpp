// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/carried.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace accelopt::targets::trainium {
namespace {

/// Of a tensor in HBM that is followed element by element; larger ones are not.
constexpr std::int64_t kMostFollowed = std::int64_t{1} << 28;

/// What an instruction does to a place, as bits. What is combined with its place is a class of its own for each
/// operation: iterations may do so in any order.
constexpr unsigned kRead = 1;
constexpr unsigned kReplace = 2;
constexpr unsigned kSum = 4;
constexpr unsigned kProduct = 8;
constexpr unsigned kMaximum = 16;
constexpr unsigned kMinimum = 32;
constexpr unsigned kCombines = kSum | kProduct | kMaximum | kMinimum;

bool same_place(const Program& program, std::uint32_t a, std::uint32_t b) {
  const View& one = program.view(a);
  const View& other = program.view(b);
  return a == b ||
         (one.buffer == other.buffer && one.offset == other.offset &&
          std::equal(one.axes.begin(), one.axes.end(), other.axes.begin(), other.axes.end(),
                     [](const Axis& x, const Axis& y) { return x.count == y.count && x.stride == y.stride; }));
}

/// How an operation combines its first operand with others; 0: their order matters.
unsigned combination(Arithmetic operation) {
  switch (operation) {
    case Arithmetic::add:
    case Arithmetic::subtract:
      return kSum;
    case Arithmetic::multiply:
    case Arithmetic::divide:
      return kProduct;
    case Arithmetic::max:
      return kMaximum;
    case Arithmetic::min:
      return kMinimum;
    default:
      return 0;
  }
}

/// How the instruction writes, and which of its sources is only its own place; none: its number of sources.
struct Writing {
  unsigned touch = kReplace;
  std::size_t own = 0;
};

Writing writing_of(const Program& program, const Instruction& one) {
  const Writing replaces{kReplace, one.sources.size()};
  if (one.op == Op::matmul && (one.flags & 1) != 0) return {kSum, one.sources.size()};
  const bool arithmetic = one.op == Op::tensor_tensor || one.op == Op::tensor_scalar;
  if (!arithmetic || one.operations.size() != 1) return replaces;
  const unsigned how = combination(one.operations[0]);
  const bool ordered = one.operations[0] == Arithmetic::subtract || one.operations[0] == Arithmetic::divide;
  const bool swapped = one.op == Op::tensor_scalar && (one.flags & 1) != 0;
  const std::size_t operands = one.op == Op::tensor_tensor ? 2 : 1;
  for (std::size_t i = 0; how != 0 && i < operands; ++i) {
    if (ordered && (i > 0 || swapped)) break;
    if (same_place(program, one.sources[i], one.target)) return {how, i};
  }
  return replaces;
}

class Follower {
 public:
  explicit Follower(const Program& program) : program_(program) {}

  std::optional<Carried> run() {
    find_candidates();
    std::vector<std::vector<Access>> accesses(program_.buffers.size());
    for (std::uint32_t i = 0; i < program_.instructions.size(); ++i) {
      each_access(i, [&](std::uint32_t view, unsigned touch) {
        const std::uint32_t buffer = program_.view(view).buffer;
        if (candidates_[buffer]) accesses[buffer].push_back({i, view, touch});
      });
    }
    std::optional<Carried> first;
    for (std::uint32_t buffer = 0; buffer < accesses.size(); ++buffer) {
      if (accesses[buffer].empty()) continue;
      const std::optional<Carried> found = follow(buffer, accesses[buffer]);
      if (found && (!first || found->second < first->second)) first = found;
    }
    return first;
  }

 private:
  struct Access {
    std::uint32_t instruction = 0;
    std::uint32_t view = 0;
    unsigned touch = 0;
  };
  /// Of a loop: what its iterations do to the buffer.
  struct Uses {
    unsigned touches = 0;
    std::uint32_t iteration = 0;  ///< one of them
    bool several = false;
  };

  /// Sources first: what an instruction reads was there before it writes.
  template <class Visit>
  void each_access(std::uint32_t number, Visit visit) const {
    const Instruction& one = program_.instructions[number];
    const Writing writing = writing_of(program_, one);
    for (std::size_t i = 0; i < one.sources.size(); ++i) {
      if (i != writing.own) visit(one.sources[i], kRead);
    }
    visit(one.target, writing.touch);
  }

  [[nodiscard]] bool races(std::uint32_t a, std::uint32_t b) const {
    return racing_loop(program_, program_.instructions[a].iteration, program_.instructions[b].iteration) >= 0;
  }

  /// Buffers that neighbouring accesses in different iterations of an affine loop touch: few, as most tiles are made in
  /// the iteration that uses them.
  void find_candidates() {
    const std::size_t count = program_.buffers.size();
    std::vector<std::uint32_t> last(count, 0);  // instruction + 1
    std::vector<bool> read(count, false);
    candidates_.assign(count, false);
    for (std::uint32_t i = 0; i < program_.instructions.size(); ++i) {
      each_access(i, [&](std::uint32_t view, unsigned touch) {
        const std::uint32_t buffer = program_.view(view).buffer;
        if (last[buffer] != 0 && !candidates_[buffer]) candidates_[buffer] = races(last[buffer] - 1, i);
        last[buffer] = i + 1;
        if (touch == kRead) read[buffer] = true;
      });
    }
    for (std::uint32_t buffer = 0; buffer < count; ++buffer) {
      const Buffer& own = program_.buffers[buffer];
      const bool fixed = own.space == Space::input || own.space == Space::constant;
      const bool written_only = own.space == Space::output && !read[buffer];
      if (fixed || written_only || own.size() > kMostFollowed) candidates_[buffer] = false;
    }
  }

  template <class Visit>
  void each_affine_loop(std::uint32_t iteration, Visit visit) const {
    while (program_.iterations[iteration].loop >= 0) {
      const auto loop = static_cast<std::uint32_t>(program_.iterations[iteration].loop);
      if (program_.loops[loop].kind == LoopKind::affine) visit(loop, iteration);
      if (iteration == program_.iterations[iteration].parent) return;
      iteration = program_.iterations[iteration].parent;
    }
  }

  std::optional<Carried> follow(std::uint32_t buffer, const std::vector<Access>& accesses) {
    std::unordered_map<std::uint32_t, Uses> loops;
    for (const Access& one : accesses) {
      each_affine_loop(program_.instructions[one.instruction].iteration,
                       [&](std::uint32_t loop, std::uint32_t iteration) {
                         const auto [entry, fresh] = loops.try_emplace(loop, Uses{0, iteration, false});
                         entry->second.touches |= one.touch;
                         entry->second.several = entry->second.several || entry->second.iteration != iteration;
                       });
    }
    const auto matters = [](const Uses& uses) {
      const bool one_class = (uses.touches & (uses.touches - 1)) == 0;
      return uses.several && !(one_class && uses.touches != kReplace);  // reads alone, or one way of combining
    };
    const auto matter =
        std::any_of(loops.begin(), loops.end(), [&](const auto& entry) { return matters(entry.second); });
    if (!matter) return std::nullopt;
    const auto size = static_cast<std::size_t>(program_.buffers[buffer].size());
    const bool combined =
        std::any_of(accesses.begin(), accesses.end(), [](const Access& one) { return (one.touch & kCombines) != 0; });
    writer_.assign(size, 0);
    earlier_.assign(combined ? size : 0, 0);
    for (const Access& one : accesses) {
      bool wanted = false;
      each_affine_loop(program_.instructions[one.instruction].iteration,
                       [&](std::uint32_t loop, std::uint32_t) { wanted = wanted || matters(loops.at(loop)); });
      if (!wanted) continue;
      const View& view = program_.view(one.view);
      const std::uint32_t other =
          one.touch == kRead ? read(view, one, 0, view.offset) : write(view, one, 0, view.offset);
      if (other != 0)
        return Carried{one.touch == kRead ? Carried::Kind::reads : Carried::Kind::both_write, other - 1,
                       one.instruction, buffer};
    }
    return std::nullopt;
  }

  /// An instruction + 1 that wrote one of these elements in another iteration of an affine loop; 0: none did.
  [[nodiscard]] std::uint32_t read(const View& view, const Access& one, std::size_t axis, std::int64_t base) const {
    const Axis& here = view.axes[axis];
    std::uint32_t known = 0;
    for (std::int64_t i = 0; i < here.count; ++i) {
      const std::int64_t at = base + i * here.stride;
      if (axis + 1 < view.axes.size()) {
        if (const std::uint32_t other = read(view, one, axis + 1, at); other != 0) return other;
        continue;
      }
      const std::uint32_t slot = writer_[static_cast<std::size_t>(at)];
      if (slot == 0 || slot == known) continue;
      if (races(slot - 1, one.instruction)) return slot;
      const std::uint32_t before = earlier_.empty() ? 0 : earlier_[static_cast<std::size_t>(at)];
      if (before == 0) {
        known = slot;
        continue;
      }
      if (races(before - 1, one.instruction)) return before;
    }
    return 0;
  }

  /// The same, where the order of both writes matters.
  std::uint32_t write(const View& view, const Access& one, std::size_t axis, std::int64_t base) {
    const Axis& here = view.axes[axis];
    const std::uint32_t own = one.instruction + 1;
    if (axis + 1 == view.axes.size() && here.stride == 1) {
      const auto begin = writer_.begin() + base;
      if (std::all_of(begin, begin + here.count, [](std::uint32_t slot) { return slot == 0; })) {
        std::fill_n(begin, here.count, own);
        return 0;
      }
    }
    std::uint32_t known = 0;  // races with this one, or does not, as `raced` says
    bool raced = false;
    for (std::int64_t i = 0; i < here.count; ++i) {
      const std::int64_t at = base + i * here.stride;
      if (axis + 1 < view.axes.size()) {
        if (const std::uint32_t other = write(view, one, axis + 1, at); other != 0) return other;
        continue;
      }
      std::uint32_t& slot = writer_[static_cast<std::size_t>(at)];
      if (slot != 0 && slot != own && slot != known) {
        raced = races(slot - 1, one.instruction);
        known = slot;
        if (raced && !any_order(slot - 1, one)) return slot;
      }
      if (!earlier_.empty()) note(earlier_[static_cast<std::size_t>(at)], slot, slot == known && raced, one);
      slot = own;
    }
    return 0;
  }

  /// Whether both combine a place in one way, or the first one begins what the second one combines: nl.loop_reduce.
  [[nodiscard]] bool any_order(std::uint32_t before, const Access& now) const {
    const unsigned touch = writing_of(program_, program_.instructions[before]).touch;
    return (now.touch & kCombines) != 0 && (touch == kReplace || touch == now.touch);
  }

  /// Keeps the write of another iteration that is still in a place that several iterations combine.
  static void note(std::uint32_t& earlier, std::uint32_t slot, bool raced, const Access& now) {
    if (now.touch == kReplace)
      earlier = 0;
    else if (raced)
      earlier = slot;
  }

  const Program& program_;
  std::vector<bool> candidates_;
  std::vector<std::uint32_t> writer_;   ///< by element of the buffer: instruction + 1
  std::vector<std::uint32_t> earlier_;  ///< of another iteration than the last one, in a place that is combined
};

}  // namespace

std::int32_t racing_loop(const Program& program, std::uint32_t a, std::uint32_t b) {
  std::int32_t loop = -1;
  while (a != b) {  // up to the iteration that both are in; parents have smaller numbers
    const Iteration& one = program.iterations[std::max(a, b)];
    const Iteration& other = program.iterations[std::min(a, b)];
    loop = one.loop == other.loop ? one.loop : -1;
    if (a == one.parent || b == one.parent) loop = -1;
    (a > b ? a : b) = one.parent;
    if (loop >= 0 && other.parent == one.parent) break;
  }
  return loop >= 0 && program.loops[static_cast<std::size_t>(loop)].kind == LoopKind::affine ? loop : -1;
}

std::optional<Carried> carried_dependence(const Program& program) {
  return Follower(program).run();
}

}  // namespace accelopt::targets::trainium

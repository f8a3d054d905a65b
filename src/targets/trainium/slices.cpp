// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/slices.hpp"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "targets/trainium/chip.hpp"

namespace accelopt::targets::trainium {
namespace {

constexpr std::size_t kMostParts = 4;       ///< each may hold tiles that others hold too
constexpr double kLeastWork = 1e7;          ///< that is worth a thread: some milliseconds
constexpr double kMostRepeatedWork = 0.25;  ///< of all work, by all parts together

/// Elements of a tensor in HBM.
class Intervals {
 public:
  void add(std::int64_t begin, std::int64_t end) {
    auto at = all_.lower_bound(begin);
    if (at != all_.begin() && std::prev(at)->second >= begin) --at;
    while (at != all_.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = all_.erase(at);
    }
    all_[begin] = end;
  }
  [[nodiscard]] bool meets(std::int64_t begin, std::int64_t end) const {
    const auto at = all_.lower_bound(end);
    return at != all_.begin() && std::prev(at)->second > begin;
  }

 private:
  std::map<std::int64_t, std::int64_t> all_;
};

/// Calls `visit(begin, end)` for every run of a view; true as soon as one call says so.
template <class Visit>
bool for_runs(const View& view, std::int64_t base, std::size_t axis, Visit& visit) {
  const Axis& here = view.axes[axis];
  if (axis + 1 == view.axes.size()) {
    const std::int64_t span = (here.count - 1) * here.stride;
    return visit(base + std::min<std::int64_t>(span, 0), base + std::max<std::int64_t>(span, 0) + 1);
  }
  for (std::int64_t i = 0; i < here.count; ++i) {
    if (for_runs(view, base + i * here.stride, axis + 1, visit)) return true;
  }
  return false;
}

/// Whether the instruction gives every element of its tile a value that does not depend on what was there.
bool replaces(const Program& program, const Instruction& one) {
  const View& target = program.view(one.target);
  const bool spread = std::all_of(target.axes.begin(), target.axes.end(),
                                  [](const Axis& axis) { return axis.count == 1 || axis.stride != 0; });
  const bool whole = target.partitions() * target.per_partition() == program.buffers[target.buffer].size();
  const bool accumulates = one.op == Op::matmul && (one.flags & 1) != 0;
  return whole && spread && !accumulates &&
         std::none_of(one.sources.begin(), one.sources.end(),
                      [&](std::uint32_t source) { return program.view(source).buffer == target.buffer; });
}

/// What instructions that write to HBM need, of which `wanted(number, target)` tells those that count.
template <class Wanted>
Part slice(const Program& program, std::map<std::uint32_t, Intervals>& tensors, Wanted wanted) {
  Part out(program.instructions.size(), false);
  std::vector<bool> tiles(program.buffers.size(), false);
  for (std::size_t i = program.instructions.size(); i-- > 0;) {
    const Instruction& one = program.instructions[i];
    const View& target = program.view(one.target);
    if (on_chip(program.buffers[target.buffer].space)) {
      if (!tiles[target.buffer]) continue;
      if (replaces(program, one)) tiles[target.buffer] = false;
    } else if (!wanted(i, target)) {
      continue;
    }
    out[i] = true;
    for (const std::uint32_t source : one.sources) {
      const View& view = program.view(source);
      const Space space = program.buffers[view.buffer].space;
      if (on_chip(space)) tiles[view.buffer] = true;
      if (space != Space::scratch && space != Space::output) continue;
      Intervals& needed = tensors[view.buffer];
      auto add = [&](std::int64_t begin, std::int64_t end) {
        needed.add(begin, end);
        return false;
      };
      for_runs(view, view.offset, 0, add);
    }
  }
  return out;
}

/// A bit an element.
class Bits {
 public:
  explicit Bits(std::int64_t size) : words_(static_cast<std::size_t>(size + 63) / 64, 0) {}

  /// False: one of them is set already.
  bool set(std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t next = std::min(end, (at / 64 + 1) * 64);
      const std::uint64_t mask = (next - at == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (next - at)) - 1)
                                 << (at % 64);
      std::uint64_t& word = words_[static_cast<std::size_t>(at / 64)];
      if ((word & mask) != 0) return false;
      word |= mask;
      at = next;
    }
    return true;
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// Sets what the view writes; false: some of it is set already, or the view itself writes an element twice.
bool mark(const View& view, std::int64_t base, std::size_t axis, Bits& bits) {
  const Axis& here = view.axes[axis];
  if (axis + 1 == view.axes.size() && here.stride == 1) return bits.set(base, base + here.count);
  for (std::int64_t i = 0; i < here.count; ++i) {
    const std::int64_t at = base + i * here.stride;
    if (axis + 1 < view.axes.size() ? !mark(view, at, axis + 1, bits) : !bits.set(at, at + 1)) return false;
  }
  return true;
}

bool is_output(const Program& program, std::uint32_t view) {
  return program.buffer_of(view).space == Space::output;
}

/// Whether every instruction that leaves something outside of the chip writes an output that none reads.
bool only_writes_outputs(const Program& program) {
  return std::all_of(program.instructions.begin(), program.instructions.end(), [&](const Instruction& one) {
    return program.buffer_of(one.target).space != Space::scratch &&
           std::none_of(one.sources.begin(), one.sources.end(),
                        [&](std::uint32_t source) { return is_output(program, source); });
  });
}

}  // namespace

Part needed_for(const Program& program, const std::vector<Stretch>& stretches) {
  std::map<std::uint32_t, Intervals> tensors;
  for (const Stretch& one : stretches) tensors[program.outputs[one.output]].add(one.begin, one.end);
  return slice(program, tensors, [&](std::size_t /*number*/, const View& target) {
    const auto known = tensors.find(target.buffer);
    auto meets = [&](std::int64_t begin, std::int64_t end) { return known->second.meets(begin, end); };
    return known != tensors.end() && for_runs(target, target.offset, 0, meets);
  });
}

bool written_once(const Program& program) {
  for (const std::uint32_t output : program.outputs) {
    std::int64_t missing = program.buffers[output].size();
    Bits bits(missing);
    for (const Instruction& one : program.instructions) {
      const View& view = program.view(one.target);
      if (view.buffer != output) continue;
      if (!mark(view, view.offset, 0, bits)) return false;
      missing -= view.partitions() * view.per_partition();
    }
    if (missing != 0) return false;
  }
  return true;
}

double work_of(const Program& program, const Part& part) {
  double sum = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (!part[i]) continue;
    const Instruction& one = program.instructions[i];
    const View& largest = program.view(one.op == Op::reduce ? one.sources[0] : one.target);
    const auto elements = static_cast<double>(largest.partitions() * largest.per_partition());
    // The vector unit multiplies and adds much faster than anything else goes.
    constexpr double kProductsAtOnce = 32;
    const bool multiplies = one.op == Op::matmul && (one.flags & 2) == 0;
    const double depth = multiplies ? static_cast<double>(program.view(one.sources[0]).partitions()) : 0;
    sum += elements * (1 + depth / kProductsAtOnce);
  }
  return sum;
}

std::vector<Part> independent_parts(const Program& program, std::size_t most) {
  const Part all(program.instructions.size(), true);
  const double work = work_of(program, all);
  most = std::min(most, parts_worth(work));
  if (most < 2 || !only_writes_outputs(program) || !written_once(program)) return {all};
  std::vector<std::size_t> stores;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    if (is_output(program, program.instructions[i].target)) stores.push_back(i);
  }
  most = std::min(most, stores.size());
  std::vector<Part> out;
  double together = 0;
  for (std::size_t k = 0; k < most; ++k) {
    const std::size_t begin = stores[k * stores.size() / most];
    const std::size_t end = k + 1 == most ? program.instructions.size() : stores[(k + 1) * stores.size() / most];
    std::map<std::uint32_t, Intervals> nothing_read;
    out.push_back(slice(program, nothing_read,
                        [&](std::size_t number, const View& /*target*/) { return number >= begin && number < end; }));
    together += work_of(program, out.back());
  }
  return pays(together, work) ? out : std::vector<Part>{all};
}

std::size_t parts_worth(double work) {
  return static_cast<std::size_t>(std::max(1.0, work / kLeastWork));
}

bool pays(double together, double work) {
  return together <= (1 + kMostRepeatedWork) * work;
}

Resident most_resident(const Program& program) {
  std::vector<std::size_t> last(program.buffers.size(), 0);
  const auto for_own = [&](const Instruction& one, const auto& visit) {
    const auto own = [&](std::uint32_t view) {
      const std::uint32_t buffer = program.view(view).buffer;
      const Space space = program.buffers[buffer].space;
      if (space != Space::input && space != Space::output) visit(buffer);
    };
    own(one.target);
    for (const std::uint32_t source : one.sources) own(source);
  };
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    for_own(program.instructions[i], [&](std::uint32_t buffer) { last[buffer] = i; });
  std::vector<bool> there(program.buffers.size(), false);
  Resident out;
  std::int64_t now = 0;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& one = program.instructions[i];
    for_own(one, [&](std::uint32_t buffer) {
      if (!there[buffer]) now += program.buffers[buffer].size() * kElementBytes;
      there[buffer] = true;
    });
    if (now > out.bytes) out = {now, one.line};
    for_own(one, [&](std::uint32_t buffer) {
      if (there[buffer] && last[buffer] == i) {
        now -= program.buffers[buffer].size() * kElementBytes;
        there[buffer] = false;
      }
    });
  }
  return out;
}

std::size_t most_parts(const Program& program) {
  const std::int64_t fit = kMostResidentBytes / std::max<std::int64_t>(most_resident(program).bytes, 1);
  const std::size_t most = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostParts);
  return std::min(most, static_cast<std::size_t>(std::max<std::int64_t>(fit, 1)));
}

}  // namespace accelopt::targets::trainium

// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/spot_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>

#include "targets/trainium/execute.hpp"

namespace accelopt::targets::trainium {
namespace {

constexpr int kStretches = 16;  ///< a kernel that leaves out a sixth of its work is seen 19 times out of 20
constexpr std::int64_t kMostInStretch = 256;  ///< of a stretch
/// Two orders of float32 additions differ by 1e-6 of the values; an element that is missing by a sixteenth and more.
constexpr double kAllowed = 1e-4;

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

}  // namespace

void Freed::operator()(float* memory) const {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): of calloc
}

base::Result<std::vector<Pages>> outputs_of(const Program& program, const std::vector<Stretch>& stretches,
                                            const std::vector<std::span<const float>>& inputs,
                                            const std::stop_token& stop) {
  std::vector<Pages> out;
  std::vector<std::span<float>> spans;
  for (const std::uint32_t output : program.outputs) {
    const auto size = static_cast<std::size_t>(program.buffers[output].size());
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): pages that nobody touches cost nothing
    out.emplace_back(static_cast<float*>(std::calloc(size, sizeof(float))));
    if (!out.back()) return base::fail(base::ErrorCode::exhausted, "too little memory for an output");
    spans.emplace_back(out.back().get(), size);
  }
  TRY(execute_some(program, needed_for(program, stretches), inputs, spans, stop));
  return out;
}

std::vector<Stretch> draw_stretches(const Program& program, int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Stretch> out;
  for (int i = 0; i < count; ++i) {
    Stretch one;
    one.output = random() % program.outputs.size();
    const Buffer& buffer = program.buffers[program.outputs[one.output]];
    one.begin = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(buffer.size()));
    one.end = std::min(buffer.size(), one.begin + std::min(kMostInStretch, buffer.shape.back()));
    out.push_back(one);
  }
  return out;
}

std::vector<bool> needed_for(const Program& program, const std::vector<Stretch>& stretches) {
  std::vector<bool> out(program.instructions.size(), false);
  std::vector<bool> tiles(program.buffers.size(), false);
  std::map<std::uint32_t, Intervals> tensors;
  for (const Stretch& one : stretches) tensors[program.outputs[one.output]].add(one.begin, one.end);
  for (std::size_t i = program.instructions.size(); i-- > 0;) {
    const Instruction& one = program.instructions[i];
    const View& target = program.view(one.target);
    if (on_chip(program.buffers[target.buffer].space)) {
      if (!tiles[target.buffer]) continue;
      if (replaces(program, one)) tiles[target.buffer] = false;
    } else {
      const auto known = tensors.find(target.buffer);
      auto meets = [&](std::int64_t begin, std::int64_t end) { return known->second.meets(begin, end); };
      if (known == tensors.end() || !for_runs(target, target.offset, 0, meets)) continue;
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

base::Result<std::string> spot_check(const Program& candidate, const Program& baseline,
                                     const std::vector<std::span<const float>>& inputs, std::uint64_t seed,
                                     const std::stop_token& stop) {
  const std::vector<Stretch> stretches = draw_stretches(baseline, kStretches, seed);
  TRY_ASSIGN(const std::vector<Pages> expected, outputs_of(baseline, stretches, inputs, stop));
  TRY_ASSIGN(const std::vector<Pages> given, outputs_of(candidate, stretches, inputs, stop));
  for (const Stretch& one : stretches) {
    double error = 0;
    double size = 0;
    for (std::int64_t i = one.begin; i < one.end; ++i) {
      const double right = expected[one.output][static_cast<std::size_t>(i)];
      const double difference = given[one.output][static_cast<std::size_t>(i)] - right;
      error += difference * difference;
      size += right * right;
    }
    if (std::isfinite(error) && error <= kAllowed * kAllowed * size) continue;
    return fmt::format(
        "output {}: elements {} to {} are not what the baseline computes on the same inputs (relative "
        "difference {:.2g}, allowed {:.2g})",
        candidate.buffers[candidate.outputs[one.output]].name, one.begin, one.end - 1,
        std::sqrt(error / std::max(size, 1e-300)), kAllowed);
  }
  return std::string();
}

}  // namespace accelopt::targets::trainium

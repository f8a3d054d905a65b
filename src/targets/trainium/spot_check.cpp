// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/spot_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

#include "targets/trainium/execute.hpp"
#include "targets/trainium/side_by_side.hpp"

namespace accelopt::targets::trainium {
namespace {

constexpr int kStretches = 16;  ///< a kernel that leaves out a sixth of its work is seen 19 times out of 20
constexpr std::int64_t kMostInStretch = 256;  ///< of a stretch
/// What rounding explains is measured: by what the baseline's own values change if every input changes by its last bit,
/// times the square root of the longest sum, whose partial sums round too. Room over that, and its limits. Kernels in
/// other orders differ by a ninth of that; a term that is left out, by 1e-5 and more.
constexpr double kRoom = 4;
constexpr double kUnit = 0x1p-24;
constexpr double kLeastAllowed = 32 * kUnit;
constexpr double kMostAllowed = 1e-4;
/// With values of other sizes, cancellation and exponentials make a difference of roundings larger; what is computed by
/// another formula, as exp(min(x, 80)) for exp(x - max(x)), differs by more.
constexpr double kLeastRough = 1e-2;
constexpr double kMostRough = 0.5;
constexpr double kVanished = 1e-30;  ///< what may vanish in one order of operations and not in another

struct Freed {
  void operator()(float* memory) const { std::free(memory); }  // NOLINT(cppcoreguidelines-no-malloc): of calloc
};
/// A large tensor of which a few pages are written.
using Pages = std::unique_ptr<float[], Freed>;
using Values = std::vector<std::vector<float>>;

/// Of the stretches in `group`, by their numbers, into `out`.
base::Result<void> compute(const Program& program, const Part& part, const std::vector<Stretch>& stretches,
                           const std::vector<std::size_t>& group, const std::vector<std::span<const float>>& inputs,
                           const std::stop_token& stop, Values& out) {
  std::vector<Pages> pages;
  std::vector<std::span<float>> spans;
  for (const std::uint32_t output : program.outputs) {
    const auto size = static_cast<std::size_t>(program.buffers[output].size());
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): pages that nobody touches cost nothing
    pages.emplace_back(static_cast<float*>(std::calloc(size, sizeof(float))));
    if (!pages.back()) return base::fail(base::ErrorCode::exhausted, "too little memory for an output");
    spans.emplace_back(pages.back().get(), size);
  }
  TRY(execute_some(program, part, inputs, spans, stop));
  for (const std::size_t number : group) {
    const Stretch& one = stretches[number];
    out[number].assign(pages[one.output].get() + one.begin, pages[one.output].get() + one.end);
  }
  return {};
}

/// Groups of stretches that lie near each other, and what each needs; one alone where they need much of the same.
std::vector<std::pair<std::vector<std::size_t>, Part>> groups_of(const Program& program,
                                                                 const std::vector<Stretch>& stretches) {
  std::vector<std::size_t> order(stretches.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(stretches[a].output, stretches[a].begin) < std::pair(stretches[b].output, stretches[b].begin);
  });
  const auto chosen = [&](std::size_t begin, std::size_t end) {
    std::vector<Stretch> own;
    for (std::size_t i = begin; i < end; ++i) own.push_back(stretches[order[i]]);
    return needed_for(program, own);
  };
  Part all = chosen(0, order.size());
  const double work = work_of(program, all);
  const std::size_t most = std::min({most_parts(program), order.size(), parts_worth(work)});
  std::vector<std::pair<std::vector<std::size_t>, Part>> out;
  double together = 0;
  for (std::size_t k = 0; most > 1 && k < most; ++k) {
    const std::size_t begin = k * order.size() / most;
    const std::size_t end = (k + 1) * order.size() / most;
    out.emplace_back(std::vector(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                 order.begin() + static_cast<std::ptrdiff_t>(end)),
                     chosen(begin, end));
    together += work_of(program, out.back().second);
  }
  if (most < 2 || !pays(together, work)) {
    out.clear();
    out.emplace_back(std::move(order), std::move(all));
  }
  return out;
}

/// One stretch in each of kStretches equal parts of an output, of the outputs in turn.
std::vector<Stretch> stretches_all_over(const Program& program, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Stretch> out;
  for (int i = 0; i < kStretches; ++i) {
    Stretch one;
    one.output = static_cast<std::size_t>(i) % program.outputs.size();
    const Buffer& buffer = program.buffers[program.outputs[one.output]];
    const std::int64_t begin = buffer.size() * i / kStretches;
    const std::int64_t part = std::max<std::int64_t>(buffer.size() * (i + 1) / kStretches - begin, 1);
    one.begin = begin + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(part));
    one.end = std::min(buffer.size(), one.begin + std::min(kMostInStretch, buffer.shape.back()));
    out.push_back(one);
  }
  return out;
}

/// Another float beside the value, one or the other by its place.
float beside(float value, std::int64_t place, std::uint64_t seed) {
  std::uint64_t bits = (static_cast<std::uint64_t>(place) + seed) * 0x9e3779b97f4a7c15U;
  bits ^= bits >> 32U;
  return (bits & 1U) != 0 ? value * (1 + 0x1p-23F) : value * (1 - 0x1p-24F);
}

/// Copies what the view has of `from`, with every value changed by its last bit.
void copy_beside(const View& view, std::int64_t at, std::size_t axis, std::uint64_t seed, std::span<const float> from,
                 float* to) {
  const Axis& here = view.axes[axis];
  for (std::int64_t i = 0; i < here.count; ++i, at += here.stride) {
    if (axis + 1 < view.axes.size())
      copy_beside(view, at, axis + 1, seed, from, to);
    else
      to[at] = beside(from[static_cast<std::size_t>(at)], at, seed);
  }
}

/// What the program computes there on inputs that differ in their last bits; only what it reads of them is copied.
base::Result<Values> values_beside(const Program& program, const std::vector<Stretch>& stretches,
                                   const std::vector<std::span<const float>>& inputs, std::uint64_t seed,
                                   const std::stop_token& stop) {
  std::vector<Pages> pages(program.buffers.size());
  std::vector<std::span<const float>> changed;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): pages that nobody touches cost nothing
    Pages copy(static_cast<float*>(std::calloc(inputs[i].size(), sizeof(float))));
    if (!copy) return base::fail(base::ErrorCode::exhausted, "too little memory for an input");
    changed.emplace_back(copy.get(), inputs[i].size());
    pages[program.inputs[i]] = std::move(copy);
  }
  const Part needed = needed_for(program, stretches);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    for (const std::uint32_t source : program.instructions[i].sources) {
      const View& view = program.view(source);
      if (program.buffers[view.buffer].space != Space::input) continue;
      const auto input = static_cast<std::size_t>(std::find(program.inputs.begin(), program.inputs.end(), view.buffer) -
                                                  program.inputs.begin());
      copy_beside(view, view.offset, 0, seed, inputs[input], pages[view.buffer].get());
    }
  }
  return values_at(program, stretches, changed, stop);
}

/// How many terms the longest sum has that the stretches depend on.
double longest_sum(const Program& program, const std::vector<Stretch>& stretches) {
  const Part needed = needed_for(program, stretches);
  std::vector<double> terms(program.buffers.size(), 1);
  double longest = 1;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    const Instruction& one = program.instructions[i];
    double& here = terms[program.view(one.target).buffer];
    const auto of_source = [&](std::size_t number) { return terms[program.view(one.sources[number]).buffer]; };
    if (one.op == Op::matmul && (one.flags & 2) == 0) {
      const auto own = static_cast<double>(program.view(one.sources[0]).partitions());
      here = (one.flags & 1) != 0 ? here + own : own;
    } else if (one.op == Op::reduce || one.op == Op::scan) {
      here = static_cast<double>(program.view(one.sources[0]).per_partition());
    } else if (one.op == Op::tensor_tensor && one.sources.size() > 1 &&
               (one.operations[0] == Arithmetic::add || one.operations[0] == Arithmetic::subtract)) {
      here = of_source(0) + of_source(1);
    } else {
      here = one.op == Op::copy || one.op == Op::transpose ? of_source(0) : 1;
    }
    longest = std::max(longest, here);
  }
  return longest;
}

struct Difference {
  double error = 0;  ///< squares
  double size = 0;
  [[nodiscard]] double relative() const { return std::sqrt(error / std::max(size, 1e-300)); }
};

/// Where the right ones are finite.
Difference difference(const std::vector<float>& given, const std::vector<float>& right) {
  Difference out;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!std::isfinite(right[i])) continue;
    const double apart = static_cast<double>(given[i]) - right[i];
    out.error += apart * apart;
    out.size += static_cast<double>(right[i]) * right[i];
  }
  return out;
}

/// What a kernel in another order may be off by at each stretch, relative to the stretch's size.
base::Result<std::vector<double>> allowed_at(const Program& baseline, const std::vector<Stretch>& stretches,
                                             const std::vector<std::span<const float>>& inputs, const Values& right,
                                             std::uint64_t seed, const std::stop_token& stop) {
  TRY_ASSIGN(const Values other, values_beside(baseline, stretches, inputs, seed, stop));
  const double room = kRoom * std::sqrt(longest_sum(baseline, stretches));
  std::vector<double> out;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const double apart = difference(other[i], right[i]).relative();
    out.push_back(std::isfinite(apart) ? room * std::max(apart, kUnit) : 1);
  }
  return out;
}

}  // namespace

base::Result<Values> values_at(const Program& program, const std::vector<Stretch>& stretches,
                               const std::vector<std::span<const float>>& inputs, const std::stop_token& stop) {
  Values out(stretches.size());
  const auto groups = groups_of(program, stretches);
  TRY(side_by_side(groups.size(), [&](std::size_t i) {
    return compute(program, groups[i].second, stretches, groups[i].first, inputs, stop, out);
  }));
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

base::Result<std::string> spot_check(const Program& candidate, const Program& baseline,
                                     const std::vector<std::span<const float>>& inputs, std::uint64_t seed,
                                     const std::stop_token& stop) {
  const std::vector<Stretch> stretches = draw_stretches(baseline, kStretches, seed);
  TRY_ASSIGN(const Values expected, values_at(baseline, stretches, inputs, stop));
  TRY_ASSIGN(const Values given, values_at(candidate, stretches, inputs, stop));
  if (given == expected) return std::string();
  TRY_ASSIGN(const std::vector<double> measured, allowed_at(baseline, stretches, inputs, expected, seed, stop));
  for (std::size_t number = 0; number < stretches.size(); ++number) {
    const Stretch& one = stretches[number];
    const bool finite =
        std::all_of(expected[number].begin(), expected[number].end(), [](float value) { return std::isfinite(value); });
    const Difference off = difference(given[number], expected[number]);
    const double allowed = std::clamp(measured[number], kLeastAllowed, kMostAllowed);
    if (finite && off.error <= allowed * allowed * off.size) continue;
    return fmt::format(
        "output {}: elements {} to {} are not what the baseline computes on the same inputs (relative "
        "difference {:.2g}, allowed {:.2g})",
        candidate.buffers[candidate.outputs[one.output]].name, one.begin, one.end - 1, off.relative(), allowed);
  }
  return std::string();
}

base::Result<std::string> rough_check(const Program& candidate, const Program& baseline,
                                      const std::vector<std::span<const float>>& inputs, std::uint64_t seed,
                                      const std::stop_token& stop) {
  const std::vector<Stretch> stretches = stretches_all_over(baseline, seed);
  TRY_ASSIGN(const Values expected, values_at(baseline, stretches, inputs, stop));
  TRY_ASSIGN(const Values given, values_at(candidate, stretches, inputs, stop));
  if (given == expected) return std::string();
  TRY_ASSIGN(const std::vector<double> measured, allowed_at(baseline, stretches, inputs, expected, seed, stop));
  for (std::size_t number = 0; number < stretches.size(); ++number) {
    const Stretch& one = stretches[number];
    const std::string& name = candidate.buffers[candidate.outputs[one.output]].name;
    for (std::size_t i = 0; i < given[number].size(); ++i) {
      const double right = expected[number][i];
      if (std::isfinite(right) && !std::isfinite(given[number][i]))
        return fmt::format("output {}: element {} is {}, where the baseline computes {:.6g}", name,
                           one.begin + static_cast<std::int64_t>(i), given[number][i], right);
    }
    const Difference off = difference(given[number], expected[number]);
    const double allowed = std::clamp(measured[number], kLeastRough, kMostRough);
    if (off.error <= allowed * allowed * off.size + kVanished * kVanished) continue;
    return fmt::format(
        "output {}: elements {} to {} differ from what the baseline computes by {:.2g} of their size, and "
        "rounding explains {:.2g} at most",
        name, one.begin, one.end - 1, off.relative(), allowed);
  }
  return std::string();
}

}  // namespace accelopt::targets::trainium

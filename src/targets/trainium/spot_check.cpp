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
/// Two orders of float32 additions differ by 1e-6 of the values; an element that is missing by a sixteenth and more.
constexpr double kAllowed = 1e-4;
/// With values of other sizes, cancellation and exponentials make a difference of roundings larger; what is computed by
/// another formula, as exp(min(x, 80)) for exp(x - max(x)), differs by more.
constexpr double kRough = 0.5;
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
  for (std::size_t number = 0; number < stretches.size(); ++number) {
    const Stretch& one = stretches[number];
    double error = 0;
    double size = 0;
    for (std::size_t i = 0; i < given[number].size(); ++i) {
      const double right = expected[number][i];
      const double difference = given[number][i] - right;
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

base::Result<std::string> rough_check(const Program& candidate, const Program& baseline,
                                      const std::vector<std::span<const float>>& inputs, std::uint64_t seed,
                                      const std::stop_token& stop) {
  const std::vector<Stretch> stretches = stretches_all_over(baseline, seed);
  TRY_ASSIGN(const Values expected, values_at(baseline, stretches, inputs, stop));
  TRY_ASSIGN(const Values given, values_at(candidate, stretches, inputs, stop));
  for (std::size_t number = 0; number < stretches.size(); ++number) {
    const Stretch& one = stretches[number];
    const std::string& name = candidate.buffers[candidate.outputs[one.output]].name;
    double error = 0;
    double size = 0;
    for (std::size_t i = 0; i < given[number].size(); ++i) {
      const double right = expected[number][i];
      if (!std::isfinite(right)) continue;
      if (!std::isfinite(given[number][i]))
        return fmt::format("output {}: element {} is {}, where the baseline computes {:.6g}", name,
                           one.begin + static_cast<std::int64_t>(i), given[number][i], right);
      const double difference = given[number][i] - right;
      error += difference * difference;
      size += right * right;
    }
    if (error <= kRough * kRough * size + kVanished * kVanished) continue;
    return fmt::format(
        "output {}: elements {} to {} differ from what the baseline computes by {:.2g} of their size, and "
        "rounding explains {:.2g} at most",
        name, one.begin, one.end - 1, std::sqrt(error / std::max(size, 1e-300)), kRough);
  }
  return std::string();
}

}  // namespace accelopt::targets::trainium

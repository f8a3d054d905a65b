// SPDX-License-Identifier: Apache-2.0
#include "scaffold/made_sizes.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <regex>

#include "base/expression.hpp"
#include "scaffold/own_arrays.hpp"
#include "scaffold/words.hpp"

namespace accelopt::scaffold {
namespace {

/// Below a vector of eight, odd, and with something left of a loop over four.
constexpr std::int64_t kSmall = 7;
/// So many times the raced elements are checked at the most: indices of 16 bits, and buffers that were cut to the other
/// sizes, do not reach so far.
constexpr std::int64_t kLargerBy = 16;
/// Every candidate is checked on three sets of inputs, each with up to five runs of the reference.
constexpr double kMostBytesOfLarge = 32 << 20;
constexpr double kMostStepsOfLarge = 1 << 25;
/// A block of elements that a name in the source stands for is at most this long.
constexpr std::int64_t kMostUnknown = 256;

std::string escaped(const std::string& name) {
  return std::regex_replace(name, std::regex(R"([^\w])"), R"(\$&)");
}

/// How the source writes an axis: by its parameter's name, or as a container's size.
std::string spelling_of(const Signature& signature, const KernelAxis& axis) {
  for (const KernelParameter& parameter : signature.parameters) {
    if (parameter.role == ParameterRole::axis && parameter.axis == axis.name) return R"(\b)" + escaped(parameter.name);
  }
  std::string spelled;
  for (const KernelParameter& parameter : signature.parameters) {
    if (!parameter.is_tensor || parameter.type.form != ParameterForm::container || !parameter.shape) continue;
    if (*parameter.shape != std::vector<std::string>{axis.name}) continue;
    spelled += (spelled.empty() ? "" : "|") + escaped(parameter.name);
  }
  return spelled.empty() ? "" : R"(\b(?:)" + spelled + R"()\s*\.\s*size\(\s*\))";
}

/// What extents of the axis have to be multiples of, as the raced one is.
std::int64_t step_of(const std::string& spelling, const std::string& source, std::int64_t raced) {
  if (spelling.empty()) return 1;
  const std::regex division(spelling + R"(\s*(/|%|>>|&(?!&))=?\s*(\w+))");
  std::int64_t step = 1;
  for (std::sregex_iterator at(source.begin(), source.end(), division), end; at != end; ++at) {
    std::optional<std::int64_t> divisor = constant_value((*at)[2], source);
    if (divisor && (*at)[1] == ">>") divisor = std::int64_t{1} << std::clamp<std::int64_t>(*divisor, 0, 30);
    if (divisor && (*at)[1] == "&") ++*divisor;
    const std::int64_t powers_of_two = raced & -raced;
    const std::int64_t wanted = divisor.value_or(std::min(powers_of_two, kMostUnknown));
    if (wanted > 0 && raced % wanted == 0) step = std::lcm(step, wanted);
  }
  return step;
}

/// Whether the source loops up to the axis.
bool is_looped_over(const std::string& spelling, const std::string& source) {
  if (spelling.empty()) return false;
  return std::regex_search(source, std::regex(R"((?:<|!=)=?\s*)" + spelling + R"((?=\s*[;)&|]))"));
}

/// Whether the source goes from row to row by the axis: `i * lda`.
bool is_stride(const std::string& spelling, const std::string& source) {
  if (spelling.empty()) return false;
  return std::regex_search(source, std::regex(spelling + R"(\s*\*|\*\s*(?:\(\w+\)\s*)?)" + spelling + R"((?!\w))"));
}

/// Whether the source compares the two axes: it may not take them different then.
bool are_compared(const std::string& one, const std::string& other, const std::string& source) {
  const std::string sign = R"(\s*[!=<>]=?\s*)";
  const std::string end = R"((?!\w))";
  return std::regex_search(source, std::regex(one + sign + other + end + "|" + other + sign + one + end));
}

/// Whether nothing depends on how long the axis is beyond a few elements.
bool may_be_small(const std::string& spelling, const std::string& source) {
  const std::regex difference(spelling + R"(\s*-=?\s*(\w+))");
  for (std::sregex_iterator at(source.begin(), source.end(), difference), end; at != end; ++at) {
    const std::optional<std::int64_t> taken = constant_value((*at)[1], source);
    if (!taken || *taken >= kSmall) return false;
  }
  return true;
}

/// Whether one of the arrays has room for the axis as it is raced: a longer one may not fit.
bool is_bounded(const KernelAxis& axis, const std::vector<std::int64_t>& own_array_lengths) {
  return std::ranges::any_of(own_array_lengths, [&](std::int64_t length) { return length >= *axis.raced; });
}

/// A variable axis that is made longer in whole steps.
struct Growing {
  std::string name;
  std::int64_t step = 1;
  std::int64_t steps = 1;  ///< raced
  std::int64_t most = std::numeric_limits<std::int32_t>::max();
  std::string spelling{};
  bool is_looped = false;
  bool is_row_stride = false;  ///< and not looped over: any length from what is looped over on will do

  [[nodiscard]] std::int64_t raced() const { return step * steps; }
  [[nodiscard]] std::int64_t times(std::int64_t factor) const { return step * ((steps * factor) | 1); }
};

std::int64_t most_of_type(const Signature& signature, const KernelAxis& axis) {
  for (const KernelParameter& parameter : signature.parameters) {
    if (parameter.role != ParameterRole::axis || parameter.axis != axis.name) continue;
    if (parameter.type.element == "short") return std::numeric_limits<std::int16_t>::max();
    if (parameter.type.element == "unsigned short") return std::numeric_limits<std::uint16_t>::max();
  }
  return std::numeric_limits<std::int32_t>::max();
}

/// Adds the extents that follow from others. False: one of them would be below 1.
bool add_derived(const Signature& signature, std::map<std::string, std::int64_t>& extents) {
  std::map<std::string, std::int64_t> known = extents;
  for (const KernelAxis& axis : signature.axes) {
    if (axis.constant) known[axis.name] = *axis.constant;
  }
  for (const KernelAxis& axis : signature.axes) {
    if (!axis.is_variable || axis.expression.empty()) continue;
    const auto extent = base::evaluate_expression(axis.expression, known);
    if (!extent || *extent < 1) return false;
    extents[axis.name] = *extent;
  }
  return true;
}

/// The workload with all extents, in the order of the axes; none: it cannot be.
std::optional<MadeWorkload> completed(const Signature& signature, MadeWorkload workload) {
  std::map<std::string, std::int64_t> extents(workload.extents.begin(), workload.extents.end());
  if (!add_derived(signature, extents)) return std::nullopt;
  workload.extents.clear();
  for (const KernelAxis& axis : signature.axes) {
    if (axis.is_variable) workload.extents.emplace_back(axis.name, extents.at(axis.name));
  }
  return workload;
}

/// What a call with these extents comes to. Products in floating point cannot overflow.
struct CallSize {
  double elements = 0;  ///< of all tensors
  double bytes = 0;
  double steps = 1;  ///< of loops over all axes, one in another
};

CallSize size_of_call(const Signature& signature, std::map<std::string, std::int64_t> extents) {
  CallSize size;
  add_derived(signature, extents);
  const auto extent = [&](const KernelAxis& axis) {
    const auto found = extents.find(axis.name);
    return static_cast<double>(found != extents.end() ? found->second : axis.constant.value_or(1));
  };
  for (const KernelAxis& axis : signature.axes) size.steps *= axis.expression.empty() ? extent(axis) : 1;
  for (const KernelParameter& parameter : signature.parameters) {
    if (!parameter.is_tensor) continue;
    double elements = parameter.shape ? 1 : size.steps;
    for (const std::string& axis : parameter.shape.value_or(std::vector<std::string>{}))
      elements *= extent(*signature.axis(axis));
    size.elements += elements;
    size.bytes += elements * static_cast<double>(model::size_of(parameter.dtype));
  }
  if (size.elements == 0) size.elements = size.steps;
  return size;
}

/// Lets axes differ that are raced equal, in whole steps upwards, each after those that it may have to be as long as.
class Parting {
 public:
  Parting(const std::vector<Growing>& axes, const std::string& source) : axes_(axes), source_(source) {
    for (std::size_t i = 0; i < axes.size(); ++i) order_.push_back(i);
    std::stable_partition(order_.begin(), order_.end(), [&](std::size_t i) { return !axes[i].is_row_stride; });
  }

  /// `extents` are those of the axes, in their order.
  void part(std::vector<std::pair<std::string, std::int64_t>>& extents) const {
    for (auto place = order_.begin(); place != order_.end(); ++place) {
      const Growing& axis = axes_[*place];
      std::int64_t& own = extents[*place].second;
      const auto is_too_short = [&](std::size_t earlier) {
        const Growing& other = axes_[earlier];
        const std::int64_t extent = extents[earlier].second;
        if (axis.is_row_stride && other.raced() <= axis.raced() && extent > own) return true;
        return other.raced() == axis.raced() && extent == own && may_differ(axis, other);
      };
      while (own + 2 * axis.step <= axis.most && std::any_of(order_.begin(), place, is_too_short)) own += 2 * axis.step;
    }
  }

 private:
  [[nodiscard]] bool may_differ(const Growing& axis, const Growing& earlier) const {
    if (are_compared(axis.spelling, earlier.spelling, source_)) return false;
    if (axis.is_row_stride) return true;
    // What is neither looped over nor a stride, and longer, may be a sum of lengths.
    const bool may_be_sum = std::any_of(axes_.begin(), axes_.end(), [&](const Growing& one) {
      return !one.is_looped && !one.is_row_stride && one.raced() > axis.raced();
    });
    return axis.is_looped && earlier.is_looped && !may_be_sum;
  }

  const std::vector<Growing>& axes_;
  const std::string& source_;
  std::vector<std::size_t> order_;
};

/// The largest sizes that a check can afford, up to kLargerBy times the raced elements; none: twice the raced extents
/// are too many.
std::optional<MadeWorkload> large_workload(const Signature& signature, const std::vector<Growing>& axes) {
  const auto size_at = [&](std::int64_t factor) {
    std::map<std::string, std::int64_t> extents;
    for (const Growing& axis : axes) extents[axis.name] = factor == 1 ? axis.raced() : axis.times(factor);
    return size_of_call(signature, extents);
  };
  const double raced = size_at(1).elements;
  for (std::int64_t factor = kLargerBy; factor >= 2; --factor) {
    const CallSize size = size_at(factor);
    const bool fits =
        std::all_of(axes.begin(), axes.end(), [&](const Growing& axis) { return axis.times(factor) <= axis.most; });
    // Odd extents are a little longer than the factor says.
    const bool is_cheap =
        size.elements <= (kLargerBy + 2) * raced && size.bytes <= kMostBytesOfLarge && size.steps <= kMostStepsOfLarge;
    if (!fits || !is_cheap) continue;
    MadeWorkload large{"large", model::Role::check};
    for (const Growing& axis : axes) large.extents.emplace_back(axis.name, axis.times(factor));
    return large;
  }
  return std::nullopt;
}

}  // namespace

std::vector<MadeWorkload> made_workloads(const Signature& signature, const std::string& baseline,
                                         TensorLengths lengths) {
  MadeWorkload race{"race", model::Role::race};
  MadeWorkload check{"check", model::Role::check};
  MadeWorkload small{"small", model::Role::check};
  MadeWorkload held_out{"held_out", model::Role::held_out};
  const std::string source = without_comments(baseline);
  const std::vector<std::int64_t> own_lengths = own_array_lengths(source);
  const bool derived_are_bounded = std::ranges::any_of(signature.axes, [&](const KernelAxis& axis) {
    return axis.is_variable && !axis.expression.empty() && is_bounded(axis, own_lengths);
  });
  bool all_are_looped_over = true;
  bool all_may_be_small = true;
  bool all_may_grow = true;
  bool is_new = false;  // of the held-out size some axis
  std::vector<Growing> growing;
  for (const KernelAxis& axis : signature.axes) {
    if (!axis.is_variable || !axis.expression.empty()) continue;
    const std::int64_t raced = *axis.raced;
    const std::string spelling = spelling_of(signature, axis);
    const std::int64_t step = step_of(spelling, source, raced);
    const std::int64_t steps = raced / step;
    race.extents.emplace_back(axis.name, raced);
    check.extents.emplace_back(axis.name, step * std::max<std::int64_t>(1, (steps - 3) | 1));
    const bool may_grow = lengths == TensorLengths::known && !derived_are_bounded && !is_bounded(axis, own_lengths);
    const std::int64_t other_steps = may_grow ? steps + steps / 2 : steps - steps / 4 - 1;
    held_out.extents.emplace_back(axis.name, step * std::max<std::int64_t>(1, other_steps | 1));
    small.extents.emplace_back(axis.name, std::min(check.extents.back().second, step * ((kSmall / step) | 1)));
    if (!may_grow) {  // below the raced one, where the others are, too
      const auto is_taken = [&](std::int64_t extent) {
        return extent == raced || extent == check.extents.back().second || extent == small.extents.back().second;
      };
      std::int64_t& own = held_out.extents.back().second;
      while (own > step && is_taken(own)) own -= step;
      is_new = is_new || !is_taken(own);
    }
    is_new = is_new || may_grow;
    all_may_grow = all_may_grow && may_grow;
    const bool is_looped = is_looped_over(spelling, source);
    all_are_looped_over = all_are_looped_over && is_looped;
    all_may_be_small = all_may_be_small && may_be_small(spelling, source);
    const std::int64_t most = most_of_type(signature, axis);
    growing.push_back({axis.name, step, steps, may_grow ? most : std::min(most, raced), spelling, is_looped,
                       !is_looped && is_stride(spelling, source)});
  }
  if (race.extents.empty()) return {race};
  const Parting parting(growing, source);
  if (lengths == TensorLengths::known) {
    for (MadeWorkload* const workload : {&check, &small, &held_out}) parting.part(workload->extents);
  }
  std::vector<MadeWorkload> made{race, check};
  if (all_are_looped_over && all_may_be_small && small.extents != check.extents) made.push_back(small);
  if (all_are_looped_over && all_may_grow) {
    if (auto large = large_workload(signature, growing)) {
      parting.part(large->extents);
      made.push_back(std::move(*large));
    }
  }
  if (is_new) made.push_back(held_out);
  std::vector<MadeWorkload> complete;
  for (MadeWorkload& workload : made) {
    if (auto whole = completed(signature, std::move(workload))) complete.push_back(std::move(*whole));
  }
  return complete;
}

}  // namespace accelopt::scaffold

// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/reference_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_map>

#include "evaluation/roofline.hpp"
#include "targets/trainium/spot_check.hpp"

namespace accelopt::targets::trainium {
namespace {

using evaluation::ReferenceTensor;

constexpr double kPlaces = 16;  ///< that the reference computes, and stretches of them that a kernel is held against
constexpr std::int64_t kMostInPlace = 256;
/// As between two kernels: float32 additions in another order differ by 1e-6 of the values.
constexpr double kAllowedOfPlace = 1e-4;
/// Between two calls of the reference, which add up in one order.
constexpr double kSameInDouble = 1e-9;
constexpr double kMostCheapFlops = 2e8;  ///< plain loops compute 0.2 to 1 billion a second
constexpr std::int64_t kMostCheapElements = std::int64_t{16} << 20;

std::vector<std::int64_t> draw(std::int64_t extent, std::size_t count, std::mt19937_64& random) {
  std::vector<std::int64_t> out;
  while (out.size() < std::min(count, static_cast<std::size_t>(extent))) {
    const auto place = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
    if (std::find(out.begin(), out.end(), place) == out.end()) out.push_back(place);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool has_axis(const model::TensorSpec& tensor, const std::string& axis) {
  return tensor.shape && std::find(tensor.shape->begin(), tensor.shape->end(), axis) != tensor.shape->end();
}

/// Of each of so many axes that are cut.
std::size_t places_of_axis(std::size_t axes) {
  return static_cast<std::size_t>(std::ceil(std::pow(kPlaces, 1.0 / std::max(1.0, static_cast<double>(axes)))));
}

}  // namespace

model::Workload ReferencePlaces::cut(model::Workload workload, const Axes& axes) {
  const auto most = static_cast<std::int64_t>(places_of_axis(axes.size()));
  for (const std::string& axis : axes) {
    std::int64_t& extent = workload.axes.at(axis);
    extent = std::min(extent, most);
  }
  return workload;
}

base::Result<void> ReferencePlaces::check_definition(const model::Definition& definition) {
  for (const std::string& axis : model::variable_axes(definition)) {
    if (std::any_of(definition.outputs.begin(), definition.outputs.end(),
                    [&](const model::TensorSpec& output) { return has_axis(output, axis); }))
      continue;
    return base::fail(
        base::ErrorCode::unsupported,
        fmt::format("the axis {0} is variable and no output has it: without a workload of role check, the "
                    "reference is called with a few places of each variable axis, and would leave out "
                    "most of {0}; write {0} as a constant, or add a workload of role check",
                    axis));
  }
  return {};
}

bool ReferencePlaces::cheap(const model::Definition& definition, const model::Workload& cut) {
  const model::AxisValues axes = model::bind_axes(definition, cut);
  std::int64_t elements = 0;
  for (const auto* tensors : {&definition.inputs, &definition.outputs}) {
    for (const model::TensorSpec& tensor : *tensors) elements += model::element_count(tensor, axes);
  }
  const auto work = evaluation::least_work(definition, cut);
  return elements <= kMostCheapElements && work && work->flops <= kMostCheapFlops;
}

ReferencePlaces::Axes ReferencePlaces::separable(const model::Definition& definition, const model::Workload& workload,
                                                 const std::vector<std::span<const float>>& inputs,
                                                 const evaluation::HostReference& reference, std::uint64_t seed) {
  const model::AxisValues extents = model::bind_axes(definition, workload);
  const auto whole = at(definition, workload, inputs, reference, {});
  if (!whole) return {};
  const auto holds = [&](const Axes& axes) {
    const auto cut = at(definition, workload, inputs, reference, drawn(extents, axes, seed));
    return cut && cut->agrees_with(*whole);
  };
  Axes out;
  for (const std::string& axis : model::variable_axes(definition)) {
    const bool everywhere = std::all_of(definition.outputs.begin(), definition.outputs.end(),
                                        [&](const model::TensorSpec& output) { return has_axis(output, axis); });
    const bool shows = extents.at(axis) > static_cast<std::int64_t>(kPlaces);
    if (everywhere && shows && holds({axis})) out.push_back(axis);
  }
  return holds(out) ? out : Axes();
}

ReferencePlaces::Cut ReferencePlaces::cut_of(const model::TensorSpec& tensor, const model::AxisValues& axes,
                                             const Places& places) {
  Cut out;
  const std::vector<std::string>& shape = *tensor.shape;
  std::size_t whole = shape.size();  // axes from here on are not cut
  while (whole > 0 && !places.contains(shape[whole - 1])) out.run *= axes.at(shape[--whole]);
  std::vector<std::int64_t> strides(whole, out.run);
  for (std::size_t i = whole; i-- > 1;) strides[i - 1] = strides[i] * axes.at(shape[i]);
  out.begins = {0};
  for (std::size_t i = 0; i < whole; ++i) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(axes.at(shape[i])));
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<std::int64_t>(k);
    const auto cut = places.find(shape[i]);
    std::vector<std::int64_t> next;
    for (const std::int64_t begin : out.begins) {
      for (const std::int64_t place : cut == places.end() ? all : cut->second)
        next.push_back(begin + place * strides[i]);
    }
    out.begins = std::move(next);
  }
  if (!shape.empty()) {
    const auto last = places.find(shape.back());
    out.row = last == places.end() ? axes.at(shape.back()) : static_cast<std::int64_t>(last->second.size());
  }
  return out;
}

ReferencePlaces::Places ReferencePlaces::drawn(const model::AxisValues& axes, const Axes& cut, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Places out;
  for (const std::string& axis : cut) out[axis] = draw(axes.at(axis), places_of_axis(cut.size()), random);
  return out;
}

base::Result<ReferencePlaces> ReferencePlaces::compute(const model::Definition& definition,
                                                       const model::Workload& workload,
                                                       const std::vector<std::span<const float>>& inputs,
                                                       const evaluation::HostReference& reference, const Axes& axes,
                                                       std::uint64_t seed) {
  return at(definition, workload, inputs, reference, drawn(model::bind_axes(definition, workload), axes, seed));
}

std::optional<ReferencePlaces> ReferencePlaces::compute_twice(const model::Definition& definition,
                                                              const model::Workload& workload,
                                                              const std::vector<std::span<const float>>& inputs,
                                                              const evaluation::HostReference& reference,
                                                              const Axes& axes, std::uint64_t seed) {
  Places places = drawn(model::bind_axes(definition, workload), axes, seed);
  auto all = at(definition, workload, inputs, reference, places);
  for (auto& [axis, some] : places) some.resize((some.size() + 1) / 2);
  const auto half = at(definition, workload, inputs, reference, places);
  if (!all || !half || !half->agrees_with(*all)) return std::nullopt;
  return std::move(*all);
}

bool ReferencePlaces::agrees_with(const ReferencePlaces& other) const {
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    std::unordered_map<std::int64_t, double> values;
    for (std::size_t k = 0; k < other.expected_[i].size(); ++k)
      values[other.cuts_[i].whole(static_cast<std::int64_t>(k))] = other.expected_[i][k];
    double error = 0;
    double size = 0;
    for (std::size_t k = 0; k < expected_[i].size(); ++k) {
      const double right = values.at(cuts_[i].whole(static_cast<std::int64_t>(k)));
      error += (expected_[i][k] - right) * (expected_[i][k] - right);
      size += right * right;
    }
    if (!std::isfinite(error) || error > kSameInDouble * kSameInDouble * size) return false;
  }
  return true;
}

base::Result<ReferencePlaces> ReferencePlaces::at(const model::Definition& definition, const model::Workload& workload,
                                                  const std::vector<std::span<const float>>& inputs,
                                                  const evaluation::HostReference& reference, const Places& places) {
  const model::AxisValues axes = model::bind_axes(definition, workload);
  evaluation::Invocation invocation;
  for (const std::string& axis : model::variable_axes(definition)) {
    const auto cut = places.find(axis);
    invocation.axes.push_back(cut == places.end() ? axes.at(axis) : static_cast<std::int64_t>(cut->second.size()));
  }
  std::vector<ReferenceTensor> given;
  std::size_t next = 0;
  for (const model::TensorSpec& input : definition.inputs) {
    ReferenceTensor& tensor = given.emplace_back();
    if (!input.shape) {
      tensor.values = {input.init.first};  // a constant: what is traced takes no other
      continue;
    }
    const std::span<const float> values = inputs[next++];
    const Cut cut = cut_of(input, axes, places);
    tensor.values.reserve(cut.begins.size() * static_cast<std::size_t>(cut.run));
    for (const std::int64_t begin : cut.begins) {
      const auto run = values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(cut.run));
      tensor.values.insert(tensor.values.end(), run.begin(), run.end());
    }
  }
  ReferencePlaces out;
  out.allowed_ = std::max(kAllowedOfPlace, definition.numerics.normwise.value_or(0));
  for (const model::TensorSpec& output : definition.outputs) {
    out.cuts_.push_back(cut_of(output, axes, places));
    const Cut& cut = out.cuts_.back();
    invocation.output_bytes.push_back(cut.begins.size() * static_cast<std::size_t>(cut.run) * sizeof(float));
  }
  TRY_ASSIGN(std::vector<ReferenceTensor> computed, reference(evaluation::Precision::float64, given, invocation));
  for (ReferenceTensor& output : computed) out.expected_.push_back(std::move(output.values));
  return out;
}

base::Result<std::string> ReferencePlaces::check(const Program& program,
                                                 const std::vector<std::span<const float>>& inputs, std::uint64_t seed,
                                                 const std::stop_token& stop) const {
  std::mt19937_64 random(seed);
  std::vector<Stretch> asked;  // in the cut
  std::vector<Stretch> needed;
  for (int i = 0; i < static_cast<int>(kPlaces); ++i) {
    Stretch one;
    one.output = random() % cuts_.size();
    const Cut& cut = cuts_[one.output];
    one.begin = static_cast<std::int64_t>(random() % expected_[one.output].size());
    if (cut.row <= kMostInPlace) one.begin -= one.begin % cut.row;
    one.end = std::min({one.begin + kMostInPlace, (one.begin / cut.row + 1) * cut.row});
    asked.push_back(one);
    for (std::int64_t at = one.begin; at < one.end; ++at) {
      const std::int64_t whole = cut.whole(at);
      if (at > one.begin && needed.back().end == whole) {
        ++needed.back().end;
      } else {
        needed.push_back({one.output, whole, whole + 1});
      }
    }
  }
  TRY_ASSIGN(const auto given, values_at(program, needed, inputs, stop));
  std::size_t next = 0;  // of `needed`, which follow each other as what is asked does
  std::size_t in_next = 0;
  for (const Stretch& one : asked) {
    double error = 0;
    double size = 0;
    for (std::int64_t i = one.begin; i < one.end; ++i) {
      const double right = expected_[one.output][static_cast<std::size_t>(i)];
      const double value = given[next][in_next++];
      if (in_next == given[next].size()) {
        ++next;
        in_next = 0;
      }
      error += (value - right) * (value - right);
      size += right * right;
    }
    if (std::isfinite(error) && error <= allowed_ * allowed_ * size) continue;
    return fmt::format(
        "output {}: {} elements from {} on are not what the reference computes (relative difference {:.2g}, allowed "
        "{:.2g})",
        program.buffers[program.outputs[one.output]].name, one.end - one.begin, cuts_[one.output].whole(one.begin),
        std::sqrt(error / std::max(size, 1e-300)), allowed_);
  }
  return std::string();
}

}  // namespace accelopt::targets::trainium

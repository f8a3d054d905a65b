// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/whole_outputs.hpp"

#include <cmath>
#include <span>

#include <fmt/format.h>

#include "evaluation/roofline.hpp"
#include "targets/trainium/execute.hpp"
#include "targets/trainium/legacy_normal.hpp"

namespace accelopt::targets::trainium {
namespace {

using base::ErrorCode;
using base::Result;
using evaluation::ReferenceTensor;
using model::InitKind;

constexpr std::size_t kMostKnownBytes = std::size_t{2} << 30;
/// Operations of a workload: a reference's plain loops compute 0.2 to 1 billion a second, and have 120 s a call.
constexpr double kMostFlops = 2e10;

/// Squares of the distance and of what is expected, in double.
std::pair<double, double> squares(const std::vector<float>& values, const std::vector<float>& expected) {
  double distance = 0;
  double size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto difference = static_cast<double>(values[i] - expected[i]);
    distance += difference * difference;
    size += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return {distance, size};
}

}  // namespace

Result<WholeOutputs> WholeOutputs::create(const model::Definition& definition,
                                          const std::vector<model::Workload>& workloads,
                                          evaluation::HostReference reference) {
  for (const model::Workload& workload : workloads) {
    const auto work = evaluation::least_work(definition, workload);
    if (workload.role != model::Role::race || !work || work->flops <= kMostFlops) continue;
    return base::fail(
        ErrorCode::unsupported,
        fmt::format("the workload \"{}\" takes {:.0f} billion operations, and whole outputs are computed "
                    "for {} seeds by the reference's plain loops, which do {:.0f} billion in the time that "
                    "they have; leave out --preset nkibench, or make the workload smaller",
                    workload.name, work->flops / 1e9, kSeeds.size(), kMostFlops / 1e9));
  }
  for (const model::TensorSpec& input : definition.inputs) {
    const InitKind kind = input.init.kind;
    const bool drawn = kind == InitKind::normal || kind == InitKind::abs_normal || kind == InitKind::constant;
    const bool plain = input.init.expressions[0].empty() && input.init.expressions[1].empty();
    if (!drawn || !plain)
      return base::fail(base::ErrorCode::unsupported,
                        fmt::format("the input \"{}\" is {}: the benchmark draws normal, abs_normal and constant "
                                    "ones; import its own tasks (accelopt import nkibench)",
                                    input.name, model::to_string(input.init)));
  }
  return WholeOutputs(definition, std::move(reference));
}

WholeOutputs::Tensors WholeOutputs::inputs_of(const model::AxisValues& axes, std::uint32_t seed) const {
  LegacyNormal generator(seed);
  Tensors out;
  for (const model::TensorSpec& input : definition_->inputs) {
    const model::InitSpec& init = input.init;
    std::vector<float>& values =
        out.emplace_back(input.shape ? static_cast<std::size_t>(model::element_count(input, axes)) : 1);
    for (float& value : values) {
      const double drawn = init.kind == InitKind::constant ? init.first : generator.normal(init.first, init.second);
      value = static_cast<float>(init.kind == InitKind::abs_normal ? std::fabs(drawn) : drawn);
    }
  }
  return out;
}

Result<WholeOutputs::Tensors> WholeOutputs::expected_of(const model::Workload& workload, const model::AxisValues& axes,
                                                        std::uint32_t seed, const Tensors& inputs) {
  const auto key = std::pair(workload.name, seed);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  evaluation::Invocation invocation;
  std::vector<ReferenceTensor> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool scalar = !definition_->inputs[i].shape;
    given.push_back({{inputs[i].begin(), inputs[i].end()}, {}});
    if (scalar) given.back().values = {definition_->inputs[i].init.first};
    invocation.inputs.emplace_back(inputs[i].size() * sizeof(float));
  }
  std::size_t bytes = 0;
  for (const model::TensorSpec& output : definition_->outputs) {
    const auto own = static_cast<std::size_t>(model::element_count(output, axes)) * sizeof(float);
    invocation.output_bytes.push_back(own);
    bytes += own;
  }
  for (const model::Axis& axis : definition_->axes) {
    if (!axis.value) invocation.axes.push_back(axes.at(axis.name));
  }
  TRY_ASSIGN(const std::vector<ReferenceTensor> made, reference_(evaluation::Precision::float64, given, invocation));
  Tensors out;
  for (const ReferenceTensor& one : made) {
    std::vector<float>& values = out.emplace_back();
    values.reserve(one.values.size());
    for (const double value : one.values) values.push_back(static_cast<float>(value));
  }
  if (known_bytes_ + bytes <= kMostKnownBytes) {
    known_bytes_ += bytes;
    known_[key] = out;
  }
  return out;
}

Result<std::string> WholeOutputs::check(const Program& program, const model::Workload& workload,
                                        const std::stop_token& stop) {
  const model::AxisValues axes = model::bind_axes(*definition_, workload);
  for (const std::uint32_t seed : kSeeds) {
    const Tensors inputs = inputs_of(axes, seed);
    TRY_ASSIGN(const Tensors expected, expected_of(workload, axes, seed, inputs));
    std::vector<std::span<const float>> given;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (definition_->inputs[i].shape) given.emplace_back(inputs[i]);
    }
    Tensors outputs;
    for (const std::vector<float>& one : expected) outputs.emplace_back(one.size());
    TRY_ASSIGN(const std::string poisoned, execute(program, given, {outputs.begin(), outputs.end()}, stop));
    if (!poisoned.empty()) return fmt::format("numpy's seed {}: {}", seed, poisoned);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto [distance, size] = squares(outputs[i], expected[i]);
      if (std::sqrt(distance) < kTolerance * std::sqrt(size)) continue;  // not so with a NaN
      return fmt::format(
          "numpy's seed {}: the relative L2 distance of the whole output \"{}\" is {:.3g}, and has to be under {:.3g}",
          seed, definition_->outputs[i].name, std::sqrt(distance / size), kTolerance);
    }
  }
  return std::string();
}

}  // namespace accelopt::targets::trainium

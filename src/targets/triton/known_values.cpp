// SPDX-License-Identifier: Apache-2.0
#include "targets/triton/known_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "evaluation/verify/known_outputs.hpp"
#include "evaluation/verify/slots.hpp"
#include "targets/cuda/program.hpp"

namespace accelopt::targets::triton {
namespace {

using base::Json;
using capture::Shapes;

constexpr std::uint64_t kSampleSeed = 1;  ///< of what is built, and neither verified nor timed

/// As JSON has it, which knows no infinity.
Json json_of(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

template <class Number>
Json number_in(const evaluation::Bytes& bytes) {
  Number out{};
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

/// The value of a scalar input from its bytes.
Json scalar_of(const model::TensorSpec& input, const evaluation::Bytes& bytes) {
  using model::DType;
  switch (input.dtype) {
    case DType::int64:
      return number_in<std::int64_t>(bytes);
    case DType::int32:
      return number_in<std::int32_t>(bytes);
    case DType::int16:
      return number_in<std::int16_t>(bytes);
    case DType::int8:
      return number_in<std::int8_t>(bytes);
    case DType::uint64:
      return number_in<std::uint64_t>(bytes);
    case DType::uint32:
      return number_in<std::uint32_t>(bytes);
    case DType::uint16:
      return number_in<std::uint16_t>(bytes);
    case DType::uint8:
    case DType::boolean:
      return number_in<std::uint8_t>(bytes);
    default:
      return json_of(evaluation::seen_by_reference(input, bytes).values.at(0));
  }
}

}  // namespace

void put_values(const model::Definition& definition, const std::vector<evaluation::Bytes>& values, Shapes& shapes) {
  for (std::size_t i = 0; i < definition.inputs.size(); ++i) {
    const model::TensorSpec& input = definition.inputs[i];
    if (!input.shape)
      shapes.inputs.at(i).value = scalar_of(input, values.at(i));
    else if (input.visible)
      shapes.inputs.at(i).visible =
          std::string(reinterpret_cast<const char*>(values.at(i).data()), values.at(i).size());
  }
}

/// Names of workloads are anybody's: the captured plans are called w0, w1, ... meanwhile.
base::Result<Wanted> wanted_of(const model::Task& task) {
  const model::Definition& definition = task.definition;
  Wanted out;
  out.values = evaluation::host_knows_values(task);
  out.scalars = evaluation::draws_scalars(task);
  for (const model::Workload& workload : task.workloads) {
    const model::AxisValues axes = model::bind_axes(definition, workload);
    std::string plan = cuda::plan_name(definition, axes);
    if (std::ranges::find(out.plans, plan) != out.plans.end()) continue;
    TRY_ASSIGN(const auto draws, evaluation::known_draws(definition, workload, kSampleSeed, kSampleSeed));
    std::vector<evaluation::Bytes> values(draws.size());
    for (std::size_t i = 0; i < draws.size(); ++i) {
      const model::TensorSpec& input = definition.inputs[i];
      if (!model::is_known_on_host(input)) continue;
      values[i].resize(static_cast<std::size_t>(model::element_count(input, axes)) * model::size_of(input.dtype));
      TRY(evaluation::draw_input(draws[i], values[i]));
    }
    Shapes shapes = capture::shapes_of(definition, axes, "w" + std::to_string(out.plans.size()));
    put_values(definition, values, shapes);
    out.shapes.push_back(std::move(shapes));
    out.plans.push_back(std::move(plan));
  }
  return out;
}

}  // namespace accelopt::targets::triton

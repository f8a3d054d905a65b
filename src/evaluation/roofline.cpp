// SPDX-License-Identifier: Apache-2.0
#include "evaluation/roofline.hpp"

#include <algorithm>

#include "base/expression.hpp"
#include "model/target_description.hpp"

namespace accelopt::evaluation {
namespace {

constexpr double kLeastPartOfFloor = 0.8;
/// Dot-product instructions on 16-bit and 8-bit types do at most so many times the float32 rate.
constexpr double kNarrowTypesFactor = 8;
/// Of what is measured with plain matrix instructions: others of the same units are up to twice as fast, and 8-bit
/// types twice as fast again.
constexpr double kTensorFactor = 4;
/// tf32 products that make up one of float32: high by high, high by low and low by high parts.
constexpr double kProductsOfFloat32 = 3;

bool any_input(const model::Definition& definition, bool (*test)(model::DType)) {
  return std::any_of(definition.inputs.begin(), definition.inputs.end(),
                     [&](const auto& input) { return test(input.dtype); });
}

bool is_double(model::DType dtype) {
  return dtype == model::DType::float64;
}

bool is_narrow(model::DType dtype) {
  return model::size_of(dtype) < 4;
}

/// Peaks are of one core of a CPU, and of an accelerator as a whole.
double units_of(const model::Task& task) {
  return model::cores_of(task);
}

bool is_float32(model::DType dtype) {
  return dtype == model::DType::float32;
}

bool is_narrow_float(model::DType dtype) {
  return model::is_floating(dtype) && is_narrow(dtype);
}

/// Of inputs of this kind; a scale beside each block of narrow numbers does not make their products float32's.
std::int64_t elements_of(const model::Definition& definition, const model::AxisValues& axes,
                         bool (*test)(model::DType)) {
  std::int64_t out = 0;
  for (const model::TensorSpec& input : definition.inputs) {
    if (input.shape && test(input.dtype)) out += model::element_count(input, axes);
  }
  return out;
}

/// Whether most of what is multiplied has 16 bits or fewer.
bool is_mostly_narrow(const model::Definition& definition, const model::Workload& workload) {
  const model::AxisValues axes = model::bind_axes(definition, workload);
  return elements_of(definition, axes, &is_narrow_float) > elements_of(definition, axes, &is_float32);
}

/// Whether most of what is computed with has 64 bits: scalars, or a tensor of a few, do not slow down the others.
bool is_mostly_double(const model::Definition& definition, const model::Workload& workload) {
  const model::AxisValues axes = model::bind_axes(definition, workload);
  const std::int64_t elements = elements_of(definition, axes, &is_double);
  return elements > 0 && elements >= elements_of(definition, axes, &is_float32);
}

/// The rate at which matrix units can do the task's multiplications as exactly as its numbers ask; 0: there are none.
/// Three tf32 products make up one of float32.
double matrix_flops_per_second(const model::Definition& definition, bool narrow, const Peaks& peaks) {
  if (narrow || definition.numerics.lower_precision) return peaks.tensor_flops_per_second;
  return any_input(definition, &is_float32) ? peaks.tensor_tf32_flops_per_second / kProductsOfFloat32 : 0;
}

/// The peak that no kernel passes, whatever it computes with: an honest one may split float32 numbers into several of a
/// matrix unit's, and double ones too.
double loosest_flops_per_second(const model::Task& task, const model::Workload& workload, const Peaks& peaks) {
  const bool narrow = task.definition.numerics.lower_precision || any_input(task.definition, &is_narrow);
  // Where nothing comes out in double, float does.
  const bool gives_double =
      std::ranges::any_of(task.definition.outputs, [](const auto& output) { return is_double(output.dtype); });
  const double one = gives_double && is_mostly_double(task.definition, workload)
                         ? peaks.flops_per_second_float64
                         : std::max(peaks.flops_per_second, peaks.flops_per_second_float64);
  const double vectors = one * units_of(task) * (narrow ? kNarrowTypesFactor : 1);
  return std::max(vectors, kTensorFactor * peaks.tensor_flops_per_second);
}

}  // namespace

std::optional<Work> least_work(const model::Definition& definition, const model::Workload& workload) {
  if (definition.cost.flops.empty() && definition.cost.bytes.empty()) return std::nullopt;
  const model::AxisValues axes = model::bind_axes(definition, workload);
  Work work;
  if (!definition.cost.flops.empty()) {
    const auto value = base::evaluate_expression(definition.cost.flops, axes);
    if (!value) return std::nullopt;
    work.flops = static_cast<double>(*value);
  }
  if (!definition.cost.bytes.empty()) {
    const auto value = base::evaluate_expression(definition.cost.bytes, axes);
    if (!value) return std::nullopt;
    work.bytes = static_cast<double>(*value);
  }
  return work;
}

namespace {

/// Which arithmetic is a task's: what counts as the peak.
struct Arithmetic {
  bool in_double = false;
  bool narrow = false;
};

std::optional<model::RooflinePoint> roofline_with(Arithmetic arithmetic, const model::Task& task,
                                                  const model::Workload& workload, const Peaks& peaks, double time_ns) {
  const auto work = least_work(task.definition, workload);
  // Whichever unit is faster, whatever the kernel uses: the floor must not move between a baseline and its children.
  const double vectors = arithmetic.in_double ? peaks.flops_per_second_float64 : peaks.flops_per_second;
  const double matrix = arithmetic.in_double ? 0 : matrix_flops_per_second(task.definition, arithmetic.narrow, peaks);
  const double compute = std::max(vectors * units_of(task), matrix);
  const double memory = peaks.bytes_per_second * units_of(task);
  if (!work || compute <= 0 || memory <= 0 || time_ns <= 0) return std::nullopt;
  const double compute_ns = work->flops / compute * 1e9;
  const double memory_ns = work->bytes / memory * 1e9;
  model::RooflinePoint out;
  out.floor_ns = std::max(compute_ns, memory_ns);
  out.fraction = std::min(1.0, out.floor_ns / time_ns);  // the peak is measured too, and may come out a little low
  out.bound = compute_ns >= memory_ns ? "compute" : "memory";
  return out;
}

}  // namespace

std::optional<model::RooflinePoint> roofline(const model::Task& task, const model::Workload& workload,
                                             const Peaks& peaks, double time_ns) {
  return roofline_with({is_mostly_double(task.definition, workload), is_mostly_narrow(task.definition, workload)}, task,
                       workload, peaks, time_ns);
}

std::optional<model::RooflinePoint> earlier_roofline(const model::Task& task, const model::Workload& workload,
                                                     const Peaks& peaks, double time_ns) {
  const bool narrow = any_input(task.definition, &is_narrow_float) && !any_input(task.definition, &is_float32);
  return roofline_with({any_input(task.definition, &is_double), narrow}, task, workload, peaks, time_ns);
}

namespace {

/// Of the stated bytes those that have moved when a kernel ends. Outputs may still lie in a large cache then. In any
/// other may lie what was written over data that had been read: of a tensor that is changed in place, which is read
/// within the measured time, as much as the cache holds is written back after it. Elements that are only written count,
/// since their lines are read before.
double bytes_until_the_end(const model::Task& task, const model::Workload& workload, double stated, double cache) {
  if (model::target_of(task).large_cache) return std::max(0.0, stated - cache);
  const model::AxisValues axes = model::bind_axes(task.definition, workload);
  const auto bytes_of = [&](const model::TensorSpec& tensor) {
    return static_cast<double>(model::element_count(tensor, axes)) * static_cast<double>(model::size_of(tensor.dtype));
  };
  double once = 0;
  double in_place = 0;
  for (const model::TensorSpec& input : task.definition.inputs) {
    once += bytes_of(input);
    in_place += input.inout ? bytes_of(input) : 0;
  }
  for (const model::TensorSpec& output : task.definition.outputs) once += output.inout ? 0 : bytes_of(output);
  const double written_back = std::clamp(stated - once, 0.0, in_place);
  return stated - std::min(written_back, cache);
}

}  // namespace

Peaks larger_peaks(const Peaks& one, const Peaks& other) {
  Peaks out = one;
  const auto raise = [&](double Peaks::*peak) { out.*peak = std::max(out.*peak, other.*peak); };
  for (const auto peak :
       {&Peaks::flops_per_second, &Peaks::flops_per_second_float64, &Peaks::bytes_per_second,
        &Peaks::last_level_bytes_per_second, &Peaks::tensor_flops_per_second, &Peaks::tensor_tf32_flops_per_second}) {
    raise(peak);
  }
  return out;
}

double least_credible_ns(const model::Task& task, const model::Workload& workload, const Peaks& peaks,
                         std::int64_t last_level_bytes) {
  const auto work = least_work(task.definition, workload);
  const double compute = loosest_flops_per_second(task, workload, peaks);
  const double memory = peaks.bytes_per_second * units_of(task);
  if (!work || compute <= 0 || memory <= 0) return 0;
  const double compute_ns = work->flops / compute * 1e9;
  // Data that may lie in a cache is not held to the speed of memory.
  const auto cache = static_cast<double>(last_level_bytes);
  const bool in_cache = task.cpu.cache == model::Cache::warm && work->bytes < cache;
  const double memory_ns = in_cache ? 0 : bytes_until_the_end(task, workload, work->bytes, cache) / memory * 1e9;
  return kLeastPartOfFloor * std::max(compute_ns, memory_ns);
}

}  // namespace accelopt::evaluation

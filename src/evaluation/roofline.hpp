// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "evaluation/reports.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"

namespace accelopt::evaluation {

/// The least work of one workload, from the task's cost model.
struct Work {
  double flops = 0;
  double bytes = 0;
};

/// None where the task states no cost or an expression does not evaluate.
std::optional<Work> least_work(const model::Definition& definition, const model::Workload& workload);

/// Where `time_ns` stands: floor = max(flops / peak, bytes / bandwidth), all threads of a CPU together. The peak is
/// that of the vector units in the task's own precision (double where most elements of its tensors are) or that of the
/// matrix units, whichever is higher: where most elements of its tensors have 16 bits or fewer (or where the task
/// permits lower precision) their own rate, with float32 inputs a third of their tf32 rate, which is what split numbers
/// reach. It does not depend on the kernel.
std::optional<model::RooflinePoint> roofline(const model::Task& task, const model::Workload& workload,
                                             const Peaks& peaks, double time_ns);

/// The same as earlier records have it, where one float32 input, a scale or a scalar too, made all products float32's,
/// and one of float64 all arithmetic double: never lower.
std::optional<model::RooflinePoint> earlier_roofline(const model::Task& task, const model::Workload& workload,
                                                     const Peaks& peaks, double time_ns);

/// Of each the larger one.
Peaks larger_peaks(const Peaks& one, const Peaks& other);

/// The time below which no result is believed: 0.8 of the floor, with the loosest peaks that the task allows. Of a
/// tensor that is changed in place, what a cache of `last_level_bytes` holds need not be written back by then. 0: none.
double least_credible_ns(const model::Task& task, const model::Workload& workload, const Peaks& peaks,
                         std::int64_t last_level_bytes);

}  // namespace accelopt::evaluation

// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/memory_need.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "evaluation/verify/inputs.hpp"

namespace accelopt::evaluation {
namespace {

/// In doubles an element while one set is made and called: an input is shared, drawn, perturbed and converted; an
/// output is shared, and kept of five runs.
constexpr double kDoublesAnInput = 5;
constexpr double kDoublesAnOutput = 8;

struct WorkloadNeed {
  double kept = 0;    ///< one set: inputs as they are, outputs as doubles
  double making = 0;  ///< the same set while it is made
};

WorkloadNeed need_of(const model::Definition& definition, const model::Workload& workload) {
  const model::AxisValues axes = model::bind_axes(definition, workload);
  const auto elements = [&](const model::TensorSpec& tensor) {
    double count = 1;
    for (const std::string& axis : tensor.shape.value_or(std::vector<std::string>{}))
      count *= static_cast<double>(axes.at(axis));
    return count;
  };
  WorkloadNeed need;
  for (const model::TensorSpec& input : definition.inputs) {
    need.kept += elements(input) * static_cast<double>(model::size_of(input.dtype));
    need.making += elements(input) * sizeof(double) * kDoublesAnInput;
  }
  for (const model::TensorSpec& output : model::reference_definition(definition).outputs) {
    need.kept += elements(output) * sizeof(double);
    need.making += elements(output) * sizeof(double) * kDoublesAnOutput;
  }
  return need;
}

std::string gibibytes(double bytes) {
  return std::to_string(static_cast<std::int64_t>(std::min(std::ceil(bytes / 0x1p30), 0x1p62))) + " GiB";
}

}  // namespace

double memory_need(const model::Task& task, int slots) {
  const double sets = std::max(slots, static_cast<int>(families_of_task(task).size()));
  double kept = 0;
  double making = 0;
  for (const model::Workload& workload : task.workloads) {
    const WorkloadNeed need = need_of(task.definition, workload);
    kept += sets * need.kept;
    making = std::max(making, need.making);
  }
  return kept + making;
}

base::Result<void> check_memory(const model::Task& task, int slots, std::uint64_t available) {
  const double need = memory_need(task, slots);
  if (need <= static_cast<double>(available)) return {};
  return base::fail(base::ErrorCode::exhausted, "the inputs and expected outputs of all workloads take about " +
                                                    gibibytes(need) + " of memory, and " +
                                                    std::to_string(available >> 30) +
                                                    " GiB are free; make the workloads smaller, or fewer");
}

}  // namespace accelopt::evaluation

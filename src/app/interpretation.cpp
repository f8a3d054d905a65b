// SPDX-License-Identifier: Apache-2.0
#include "app/interpretation.hpp"

#include <algorithm>
#include <cstdint>

#include "base/text.hpp"
#include "model/target_description.hpp"

namespace accelopt::app {
namespace {

/// Inputs and outputs of a workload, bytes: an interpreter takes some tenths of a second for as much.
constexpr std::int64_t kMostInterpretedBytes = std::int64_t{4} << 20;

std::int64_t bytes_of(const model::Definition& definition, const model::Workload& workload) {
  const model::AxisValues axes = model::bind_axes(definition, workload);
  std::int64_t bytes = 0;
  for (const auto* tensors : {&definition.inputs, &definition.outputs}) {
    for (const model::TensorSpec& tensor : *tensors)
      bytes += model::element_count(tensor, axes) * static_cast<std::int64_t>(model::size_of(tensor.dtype));
  }
  return bytes;
}

}  // namespace

base::Result<Interpretation> interpretation_of(const model::Task& task) {
  const model::TargetDescription& target = model::target_of(task);
  if (target.interpreter.empty())
    return base::fail(base::ErrorCode::unsupported,
                      "kernels of target \"" + task.target + "\" have no interpreter; leave --interpret out");
  Interpretation out{task, target.interpreter, {}};
  const auto bytes = [&](const model::Workload& workload) { return bytes_of(task.definition, workload); };
  std::vector<model::Workload>& workloads = out.task.workloads;
  std::ranges::stable_sort(workloads, {}, bytes);
  std::vector<std::string> left_out;
  for (std::size_t i = 1; i < workloads.size(); ++i) {
    if (bytes(workloads[i]) > kMostInterpretedBytes) left_out.push_back(workloads[i].name);
  }
  workloads.resize(workloads.size() - left_out.size());
  if (!workloads.empty()) workloads.front().role = model::Role::race;
  out.left_out = base::joined(left_out, ", ");
  return out;
}

model::Evaluation without_times(model::Evaluation evaluation, const Interpretation& interpretation) {
  if (evaluation.status != model::Status::passed) return evaluation;
  evaluation.status = model::Status::not_measured;
  const std::string nearest = evaluation.reason.empty() ? "" : "; " + evaluation.reason;
  evaluation.reason = "verified by the interpreter; nothing was timed" + nearest;
  if (!interpretation.left_out.empty())
    evaluation.notes.push_back("not interpreted, for their size: " + interpretation.left_out);
  return evaluation;
}

}  // namespace accelopt::app

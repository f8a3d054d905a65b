// SPDX-License-Identifier: Apache-2.0
#include "evaluation/evaluator_json.hpp"

#include "base/json_fields.hpp"

namespace accelopt::evaluation {

ACCELOPT_JSON(MeasureSettings) {
  field.optional("seed", it.seed, "slots", it.slots, "max_seconds_per_workload", it.max_seconds_per_workload,
                 "max_tuning_seconds", it.max_tuning_seconds, "playoff_min_blocks", it.playoff_min_blocks,
                 "playoff_max_blocks", it.playoff_max_blocks, "confirm_min_blocks", it.confirm_min_blocks,
                 "confirm_max_blocks", it.confirm_max_blocks, "confirm_restarts", it.confirm_restarts,
                 "confirm_half_width", it.confirm_half_width, "allow_regression", it.allow_regression,
                 "call_limit_seconds", it.call_limit_seconds, "protocol", it.protocol);
  field.unless_empty("known_peaks", it.known_peaks, "known_baseline", it.known_baseline, "host_run", it.host_run);
  if (Field::kReads || it.outputs != model::OutputCheck::places) field.optional("outputs", it.outputs);
}

ACCELOPT_JSON(VectorPeak) {
  field.required("dtype", it.dtype, "bits", it.bits, "flops_per_second", it.flops_per_second);
}

ACCELOPT_JSON(Peaks) {
  field.required("flops_per_second", it.flops_per_second, "bytes_per_second", it.bytes_per_second);
  field.optional("flops_per_second_float64", it.flops_per_second_float64, "last_level_bytes_per_second",
                 it.last_level_bytes_per_second, "by_width", it.by_width, "measured", it.measured);
  if (Field::kReads || it.tensor_flops_per_second > 0)
    field.optional("tensor_flops_per_second", it.tensor_flops_per_second, "tensor_tf32_flops_per_second",
                   it.tensor_tf32_flops_per_second);
}

ACCELOPT_JSON(DeviceInfo) {
  field.required("name", it.name);
  field.optional("summary", it.summary, "compiler", it.compiler, "isolation", it.isolation, "peaks", it.peaks);
}

ACCELOPT_JSON(DroppedFamily) {
  field.required("workload", it.workload, "family", it.family);
}

ACCELOPT_JSON(OpenReport) {
  field.required("device", it.device, "baseline", it.baseline);
  field.optional("task_header", it.task_header, "dropped_families", it.dropped_families);
}

ACCELOPT_JSON(Arm) {
  field.required("solution", it.kernel);
}

ACCELOPT_JSON(ArmScore) {
  field.required("measured", it.measured);
  field.optional("dropped", it.dropped, "reason", it.reason, "score", it.score, "workloads", it.workloads, "blocks",
                 it.blocks);
}

ACCELOPT_JSON(PlayoffSample) {
  field.required("times_ns", it.times_ns);
  field.unless_empty("failed", it.failed);
  field.optional("slot", it.slot, "disturbed", it.disturbed);
}

ACCELOPT_JSON(PlayoffReport) {
  field.required("arms", it.arms);
  field.optional("blocks", it.blocks, "separated", it.separated, "notes", it.notes);
  field.unless_empty("samples", it.samples);
}

}  // namespace accelopt::evaluation

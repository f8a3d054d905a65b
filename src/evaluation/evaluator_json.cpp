// SPDX-License-Identifier: Apache-2.0
#include "evaluation/evaluator_json.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/json_fields.hpp"

namespace accelopt::evaluation {
namespace {

constexpr int kFewestSlots = 2;  ///< one to warm up
constexpr int kMostSlots = 1024;
constexpr int kMostCount = 10'000;
constexpr double kMostSeconds = 86'400;
constexpr double kMostPerSecond = 1e18;

/// A setting out of its bounds; "": there is none.
std::string out_of_bounds(const MeasureSettings& it) {
  using Count = std::pair<const char*, int>;
  for (const auto& [name, value] :
       {Count{"playoff_min_blocks", it.playoff_min_blocks}, Count{"playoff_max_blocks", it.playoff_max_blocks},
        Count{"confirm_min_blocks", it.confirm_min_blocks}, Count{"confirm_max_blocks", it.confirm_max_blocks},
        Count{"confirm_restarts", it.confirm_restarts}}) {
    if (value < 1 || value > kMostCount) return fmt::format("{} is {}; it must be 1 to {}", name, value, kMostCount);
  }
  if (it.slots < kFewestSlots || it.slots > kMostSlots)
    return fmt::format("slots is {}; it must be {} to {}", it.slots, kFewestSlots, kMostSlots);
  if (it.playoff_min_blocks > it.playoff_max_blocks) return "playoff_min_blocks is over playoff_max_blocks";
  if (it.confirm_min_blocks > it.confirm_max_blocks) return "confirm_min_blocks is over confirm_max_blocks";
  struct Number {
    const char* name;
    double value;
    double most;
  };
  for (const Number& number :
       {Number{"max_seconds_per_workload", it.max_seconds_per_workload, kMostSeconds},
        Number{"max_tuning_seconds", it.max_tuning_seconds, kMostSeconds},
        Number{"call_limit_seconds", it.call_limit_seconds, kMostSeconds},
        Number{"confirm_half_width", it.confirm_half_width, 1}, Number{"allow_regression", it.allow_regression, 1}}) {
    if (!(number.value >= 0 && number.value <= number.most))
      return fmt::format("{} is {}; it must be 0 to {}", number.name, number.value, number.most);
  }
  if (!it.known_peaks) return {};
  const Peaks& peaks = *it.known_peaks;
  const std::array rates{peaks.flops_per_second,        peaks.flops_per_second_float64,
                         peaks.bytes_per_second,        peaks.last_level_bytes_per_second,
                         peaks.tensor_flops_per_second, peaks.tensor_tf32_flops_per_second};
  const bool good =
      std::all_of(rates.begin(), rates.end(), [](double rate) { return rate >= 0 && rate <= kMostPerSecond; });
  return good ? "" : "known_peaks are no rates";
}

}  // namespace

base::Result<MeasureSettings> read_settings(const base::Json& json, std::string_view what) {
  TRY_ASSIGN(auto settings, base::decode<MeasureSettings>(json, std::string(what)));
  const std::string wrong = out_of_bounds(settings);
  if (!wrong.empty()) return base::fail(base::ErrorCode::corrupt, std::string(what) + ": " + wrong);
  return settings;
}

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
  if (Field::kReads || !it.loose_bounds.empty()) field.optional("loose_bounds", it.loose_bounds);
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

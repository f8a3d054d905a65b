// SPDX-License-Identifier: Apache-2.0
#include "evaluation/evaluator_json.hpp"

namespace accelopt::evaluation {

using base::Json;
using base::read_field;

void to_json(Json& out, const MeasureSettings& value) {
  out = {{"seed", value.seed},
         {"slots", value.slots},
         {"max_seconds_per_workload", value.max_seconds_per_workload},
         {"max_tuning_seconds", value.max_tuning_seconds},
         {"playoff_min_blocks", value.playoff_min_blocks},
         {"playoff_max_blocks", value.playoff_max_blocks},
         {"confirm_min_blocks", value.confirm_min_blocks},
         {"confirm_max_blocks", value.confirm_max_blocks},
         {"confirm_restarts", value.confirm_restarts},
         {"confirm_half_width", value.confirm_half_width},
         {"allow_regression", value.allow_regression},
         {"call_limit_seconds", value.call_limit_seconds},
         {"protocol", value.protocol}};
  if (value.known_peaks) out["known_peaks"] = *value.known_peaks;
}

void from_json(const Json& in, MeasureSettings& value) {
  read_field(in, "seed", value.seed);
  read_field(in, "slots", value.slots);
  read_field(in, "max_seconds_per_workload", value.max_seconds_per_workload);
  read_field(in, "max_tuning_seconds", value.max_tuning_seconds);
  read_field(in, "playoff_min_blocks", value.playoff_min_blocks);
  read_field(in, "playoff_max_blocks", value.playoff_max_blocks);
  read_field(in, "confirm_min_blocks", value.confirm_min_blocks);
  read_field(in, "confirm_max_blocks", value.confirm_max_blocks);
  read_field(in, "confirm_restarts", value.confirm_restarts);
  read_field(in, "confirm_half_width", value.confirm_half_width);
  read_field(in, "allow_regression", value.allow_regression);
  read_field(in, "call_limit_seconds", value.call_limit_seconds);
  read_field(in, "protocol", value.protocol);
  if (in.contains("known_peaks")) from_json(in.at("known_peaks"), value.known_peaks.emplace());
}

void to_json(Json& out, const VectorPeak& value) {
  out = {{"dtype", value.dtype}, {"bits", value.bits}, {"flops_per_second", value.flops_per_second}};
}

void from_json(const Json& in, VectorPeak& value) {
  in.at("dtype").get_to(value.dtype);
  in.at("bits").get_to(value.bits);
  in.at("flops_per_second").get_to(value.flops_per_second);
}

void to_json(Json& out, const Peaks& value) {
  out = {{"flops_per_second", value.flops_per_second},
         {"flops_per_second_float64", value.flops_per_second_float64},
         {"bytes_per_second", value.bytes_per_second},
         {"last_level_bytes_per_second", value.last_level_bytes_per_second},
         {"by_width", value.by_width},
         {"measured", value.measured}};
  if (value.tensor_flops_per_second > 0) {
    out["tensor_flops_per_second"] = value.tensor_flops_per_second;
    out["tensor_tf32_flops_per_second"] = value.tensor_tf32_flops_per_second;
  }
}

void from_json(const Json& in, Peaks& value) {
  in.at("flops_per_second").get_to(value.flops_per_second);
  read_field(in, "flops_per_second_float64", value.flops_per_second_float64);
  in.at("bytes_per_second").get_to(value.bytes_per_second);
  read_field(in, "last_level_bytes_per_second", value.last_level_bytes_per_second);
  read_field(in, "by_width", value.by_width);
  read_field(in, "measured", value.measured);
  read_field(in, "tensor_flops_per_second", value.tensor_flops_per_second);
  read_field(in, "tensor_tf32_flops_per_second", value.tensor_tf32_flops_per_second);
}

void to_json(Json& out, const DeviceInfo& value) {
  out = {{"name", value.name},
         {"summary", value.summary},
         {"compiler", value.compiler},
         {"isolation", value.isolation},
         {"peaks", value.peaks}};
}

void from_json(const Json& in, DeviceInfo& value) {
  in.at("name").get_to(value.name);
  read_field(in, "summary", value.summary);
  read_field(in, "compiler", value.compiler);
  read_field(in, "isolation", value.isolation);
  read_field(in, "peaks", value.peaks);
}

void to_json(Json& out, const OpenReport& value) {
  out = {{"device", value.device}, {"baseline", value.baseline}, {"task_header", value.task_header}};
  Json dropped = Json::array();
  for (const DroppedFamily& one : value.dropped_families) {
    dropped.push_back({{"workload", one.workload}, {"family", one.family}});
  }
  out["dropped_families"] = std::move(dropped);
}

void from_json(const Json& in, OpenReport& value) {
  in.at("device").get_to(value.device);
  in.at("baseline").get_to(value.baseline);
  read_field(in, "task_header", value.task_header);
  for (const Json& one : in.value("dropped_families", Json::array())) {
    value.dropped_families.push_back({one.at("workload").get<std::string>(), one.at("family").get<std::string>()});
  }
}

void to_json(Json& out, const Arm& value) {
  out = {{"solution", value.kernel}};
}
void from_json(const Json& in, Arm& value) {
  in.at("solution").get_to(value.kernel);
}

void to_json(Json& out, const ArmScore& value) {
  out = {{"measured", value.measured}, {"dropped", value.dropped},     {"reason", value.reason},
         {"score", value.score},       {"workloads", value.workloads}, {"blocks", value.blocks}};
}

void from_json(const Json& in, ArmScore& value) {
  in.at("measured").get_to(value.measured);
  read_field(in, "dropped", value.dropped);
  read_field(in, "reason", value.reason);
  read_field(in, "score", value.score);
  read_field(in, "workloads", value.workloads);
  read_field(in, "blocks", value.blocks);
}

void to_json(Json& out, const PlayoffReport& value) {
  out = {{"arms", value.arms}, {"blocks", value.blocks}, {"separated", value.separated}, {"notes", value.notes}};
}

void from_json(const Json& in, PlayoffReport& value) {
  in.at("arms").get_to(value.arms);
  read_field(in, "blocks", value.blocks);
  read_field(in, "separated", value.separated);
  read_field(in, "notes", value.notes);
}

}  // namespace accelopt::evaluation

// SPDX-License-Identifier: Apache-2.0
#include "model/stages.hpp"

namespace accelopt::model {

std::vector<StageTime> stages_in(const base::Json& evaluation) {
  std::vector<StageTime> out;
  const auto stages = evaluation.find("stages");
  if (stages == evaluation.end() || !stages->is_array()) return out;
  for (const base::Json& stage : *stages) {
    if (stage.is_object())
      out.push_back({named<Stage>(stage.value("name", "")).value_or(Stage::other), stage.value("seconds", 0.0)});
  }
  return out;
}

double seconds_of(const std::vector<StageTime>& stages, Stage kind) {
  double seconds = 0;
  for (const StageTime& stage : stages) seconds += stage.stage == kind ? stage.seconds : 0;
  return seconds;
}

std::optional<double> measured_seconds(const std::vector<StageTime>& stages) {
  if (stages.empty()) return std::nullopt;
  double seconds = 0;
  for (const StageTime& stage : stages) seconds += stage.stage == Stage::build ? 0 : stage.seconds;
  return seconds;
}

}  // namespace accelopt::model

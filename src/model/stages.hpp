// SPDX-License-Identifier: Apache-2.0
// What is read from the stages of an evaluation, whether it was just made or comes from a journal.
#pragma once

#include <optional>
#include <vector>

#include "base/json.hpp"
#include "model/evaluation.hpp"

namespace accelopt::model {

/// The stages in an evaluation's JSON; none where it names none.
std::vector<StageTime> stages_in(const base::Json& evaluation);

/// Seconds of all stages of a kind together.
double seconds_of(const std::vector<StageTime>& stages, Stage kind);

/// Seconds of all stages but building: what the device did for the evaluation. Journals of before may tell more than
/// one stage of building. None: there are no stages.
std::optional<double> measured_seconds(const std::vector<StageTime>& stages);

}  // namespace accelopt::model

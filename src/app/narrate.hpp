// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/config.hpp"
#include "app/shell.hpp"
#include "app/team.hpp"
#include "base/result.hpp"
#include "model/usage.hpp"
#include "report/explanation.hpp"

namespace accelopt::app {

/// A model's prose about a run. Each of its numbers is on record.
struct Narrative {
  std::string text;
  std::string model;
  model::Usage usage;                  ///< of all its answers
  std::vector<std::string> corrected;  ///< numbers that its first answer had and the record does not
};

/// Asks the model that plays the summarizer to tell the lesson, and once more where a number is not on record.
/// @error invalid_argument: no model is configured, or the flags contradict each other; corrupt: the second answer
/// still has numbers that are not on record, and the message names them; as ChatModel::chat.
base::Result<Narrative> narrate(const Shell& shell, const AgentFlags& flags, const Config& config,
                                const report::Explanation& explanation);

}  // namespace accelopt::app

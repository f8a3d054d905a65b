// SPDX-License-Identifier: Apache-2.0
// One model outside of a run's team.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/config.hpp"
#include "app/shell.hpp"
#include "app/team.hpp"
#include "base/result.hpp"
#include "http/client.hpp"
#include "llm/chat_model.hpp"
#include "llm/clock.hpp"

namespace accelopt::app {

struct LoneModel {
  std::unique_ptr<llm::Clock> clock;
  std::unique_ptr<http::Client> client;
  std::unique_ptr<llm::ChatModel> chat;
  ModelConfig config;
};

/// The model that the flags name, or that plays `role`. `recorded_as`: the word that its labels begin with; `purpose`:
/// who asks, for the message where none is configured ("--narrate").
/// @error invalid_argument: no model is configured, or the flags contradict each other; as make_team.
base::Result<LoneModel> connect_lone_model(const Shell& shell, const AgentFlags& flags, const Config& config,
                                           model::AgentRole role, const std::string& recorded_as,
                                           const std::string& purpose);

}  // namespace accelopt::app

// SPDX-License-Identifier: Apache-2.0
#include "app/lone_model.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "llm/endpoint.hpp"
#include "llm/mailbox_model.hpp"
#include "llm/recording.hpp"

namespace accelopt::app {

using base::ErrorCode;

base::Result<LoneModel> connect_lone_model(const Shell& shell, const AgentFlags& flags, const Config& config,
                                           model::AgentRole role, const std::string& recorded_as,
                                           const std::string& purpose) {
  TRY_ASSIGN(const auto roles, models_of_roles(flags, config));
  const auto chosen = std::ranges::find(roles, role, &RoleModel::role);
  if (chosen == roles.end()) {
    return base::fail(ErrorCode::invalid_argument,
                      purpose +
                          " asks a model, and none is configured; add [models.default] to accelopt.toml, or give "
                          "--base-url URL --model NAME (docs/models.md)");
  }
  LoneModel lone{.clock = llm::make_clock(),
                 .client = std::make_unique<http::Client>(),
                 .chat = nullptr,
                 .config = chosen->config};
  const ModelConfig& model = lone.config;
  if (!flags.replay.empty()) {
    TRY_ASSIGN(llm::Recording recording, llm::Recording::load(flags.replay));
    lone.chat = llm::make_replaying_model(std::make_shared<const llm::Recording>(std::move(recording)), recorded_as);
    return lone;
  }
  std::vector<llm::Secret> keys;
  if (model.api == "mailbox") {
    TRY_ASSIGN(lone.chat, llm::make_mailbox_model({.folder = model.dir,
                                                   .name = model.model,
                                                   .unanswered = flags.exit_when_waiting ? llm::Unanswered::put_off
                                                                                         : llm::Unanswered::wait},
                                                  *lone.clock));
  } else {
    TRY_ASSIGN(llm::Secret key, find_key(model, shell.environment, shell.stops.abort));
    keys.push_back(key);
    TRY_ASSIGN(lone.chat, llm::make_endpoint_model(endpoint_options(model, std::move(key)), *lone.client, *lone.clock));
  }
  if (flags.record.empty()) return lone;
  TRY(base::make_folders(flags.record));
  lone.chat = llm::make_recording_model(std::move(lone.chat), flags.record, std::move(keys));
  return lone;
}

}  // namespace accelopt::app

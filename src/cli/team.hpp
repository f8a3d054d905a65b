// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/roles.hpp"
#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "cli/config.hpp"
#include "search/budget.hpp"
#include "search/recorder.hpp"

namespace accelopt::cli {

/// Who plays the roles, as the command line says it.
struct AgentFlags {
  std::string agents = "auto";  ///< auto: models where any is configured, else recipes
  std::string model;            ///< a name from the configuration, or a model's own name with base_url
  std::string base_url;
  std::string key_env;
  std::string prompts;  ///< folder that replaces the built-in prompts
};

void declare(Command& command, AgentFlags& flags);

/// The agents of one run with everything they need.
class OwnedTeam {
 public:
  virtual ~OwnedTeam() = default;
  [[nodiscard]] virtual agents::Team team() = 0;
  /// "recipes", or the models by role: for people and for the journal.
  [[nodiscard]] virtual std::string description() const = 0;
};

/// Whether these flags and this configuration ask for the built-in recipes rather than for a model.
/// @error invalid_argument: the flags contradict each other; the message says how.
base::Result<bool> plays_recipes(const AgentFlags& flags, const Config& config);

/// Told, from any thread, what a person should know while models are asked: a server that does not answer.
using Notice = std::function<void(const std::string&)>;

/// Builds the team. Replies of models are recorded through `chats` and paid from `budget`, which outlive the team.
/// @error invalid_argument, not_found: flags or prompts; unauthenticated: no key; unsupported: recipes without
/// libclang.
base::Result<std::unique_ptr<OwnedTeam>> make_team(const AgentFlags& flags, const Config& config, std::uint64_t seed,
                                                   search::Recorder& chats, search::Budget& budget, Notice notice);

}  // namespace accelopt::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agents/roles.hpp"
#include "app/config.hpp"
#include "app/shell.hpp"
#include "base/result.hpp"
#include "search/budget.hpp"
#include "search/recorder.hpp"

namespace accelopt::app {

/// Who plays the roles.
struct AgentFlags {
  std::string agents = "auto";  ///< auto: models where any is configured, else recipes
  std::string model{};          ///< a name from the configuration, or a model's own name with base_url
  std::string base_url{};
  std::string key_env{};
  std::string api{};               ///< of base_url; empty: openai
  std::string mailbox{};           ///< folder in which somebody else answers
  std::string prompts{};           ///< folder that replaces the built-in prompts
  std::string record{};            ///< folder that keeps every answer
  std::string replay{};            ///< folder whose answers are given, and no model is asked
  bool reviewer = false;           ///< one plays as well, of a critical run
  bool tester = false;             ///< likewise
  bool exit_when_waiting = false;  ///< whether a run ends when nothing can go on without somebody's answer
};

/// The agents of one run with everything they need.
class OwnedTeam {
 public:
  virtual ~OwnedTeam() = default;
  [[nodiscard]] virtual agents::Team team() = 0;
  /// The model of a role that is no agent of the search: reviewer or tester; null: nobody plays it.
  [[nodiscard]] virtual llm::ChatModel* chat_of(std::string_view /*role*/) { return nullptr; }
  /// "recipes", or the models by role: for people and for the journal.
  [[nodiscard]] virtual std::string description() const = 0;
};

/// Whether these flags and this configuration ask for the built-in recipes rather than for a model.
/// @error invalid_argument: the flags contradict each other; the message says how.
base::Result<bool> plays_recipes(const AgentFlags& flags, const Config& config);

/// Whether the agents can work on the task's language: recipes rewrite those of C, C++, NKI and Triton. @error
/// invalid_argument: they cannot; says who can. As plays_recipes.
base::Result<void> check_language(const AgentFlags& flags, const Config& config, const model::Task& task);

/// A model that plays a role.
struct RoleModel {
  model::AgentRole role;
  std::string name;  ///< models of one name are one model
  ModelConfig config;
  std::string judge{};  ///< "reviewer" or "tester": in place of `role`
  [[nodiscard]] std::string title() const { return judge.empty() ? std::string(to_string(role)) : judge; }
};

/// The model of each role, its price included where one is known; none where recipes play. @error invalid_argument.
base::Result<std::vector<RoleModel>> models_of_roles(const AgentFlags& flags, const Config& config);

/// The models of reviewer and tester, where the flags ask for them: [models.reviewer], [models.tester], also
/// beside a model that the flags name for the developers; else theirs. @error invalid_argument.
base::Result<std::vector<RoleModel>> models_of_judges(const AgentFlags& flags, const Config& config);

/// Fills in the vendor's list price where none is configured and there is one.
void find_list_price(ModelConfig& model);

/// "$0.15 in, $0.08 cached, $0.6 out a million tokens (list price of 2025-10)", "no price is known".
std::string price_text(const ModelConfig& model);

/// Told, from any thread, what a person should know while models are asked: a server that does not answer.
using Notice = std::function<void(const std::string&)>;

/// What a team works with. All of it outlives the team.
struct TeamPorts {
  search::Recorder& chats;  ///< keeps the replies of models
  search::Budget& budget;   ///< pays for them
  Notice notice{};
  Environment environment{};                                         ///< has the keys
  std::stop_token stop{};                                            ///< ends the wait for a command that prints a key
  std::function<void(const std::filesystem::path&)> blank_answer{};  ///< as MailboxOptions::blank
  model::Language language{};                                        ///< of the kernels: recipes read some by libclang
};

/// Builds the team. @error invalid_argument, not_found, corrupt: flags, prompts or a recording; unauthenticated: no
/// key; unsupported: recipes without libclang; permission_denied, exhausted, io: a folder cannot be used.
base::Result<std::unique_ptr<OwnedTeam>> make_team(const AgentFlags& flags, const Config& config, std::uint64_t seed,
                                                   const TeamPorts& ports);

/// The seed of the run whose answers the flags name: its questions were put in an order that the seed drew.
/// Nothing where no answers are replayed, or where their folder does not say it.
/// @error corrupt: it is damaged.
base::Result<std::optional<std::uint64_t>> recorded_seed(const AgentFlags& flags);

}  // namespace accelopt::app

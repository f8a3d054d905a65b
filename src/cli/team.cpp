// SPDX-License-Identifier: Apache-2.0
#include "cli/team.hpp"

#include <map>

#include "agents/model_agents.hpp"
#include "agents/prompts.hpp"
#include "agents/recipes/recipes_agents.hpp"
#include "http/client.hpp"
#include "llm/clock.hpp"
#include "llm/endpoint.hpp"
#include "llm/gate.hpp"
#include "search/budgeted_chat.hpp"
#include "search/journaled_chat.hpp"
#include "syntax/clang.hpp"

namespace accelopt::cli {

using base::ErrorCode;
using base::fail;

namespace {

constexpr const char* kRoles[] = {"planner", "executor", "fixer", "summarizer"};

class RecipesTeam : public OwnedTeam {
 public:
  explicit RecipesTeam(const syntax::Clang& clang)
      : planner_(agents::recipes::make_recipes_planner(clang)),
        executor_(agents::recipes::make_recipes_executor(clang)),
        fixer_(agents::recipes::make_recipes_fixer(clang)),
        summarizer_(agents::recipes::make_recipes_summarizer()) {}

  agents::Team team() override { return {planner_.get(), executor_.get(), fixer_.get(), summarizer_.get()}; }
  [[nodiscard]] std::string description() const override { return "recipes"; }

 private:
  std::unique_ptr<agents::Planner> planner_;
  std::unique_ptr<agents::Executor> executor_;
  std::unique_ptr<agents::Fixer> fixer_;
  std::unique_ptr<agents::Summarizer> summarizer_;
};

/// Models by role; models of one endpoint share one gate.
class ModelTeam : public OwnedTeam {
 public:
  ModelTeam(agents::Prompts prompts, search::Recorder& chats, search::Budget& budget, Notice notice)
      : prompts_(std::move(prompts)),
        chats_(chats),
        budget_(budget),
        notice_(std::move(notice)),
        clock_(llm::make_clock()) {}

  base::Result<void> add_role(const std::string& role, const std::string& name, const ModelConfig& config,
                              std::uint64_t seed) {
    auto found = models_.find(name);
    if (found == models_.end()) {
      TRY_ASSIGN(auto model, connect(config, seed));
      found = models_.emplace(name, std::move(model)).first;
    }
    llm::ChatModel& chat = *found->second.journaled;
    if (role == "planner") planner_ = agents::make_model_planner(chat, prompts_);
    if (role == "executor") executor_ = agents::make_model_executor(chat, prompts_);
    if (role == "fixer") fixer_ = agents::make_model_fixer(chat, prompts_);
    if (role == "summarizer") summarizer_ = agents::make_model_summarizer(chat, prompts_);
    description_ += (description_.empty() ? "" : ", ") + role + ": " + config.model;
    return {};
  }

  agents::Team team() override { return {planner_.get(), executor_.get(), fixer_.get(), summarizer_.get()}; }
  [[nodiscard]] std::string description() const override { return description_; }

 private:
  struct Connected {
    std::unique_ptr<llm::ChatModel> model;
    std::unique_ptr<llm::ChatModel> budgeted;
    std::unique_ptr<llm::ChatModel> journaled;
  };

  base::Result<Connected> connect(const ModelConfig& config, std::uint64_t seed) {
    TRY_ASSIGN(llm::Secret key, find_key(config));
    llm::EndpointOptions options;
    options.base_url = config.base_url;
    options.model = config.model;
    options.key = std::move(key);
    options.key_source = !config.key_env.empty() ? config.key_env : config.key_command;
    options.temperature = config.temperature;
    options.reasoning.effort = config.reasoning;
    options.max_output_tokens = config.max_output_tokens;
    options.max_concurrency = config.max_concurrency;
    options.price = config.price;
    options.retry.seed = seed;
    options.retry.notice = notice_;
    auto& gate = gates_[config.base_url];
    if (!gate) gate = std::make_shared<llm::Gate>(config.max_concurrency, *clock_);
    Connected connected;
    TRY_ASSIGN(connected.model, llm::make_endpoint_model(std::move(options), http_, *clock_, gate));
    // A reply on record costs nothing: the budget stands behind the journal.
    connected.budgeted = search::make_budgeted_chat(
        *connected.model, {.price = config.price, .max_output_tokens = config.max_output_tokens}, budget_);
    connected.journaled = search::make_journaled_chat(*connected.budgeted, chats_);
    return connected;
  }

  agents::Prompts prompts_;
  search::Recorder& chats_;
  search::Budget& budget_;
  Notice notice_;
  std::unique_ptr<llm::Clock> clock_;
  http::Client http_;
  std::map<std::string, std::shared_ptr<llm::Gate>> gates_;
  std::map<std::string, Connected> models_;
  std::unique_ptr<agents::Planner> planner_;
  std::unique_ptr<agents::Executor> executor_;
  std::unique_ptr<agents::Fixer> fixer_;
  std::unique_ptr<agents::Summarizer> summarizer_;
  std::string description_;
};

std::string names_of(const Config& config) {
  std::string names;
  for (const auto& [name, model] : config.models) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

/// Which model plays a role: the flags', the role's own, or "default".
base::Result<std::pair<std::string, ModelConfig>> model_for(const std::string& role, const AgentFlags& flags,
                                                            const Config& config) {
  if (!flags.base_url.empty()) {
    ModelConfig given;
    given.base_url = flags.base_url;
    given.model = flags.model;
    given.key_env = flags.key_env;
    return std::pair{flags.base_url + " " + flags.model, given};
  }
  std::string name = flags.model.empty() ? "default" : flags.model;
  if (const auto own = config.roles.find(role); flags.model.empty() && own != config.roles.end()) name = own->second;
  const auto found = config.models.find(name);
  if (found == config.models.end()) {
    return fail(ErrorCode::invalid_argument, "no model \"" + name + "\" for the " + role + "; configured are " +
                                                 names_of(config) + ": add [models." + name +
                                                 "] to accelopt.toml, or give --base-url URL --model NAME");
  }
  return std::pair{name, found->second};
}

}  // namespace

void declare(Command& command, AgentFlags& flags) {
  command
      .option("--agents", &flags.agents, "Who plays the roles: auto (models where one is configured), recipes, model")
      .one_of({"auto", "recipes", "model"})
      .show_default();
  command.option("--model", &flags.model, "A model of accelopt.toml, or a model's own name with --base-url");
  command.option("--base-url", &flags.base_url, "OpenAI-compatible endpoint, e.g. http://localhost:8000/v1");
  command.option("--key-env", &flags.key_env, "Environment variable that holds the key for --base-url");
  command.option("--prompts", &flags.prompts, "Folder of prompts in place of the built-in ones");
}

base::Result<bool> plays_recipes(const AgentFlags& flags, const Config& config) {
  const bool names_model = !flags.model.empty() || !flags.base_url.empty();
  if (!flags.base_url.empty() && flags.model.empty()) {
    return fail(ErrorCode::invalid_argument, "--base-url needs --model NAME: the model's name at that endpoint");
  }
  if (flags.agents == "recipes" && names_model) {
    return fail(ErrorCode::invalid_argument, "--agents recipes asks no model; leave out --model and --base-url");
  }
  if (flags.agents == "recipes") return true;
  return flags.agents == "auto" && !names_model && !config.models.contains("default") && config.roles.empty();
}

base::Result<std::unique_ptr<OwnedTeam>> make_team(const AgentFlags& flags, const Config& config, std::uint64_t seed,
                                                   search::Recorder& chats, search::Budget& budget, Notice notice) {
  TRY_ASSIGN(const bool recipes, plays_recipes(flags, config));
  if (recipes) {
    TRY_ASSIGN(const syntax::Clang clang, syntax::Clang::load());
    return std::make_unique<RecipesTeam>(clang);
  }
  TRY_ASSIGN(
      agents::Prompts prompts,
      agents::load_prompts(flags.prompts.empty() ? std::nullopt : std::optional<std::filesystem::path>(flags.prompts)));
  auto team = std::make_unique<ModelTeam>(std::move(prompts), chats, budget, std::move(notice));
  for (const std::string role : kRoles) {
    TRY_ASSIGN(const auto chosen, model_for(role, flags, config));
    TRY(team->add_role(role, chosen.first, chosen.second, seed));
  }
  return team;
}

}  // namespace accelopt::cli

// SPDX-License-Identifier: Apache-2.0
#include "app/team.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "agents/model_agents.hpp"
#include "agents/prompts.hpp"
#include "base/files.hpp"
#include "base/schema.hpp"
#include "base/text.hpp"
#include "http/client.hpp"
#include "llm/clock.hpp"
#include "llm/continuing_model.hpp"
#include "llm/endpoint.hpp"
#include "llm/gate.hpp"
#include "llm/mailbox_model.hpp"
#include "llm/recording.hpp"
#include "llm/wire.hpp"
#include "model/judges.hpp"
#include "model/target_description.hpp"
#include "recipes/recipes_agents.hpp"
#include "search/budgeted_chat.hpp"
#include "search/journaled_chat.hpp"
#include "syntax/clang.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;
using model::AgentRole;

namespace {

class RecipesTeam : public OwnedTeam {
 public:
  explicit RecipesTeam(const syntax::Clang& clang)
      : planner_(recipes::make_recipes_planner(clang)),
        executor_(recipes::make_recipes_executor(clang)),
        fixer_(recipes::make_recipes_fixer(clang)),
        summarizer_(recipes::make_recipes_summarizer(clang)) {}

  agents::Team team() override { return {planner_.get(), executor_.get(), fixer_.get(), summarizer_.get()}; }
  [[nodiscard]] std::string description() const override { return "recipes"; }

 private:
  std::unique_ptr<agents::Planner> planner_;
  std::unique_ptr<agents::Executor> executor_;
  std::unique_ptr<agents::Fixer> fixer_;
  std::unique_ptr<agents::Summarizer> summarizer_;
};

/// Where the model is, however its address is written.
std::string endpoint_of(const ModelConfig& config) {
  const auto api = llm::parse_api(config.api);
  if (!api) return config.dir;
  return llm::base_address(*api, config.base_url.empty() ? llm::default_base_url(*api) : config.base_url);
}

/// The tightest of what models say about the endpoint that they share.
void tighten(llm::GateLimits& limits, const ModelConfig& config) {
  const auto least = [](auto& limit, const auto& other) {
    if (other && (!limit || *other < *limit)) limit = *other;
  };
  limits.places = std::min(limits.places, config.max_concurrency);
  least(limits.requests_per_minute, config.requests_per_minute);
  least(limits.tokens_per_minute, config.tokens_per_minute);
}

/// Models by role; models of one endpoint share one gate.
class ModelTeam : public OwnedTeam {
 public:
  ModelTeam(AgentFlags flags, agents::Prompts prompts, const TeamPorts& ports)
      : flags_(std::move(flags)), prompts_(std::move(prompts)), ports_(ports), clock_(llm::make_clock()) {}

  base::Result<void> fill(const std::vector<RoleModel>& roles, std::uint64_t seed) {
    TRY(prepare_folders(seed));
    std::map<std::string, llm::GateLimits> limits;
    for (const RoleModel& chosen : roles) {
      const auto [entry, fresh] = limits.try_emplace(endpoint_of(chosen.config));
      if (fresh) entry->second.places = chosen.config.max_concurrency;
      tighten(entry->second, chosen.config);
    }
    for (const auto& [endpoint, limit] : limits) {
      const auto notice = [tell = ports_.notice, where = endpoint](const std::string& text) {
        if (tell) tell(where + ": " + text);
      };
      gates_[endpoint] = std::make_shared<llm::Gate>(limit, *clock_, notice);
    }
    for (const RoleModel& chosen : roles) TRY(find_key_of(chosen));
    for (const RoleModel& chosen : roles) TRY(add_role(chosen, seed));
    return {};
  }

  agents::Team team() override { return {planner_.get(), executor_.get(), fixer_.get(), summarizer_.get()}; }
  llm::ChatModel* chat_of(std::string_view role) override {
    const auto found = judges_.find(role);
    return found == judges_.end() ? nullptr : found->second;
  }
  [[nodiscard]] std::string description() const override { return description_; }

 private:
  /// One model with all that stands before it: the role asks the last, and each asks the one before.
  struct Connected {
    std::unique_ptr<llm::ChatModel> model;
    std::unique_ptr<llm::ChatModel> budgeted;
    std::unique_ptr<llm::ChatModel> journaled;
    std::unique_ptr<llm::ChatModel> continuing;
  };

  base::Result<void> prepare_folders(std::uint64_t seed) {
    if (!flags_.replay.empty()) {
      TRY_ASSIGN(llm::Recording recording, llm::Recording::load(flags_.replay));
      recording_ = std::make_shared<const llm::Recording>(std::move(recording));
    }
    if (flags_.record.empty()) return {};
    TRY(base::make_folders(flags_.record));
    const base::Json run = {{"schema", 1}, {"seed", seed}};
    return base::write_file(std::filesystem::path(flags_.record) / llm::kRecordedRunFile, run.dump(2) + "\n");
  }

  base::Result<void> find_key_of(const RoleModel& chosen) {
    if (recording_ || chosen.config.api == "mailbox" || keys_.contains(chosen.name)) return {};
    TRY_ASSIGN(llm::Secret key, find_key(chosen.config, ports_.environment, ports_.stop));
    keys_.emplace(chosen.name, std::move(key));
    return {};
  }

  base::Result<void> add_role(const RoleModel& chosen, std::uint64_t seed) {
    // A recording gives each role the name of whoever played it.
    const std::string name = recording_ ? chosen.title() : chosen.name;
    auto found = models_.find(name);
    if (found == models_.end()) {
      TRY_ASSIGN(auto model, connect(chosen, seed));
      found = models_.emplace(name, std::move(model)).first;
    }
    llm::ChatModel& chat = *found->second.continuing;
    description_ += (description_.empty() ? "" : ", ") + chosen.title() + ": " + chat.name();
    if (!chosen.judge.empty()) {
      judges_[chosen.judge] = &chat;
      return {};
    }
    if (chosen.role == AgentRole::planner) planner_ = agents::make_model_planner(chat, prompts_);
    if (chosen.role == AgentRole::executor) executor_ = agents::make_model_executor(chat, prompts_);
    if (chosen.role == AgentRole::fixer) fixer_ = agents::make_model_fixer(chat, prompts_);
    if (chosen.role == AgentRole::summarizer) summarizer_ = agents::make_model_summarizer(chat, prompts_);
    return {};
  }

  base::Result<Connected> connect(const RoleModel& chosen, std::uint64_t seed) {
    const ModelConfig& config = chosen.config;
    Connected connected;
    TRY_ASSIGN(connected.model, make_answering(chosen, seed));
    if (!flags_.record.empty()) {
      std::vector<llm::Secret> keys;
      for (const auto& [name, key] : keys_) keys.push_back(key);
      connected.model = llm::make_recording_model(std::move(connected.model), flags_.record, std::move(keys));
    }
    // A reply on record costs nothing: the budget stands behind the journal.
    connected.budgeted =
        search::make_budgeted_chat(*connected.model,
                                   {.price = config.price,
                                    .max_output_tokens = config.max_output_tokens,
                                    .keep_unanswered =
                                        [&chats = ports_.chats, name = connected.model->name()](
                                            const llm::ChatRequest& request, const model::Usage& usage) {
                                          return chats.record_unanswered(request.label, name, usage);
                                        }},
                                   ports_.budget);
    connected.journaled = search::make_journaled_chat(*connected.budgeted, ports_.chats);
    // Each part of an answer is a reply of its own to the journal.
    llm::ContinuePolicy policy;
    policy.max_output_tokens = config.max_output_tokens;
    if (const auto api = llm::parse_api(config.api); api && !policy.max_output_tokens) {
      policy.max_output_tokens = llm::wire_format(*api).usual_output_tokens(config.reasoning);
    }
    connected.continuing = llm::make_continuing_model(*connected.journaled, policy);
    return connected;
  }

  /// Whatever gives the answers: a recording, a folder, or an endpoint.
  base::Result<std::unique_ptr<llm::ChatModel>> make_answering(const RoleModel& chosen, std::uint64_t seed) {
    const ModelConfig& config = chosen.config;
    if (recording_) return llm::make_replaying_model(recording_, chosen.title());
    if (config.api == "mailbox") {
      return llm::make_mailbox_model(
          {.folder = config.dir,
           .name = config.model,
           .unanswered = flags_.exit_when_waiting ? llm::Unanswered::put_off : llm::Unanswered::wait,
           .blank = ports_.blank_answer},
          *clock_);
    }
    llm::EndpointOptions options = endpoint_options(config, keys_.at(chosen.name));
    options.retry.seed = seed;
    options.retry.notice = ports_.notice;
    return llm::make_endpoint_model(std::move(options), http_, *clock_, gates_.at(endpoint_of(config)));
  }

  AgentFlags flags_;
  agents::Prompts prompts_;
  TeamPorts ports_;
  std::unique_ptr<llm::Clock> clock_;
  http::Client http_;
  std::shared_ptr<const llm::Recording> recording_;  ///< null: models are asked
  std::map<std::string, llm::Secret> keys_;          ///< by the model's name
  std::map<std::string, std::shared_ptr<llm::Gate>> gates_;
  std::map<std::string, Connected> models_;
  std::map<std::string, llm::ChatModel*, std::less<>> judges_;  ///< of models_
  std::unique_ptr<agents::Planner> planner_;
  std::unique_ptr<agents::Executor> executor_;
  std::unique_ptr<agents::Fixer> fixer_;
  std::unique_ptr<agents::Summarizer> summarizer_;
  std::string description_;
};

std::string names_of(const Config& config) {
  std::string names = base::joined(config.models, ", ", [](const auto& one) { return one.first; });
  return names.empty() ? "none" : names;
}

/// The model that the flags themselves describe; none where they name one of the configuration, or nothing.
base::Result<std::optional<ModelConfig>> model_of_flags(const AgentFlags& flags) {
  ModelConfig given;
  given.model = flags.model;
  given.key_env = flags.key_env;
  if (!flags.mailbox.empty()) {
    given.api = "mailbox";
    given.dir = flags.mailbox;
    if (given.model.empty()) given.model = "mailbox";
    return given;
  }
  if (flags.base_url.empty() && flags.api.empty()) return std::nullopt;
  if (!flags.api.empty()) given.api = flags.api;
  given.base_url = flags.base_url;
  TRY_ASSIGN(const llm::Api api, llm::parse_api(given.api));
  if (given.base_url.empty()) given.base_url = llm::default_base_url(api);
  if (given.base_url.empty()) return fail(ErrorCode::invalid_argument, "--api " + given.api + " needs --base-url URL");
  return given;
}

/// Which model plays a role: the flags', the role's own, or "default".
base::Result<RoleModel> model_for(AgentRole role, const AgentFlags& flags, const Config& config) {
  TRY_ASSIGN(auto given, model_of_flags(flags));
  if (given) {
    // The same model may be configured, and then its price is known.
    for (const auto& [name, model] : config.models) {
      const bool same =
          model.api == given->api && model.model == given->model && endpoint_of(model) == endpoint_of(*given);
      if (same && model.price && given->api != "mailbox") given->price = model.price;
    }
    return RoleModel{role, given->base_url + given->dir + " " + given->model, *given};
  }
  std::string name = flags.model.empty() ? "default" : flags.model;
  if (const auto own = config.roles.find(std::string(to_string(role)));
      flags.model.empty() && own != config.roles.end())
    name = own->second;
  const auto found = config.models.find(name);
  if (found != config.models.end()) return RoleModel{role, name, found->second};
  if (!flags.replay.empty()) return RoleModel{role, name, {}};  // nobody is asked
  return fail(ErrorCode::invalid_argument, "no model \"" + name + "\" for the " + std::string(to_string(role)) +
                                               "; configured are " + names_of(config) + ": add [models." + name +
                                               "] to accelopt.toml, or give --base-url URL --model NAME");
}

/// Of a reviewer or tester. What the configuration names stays so beside a developers' model that the command line
/// names: they should be different ones.
base::Result<RoleModel> model_of_judge(const std::string& judge, const AgentFlags& flags, const Config& config) {
  const auto own = config.models.find(judge);
  const bool elsewhere = !flags.mailbox.empty() || !flags.replay.empty();
  if (own != config.models.end() && !elsewhere) return RoleModel{AgentRole::executor, judge, own->second, judge};
  TRY_ASSIGN(RoleModel chosen, model_for(AgentRole::executor, flags, config));
  chosen.judge = judge;
  return chosen;
}

}  // namespace

base::Result<bool> plays_recipes(const AgentFlags& flags, const Config& config) {
  const bool answers_elsewhere = !flags.mailbox.empty() || !flags.replay.empty();
  const bool names_endpoint = !flags.base_url.empty() || !flags.api.empty();
  const bool names_model = !flags.model.empty() || names_endpoint || answers_elsewhere;
  if (names_endpoint && flags.model.empty()) {
    return fail(ErrorCode::invalid_argument, std::string(flags.base_url.empty() ? "--api" : "--base-url") +
                                                 " needs --model NAME: the model's name at that endpoint");
  }
  TRY(check_address(flags.base_url));
  TRY(check_key_env(flags.key_env));
  if (!flags.mailbox.empty() && names_endpoint) {
    return fail(ErrorCode::invalid_argument, "--mailbox and --base-url are two models; give one");
  }
  if (!flags.mailbox.empty() && !flags.replay.empty()) {
    return fail(ErrorCode::invalid_argument, "--replay asks no questions, so there is nothing for --mailbox to answer");
  }
  if (!flags.replay.empty() && !flags.record.empty()) {
    return fail(ErrorCode::invalid_argument, "--replay asks no model, so there is nothing for --record to keep");
  }
  if (flags.agents == "recipes" && names_model) {
    return fail(ErrorCode::invalid_argument,
                "--agents recipes asks no model; leave out --model, --base-url, --api, --mailbox and --replay");
  }
  const bool nobody_configured = !names_model && !config.models.contains("default") && config.roles.empty();
  const bool recipes = flags.agents == "recipes" || (flags.agents == "auto" && nobody_configured);
  if (recipes && !flags.record.empty()) {
    return fail(ErrorCode::invalid_argument,
                "--record keeps answers of models, and recipes play all roles; name a "
                "model");
  }
  return recipes;
}

base::Result<void> check_language(const AgentFlags& flags, const Config& config, const model::Task& task) {
  const model::Language language = task.baseline.language;
  TRY_ASSIGN(const bool recipes, plays_recipes(flags, config));
  if (!recipes || recipes::rewrites(language)) return {};
  return fail(ErrorCode::invalid_argument,
              "the built-in recipes rewrite loops of C, C++, NKI and Triton, and the kernel of " +
                  task.definition.name + " is in " + std::string(model::to_string(language)) +
                  "; name a model (--model, or [models.default] in accelopt.toml, see docs/models.md)");
}

base::Result<std::optional<std::uint64_t>> recorded_seed(const AgentFlags& flags) {
  if (flags.replay.empty()) return std::nullopt;
  const std::filesystem::path file = std::filesystem::path(flags.replay) / llm::kRecordedRunFile;
  const auto text = base::read_file(file);
  if (!text && text.error().code == base::ErrorCode::not_found) return std::nullopt;
  if (!text) return tl::make_unexpected(text.error());
  const base::Json run = base::json_or_discarded(*text);
  TRY(base::check_schema(run, 1, file.string()));
  if (!run.is_object() || !run.value("seed", base::Json()).is_number_unsigned()) {
    return base::fail(base::ErrorCode::corrupt,
                      file.string() +
                          " does not say the seed of the recorded run; restore it, or take it out and give "
                          "the seed with --seed");
  }
  return run["seed"].get<std::uint64_t>();
}

base::Result<std::vector<RoleModel>> models_of_roles(const AgentFlags& flags, const Config& config) {
  std::vector<RoleModel> roles;
  TRY_ASSIGN(const bool recipes, plays_recipes(flags, config));
  if (recipes) return roles;
  for (const auto& [role, name] : model::Names<AgentRole>::kTable) {
    TRY_ASSIGN(RoleModel chosen, model_for(role, flags, config));
    find_list_price(chosen.config);
    roles.push_back(std::move(chosen));
  }
  return roles;
}

base::Result<std::vector<RoleModel>> models_of_judges(const AgentFlags& flags, const Config& config) {
  std::vector<RoleModel> judges;
  std::vector<std::string_view> wanted;
  if (flags.reviewer) wanted.push_back(model::kReviewerRole);
  if (flags.tester) wanted.push_back(model::kTesterRole);
  for (const std::string_view judge : wanted) {
    TRY_ASSIGN(RoleModel chosen, model_of_judge(std::string(judge), flags, config));
    find_list_price(chosen.config);
    judges.push_back(std::move(chosen));
  }
  return judges;
}

void find_list_price(ModelConfig& model) {
  if (model.price || model.api == "mailbox") return;
  const auto api = llm::parse_api(model.api);
  if (!api) return;
  const std::string url = model.base_url.empty() ? std::string(llm::default_base_url(*api)) : model.base_url;
  const auto listed = llm::list_price(url, model.model);
  if (!listed) return;
  model.price = listed->price;
  model.price_as_of = listed->as_of;
}

std::string price_text(const ModelConfig& model) {
  if (!model.price) return "no price is known";
  return fmt::format("${:g} in, ${:g} cached, ${:g} out a million tokens{}", model.price->input,
                     model.price->cached_input, model.price->output,
                     model.price_as_of.empty() ? "" : " (list price of " + model.price_as_of + ")");
}

base::Result<std::unique_ptr<OwnedTeam>> make_team(const AgentFlags& flags, const Config& config, std::uint64_t seed,
                                                   const TeamPorts& ports) {
  TRY_ASSIGN(const bool recipes, plays_recipes(flags, config));
  if (recipes) {
    if (!recipes::reads_with_clang(ports.language)) return std::make_unique<RecipesTeam>(syntax::Clang::none());
    TRY_ASSIGN(const syntax::Clang clang, syntax::Clang::load());
    return std::make_unique<RecipesTeam>(clang);
  }
  TRY_ASSIGN(
      agents::Prompts prompts,
      agents::load_prompts(flags.prompts.empty() ? std::nullopt : std::optional<std::filesystem::path>(flags.prompts)));
  TRY_ASSIGN(std::vector<RoleModel> roles, models_of_roles(flags, config));
  TRY_ASSIGN(std::vector<RoleModel> judges, models_of_judges(flags, config));
  std::ranges::move(judges, std::back_inserter(roles));
  auto team = std::make_unique<ModelTeam>(flags, std::move(prompts), ports);
  TRY(team->fill(roles, seed));
  return team;
}

}  // namespace accelopt::app

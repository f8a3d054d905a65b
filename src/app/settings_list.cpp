// SPDX-License-Identifier: Apache-2.0
#include "app/settings_list.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "app/knowledge_place.hpp"
#include "app/team.hpp"
#include "app/workspace.hpp"
#include "evaluation/evaluator_json.hpp"

namespace accelopt::app {
namespace {

using Settings = std::vector<Setting>;

constexpr const char* kDefault = "default";

std::string value_text(const base::Json& value) {
  if (value.is_null()) return "none";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The flag that said a setting of the search, by the setting's name; null: none did.
const char* flag_of(const std::string& name, const SearchFlags& flags) {
  const std::map<std::string, std::pair<bool, const char*>> given{
      {"iterations", {flags.iterations.has_value(), "--iterations"}},
      {"beam", {flags.beam.has_value(), "--beam"}},
      {"plans", {flags.plans.has_value(), "--plans"}},
      {"attempts", {flags.attempts.has_value(), "--attempts"}},
      {"fixes", {flags.fixes.has_value(), "--fixes"}},
      {"patience", {flags.patience.has_value(), "--patience"}},
      {"near_roofline", {flags.near_roofline.has_value(), "--near-roofline"}},
      {"strategy", {!flags.strategy.empty(), "--strategy"}},
      {"memory_capacity", {flags.no_memory, "--no-memory"}},
      {"recall", {!flags.memory.empty(), "--memory"}},
      {"exclude_family", {flags.exclude_family, "--exclude-family"}},
      {"max_seconds", {flags.max_time.has_value(), "--max-time"}},
      {"max_device_seconds", {flags.max_device_seconds.has_value(), "--max-device-seconds"}},
      {"max_evaluations", {flags.max_evaluations.has_value(), "--max-evaluations"}},
      {"max_tokens", {flags.max_tokens.has_value(), "--max-tokens"}},
      {"max_usd", {flags.max_usd.has_value(), "--max-usd"}}};
  const auto found = given.find(name);
  return found != given.end() && found->second.first ? found->second.second : nullptr;
}

void add_search(Settings& out, const SearchFlags& flags, const Config& config, const RunSettings& settings) {
  const base::Json usual = search::SearchSettings();
  const base::Json preset = search::preset(flags.preset).value_or(search::SearchSettings());
  const base::Json chosen = settings.search;
  const auto file = config.origins.find("search.near_roofline");
  for (const auto& [name, value] : chosen.items()) {
    std::string from = kDefault;
    if (const char* flag = flag_of(name, flags)) {
      from = flag;
    } else if (name == "near_roofline" && file != config.origins.end() && preset[name] != base::Json(0.0)) {
      from = file->second;
    } else if (value != preset[name]) {
      from = name == "recall" ? "default for recorded answers" : "default for recipes";
    } else if (value != usual[name]) {
      from = "--preset " + flags.preset;
    }
    out.push_back({"search." + name, value_text(value), from});
  }
  out.push_back(
      {"search.schedule", flags.schedule, flags.schedule == SearchFlags().schedule ? kDefault : "--schedule"});
}

void add_measuring(Settings& out, const SearchFlags& flags, const RunSettings& settings) {
  const base::Json usual = evaluation::MeasureSettings();
  const base::Json chosen = settings.measure;
  for (const auto& [name, value] : chosen.items()) {
    if (name == "seed") {
      out.push_back(
          {"measure.seed", flags.seed ? value_text(value) : "drawn for each run", flags.seed ? "--seed" : kDefault});
      continue;
    }
    const bool same = value == usual[name];
    const std::string flag = name == "allow_regression" ? "--allow-regression" : "--preset " + flags.preset;
    out.push_back({"measure." + name, value_text(value), same ? kDefault : flag});
  }
}

/// Where its key comes from. A command's text may hold the key itself, and is not shown.
std::string key_text(const ModelConfig& model, const Environment& environment) {
  if (!model.key_env.empty())
    return "in the variable " + model.key_env + (environment(model.key_env) ? " (set)" : " (not set)");
  return model.key_command.empty() ? "none" : "printed by key_command";
}

void add_model(Settings& out, const std::string& role, const RoleModel& chosen, const std::string& from,
               const Environment& environment) {
  const ModelConfig& model = chosen.config;
  const auto add = [&](const char* name, const std::string& value) { out.push_back({role + "." + name, value, from}); };
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string(kDefault); };
  add("api", model.api);
  add("model", model.model);
  if (model.api == "mailbox") return add("dir", model.dir);
  add("base_url", endpoint_options(model, {}).base_url);
  add("key", key_text(model, environment));
  add("price", price_text(model));
  add("max_concurrency", std::to_string(model.max_concurrency));
  add("requests_per_minute", model.requests_per_minute ? number(model.requests_per_minute) : "no limit");
  add("tokens_per_minute", model.tokens_per_minute ? number(model.tokens_per_minute) : "no limit");
  add("temperature", number(model.temperature));
  add("reasoning", model.reasoning.tokens           ? std::to_string(*model.reasoning.tokens) + " tokens"
                   : model.reasoning.effort.empty() ? kDefault
                                                    : model.reasoning.effort);
  add("max_output_tokens", number(model.max_output_tokens));
}

base::Result<void> add_agents(Settings& out, const AgentFlags& flags, const Config& config,
                              const Environment& environment) {
  TRY_ASSIGN(const auto roles, models_of_roles(flags, config));
  if (roles.empty()) {
    out.push_back({"agents", "recipes", flags.agents == AgentFlags().agents ? kDefault : "--agents"});
    return {};
  }
  const char* flag = !flags.mailbox.empty()    ? "--mailbox"
                     : !flags.replay.empty()   ? "--replay"
                     : !flags.base_url.empty() ? "--base-url"
                     : !flags.api.empty()      ? "--api"
                     : !flags.model.empty()    ? "--model"
                                               : nullptr;
  for (const RoleModel& role : roles) {
    const auto named = config.roles.find(std::string(to_string(role.role)));
    const std::string model = named != config.roles.end() ? named->second : "default";
    const auto file = config.origins.find("models." + model);
    const std::string from = flag != nullptr ? flag : file != config.origins.end() ? file->second : kDefault;
    add_model(out, std::string(to_string(role.role)), role, from, environment);
  }
  return {};
}

void add_places(Settings& out, const Shell& shell, const SettingSources& sources, const RunSettings& settings) {
  const auto& [workspace, workspace_flag, flags, config] = sources;
  std::error_code ignored;
  const bool there = std::filesystem::exists(workspace, ignored);
  out.push_back({"workspace", workspace.string(),
                 !workspace_flag.empty() ? "--workspace"
                 : there                 ? "the nearest .accelopt here or above"
                                         : kDefault});
  for (const auto& file : config_files(workspace, shell.environment))
    out.push_back({"file", file.string(), std::filesystem::exists(file, ignored) ? "read" : "not there"});
  const auto is_set = [&](const char* variable) { return shell.environment(variable).has_value(); };
  const auto place = knowledge_place(settings.knowledge == kNoKnowledge ? "" : settings.knowledge, shell.environment);
  out.push_back({"knowledge",
                 settings.knowledge == kNoKnowledge ? std::string(kNoKnowledge)
                 : place                            ? place->name
                                                    : std::string("nowhere"),
                 !flags.knowledge.empty()       ? "--knowledge"
                 : flags.no_memory              ? "--no-memory"
                 : is_set("ACCELOPT_KNOWLEDGE") ? "ACCELOPT_KNOWLEDGE"
                                                : kDefault});
  out.push_back({"device", flags.device.device, flags.device.device == DeviceFlags().device ? kDefault : "--device"});
  out.push_back({"compiler", flags.device.compiler.empty() ? "the first that there is" : flags.device.compiler,
                 flags.device.compiler.empty() ? kDefault : "--compiler"});
  for (const WorkerConfig& worker : settings.device.workers) {
    const std::string name = worker.name.empty() ? "" : worker.name + ": ";
    const bool flag = !flags.device.workers.empty();
    out.push_back({"worker", name + worker.command, flag ? "--worker" : config.origins.at("workers")});
  }
  out.push_back({kKnowledgePassword, is_set(kKnowledgePassword) ? "set" : "not set", "environment"});
  for (const char* variable : {"ACCELOPT_PYTHON", "ACCELOPT_NCU", "ACCELOPT_COMPUTE_SANITIZER", "ACCELOPT_NVDISASM"})
    out.push_back({variable, is_set(variable) ? "set" : "not set", "environment"});
}

}  // namespace

base::Result<std::vector<Setting>> list_settings(const Shell& shell, const SettingSources& sources,
                                                 const RunSettings& settings) {
  Settings out;
  add_places(out, shell, sources, settings);
  TRY(add_agents(out, sources.flags.agents, sources.config, shell.environment));
  add_search(out, sources.flags, sources.config, settings);
  add_measuring(out, sources.flags, settings);
  return out;
}

base::Json to_json(const std::vector<Setting>& settings) {
  base::Json list = base::Json::array();
  for (const Setting& setting : settings)
    list.push_back({{"name", setting.name}, {"value", setting.value}, {"from", setting.from}});
  return {{"type", "config"}, {"schema", 1}, {"settings", list}};
}

}  // namespace accelopt::app

// SPDX-License-Identifier: Apache-2.0
#include "cli/config.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/files.hpp"
#include "suites/toml_document.hpp"

namespace accelopt::cli {

using base::ErrorCode;
using base::fail;

namespace {

constexpr std::array kRoles{"planner", "executor", "fixer", "summarizer"};

/// A count of at least one; leaves the target alone when the key is absent or wrong.
void read_count(suites::TableReader& table, std::string_view key, int& target) {
  const auto value = table.integer(key, "a whole number of at least 1");
  if (!value) return;
  if (*value < 1 || *value > 10'000'000) return table.refuse(key, "must be at least 1");
  target = static_cast<int>(*value);
}

std::optional<llm::Price> read_price(suites::TableReader& model, std::vector<suites::Problem>& problems) {
  const suites::TomlNode* node =
      model.table("price", "{ input = 0.15, cached_input = 0.08, output = 0.60 }, dollars a million tokens");
  if (node == nullptr) return std::nullopt;
  suites::TableReader table(*node, model.path("price"), problems);
  llm::Price price;
  price.input = table.real("input", "dollars a million tokens").value_or(0);
  price.cached_input = table.real("cached_input", "dollars a million tokens").value_or(price.input);
  price.output = table.real("output", "dollars a million tokens").value_or(0);
  table.finish();
  return price;
}

ModelConfig read_model(const suites::TomlEntry& entry, std::vector<suites::Problem>& problems) {
  suites::TableReader table(entry.value, "models." + entry.key, problems);
  ModelConfig model;
  model.api = table.string("api", "\"openai\"").value_or(model.api);
  if (model.api != "openai") table.refuse("api", "unknown api \"" + model.api + "\"; this version speaks openai");
  model.base_url = table.string("base_url", "the endpoint, e.g. \"http://localhost:8000/v1\"").value_or("");
  if (model.base_url.empty()) table.require("base_url", "the endpoint, e.g. \"http://localhost:8000/v1\"");
  model.model = table.string("model", "the model's name at that endpoint").value_or("");
  if (model.model.empty()) table.require("model", "the model's name at that endpoint");
  model.key_env = table.string("key_env", "the name of an environment variable").value_or("");
  model.key_command = table.string("key_command", "a command that prints the key").value_or("");
  if (table.has("key")) {
    static_cast<void>(table.string("key", "nothing"));
    table.refuse("key", "keys never stand in files; name a variable in key_env or a command in key_command");
  }
  model.reasoning = table.string("reasoning", "an effort: \"low\", \"medium\", \"high\"").value_or("");
  if (const auto value = table.real("temperature", "a number")) model.temperature = *value;
  read_count(table, "max_concurrency", model.max_concurrency);
  if (table.has("max_output_tokens")) read_count(table, "max_output_tokens", model.max_output_tokens.emplace(0));
  model.price = read_price(table, problems);
  table.finish();
  return model;
}

Config read_config(const suites::TomlNode& root, std::vector<suites::Problem>& problems) {
  Config config;
  suites::TableReader table(root, "", problems);
  if (const suites::TomlNode* models = table.table("models", "tables: [models.default]")) {
    for (const suites::TomlEntry& entry : models->entries) {
      if (entry.value.kind == suites::TomlKind::table)
        config.models[entry.key] = read_model(entry, problems);
      else
        problems.push_back({entry.line, "models." + entry.key, "must be a table: [models." + entry.key + "]", ""});
    }
  }
  if (const suites::TomlNode* roles = table.table("roles", "a table: [roles]")) {
    suites::TableReader reader(*roles, "roles", problems);
    for (const char* role : kRoles) {
      if (const auto name = reader.string(role, "the name of a model")) config.roles[role] = *name;
    }
    reader.finish();
  }
  table.finish();
  return config;
}

std::filesystem::path user_config() {
  const char* home = std::getenv("XDG_CONFIG_HOME");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (home != nullptr && *home != '\0') return std::filesystem::path(home) / "accelopt" / "config.toml";
  const char* user = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): before any thread
  return user == nullptr ? std::filesystem::path()
                         : std::filesystem::path(user) / ".config" / "accelopt" / "config.toml";
}

}  // namespace

base::Result<Config> parse_config(std::string_view text, const std::string& file) {
  const auto root = suites::parse_toml(text);
  if (!root) return fail(ErrorCode::parse, suites::to_string(root.error(), file));
  std::vector<suites::Problem> problems;
  Config config = read_config(*root, problems);
  if (problems.empty()) return config;
  std::string message;
  for (const suites::Problem& problem : problems)
    message += (message.empty() ? "" : "\n") + suites::to_string(problem, file);
  return fail(ErrorCode::parse, message);
}

base::Result<Config> load_config(const std::filesystem::path& workspace) {
  std::error_code ignored;
  Config merged;
  const std::filesystem::path absolute = std::filesystem::absolute(workspace, ignored);
  for (const auto& file : {absolute / "accelopt.toml", absolute.parent_path() / "accelopt.toml", user_config()}) {
    if (file.empty() || !std::filesystem::exists(file, ignored)) continue;
    TRY_ASSIGN(const std::string text, base::read_file(file));
    TRY_ASSIGN(Config config, parse_config(text, file.string()));
    merged.models.merge(config.models);
    merged.roles.merge(config.roles);
    merged.files.push_back(file.string());
  }
  for (const auto& [role, model] : merged.roles) {
    if (!merged.models.contains(model)) {
      return fail(ErrorCode::parse,
                  "roles." + role + " names the model \"" + model + "\", and there is no [models." + model + "]");
    }
  }
  return merged;
}

base::Result<llm::Secret> find_key(const ModelConfig& model) {
  if (!model.key_env.empty()) {
    const char* value = std::getenv(model.key_env.c_str());  // NOLINT(concurrency-mt-unsafe): before any thread
    if (value != nullptr && *value != '\0') return llm::Secret(value);
    if (model.key_command.empty()) {
      return fail(ErrorCode::unauthenticated, "the environment variable " + model.key_env +
                                                  " is not set; it must hold the key of " + model.base_url +
                                                  ": export " + model.key_env + "=...");
    }
  }
  if (model.key_command.empty()) return llm::Secret();
  std::FILE* pipe = ::popen(model.key_command.c_str(), "r");  // NOLINT(cert-env33-c): the user's own command
  if (pipe == nullptr) return fail(ErrorCode::unauthenticated, "key_command of " + model.model + " cannot be started");
  std::string key;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) key += buffer.data();
  const int status = ::pclose(pipe);
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r')) key.pop_back();
  if (status != 0 || key.empty()) {
    return fail(ErrorCode::unauthenticated, "key_command of " + model.model + " gave no key (exit status " +
                                                std::to_string(status) + "); run it by hand to see why");
  }
  return llm::Secret(key);
}

}  // namespace accelopt::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/config.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>

#include <toml++/toml.h>

#include "base/files.hpp"

namespace accelopt::cli {

using base::ErrorCode;
using base::fail;

namespace {

/// One TOML file, read with errors that name file, line and key.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  base::Result<Config> read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      if (key == "models") TRY(read_models(node));
      else if (key == "roles") TRY(read_roles(node));
      else return refuse(node, std::string(key.str()), "unknown key; known are models and roles");
    }
    config_.files.push_back(file_);
    return config_;
  }

 private:
  tl::unexpected<base::Error> refuse(const toml::node& node, const std::string& key, const std::string& reason) const {
    return fail(ErrorCode::parse, file_ + ":" + std::to_string(node.source().begin.line) + ": " + key + ": " + reason);
  }

  base::Result<void> read_models(const toml::node& node) {
    const toml::table* models = node.as_table();
    if (models == nullptr) return refuse(node, "models", "must be tables: [models.default]");
    for (const auto& [name, entry] : *models) {
      const std::string key = "models." + std::string(name.str());
      const toml::table* table = entry.as_table();
      if (table == nullptr) return refuse(entry, key, "must be a table");
      ModelConfig model;
      for (const auto& [field, value] : *table) TRY(read_field(model, key, std::string(field.str()), value));
      if (model.api != "openai") {
        return refuse(entry, key + ".api", "unknown api \"" + model.api + "\"; this version speaks openai");
      }
      if (model.base_url.empty()) return refuse(entry, key, "base_url is missing, e.g. \"http://localhost:8000/v1\"");
      if (model.model.empty()) return refuse(entry, key, "model is missing");
      config_.models[std::string(name.str())] = model;
    }
    return {};
  }

  template <class T>
  base::Result<void> take(T& target, const toml::node& value, const std::string& key, const char* kind) {
    const auto read = value.value<T>();
    if (!read) return refuse(value, key, std::string("must be ") + kind);
    target = *read;
    return {};
  }

  base::Result<void> read_field(ModelConfig& model, const std::string& table, const std::string& field, const toml::node& value) {
    const std::string key = table + "." + field;
    if (field == "api") return take(model.api, value, key, "a text");
    if (field == "base_url") return take(model.base_url, value, key, "a text");
    if (field == "model") return take(model.model, value, key, "a text");
    if (field == "key_env") return take(model.key_env, value, key, "the name of an environment variable");
    if (field == "key_command") return take(model.key_command, value, key, "a command");
    if (field == "reasoning") return take(model.reasoning, value, key, "a text");
    if (field == "key") return refuse(value, key, "keys never stand in files; name a variable in key_env or a command in key_command");
    if (field == "temperature") return take(model.temperature.emplace(), value, key, "a number");
    if (field == "max_concurrency") return take_count(model.max_concurrency, value, key);
    if (field == "max_output_tokens") return take_count(model.max_output_tokens.emplace(), value, key);
    if (field == "price") return read_price(model, value, key);
    return refuse(value, key,
                  "unknown key; known are api, base_url, model, key_env, key_command, price, max_concurrency, temperature, "
                  "reasoning, max_output_tokens");
  }

  base::Result<void> take_count(int& target, const toml::node& value, const std::string& key) {
    std::int64_t count = 0;
    TRY(take(count, value, key, "a whole number"));
    if (count < 1 || count > 10'000'000) return refuse(value, key, "must be at least 1");
    target = static_cast<int>(count);
    return {};
  }

  base::Result<void> read_price(ModelConfig& model, const toml::node& value, const std::string& key) {
    const toml::table* table = value.as_table();
    if (table == nullptr) return refuse(value, key, "must be { input = .., cached_input = .., output = .. }, $ a million tokens");
    llm::Price price;
    bool cached = false;
    for (const auto& [name, number] : *table) {
      const std::string part = key + "." + std::string(name.str());
      if (name == "input") TRY(take(price.input, number, part, "a number"));
      else if (name == "cached_input") { TRY(take(price.cached_input, number, part, "a number")); cached = true; }
      else if (name == "output") TRY(take(price.output, number, part, "a number"));
      else return refuse(number, part, "unknown key; known are input, cached_input, output");
    }
    if (!cached) price.cached_input = price.input;
    model.price = price;
    return {};
  }

  base::Result<void> read_roles(const toml::node& node) {
    static const std::set<std::string> known{"planner", "executor", "fixer", "summarizer"};
    const toml::table* roles = node.as_table();
    if (roles == nullptr) return refuse(node, "roles", "must be a table: [roles]");
    for (const auto& [role, model] : *roles) {
      const std::string key = "roles." + std::string(role.str());
      if (!known.contains(std::string(role.str()))) {
        return refuse(model, key, "unknown role; known are planner, executor, fixer, summarizer");
      }
      std::string name;
      TRY(take(name, model, key, "the name of a model"));
      config_.roles[std::string(role.str())] = name;
    }
    return {};
  }

  std::string file_;
  Config config_;
};

std::filesystem::path user_config() {
  const char* home = std::getenv("XDG_CONFIG_HOME");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (home != nullptr && *home != '\0') return std::filesystem::path(home) / "accelopt" / "config.toml";
  const char* user = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): before any thread
  return user == nullptr ? std::filesystem::path() : std::filesystem::path(user) / ".config" / "accelopt" / "config.toml";
}

}  // namespace

base::Result<Config> parse_config(std::string_view text, const std::string& file) {
  try {
    return Reader(file).read(toml::parse(text, file));
  } catch (const toml::parse_error& problem) {
    return fail(ErrorCode::parse, file + ":" + std::to_string(problem.source().begin.line) + ": " + std::string(problem.description()));
  }
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
      return fail(ErrorCode::parse, "roles." + role + " names the model \"" + model + "\", and there is no [models." + model + "]");
    }
  }
  return merged;
}

base::Result<llm::Secret> find_key(const ModelConfig& model) {
  if (!model.key_env.empty()) {
    const char* value = std::getenv(model.key_env.c_str());  // NOLINT(concurrency-mt-unsafe): before any thread
    if (value != nullptr && *value != '\0') return llm::Secret(value);
    if (model.key_command.empty()) {
      return fail(ErrorCode::unauthenticated, "the environment variable " + model.key_env + " is not set; it must hold the key of " +
                                                  model.base_url + ": export " + model.key_env + "=...");
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
    return fail(ErrorCode::unauthenticated, "key_command of " + model.model + " gave no key (exit status " + std::to_string(status) +
                                                "); run it by hand to see why");
  }
  return llm::Secret(key);
}

}  // namespace accelopt::cli

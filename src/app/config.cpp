// SPDX-License-Identifier: Apache-2.0
#include "app/config.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <csignal>
#include <optional>
#include <thread>
#include <utility>

#include "base/files.hpp"
#include "base/shell.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "http/url.hpp"
#include "worker/connection.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;

namespace {

/// A count of at least one; leaves the target alone when the key is absent or wrong.
void read_count(base::TableReader& table, std::string_view key, int& target) {
  const auto value = table.integer(key, "a whole number of at least 1");
  if (!value) return;
  if (*value < 1 || *value > 10'000'000) return table.refuse(key, "must be at least 1");
  target = static_cast<int>(*value);
}

std::optional<llm::Price> read_price(base::TableReader& model, std::vector<base::Problem>& problems) {
  const base::TomlNode* node =
      model.table("price", "{ input = 0.15, cached_input = 0.08, output = 0.60 }, dollars a million tokens");
  if (node == nullptr) return std::nullopt;
  base::TableReader table(*node, model.path("price"), problems);
  const auto dollars = [&](const char* key) {
    const auto value = table.real(key, "dollars a million tokens");
    if (value && !(*value >= 0 && std::isfinite(*value)))
      table.refuse(key, "must be 0 or more dollars a million tokens, and finite");
    return value;
  };
  // Half a price would make the other half free.
  for (const char* key : {"input", "output"}) {
    if (!table.has(key)) table.require(key, "dollars a million tokens; 0 where it costs nothing");
  }
  llm::Price price;
  price.input = dollars("input").value_or(0);
  price.cached_input = dollars("cached_input").value_or(price.input);
  price.output = dollars("output").value_or(0);
  table.finish();
  return price;
}

/// Seconds above zero; leaves the target alone when the key is absent or wrong.
void read_seconds(base::TableReader& table, std::string_view key, std::optional<double>& target) {
  const auto value = table.real(key, "seconds");
  if (!value) return;
  constexpr double kMostSeconds = 86'400;
  if (!(*value > 0 && *value <= kMostSeconds)) return table.refuse(key, "must be seconds, above 0 and at most a day");
  target = *value;
}

void read_timeouts(base::TableReader& model, ModelConfig& target, std::vector<base::Problem>& problems) {
  if (const base::TomlNode* node = model.table("timeouts", "{ connect = 15, stall = 300, total = 1800 }, seconds")) {
    base::TableReader table(*node, model.path("timeouts"), problems);
    read_seconds(table, "connect", target.connect_seconds);
    read_seconds(table, "stall", target.stall_seconds);
    read_seconds(table, "total", target.total_seconds);
    table.finish();
  }
  if (const base::TomlNode* node = model.table("retries", "{ tries = 8, first_wait = 1, longest_wait = 60 }")) {
    base::TableReader table(*node, model.path("retries"), problems);
    if (table.has("tries")) read_count(table, "tries", target.tries.emplace(1));
    read_seconds(table, "first_wait", target.first_wait_seconds);
    read_seconds(table, "longest_wait", target.longest_wait_seconds);
    table.finish();
  }
}

/// An effort or a number of tokens.
void read_reasoning(base::TableReader& table, llm::Reasoning& target) {
  constexpr const char* kForm = "none, low, medium, high, or a number of tokens";
  const base::TomlKind* kind = table.kind("reasoning");
  if (kind == nullptr) return;
  if (*kind == base::TomlKind::integer) {
    const auto tokens = table.integer("reasoning", kForm);
    if (*tokens < 0 || *tokens > 1'000'000) return table.refuse("reasoning", "must be from 0 to 1000000 tokens");
    target.tokens = static_cast<int>(*tokens);
    return;
  }
  target.effort = table.string("reasoning", kForm).value_or("");
  if (const auto known = llm::check(target); !known) table.refuse("reasoning", known.error().message);
}

/// Where the model is: an address and a name, or a folder.
void read_place(base::TableReader& table, ModelConfig& model) {
  constexpr const char* kAddress = "the endpoint, e.g. \"http://localhost:8000/v1\"";
  model.api = table.string("api", "\"openai\", \"anthropic\", \"gemini\" or \"mailbox\"").value_or(model.api);
  const bool mailbox = model.api == "mailbox";
  const auto api = llm::parse_api(model.api);
  if (!mailbox && !api) table.refuse("api", api.error().message);
  model.base_url = table.string("base_url", kAddress).value_or("");
  model.model = table.string("model", "the model's name at that endpoint").value_or("");
  model.dir = table.string("dir", "the folder for questions and answers").value_or("");
  if (mailbox) {
    if (model.dir.empty()) table.require("dir", "the folder for questions and answers");
    if (model.model.empty()) model.model = "mailbox";
    return;
  }
  if (!model.dir.empty()) table.refuse("dir", "only a model with api = \"mailbox\" has a folder");
  if (model.base_url.empty() && (!api || llm::default_base_url(*api).empty())) table.require("base_url", kAddress);
  if (const auto usable = check_address(model.base_url); !usable) table.refuse("base_url", usable.error().message);
  if (model.model.empty()) table.require("model", "the model's name at that endpoint");
}

ModelConfig read_model(const base::TomlEntry& entry, std::vector<base::Problem>& problems) {
  base::TableReader table(entry.value, "models." + entry.key, problems);
  ModelConfig model;
  read_place(table, model);
  model.key_env = table.string("key_env", "the name of an environment variable").value_or("");
  if (const auto usable = check_key_env(model.key_env); !usable) table.refuse("key_env", usable.error().message);
  model.key_command = table.string("key_command", "a command that prints the key").value_or("");
  if (table.has("key")) {
    static_cast<void>(table.string("key", "nothing"));
    table.refuse("key", "keys never stand in files; name a variable in key_env or a command in key_command");
  }
  model.ca_file = table.string("ca_file", "a file of certificates").value_or("");
  read_reasoning(table, model.reasoning);
  if (const auto value = table.real("temperature", "a number")) model.temperature = *value;
  read_count(table, "max_concurrency", model.max_concurrency);
  if (table.has("requests_per_minute")) read_count(table, "requests_per_minute", model.requests_per_minute.emplace(1));
  if (table.has("tokens_per_minute")) read_count(table, "tokens_per_minute", model.tokens_per_minute.emplace(1));
  if (table.has("max_output_tokens")) read_count(table, "max_output_tokens", model.max_output_tokens.emplace(0));
  read_timeouts(table, model, problems);
  model.price = read_price(table, problems);
  table.finish();
  return model;
}

/// The tables of [[workers]]: commands that can be split into words, no name twice.
std::vector<WorkerConfig> read_workers(base::TableReader& root, std::vector<base::Problem>& problems) {
  constexpr const char* kCommand = "a command, e.g. \"ssh host accelopt worker --device cuda:0\"";
  std::vector<WorkerConfig> workers;
  for (const base::TomlNode* node : root.tables("workers", "tables: [[workers]]")) {
    base::TableReader table(*node, "workers[" + std::to_string(workers.size()) + "]", problems);
    WorkerConfig worker{table.string("command", kCommand).value_or(""), table.string("name", "a name").value_or("")};
    if (!table.has("command")) table.require("command", kCommand);
    const auto words = base::split_command(worker.command);
    if (table.has("command") && !words) table.refuse("command", words.error().message);
    if (!worker.name.empty() &&
        std::ranges::any_of(workers, [&](const WorkerConfig& other) { return other.name == worker.name; }))
      table.refuse("name", "another worker has this name");
    table.finish();
    workers.push_back(std::move(worker));
  }
  return workers;
}

Config read_config(const base::TomlNode& root, std::vector<base::Problem>& problems) {
  Config config;
  base::TableReader table(root, "", problems);
  if (const base::TomlNode* models = table.table("models", "tables: [models.default]")) {
    for (const base::TomlEntry& entry : models->entries) {
      if (entry.value.kind == base::TomlKind::table)
        config.models[entry.key] = read_model(entry, problems);
      else
        problems.push_back({entry.line, "models." + entry.key, "must be a table: [models." + entry.key + "]", ""});
    }
  }
  if (const base::TomlNode* roles = table.table("roles", "a table: [roles]")) {
    base::TableReader reader(*roles, "roles", problems);
    for (const auto& [known, name_of_role] : model::Names<model::AgentRole>::kTable) {
      const std::string role(name_of_role);
      if (const auto name = reader.string(role, "the name of a model")) config.roles[role] = *name;
    }
    reader.finish();
  }
  if (const base::TomlNode* search = table.table("search", "a table: [search]")) {
    base::TableReader reader(*search, "search", problems);
    config.near_roofline = reader.real("near_roofline", "a share, e.g. 0.05; 0: never");
    if (config.near_roofline && !(*config.near_roofline >= 0 && *config.near_roofline < 1))
      reader.refuse("near_roofline", "must be at least 0 (never stops for that) and under 1");
    reader.finish();
  }
  config.workers = read_workers(table, problems);
  table.finish();
  return config;
}

std::filesystem::path user_config(const Environment& environment) {
  if (const auto home = environment("XDG_CONFIG_HOME"))
    return std::filesystem::path(*home) / "accelopt" / "config.toml";
  const auto user = environment("HOME");
  return user ? std::filesystem::path(*user) / ".config" / "accelopt" / "config.toml" : std::filesystem::path();
}

}  // namespace

base::Result<Config> parse_config(std::string_view text, const std::string& file) {
  const auto root = base::parse_toml(text);
  if (!root) return fail(ErrorCode::parse, base::to_string(root.error(), file));
  std::vector<base::Problem> problems;
  Config config = read_config(*root, problems);
  if (problems.empty()) return config;
  return fail(ErrorCode::parse, base::joined(problems, "\n", [&](const base::Problem& problem) {
                return base::to_string(problem, file);
              }));
}

std::vector<std::filesystem::path> config_files(const std::filesystem::path& workspace,
                                                const Environment& environment) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(workspace, ignored);
  std::vector<std::filesystem::path> files{absolute / "accelopt.toml", absolute.parent_path() / "accelopt.toml"};
  if (const auto own = user_config(environment); !own.empty()) files.push_back(own);
  return files;
}

base::Result<Config> load_config(const std::filesystem::path& workspace, const Environment& environment) {
  std::error_code ignored;
  Config merged;
  for (const auto& file : config_files(workspace, environment)) {
    if (!std::filesystem::exists(file, ignored)) continue;
    TRY_ASSIGN(const std::string text, base::read_file(file));
    TRY_ASSIGN(Config config, parse_config(text, file.string()));
    for (auto& [name, model] : config.models) {
      if (!model.dir.empty()) model.dir = (file.parent_path() / model.dir).string();
    }
    for (const auto& [name, model] : config.models) merged.origins.try_emplace("models." + name, file.string());
    for (const auto& [role, name] : config.roles) merged.origins.try_emplace("roles." + role, file.string());
    if (config.near_roofline) merged.origins.try_emplace("search.near_roofline", file.string());
    merged.models.merge(config.models);
    merged.roles.merge(config.roles);
    if (!merged.near_roofline) merged.near_roofline = config.near_roofline;
    if (!config.workers.empty()) merged.origins.try_emplace("workers", file.string());
    if (merged.workers.empty()) merged.workers = std::move(config.workers);
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

namespace {

/// A process and all that it started; killed at the end of its life unless it has ended before.
class ShellCommand {
 public:
  ShellCommand() = default;
  ShellCommand(const ShellCommand&) = delete;
  ShellCommand& operator=(const ShellCommand&) = delete;
  ~ShellCommand() {
    if (process_ <= 0) return;
    ::kill(-process_, SIGKILL);
    static_cast<void>(::waitpid(process_, nullptr, 0));
  }

  /// Starts it in a process group of its own, with the signals that a shell expects.
  bool start(const std::string& command) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    output_ = base::FileDescriptor(ends[0]);
    const base::FileDescriptor input(ends[1]);
    base::SpawnSetup setup(base::Apart::own_group);
    posix_spawn_file_actions_adddup2(setup.actions(), input.get(), STDOUT_FILENO);
    std::vector<std::string> words{"sh", "-c", command};
    std::vector<std::string> variables = base::inherited_variables();
    const bool started = ::posix_spawn(&process_, "/bin/sh", setup.actions(), setup.attributes(),
                                       base::pointers_to(words).data(), base::pointers_to(variables).data()) == 0;
    if (!started) process_ = -1;
    return started;
  }

  /// Adds what it has written meanwhile, waiting at most so long; false at the end of its output.
  bool read(std::string& text, std::chrono::milliseconds longest) const {
    pollfd wait{output_.get(), POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(longest.count())) <= 0) return true;
    std::array<char, 256> buffer{};
    const ssize_t count = ::read(output_.get(), buffer.data(), buffer.size());
    if (count <= 0) return false;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }

  /// Its exit status, waiting at most so long; nothing: it goes on, though its output may have ended.
  std::optional<int> wait(std::chrono::milliseconds longest) {
    constexpr std::chrono::milliseconds kPause{5};
    const auto until = std::chrono::steady_clock::now() + longest;
    int status = 0;
    while (::waitpid(process_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > until) return std::nullopt;
      std::this_thread::sleep_for(kPause);
    }
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t process_ = -1;
  base::FileDescriptor output_;
};

constexpr std::chrono::minutes kKeyCommandLimit{1};
constexpr std::chrono::milliseconds kLookForStopOfKey{100};

base::Result<std::string> output_of_key_command(const ModelConfig& model, const std::stop_token& stop) {
  const std::string name = "key_command of " + model.model;
  ShellCommand command;
  if (!command.start(model.key_command)) return fail(ErrorCode::unauthenticated, name + " cannot be started");
  std::string key;
  const auto until = std::chrono::steady_clock::now() + kKeyCommandLimit;
  bool speaks = true;
  std::optional<int> status;
  while (!status) {
    if (speaks)
      speaks = command.read(key, kLookForStopOfKey);
    else
      status = command.wait(kLookForStopOfKey);
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped while " + name + " ran");
    if (std::chrono::steady_clock::now() > until) {
      return fail(ErrorCode::unauthenticated, name + " did not end within a minute; run it by hand to see why");
    }
  }
  const bool printed = !base::trimmed(key).empty();
  if (*status == 0 && printed) return key;
  return fail(ErrorCode::unauthenticated,
              name + " gave no key (exit status " + std::to_string(*status) + "); run it by hand to see why");
}

/// A key as its source gave it, which goes into one line of a header. Servers drop blanks at the ends of a header, and
/// repeat the key without them: what is blotted out has to be without them, too.
base::Result<llm::Secret> one_line_key(std::string_view given, const std::string& source) {
  const std::string_view key = base::trimmed(given);
  if (key.empty() && !given.empty())
    return fail(ErrorCode::unauthenticated, source + " gives only blanks; it must give the key");
  if (key.find_first_of("\r\n") == std::string_view::npos) return llm::Secret(std::string(key));
  return fail(ErrorCode::unauthenticated, source + " gives several lines; it must give the key alone");
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace

base::Result<void> check_address(const std::string& base_url) {
  if (base_url.empty()) return {};
  TRY(http::origin_of(base_url));
  if (base_url.find_first_of("?#") == std::string::npos) return {};
  return fail(
      ErrorCode::invalid_argument,
      "the address of a model ends with its path: nothing of a query (? or #) reaches the server; a key belongs "
      "into an environment variable");
}

base::Result<void> check_key_env(const std::string& name) {
  const auto usable = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const bool digit_first = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0;
  if (!digit_first && std::all_of(name.begin(), name.end(), usable)) return {};
  return fail(
      ErrorCode::invalid_argument,
      "what names the key's environment variable is no name of one (letters, digits and _), and is not repeated "
      "here: is it the key itself? Put the key into a variable and give the variable's name");
}

base::Result<llm::Secret> find_key(const ModelConfig& model, const Environment& environment,
                                   const std::stop_token& stop) {
  if (!model.key_env.empty()) {
    if (auto value = environment(model.key_env))
      return one_line_key(*value, "the environment variable " + model.key_env);
    if (model.key_command.empty()) {
      const std::string whose = model.base_url.empty() ? model.model : model.base_url;
      return fail(ErrorCode::unauthenticated, "the environment variable " + model.key_env +
                                                  " is not set; it must hold the key of " + whose + ": export " +
                                                  model.key_env + "=...");
    }
  }
  if (model.key_command.empty()) return llm::Secret();
  TRY_ASSIGN(std::string key, output_of_key_command(model, stop));
  return one_line_key(key, "key_command of " + model.model);
}

llm::EndpointOptions endpoint_options(const ModelConfig& model, llm::Secret key) {
  llm::EndpointOptions options;
  options.api = llm::parse_api(model.api).value_or(llm::Api::openai);
  options.base_url = model.base_url.empty() ? std::string(llm::default_base_url(options.api)) : model.base_url;
  options.model = model.model;
  options.key = std::move(key);
  // Never the command itself: it may hold the key.
  const std::string command = model.key_command.empty() ? "" : "key_command";
  const bool either = !model.key_env.empty() && !command.empty();
  options.key_source = model.key_env + (either ? " or " : "") + command;
  options.ca_file = model.ca_file;
  options.temperature = model.temperature;
  options.reasoning = model.reasoning;
  options.max_output_tokens = model.max_output_tokens;
  options.max_concurrency = model.max_concurrency;
  options.requests_per_minute = model.requests_per_minute;
  options.tokens_per_minute = model.tokens_per_minute;
  options.price = model.price;
  if (model.connect_seconds) options.limits.connect = milliseconds_of(*model.connect_seconds);
  if (model.stall_seconds) options.limits.stall = milliseconds_of(*model.stall_seconds);
  if (model.total_seconds) options.limits.total = milliseconds_of(*model.total_seconds);
  if (model.tries) options.retry.max_tries = *model.tries;
  if (model.first_wait_seconds) options.retry.first_wait = milliseconds_of(*model.first_wait_seconds);
  if (model.longest_wait_seconds) options.retry.longest_wait = milliseconds_of(*model.longest_wait_seconds);
  return options;
}

}  // namespace accelopt::app

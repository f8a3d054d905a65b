// SPDX-License-Identifier: Apache-2.0
// accelopt.toml: which models there are, which role uses which, and which workers measure. Keys come from the
// environment or a command, never from a file.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/shell.hpp"
#include "base/result.hpp"
#include "llm/endpoint.hpp"
#include "llm/price.hpp"
#include "llm/secret.hpp"

namespace accelopt::app {

struct ModelConfig {
  std::string api = "openai";  ///< openai, anthropic, gemini, mailbox
  std::string base_url{};      ///< empty: the vendor's own
  std::string model{};
  std::string dir{};          ///< of a mailbox
  std::string key_env{};      ///< environment variable that holds the key
  std::string key_command{};  ///< command whose standard output is the key
  std::string ca_file{};      ///< certificates to trust in place of the machine's
  std::optional<llm::Price> price{};
  std::string price_as_of{};  ///< of a vendor's list price, "2025-10"; empty: configured, or unknown
  int max_concurrency = 32;
  std::optional<int> requests_per_minute{};
  std::optional<int> tokens_per_minute{};
  std::optional<double> temperature{};
  llm::Reasoning reasoning{};
  std::optional<int> max_output_tokens{};
  std::optional<double> connect_seconds{}, stall_seconds{}, total_seconds{};  ///< time limits of one try
  std::optional<int> tries{};                                                 ///< of one question, in all
  std::optional<double> first_wait_seconds{}, longest_wait_seconds{};         ///< between two tries
};

/// A worker elsewhere.
struct WorkerConfig {
  std::string command;
  std::string name{};  ///< in messages and records; empty: its command
};

struct Config {
  std::map<std::string, ModelConfig> models;
  std::map<std::string, std::string> roles;  ///< role -> name of a model
  std::optional<double> near_roofline{};     ///< of the table [search], for runs that do not say it themselves
  std::vector<WorkerConfig> workers{};       ///< that measure, for runs that do not say where themselves
  std::vector<std::string> files{};          ///< that were read
  /// "models.NAME", "roles.ROLE", "search.near_roofline", "workers": its file
  std::map<std::string, std::string> origins{};
};

/// Reads accelopt.toml from the workspace or the folder it is in, then the user's own
/// (XDG_CONFIG_HOME/accelopt/config.toml); what the first one says wins, model by model and role by role, of
/// workers all or none. No file at all is an empty configuration.
/// @error parse: a file cannot be read as configuration; the message names file, line and key.
base::Result<Config> load_config(const std::filesystem::path& workspace, const Environment& environment);

/// The files that load_config reads where they exist, the strongest first.
std::vector<std::filesystem::path> config_files(const std::filesystem::path& workspace, const Environment& environment);

/// The configuration that one text holds. @error parse.
base::Result<Config> parse_config(std::string_view text, const std::string& file);

/// Whether an address is one that a model can have. Nothing of it is repeated: a user may have put a key into it.
/// @error invalid_argument: malformed, neither http nor https, a user name or password in it, or a query.
base::Result<void> check_address(const std::string& base_url);

/// Whether this can be the name of an environment variable; it is not repeated, as it may be the key itself.
/// @error invalid_argument: it cannot.
base::Result<void> check_key_env(const std::string& name);

/// The model's key, without the blanks and line breaks around it; empty when it asks for none. A command has a minute's
/// time. @error unauthenticated: the variable is not set, the command fails, or one gives several lines or only blanks;
/// the message names which, never the key; cancelled: `stop` was asked for while the command ran.
base::Result<llm::Secret> find_key(const ModelConfig& model, const Environment& environment,
                                   const std::stop_token& stop = {});

/// The model as it is asked over HTTP; not for a mailbox. Its api must be one that parse_config lets through.
llm::EndpointOptions endpoint_options(const ModelConfig& model, llm::Secret key);

}  // namespace accelopt::app

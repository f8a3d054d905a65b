// SPDX-License-Identifier: Apache-2.0
// accelopt.toml: which models there are and which role uses which. Keys come from the environment or a command, never
// from a file.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "llm/price.hpp"
#include "llm/secret.hpp"

namespace accelopt::cli {

struct ModelConfig {
  std::string api = "openai";
  std::string base_url;
  std::string model;
  std::string key_env;      ///< environment variable that holds the key
  std::string key_command;  ///< command whose standard output is the key
  std::optional<llm::Price> price;
  int max_concurrency = 32;
  std::optional<double> temperature;
  std::string reasoning;
  std::optional<int> max_output_tokens;
};

struct Config {
  std::map<std::string, ModelConfig> models;
  std::map<std::string, std::string> roles;  ///< role -> name of a model
  std::vector<std::string> files;            ///< that were read
};

/// Reads accelopt.toml from the workspace or the folder it is in, then the user's own
/// (XDG_CONFIG_HOME/accelopt/config.toml); what the first one says wins, model by model and role by role. No file at
/// all is an empty configuration.
/// @error parse: a file cannot be read as configuration; the message names file, line and key.
base::Result<Config> load_config(const std::filesystem::path& workspace);

/// The configuration that one text holds. @error parse.
base::Result<Config> parse_config(std::string_view text, const std::string& file);

/// The model's key, empty when it asks for none.
/// @error unauthenticated: the variable is not set or the command fails; the message names which, never the key.
base::Result<llm::Secret> find_key(const ModelConfig& model);

}  // namespace accelopt::cli

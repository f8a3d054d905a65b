// SPDX-License-Identifier: Apache-2.0
// Every setting of a run that would begin now, and where it comes from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/config.hpp"
#include "app/search_options.hpp"
#include "app/shell.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace accelopt::app {

struct Setting {
  std::string name;
  std::string value;  ///< never a key or a password
  std::string from;   ///< "default", a flag, a file, a variable
};

/// What the settings of a run would come from.
struct SettingSources {
  std::filesystem::path workspace;
  std::string workspace_flag;  ///< empty: the workspace was found
  SearchFlags flags;
  Config config;
};

/// `settings`: what settings_from() makes of the flags and the configuration. Starts nothing, asks no model.
/// @error as models_of_roles().
base::Result<std::vector<Setting>> list_settings(const Shell& shell, const SettingSources& sources,
                                                 const RunSettings& settings);

/// The object of docs/json.md.
base::Json to_json(const std::vector<Setting>& settings);

}  // namespace accelopt::app

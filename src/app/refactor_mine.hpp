// SPDX-License-Identifier: Apache-2.0
// What a repository's own history teaches: commits that say they made code faster, as experiences of unknown effect.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/shell.hpp"
#include "base/result.hpp"
#include "model/experience.hpp"

namespace accelopt::app {

struct MineOptions {
  std::filesystem::path repository;
  std::string from = "HEAD";  ///< the newest commit that is looked at
  std::size_t most = 5000;    ///< commits that are looked at
  std::string knowledge{};    ///< as --knowledge
  std::filesystem::path workspace{};
};

struct MineReport {
  std::size_t looked_at = 0;  ///< commits that touch code of a known language
  std::size_t said_so = 0;    ///< of these, whose subject speaks of speed
  std::size_t too_large = 0;  ///< of those, left out for their size, or for what is no single language's code
  std::size_t secrets = 0;    ///< left out because the diff seems to hold a key
  std::vector<model::Experience> mined;
  int stored = 0;  ///< of these, that the store did not have
};

/// Whether a commit's subject says that it makes something faster. Reverts do not.
bool speaks_of_speed(std::string_view subject);

/// @error not_found: no such repository or revision; invalid_argument: the environment, and not --knowledge, names a
/// server for the store: code of a repository goes to one only where it is named.
base::Result<MineReport> mine_history(const Shell& shell, const MineOptions& options);

}  // namespace accelopt::app

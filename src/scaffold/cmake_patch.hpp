// SPDX-License-Identifier: Apache-2.0
// A new source file and its compile flags in the user's CMakeLists.txt.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "scaffold/winner_patch.hpp"

namespace accelopt::scaffold {

/// Adds the patch's new files, with their flags, to the CMakeLists.txt that names the files beside which they stand, in
/// every add_executable, add_library, target_sources, set and list that does.
/// What the user has to do by hand where there is none: lines for people, empty otherwise.
base::Result<std::string> add_to_cmake(WinnerPatch& patch);

/// Whether a CMakeLists.txt names the file, so that add_to_cmake can name another one beside it.
bool is_named_by_cmake(const std::filesystem::path& file);

}  // namespace accelopt::scaffold

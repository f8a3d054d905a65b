// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "journal/journal.hpp"

namespace accelopt::app {

/// Where runs are kept: the given folder, else the nearest `.accelopt` upwards from `from` (empty: from here), else one
/// in it (not made yet).
std::filesystem::path find_workspace(const std::string& given, const std::filesystem::path& from = {});

/// Opens the workspace's journal, making the folder if `access` allows to write.
/// @error not_found: there is no workspace to read; else as journal::open_journal.
base::Result<std::unique_ptr<journal::Journal>> open_workspace(const std::filesystem::path& workspace,
                                                               journal::Access access);

/// A run's id: the UTC time to the second and six random digits, so that ids sort by time: "20261121-101502-3fa9c1".
std::string new_run_id();
/// Whether the text has the form of such an id.
bool is_run_id(std::string_view text);

}  // namespace accelopt::app

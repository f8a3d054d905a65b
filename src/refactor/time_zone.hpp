// SPDX-License-Identifier: Apache-2.0
// Zones in which drivers run where old and new code are compared: in UTC alone, local time and UTC are the same.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "refactor/languages.hpp"

namespace accelopt::refactor {

/// Where this machine keeps its zones.
inline constexpr const char* kZoneFolder = "/usr/share/zoneinfo";

/// A value for TZ: one west of UTC with daylight saving time, one east of it with half hours, and UTC, in turn. Where
/// the folder lacks a zone its POSIX rule, but for languages that take names alone and may have zones of their own.
std::string time_zone(std::size_t turn, const CodeLanguage& language, const std::filesystem::path& zones = kZoneFolder);

}  // namespace accelopt::refactor

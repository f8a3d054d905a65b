// SPDX-License-Identifier: Apache-2.0
#include "refactor/time_zone.hpp"

#include <array>
#include <system_error>

namespace accelopt::refactor {
namespace {

struct Zone {
  const char* name;
  const char* rule;  ///< of POSIX, which needs no files
};
constexpr auto kZones = std::to_array<Zone>({{"America/New_York", "EST5EDT,M3.2.0,M11.1.0"},
                                             {"Australia/Lord_Howe", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"},
                                             {"UTC", "UTC0"}});

}  // namespace

std::string time_zone(std::size_t turn, const CodeLanguage& language, const std::filesystem::path& zones) {
  const Zone& zone = kZones[turn % kZones.size()];
  // Node has zones in its ICU and Go in its library; both take a rule for UTC.
  const bool takes_names = language.braces == BraceSyntax::script || language.braces == BraceSyntax::go;
  std::error_code absent;
  return takes_names || std::filesystem::exists(zones / zone.name, absent) ? zone.name : zone.rule;
}

}  // namespace accelopt::refactor

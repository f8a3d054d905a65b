// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/prepare.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/whole_number.hpp"
#include "memory/surreal/schema.hpp"

namespace accelopt::memory::surreal {

base::Result<bool> prepare_once(Client& client) {
  TRY_ASSIGN(const auto info, client.ask("INFO FOR DB", Json::object()));
  const bool has_tables = !info.empty() && info[0].is_object() && info[0].contains("tables") &&
                          info[0]["tables"].contains("accelopt_schema");
  std::int64_t version = 0;
  if (has_tables) {
    TRY_ASSIGN(const auto read, client.ask(kReadVersion, Json::object()));
    const bool told = !read.empty() && read[0].is_array() && !read[0].empty();
    if (told) version = std::max<std::int64_t>(0, base::whole_number(read[0][0]).value_or(0));
  }
  if (version > kSchemaVersion) {
    return base::fail(base::ErrorCode::corrupt,
                      client.address().name + ": its tables are of version " + std::to_string(version) +
                          ", made by a newer accelopt; this one knows " + std::to_string(kSchemaVersion) +
                          " and has changed nothing; update accelopt");
  }
  if (version == kSchemaVersion) return true;
  const std::string_view step = version == 0 ? kDefineSchema : kUpgrades[static_cast<std::size_t>(version - 1)];
  TRY(client.try_ask(step, {{"version", kSchemaVersion}}));
  return false;
}

}  // namespace accelopt::memory::surreal

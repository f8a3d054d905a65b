// SPDX-License-Identifier: Apache-2.0
#include "base/utc.hpp"

#include <ctime>

namespace accelopt::base {

std::string utc(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[64];
  const std::size_t length = std::strftime(text, sizeof text, format, &parts);
  return {text, length};
}

std::string utc_now() {
  return utc("%Y-%m-%dT%H:%M:%SZ");
}

}  // namespace accelopt::base

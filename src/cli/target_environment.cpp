// SPDX-License-Identifier: Apache-2.0
#include "cli/target_environment.hpp"

#include <cstdlib>

#include "targets/registry.hpp"

namespace accelopt::cli {

evaluation::Environment target_environment() {
  evaluation::Environment out;
  for (const targets::Entry& target : targets::registry()) {
    for (const std::string& name : target.variables) {
      const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): before any thread
      if (value != nullptr && *value != '\0') out[name] = value;
    }
  }
  return out;
}

}  // namespace accelopt::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.hpp"

#include <cstdlib>

#include "app/knowledge_place.hpp"

namespace accelopt::cli {
namespace {

std::optional<std::string> value_of(const std::string& name) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nothing sets one later
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace

app::Environment environment() {
  static const std::optional<std::string> password = [] {
    auto taken = value_of(app::kKnowledgePassword);
    ::unsetenv(app::kKnowledgePassword);  // NOLINT(concurrency-mt-unsafe): before any thread
    return taken;
  }();
  return [](const std::string& name) { return name == app::kKnowledgePassword ? password : value_of(name); };
}

}  // namespace accelopt::cli

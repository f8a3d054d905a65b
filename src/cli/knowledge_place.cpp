// SPDX-License-Identifier: Apache-2.0
#include "cli/knowledge_place.hpp"

#include <cstdlib>
#include <filesystem>

#include "memory/knowledge_file.hpp"
#include "memory/surreal_store.hpp"

namespace accelopt::cli {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;

constexpr const char* kPasswordVariable = "ACCELOPT_SURREAL_PASSWORD";

/// Read once, then gone from the environment.
const std::string& surreal_password() {
  static const std::string password = [] {
    const char* value = std::getenv(kPasswordVariable);  // NOLINT(concurrency-mt-unsafe): before any thread
    std::string taken = value != nullptr ? value : "";
    unsetenv(kPasswordVariable);  // NOLINT(concurrency-mt-unsafe): before any thread
    return taken;
  }();
  return password;
}

Result<fs::path> default_file() {
  const char* data = std::getenv("XDG_DATA_HOME");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (data != nullptr && *data == '/') return fs::path(data) / "accelopt" / "knowledge.db";
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (home != nullptr && *home != '\0') return fs::path(home) / ".local/share/accelopt/knowledge.db";
  return fail(ErrorCode::not_found,
              "there is no home folder to keep knowledge in (HOME is not set); name a file with --knowledge");
}

}  // namespace

std::string chosen_knowledge(const std::string& given) {
  const char* const variable = std::getenv("ACCELOPT_KNOWLEDGE");  // NOLINT(concurrency-mt-unsafe): before any thread
  std::string chosen = !given.empty() || variable == nullptr ? given : std::string(variable);
  if (chosen.empty() || chosen == kNoKnowledge || memory::is_surreal_address(chosen)) return chosen;
  std::error_code ignored;
  return fs::absolute(chosen, ignored).lexically_normal().string();
}

Result<KnowledgePlace> knowledge_place(std::string_view text) {
  const std::string& password = surreal_password();  // taken also where it is not needed
  if (memory::is_surreal_address(text)) {
    TRY_ASSIGN(const memory::SurrealAddress address, memory::parse_surreal_address(text));
    return KnowledgePlace{address.name, [address, password] { return memory::open_surreal_store(address, password); }};
  }
  fs::path file(text);
  if (file.empty()) {
    TRY_ASSIGN(file, default_file());
  }
  return KnowledgePlace{file.string(), [file] { return memory::open_knowledge_file(file); }};
}

std::string describe(const memory::Delivery& delivery, const KnowledgePlace& place) {
  if (delivery.refused) {
    return "what runs of this workspace learned still waits in its journal for " + place.name + ": " +
           delivery.refused->message;
  }
  if (delivery.sent == 0) return {};
  return "what had waited for " + place.name + " has arrived (" + std::to_string(delivery.sent) +
         (delivery.sent == 1 ? " delivery)" : " deliveries)");
}

}  // namespace accelopt::cli

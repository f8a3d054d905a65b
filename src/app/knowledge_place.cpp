// SPDX-License-Identifier: Apache-2.0
#include "app/knowledge_place.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <span>

#include "app/workspace.hpp"
#include "base/text.hpp"
#include "memory/knowledge_file.hpp"
#include "memory/surreal/store.hpp"
#include "report/text_width.hpp"

namespace accelopt::app {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;

Result<fs::path> default_file(const Environment& environment) {
  const auto data = environment("XDG_DATA_HOME");
  if (data && data->front() == '/') return fs::path(*data) / "accelopt" / "knowledge.db";
  if (const auto home = environment("HOME")) return fs::path(*home) / ".local/share/accelopt/knowledge.db";
  return fail(ErrorCode::not_found,
              "there is no home folder to keep knowledge in (HOME is not set); name a file with --knowledge");
}

/// The characters of the scheme in "scheme:/..."; 0: there is none, and the text names a file.
std::size_t scheme_length(std::string_view text) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-'; };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_letter(text.front())) return 0;
  const std::string_view scheme = text.substr(0, colon);
  if (!std::ranges::all_of(scheme, [&](char c) { return fits(c) || c == '.'; })) return 0;
  const std::string_view rest = text.substr(colon + 1);
  return rest.starts_with('/') || rest.starts_with('\\') || rest.find('@') != std::string_view::npos ? colon : 0;
}

/// Without blanks around it, its scheme in small letters.
std::string tidy(std::string_view text) {
  std::string place(base::trimmed(text, " \t\r\n\v\f"));
  const std::size_t scheme = scheme_length(place);
  return base::lower(place.substr(0, scheme)) + place.substr(scheme);
}

}  // namespace

std::string chosen_knowledge(const std::string& given, const Environment& environment) {
  std::string chosen = tidy(!given.empty() ? given : environment("ACCELOPT_KNOWLEDGE").value_or(""));
  if (chosen.empty() || chosen == kNoKnowledge || scheme_length(chosen) > 0) return chosen;
  std::error_code ignored;
  return fs::absolute(chosen, ignored).lexically_normal().string();
}

Result<void> check_knowledge(std::string_view given) {
  const std::string text = tidy(given);
  if (memory::surreal::is_address(text)) {
    TRY(memory::surreal::parse_address(text));
  } else if (scheme_length(text) > 0) {
    // It is not repeated: an address that was mistyped may hold a password.
    return fail(ErrorCode::invalid_argument,
                "the place of the knowledge store (--knowledge or ACCELOPT_KNOWLEDGE) is of no known kind; it is a "
                "file (./NAME where the name looks like an address), surreal://user@host:8000/namespace/database, the "
                "same with surreal+https://, or none");
  }
  return {};
}

Result<KnowledgePlace> knowledge_place(std::string_view given, const Environment& environment) {
  TRY(check_knowledge(given));
  const std::string text = tidy(given);
  if (memory::surreal::is_address(text)) {
    TRY_ASSIGN(const memory::surreal::Address address, memory::surreal::parse_address(text));
    const std::string password = environment(kKnowledgePassword).value_or("");
    return KnowledgePlace{address.name, [address, password] { return memory::surreal::open_store(address, password); }};
  }
  fs::path file(text);
  if (file.empty()) {
    TRY_ASSIGN(file, default_file(environment));
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

namespace {

/// Sends what runs of this workspace learned and could not deliver.
Result<memory::Delivery> deliver_waiting(const fs::path& workspace, const KnowledgePlace& place) {
  std::error_code ignored;
  if (!fs::exists(workspace / "accelopt.db", ignored)) return memory::Delivery();
  TRY_ASSIGN(const auto reader, open_workspace(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto waiting, reader->waiting_for(place.name, 1));
  if (waiting.empty()) return memory::Delivery();
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_write));
  return memory::Knowledge({.place = place.name, .open = place.open, .journal = journal.get(), .notice = {}}).deliver();
}

void send_waiting_to(const KnowledgePlace& place, const Shell& shell, const fs::path& workspace) {
  const auto delivered = deliver_waiting(workspace, place);
  const std::string said =
      delivered ? describe(*delivered, place)
                : "what runs of this workspace learned may still wait in its journal: " + delivered.error().message;
  if (!said.empty()) shell.warn(report::printable(said));
}

}  // namespace

void send_waiting(const Shell& shell, const std::string& given, const fs::path& workspace) {
  const auto place = knowledge_place(chosen_knowledge(given, shell.environment), shell.environment);
  if (place) send_waiting_to(*place, shell, workspace);
}

Result<std::unique_ptr<memory::KnowledgeStore>> open_knowledge(const Shell& shell, const std::string& given,
                                                               const fs::path& workspace, KnowledgeUse use) {
  const std::string chosen = chosen_knowledge(given, shell.environment);
  if (chosen == kNoKnowledge) {
    return fail(ErrorCode::invalid_argument,
                "there is no knowledge store: --knowledge or ACCELOPT_KNOWLEDGE says none");
  }
  TRY_ASSIGN(const KnowledgePlace place, knowledge_place(chosen, shell.environment));
  send_waiting_to(place, shell, workspace);
  if (use == KnowledgeUse::writing || memory::surreal::is_address(chosen)) return place.open();
  return memory::open_knowledge_file(place.name, {.access = memory::KnowledgeFileOptions::Access::read_only});
}

}  // namespace accelopt::app

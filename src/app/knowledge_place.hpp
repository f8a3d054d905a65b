// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/shell.hpp"
#include "base/result.hpp"
#include "memory/knowledge.hpp"
#include "memory/knowledge_store.hpp"

namespace accelopt::app {

/// What --knowledge names: a file, or a database on a SurrealDB server.
struct KnowledgePlace {
  std::string name;  ///< path or address, never with a password
  std::function<base::Result<std::unique_ptr<memory::KnowledgeStore>>()> open;
};

/// The word that names no store: --knowledge none.
inline constexpr std::string_view kNoKnowledge = "none";
/// The variable that holds the password of a SurrealDB server.
inline constexpr const char* kKnowledgePassword = "ACCELOPT_SURREAL_PASSWORD";

/// What is to be used: what --knowledge gave; if nothing, what the variable ACCELOPT_KNOWLEDGE says; both absolute
/// where they are paths. Empty: the default. What begins as an address does ("word:/...") is no path, known or not.
std::string chosen_knowledge(const std::string& given, const Environment& environment);

/// Whether the text can name a store. @error invalid_argument: an address of another kind, or one that cannot be read;
/// it is never repeated, because it may hold a password.
base::Result<void> check_knowledge(std::string_view given);

/// The place that --knowledge names: surreal://user@host:8000/namespace/database, the same with surreal+https, or a
/// path; empty: knowledge.db below $XDG_DATA_HOME/accelopt or ~/.local/share/accelopt. Opens nothing.
/// @error invalid_argument: as check_knowledge(); not_found: no home folder to put the file into.
base::Result<KnowledgePlace> knowledge_place(std::string_view given, const Environment& environment);

/// What a store is opened for.
enum class KnowledgeUse { reading, writing };

/// The store that `given` (--knowledge) or the environment names, after what runs of this workspace learned and could
/// not deliver was sent there. What goes wrong with that is told through the shell and stops nothing. A file that is
/// only read must be there. @error invalid_argument: it names none; as knowledge_place() and KnowledgePlace::open.
base::Result<std::unique_ptr<memory::KnowledgeStore>> open_knowledge(const Shell& shell, const std::string& given,
                                                                     const std::filesystem::path& workspace,
                                                                     KnowledgeUse use);

/// Sends what runs of this workspace learned and could not deliver to the store that `given` or the environment names.
/// What goes wrong is told through the shell.
void send_waiting(const Shell& shell, const std::string& given, const std::filesystem::path& workspace);

/// "what had waited for PLACE has arrived (3 deliveries)", or why it still waits; empty: nothing did.
std::string describe(const memory::Delivery& delivery, const KnowledgePlace& place);

}  // namespace accelopt::app

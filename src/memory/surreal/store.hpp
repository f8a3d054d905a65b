// SPDX-License-Identifier: Apache-2.0
// The knowledge store of a team: a database on a SurrealDB server, as a graph that other tools read and write too.
#pragma once

#include <memory>
#include <string>

#include "memory/knowledge_store.hpp"
#include "memory/surreal/address.hpp"
#include "memory/surreal/client.hpp"

namespace accelopt::memory::surreal {

/// Signs in with the password (of the address's user; it appears in no message) and defines the tables that are not
/// there yet. insert() is all or none for each 250 experiences or 2 MiB, not for a longer list as a whole; it may be
/// repeated. Records without a target, as other tools write them, are retrieved for every target.
/// @error as KnowledgeStore, and not_found: no such namespace or database; unsupported: no SurrealDB 3 answers there.
base::Result<std::unique_ptr<KnowledgeStore>> open_store(const Address& address, std::string password,
                                                         const Options& options = {});

}  // namespace accelopt::memory::surreal

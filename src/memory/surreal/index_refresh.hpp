// SPDX-License-Identifier: Apache-2.0
// Reads entries from the server into the indexes that a client chooses from.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "memory/surreal/client.hpp"
#include "memory/surreal/digest.hpp"
#include "memory/surreal/index.hpp"

namespace accelopt::memory::surreal {

/// Reads the entries of these indexes, kIndexNames of them, that changed since the last time; for the first time from
/// an index's digest and the entries after it, and writes a digest where there were many of those. @error as
/// Client::ask.
base::Result<void> refresh(Client& client, std::map<IndexName, Index>& indexes, const std::vector<IndexName>& names);

/// The entries of all languages and targets, as they were read last.
struct AllEntries {
  Index index{Index::Words::all};
  std::set<IndexName> names{};  ///< that were among them
};
/// Reads those that changed since the last time. @error likewise.
base::Result<void> refresh(Client& client, AllEntries& all);

}  // namespace accelopt::memory::surreal

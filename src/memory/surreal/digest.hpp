// SPDX-License-Identifier: Apache-2.0
// The entries of an index as one client has read them, kept in a few records for the next one's first reading: a scan
// takes the server 0.2 ms an entry, and most entries never change. Whatever changed since is read as always.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "memory/surreal/client.hpp"

namespace accelopt::memory::surreal {

using IndexName = std::pair<std::string, std::string>;  ///< language and target

struct Digest {
  std::vector<base::Json> rows;  ///< as kReadCards gives them, of texts the different words alone
  base::Json stamp = 0;  ///< all entries up to this stamp and key are among the rows, as far as they still count
  base::Json key = "";
};

/// A row as a digest keeps it.
base::Json digested(base::Json row);

/// None: nobody has written one, or others are writing it, or it is of a form that cannot be used, which is read again
/// from the entries.
/// @error as Client::ask, but for a table that is not there.
base::Result<std::optional<Digest>> read_digest(Client& client, const IndexName& name);

/// Replaces what is there. @error as Client::ask; permission_denied where the user may only read.
base::Result<void> write_digest(Client& client, const IndexName& name, const Digest& digest);

/// Removes the digests of all indexes: what is forgotten stands in none. @error as Client::ask.
base::Result<void> remove_digests(Client& client);

}  // namespace accelopt::memory::surreal

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace accelopt::memory::surreal {

/// Where a SurrealDB store is, and as whom it is asked. Nothing of it is secret.
struct Address {
  std::string url;   ///< "http://host:port" or "https://host:port"
  std::string user;  ///< empty: nobody (a server without authentication)
  std::string name_space;
  std::string database;
  std::string name;  ///< as the user wrote it
};

/// Whether the text names a SurrealDB store: it begins with surreal:// or surreal+https://.
bool is_address(std::string_view text);

/// Reads surreal://[user@]host[:port]/namespace/database or the same with surreal+https; the port is 8000, over https
/// 443, where none is given. Parts may be percent-encoded.
/// @error invalid_argument: it has another form, or holds a password.
base::Result<Address> parse_address(std::string_view text);

}  // namespace accelopt::memory::surreal

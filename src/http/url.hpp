// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace accelopt::http {

/// Whom an address belongs to: nothing of it is secret, so it may stand in messages.
struct Origin {
  std::string scheme;  ///< "http" or "https"
  std::string host;    ///< a name, an IPv4 address, or an IPv6 address in brackets
  std::string port;    ///< always there, the scheme's own where the address has none
  bool operator==(const Origin&) const = default;
};

/// "host:port".
std::string to_string(const Origin& origin);

/// Whether the host is this machine itself: localhost, 127.0.0.0/8, ::1.
bool is_loopback(const Origin& origin);

/// The origin of an absolute http or https address.
/// @error invalid_argument: malformed, another scheme, or a user name or password in it (keys do not belong into
/// addresses).
base::Result<Origin> origin_of(std::string_view url);

/// The address that `location` (absolute or relative) means when it is met at `url`, without query and fragment; empty
/// when it means none.
std::string resolve_location(std::string_view url, std::string_view location);

}  // namespace accelopt::http

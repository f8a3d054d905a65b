// SPDX-License-Identifier: Apache-2.0
// What the environment says of proxies, for messages: libcurl reads it by itself.
#pragma once

#include <string>
#include <vector>

#include "http/url.hpp"

namespace accelopt::http {

struct Proxy {
  std::string variable;  ///< "HTTPS_PROXY"
  std::string address;   ///< may hold a password: not to be shown
};

/// The proxy that the environment names for an origin, as libcurl looks for it; both empty where it names none.
Proxy proxy_of(const Origin& origin);

/// The user of an address, with the password ("joe:secret"), even where the address is no address because of it; empty
/// where it has none.
std::string user_in(const std::string& address);

/// What no message may show of the proxies of the environment: users with their passwords, and passwords.
std::vector<std::string> proxy_secrets();

}  // namespace accelopt::http

// SPDX-License-Identifier: Apache-2.0
// MCP over HTTP: one message a POST, one reply, or a stream of events where progress is asked for. No sessions are
// kept.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/http_request.hpp"

namespace accelopt::mcp {

struct HttpOptions {
  std::string address = "127.0.0.1";  ///< IPv4
  int port = 0;                       ///< 0: any that is free
  std::string token{};  ///< that clients must bear; must not be empty where the address is not this machine's own
  HttpSite site{};      ///< what is answered besides /mcp
  std::function<void(const std::string& url)> listening{};  ///< told once: where MCP is
};

/// Serves any number of clients until `stop` is asked for. @error invalid_argument: the address is none, or needs a
/// token; unavailable: the port is taken; permission_denied, io.
base::Result<void> serve_http(const Catalogue& catalogue, const HttpOptions& options, const std::stop_token& stop);

}  // namespace accelopt::mcp

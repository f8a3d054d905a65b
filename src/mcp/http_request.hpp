// SPDX-License-Identifier: Apache-2.0
// The little of HTTP/1.1 that MCP's transport needs: one request, with a body of known length.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "mcp/json_rpc.hpp"

namespace accelopt::mcp {

struct HttpRequest {
  std::string method;
  std::string path;                            ///< without a query
  std::map<std::string, std::string> headers;  ///< names in small letters; of several, the first
  std::string body;

  [[nodiscard]] std::string header(const std::string& name) const;
};

/// A request's first lines, up to the empty one. None: malformed, or a header that changes how the body is read stands
/// there twice.
std::optional<HttpRequest> read_head(std::string_view text);

/// Who may speak to a server.
struct HttpAccess {
  std::string token{};                                              ///< that every request must bear; empty: none
  enum class Reach { loopback, anywhere } reach = Reach::loopback;  ///< loopback: requests must name this machine
};

/// What is answered in place of carrying a request out.
struct HttpRefusal {
  int status = 400;
  std::string text;
};

/// Whether a request may be read on, by its head alone: path, method, token, host and origin (a page of another site
/// that a browser shows must not reach this server, by whatever name), type and length.
std::optional<HttpRefusal> refuse(const HttpRequest& head, const HttpAccess& access, std::size_t most_bytes);

/// Whether the headers of a self-describing request say what its body says. @source MCP 2026-07-28, Streamable HTTP.
std::optional<RpcError> header_mismatch(const HttpRequest& request, const Message& message);

/// The status of a reply: self-describing requests have some errors say so.
int status_of(const base::Json& reply, std::string_view version);

}  // namespace accelopt::mcp

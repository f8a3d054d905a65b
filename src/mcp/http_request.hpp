// SPDX-License-Identifier: Apache-2.0
// The little of HTTP/1.1 that MCP's transport needs: one request, with a body of known length.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
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
  std::string query{};  ///< what stands behind the path's '?', as it was sent

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

/// Whether a request to MCP may be read on, by its head alone: path, method, token, host and origin (a page of another
/// site or port that a browser shows must not reach this server, by whatever name), type and length.
std::optional<HttpRefusal> refuse(const HttpRequest& head, const HttpAccess& access, std::size_t most_bytes);

/// What is answered to a browser.
struct HttpReply {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
  std::string headers{};  ///< more of them, each with its line's end
};

/// What a server answers besides MCP: a page and what it asks for. Empty functions: nothing.
struct HttpSite {
  /// Whether a request, by its head alone, is for something that tells nothing of anybody, so that it needs no token.
  std::function<bool(const HttpRequest&)> open{};
  /// From any thread.
  std::function<HttpReply(const HttpRequest&, const std::stop_token&)> answer{};
};

/// The same of a request to the site, whose `open` things alone may be led to from elsewhere.
std::optional<HttpRefusal> refuse_to_site(const HttpRequest& head, const HttpAccess& access, const HttpSite& site,
                                          std::size_t most_bytes);

/// Whether the headers of a self-describing request say what its body says. @source MCP 2026-07-28, Streamable HTTP.
std::optional<RpcError> header_mismatch(const HttpRequest& request, const Message& message);

/// The status of a reply: self-describing requests have some errors say so.
int status_of(const base::Json& reply, std::string_view version);

}  // namespace accelopt::mcp

// SPDX-License-Identifier: Apache-2.0
#include "mcp/http_request.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "mcp/server.hpp"

namespace accelopt::mcp {
namespace {

using base::Json;
using base::text_at;

constexpr std::string_view kFieldBlanks = " \t";

/// In a time that says nothing of where they differ.
bool equal_secrets(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^
                                        static_cast<unsigned char>(b[b.empty() ? 0 : i % b.size()]));
  return difference == 0 && !b.empty();
}

/// "localhost:8000" and the like.
bool names_loopback(std::string_view host) {
  if (host.starts_with("[::1]"))
    host.remove_prefix(5);
  else if (host.starts_with("127."))
    host.remove_prefix(std::min(host.find_first_not_of("0123456789."), host.size()));
  else if (base::lower(host.substr(0, 9)) == "localhost")
    host.remove_prefix(9);
  else
    return false;
  return host.empty() || (host.front() == ':' && host.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

/// As the client meant it: a value that is no plain text stands in a wrapping.
std::string unwrapped(const std::string& value) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  if (!value.starts_with(kBegin) || !value.ends_with(kEnd) || value.size() < kBegin.size() + kEnd.size()) return value;
  return base::from_base64(value.substr(kBegin.size(), value.size() - kBegin.size() - kEnd.size())).value_or(value);
}

/// Whether the page's address begins with that of the server that it asks.
bool is_of_host(std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.starts_with(scheme)) return base::lower(origin.substr(scheme.size())) == base::lower(host);
  return false;
}

std::optional<HttpRefusal> refuse_stranger(const HttpRequest& head, const HttpAccess& access) {
  const std::string host = head.header("host");
  if (access.reach == HttpAccess::Reach::loopback && !names_loopback(host))
    return HttpRefusal{403, "this server answers to localhost alone"};
  const std::string origin = head.header("origin");
  if (!origin.empty() && !is_of_host(origin, host))
    return HttpRefusal{403, "requests from pages of other sites are refused"};
  return std::nullopt;
}

/// Whether the browser says that another page asks.
bool is_from_another_page(const HttpRequest& head) {
  const std::string from = head.header("sec-fetch-site");
  return !from.empty() && from != "same-origin" && from != "none";
}

std::optional<HttpRefusal> refuse_without_token(const HttpRequest& head, const HttpAccess& access) {
  if (access.token.empty() || equal_secrets("Bearer " + access.token, head.header("authorization")))
    return std::nullopt;
  return HttpRefusal{401, "the token is missing or wrong; send Authorization: Bearer TOKEN"};
}

std::optional<HttpRefusal> refuse_body(const HttpRequest& head, std::size_t most_bytes) {
  if (base::lower(head.header("content-type")).substr(0, 16) != "application/json")
    return HttpRefusal{415, "a message is sent as application/json"};
  const std::string length = head.header("content-length");
  std::size_t bytes = 0;
  const auto [end, problem] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (head.headers.contains("transfer-encoding") || length.empty() || problem == std::errc::invalid_argument ||
      end != length.data() + length.size())
    return HttpRefusal{411, "say the message's Content-Length"};
  if (problem != std::errc() || bytes > most_bytes)
    return HttpRefusal{413, "the message is longer than " + std::to_string(most_bytes) + " bytes"};
  return std::nullopt;
}

}  // namespace

std::string HttpRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

std::optional<HttpRequest> read_head(std::string_view text) {
  HttpRequest out;
  std::size_t at = text.find("\r\n");
  const std::string_view line = text.substr(0, at);
  const std::size_t first = line.find(' ');
  const std::size_t second = line.rfind(' ');
  if (at == std::string_view::npos || first == std::string_view::npos || first == second) return std::nullopt;
  if (!line.substr(second + 1).starts_with("HTTP/1.")) return std::nullopt;
  out.method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, second - first - 1);
  const std::size_t question = std::min(target.find('?'), target.size());
  out.path = target.substr(0, question);
  out.query = target.substr(std::min(question + 1, target.size()));
  for (at += 2; at < text.size();) {
    const std::size_t end = std::min(text.find("\r\n", at), text.size());
    const std::string_view header = text.substr(at, end - at);
    at = end + 2;
    if (header.empty()) break;
    const std::size_t colon = header.find(':');
    if (colon == std::string_view::npos || colon == 0 || header.find_first_of(" \t") < colon) return std::nullopt;
    const std::string name = base::lower(header.substr(0, colon));
    if (!out.headers.emplace(name, base::trimmed(header.substr(colon + 1), kFieldBlanks)).second &&
        (name == "content-length" || name == "host" || name == "authorization"))
      return std::nullopt;
  }
  return out;
}

std::optional<HttpRefusal> refuse(const HttpRequest& head, const HttpAccess& access, std::size_t most_bytes) {
  if (const auto refusal = refuse_stranger(head, access)) return refusal;
  if (is_from_another_page(head)) return HttpRefusal{403, "requests from other pages are refused"};
  if (const auto refusal = refuse_without_token(head, access)) return refusal;
  if (head.path != "/mcp") return HttpRefusal{404, "there is nothing here; the endpoint is /mcp"};
  if (head.method != "POST")
    return HttpRefusal{405, "messages are sent by POST; there are no sessions and no streams to GET"};
  return refuse_body(head, most_bytes);
}

std::optional<HttpRefusal> refuse_to_site(const HttpRequest& head, const HttpAccess& access, const HttpSite& site,
                                          std::size_t most_bytes) {
  if (const auto refusal = refuse_stranger(head, access)) return refusal;
  const bool open = site.open(head);
  const bool led_here = open && head.header("sec-fetch-mode") == "navigate";
  if (is_from_another_page(head) && !led_here) return HttpRefusal{403, "requests from other pages are refused"};
  if (!open) {
    if (const auto refusal = refuse_without_token(head, access)) return refusal;
  }
  if (head.method == "GET" && !head.headers.contains("content-length") && !head.headers.contains("transfer-encoding"))
    return std::nullopt;
  if (head.method != "POST") return HttpRefusal{405, "the page is read by GET, without a body, and asked by POST"};
  return refuse_body(head, most_bytes);
}

std::optional<RpcError> header_mismatch(const HttpRequest& request, const Message& message) {
  const auto mismatch = [](const std::string& text) { return RpcError{RpcCode::header_mismatch, text, {}}; };
  const auto meta = message.params.find("_meta");
  const std::string stated =
      meta == message.params.end() ? std::string() : text_at(*meta, "io.modelcontextprotocol/protocolVersion");
  const std::string version = request.header("mcp-protocol-version");
  if (stated.empty() && version != kModernVersion) return std::nullopt;
  if (version != stated) return mismatch("MCP-Protocol-Version is not the version in the message's _meta");
  if (stated != kModernVersion) return std::nullopt;  // the server says that it does not speak it
  if (request.header("mcp-method") != message.method) return mismatch("Mcp-Method is not the message's method");
  const bool names = message.method == "tools/call" || message.method == "prompts/get";
  const char* const key = names                                  ? "name"
                          : message.method == "resources/read"   ? "uri"
                          : message.method.starts_with("tasks/") ? "taskId"
                                                                 : nullptr;
  if (key != nullptr && unwrapped(request.header("mcp-name")) != text_at(message.params, key))
    return mismatch("Mcp-Name is not what the message names");
  return std::nullopt;
}

int status_of(const Json& reply, std::string_view version) {
  const auto error = reply.find("error");
  if (error == reply.end() || version != kModernVersion) return 200;
  const int code = error->value("code", 0);
  if (code == static_cast<int>(RpcCode::method_not_found)) return 404;
  for (const RpcCode refusal : {RpcCode::unsupported_version, RpcCode::header_mismatch, RpcCode::missing_capability})
    if (code == static_cast<int>(refusal)) return 400;
  return 200;
}

}  // namespace accelopt::mcp

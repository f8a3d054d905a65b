// SPDX-License-Identifier: Apache-2.0
#include "page/requests.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.hpp"

namespace accelopt::page {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;
using mcp::HttpReply;

constexpr std::string_view kPrefix = "/api/";

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// What stands at the places of a route's {}; none: the path is another one.
std::optional<std::vector<std::string>> names_in(std::string_view path, std::string_view route) {
  const auto given = parts_of(path, '/');
  const auto wanted = parts_of(route, '/');
  if (given.size() != wanted.size()) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (wanted[i] == "{}")
      names.push_back(decoded(given[i]));
    else if (given[i] != wanted[i])
      return std::nullopt;
  }
  return names;
}

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::permission_denied:
      return 403;
    case ErrorCode::already_exists:
      return 409;
    case ErrorCode::unavailable:
    case ErrorCode::timed_out:
    case ErrorCode::exhausted:
      return 503;
    case ErrorCode::invalid_argument:
    case ErrorCode::parse:
    case ErrorCode::unsupported:
      return 400;
    default:
      return 500;
  }
}

HttpReply refusal(int status, const std::string& text) {
  return {.status = status, .body = base::canonical(Json{{"error", text}})};
}

}  // namespace

std::string decoded(std::string_view text) {
  std::string blanks(text);
  std::ranges::replace(blanks, '+', ' ');
  return base::percent_decoded(blanks);
}

Result<std::int64_t> Request::number(const std::string& name, std::int64_t usual, std::int64_t most) const {
  const std::string given = text(name);
  if (given.empty()) return usual;
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (problem != std::errc() || end != given.data() + given.size() || value < 0 || value > most)
    return base::fail(ErrorCode::invalid_argument, name + " is a number from 0 to " + std::to_string(most));
  return value;
}

std::string Request::text(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() ? std::string() : found->second;
}

HttpReply json_reply(const Json& json) {
  return {.body = base::canonical(json)};
}

HttpReply answer(const std::vector<Route>& routes, const mcp::HttpRequest& request) {
  Request asked;
  for (const std::string& option : parts_of(request.query, '&')) {
    const std::size_t equals = std::min(option.find('='), option.size());
    asked.options[decoded(option.substr(0, equals))] =
        decoded(std::string_view(option).substr(std::min(equals + 1, option.size())));
  }
  const std::string_view path = std::string_view(request.path).substr(std::min(kPrefix.size(), request.path.size()));
  bool known = false;
  for (const Route& route : routes) {
    auto names = names_in(path, route.path);
    if (!names) continue;
    known = true;
    if (route.method != request.method) continue;
    asked.names = std::move(*names);
    if (request.method == "POST") {
      auto body = base::parse_json(request.body, "the request");
      if (!body) return refusal(400, body.error().message);
      if (!body->is_object()) return refusal(400, "the request is a JSON object");
      asked.body = std::move(*body);
    }
    auto reply = route.answer(asked);
    return reply ? std::move(*reply) : refusal(status_of(reply.error().code), reply.error().message);
  }
  return known ? refusal(405, "this is asked for by another method") : refusal(404, "there is nothing at this address");
}

}  // namespace accelopt::page

// SPDX-License-Identifier: Apache-2.0
#include "mcp/json_rpc.hpp"

#include <utility>

namespace accelopt::mcp {
namespace {

using base::Json;

/// More brackets within brackets than any call has: what reads or copies a value calls itself once for each.
constexpr int kDeepest = 64;

bool is_id(const Json& id) {
  return id.is_string() || id.is_number_integer();
}

tl::unexpected<Unreadable> unreadable(Json id, RpcCode code, std::string message) {
  return tl::make_unexpected(Unreadable{std::move(id), {code, std::move(message), {}}});
}

}  // namespace

tl::expected<std::optional<Message>, Unreadable> read_message(std::string_view text) {
  if (base::nests_deeper(text, kDeepest))
    return unreadable({}, RpcCode::parse_error,
                      "the message nests deeper than " + std::to_string(kDeepest) + " levels");
  auto parsed = base::parse_json(text, "the message");
  if (!parsed) return unreadable({}, RpcCode::parse_error, parsed.error().message);
  Json& json = *parsed;
  if (json.is_array())
    return unreadable({}, RpcCode::invalid_request, "batches are not supported: send one message at a time");
  if (!json.is_object()) return unreadable({}, RpcCode::invalid_request, "a message is a JSON object");
  const Json id = json.value("id", Json());
  const Json known_id = is_id(id) ? id : Json();
  if (json.value("jsonrpc", Json()) != "2.0")
    return unreadable(known_id, RpcCode::invalid_request, "\"jsonrpc\" must be \"2.0\"");
  if (!json.contains("method")) {
    if (json.contains("result") || json.contains("error")) return std::optional<Message>();
    return unreadable(known_id, RpcCode::invalid_request, "\"method\" is missing");
  }
  if (!json["method"].is_string()) return unreadable(known_id, RpcCode::invalid_request, "\"method\" must be a text");
  if (json.contains("id") && !is_id(id))
    return unreadable({}, RpcCode::invalid_request, "\"id\" must be a text or a whole number");
  Message message{id, json["method"].get<std::string>()};
  if (const auto params = json.find("params"); params != json.end() && !params->is_null()) {
    if (!params->is_object()) return unreadable(id, RpcCode::invalid_params, "\"params\" must be an object");
    message.params = std::move(*params);
  }
  return std::optional(std::move(message));
}

Json reply(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error_reply(const Json& id, const RpcError& error) {
  Json out = {
      {"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(error.code)}, {"message", error.message}}}};
  if (!error.data.is_null()) out["error"]["data"] = error.data;
  return out;
}

Json notification(const std::string& method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

}  // namespace accelopt::mcp

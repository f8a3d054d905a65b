// SPDX-License-Identifier: Apache-2.0
// JSON-RPC 2.0 as MCP uses it: one object a message, no batches.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace accelopt::mcp {

/// @source JSON-RPC 2.0 section 5.1; MCP 2026-07-28 for those below -32002.
enum class RpcCode {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal = -32603,
  busy = -32000,
  resource_not_found = -32002,  ///< of revisions before 2026-07-28, which say invalid_params
  header_mismatch = -32020,
  missing_capability = -32021,
  unsupported_version = -32022,
};

struct RpcError {
  RpcCode code = RpcCode::internal;
  std::string message;
  base::Json data{};  ///< null: none
};

/// A request, or, without an id, a notification.
struct Message {
  base::Json id;  ///< text or whole number; null: a notification
  std::string method;
  base::Json params = base::Json::object();

  [[nodiscard]] bool is_notification() const { return id.is_null(); }
};

/// What a line of a client is: a message; nothing (an answer, to what nobody asked); or what is wrong with it, with the
/// id that it has, if it has one.
struct Unreadable {
  base::Json id;
  RpcError error;
};
tl::expected<std::optional<Message>, Unreadable> read_message(std::string_view text);

base::Json reply(const base::Json& id, base::Json result);
base::Json error_reply(const base::Json& id, const RpcError& error);
base::Json notification(const std::string& method, base::Json params);

}  // namespace accelopt::mcp

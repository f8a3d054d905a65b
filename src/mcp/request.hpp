// SPDX-License-Identifier: Apache-2.0
// A request while it is answered, and what several methods need for that.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/json_rpc.hpp"

namespace accelopt::mcp {

/// The first revision with structured content, output schemas, titles and links to resources.
inline constexpr std::string_view kFirstStructured = "2025-06-18";
/// Of those that begin with a handshake, the one that has tasks.
inline constexpr std::string_view kLegacyWithTasks = "2025-11-25";
/// The extension by which self-describing requests say that their client knows tasks.
inline constexpr const char* kTasksExtension = "io.modelcontextprotocol/tasks";

struct Request {
  const Message& message;
  bool modern = false;
  bool knows_tasks = false;  ///< says so in this very request
  std::string version;
  std::string client;
  std::stop_token stop;
};

/// The object under a key; an empty one where there is none, or something else.
base::Json object_at(const base::Json& object, const char* key);

/// What tools/call answers: the result as this version has it, or, as a result for the model, why there is none.
base::Json call_result(base::Result<ToolResult> result, std::string_view version);

}  // namespace accelopt::mcp

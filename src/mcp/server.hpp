// SPDX-License-Identifier: Apache-2.0
// The Model Context Protocol over any transport, in both of its eras: clients that begin with `initialize` (revisions
// up to 2025-11-25), and those whose every request describes itself (2026-07-28).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/json_rpc.hpp"

namespace accelopt::mcp {

struct Request;

/// The revision whose requests describe themselves.
inline constexpr std::string_view kModernVersion = "2026-07-28";
/// Of those that begin with a handshake, the newest.
inline constexpr std::string_view kNewestLegacyVersion = "2025-11-25";

/// Whether a server of ours speaks this revision.
bool speaks(std::string_view version);

/// One client's connection: one process's standard streams, or, over HTTP, one request.
class Connection {
 public:
  /// Sends a message to the client; from any thread.
  using Send = std::function<void(const base::Json&)>;

  /// The catalogue outlives the connection.
  Connection(const Catalogue& catalogue, Send send) : catalogue_(catalogue), send_(std::move(send)) {}

  /// Answers a message: replies and notifications go through Send, in this thread. Any number of threads may call.
  void handle(const Message& message);
  /// Answers what could not be read.
  void refuse(const Unreadable& unreadable);
  /// Begins the message that a thread will handle later, so that it can be cancelled from now on.
  void expect(const Message& message);
  /// The client went away: calls that wait end.
  void close();

  /// Over HTTP a client of the old era says with each request which revision was agreed on.
  void assume_version(std::string_view version);

 private:
  using Outcome = tl::expected<base::Json, RpcError>;

  Outcome dispatch(Request& request);
  Outcome initialize(const base::Json& params);
  [[nodiscard]] base::Json discover() const;
  [[nodiscard]] base::Json capabilities(std::string_view version) const;
  [[nodiscard]] base::Json server_info() const;
  [[nodiscard]] base::Json list_tools(const Request& request) const;
  Outcome call_tool(Request& request);
  [[nodiscard]] Outcome list_resources() const;
  [[nodiscard]] base::Json list_templates() const;
  [[nodiscard]] Outcome read_resource(const Request& request) const;
  [[nodiscard]] base::Json list_prompts() const;
  [[nodiscard]] Outcome get_prompt(const base::Json& params) const;
  [[nodiscard]] Outcome complete(const base::Json& params) const;
  [[nodiscard]] bool wants_task(const Request& request, const Tool& tool) const;
  [[nodiscard]] Outcome begun_task(const Request& request, const ToolResult& result) const;
  [[nodiscard]] Outcome task_method(const Request& request) const;
  [[nodiscard]] Outcome task_result(const Request& request, const std::string& id) const;
  [[nodiscard]] Outcome cancel_task(const Request& request, const std::string& id) const;
  void cancel(const base::Json& params);
  [[nodiscard]] std::stop_token stop_of(const base::Json& id);

  const Catalogue& catalogue_;
  Send send_;
  std::mutex mutex_;
  std::string version_;  ///< agreed on by the handshake; empty: none yet
  std::string client_;
  std::map<std::string, std::stop_source> in_progress_;  ///< by the request's id
  bool closed_ = false;
};

}  // namespace accelopt::mcp

// SPDX-License-Identifier: Apache-2.0
// What a server offers, as values: the protocol (server.hpp) knows nothing of kernels, and these know nothing of the
// protocol.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace accelopt::mcp {

/// One call while it is answered.
struct Call {
  std::stop_token stop{};                                                   ///< the client does not wait any more
  std::string client{};                                                     ///< who calls, as it names itself
  std::function<void(double done, const std::string& text)> progress = {};  ///< empty: nobody wants to know
};

/// A resource that a result points at.
struct Link {
  std::string uri;
  std::string name;
  std::string description;
  std::string mime_type;
};

/// What a tool gives: for a model to read, and for a program.
struct ToolResult {
  std::string text;
  base::Json structured = base::Json::object();
  std::vector<Link> links{};
  std::string task{};  ///< what goes on after the call, by the id of its task; empty: nothing
};

/// What a tool does to the world, for whoever asks a person first.
enum class Effect {
  reads,   ///< changes nothing
  writes,  ///< adds something
  ends,    ///< ends or replaces something
};
/// Whether calling it again with the same arguments does more.
enum class Again { same, more };

struct Tool {
  std::string name;
  std::string title;
  std::string description;
  Effect effect = Effect::reads;
  Again again = Again::same;
  base::Json input;   ///< schema of the arguments
  base::Json output;  ///< schema of ToolResult::structured
  /// The argument that asks for a task in place of the result, where the client knows tasks; empty: it begins none.
  std::string follow{};
  /// The arguments are as `input` says. Must return within ten seconds; may be called from many threads.
  std::function<base::Result<ToolResult>(const base::Json& arguments, const Call& call)> run;
};

/// What a call began and left going on.
struct Task {
  enum class Status { working, completed, cancelled };
  std::string id;
  Status status = Status::working;
  std::string message;  ///< for a person or a model
  std::string created;  ///< UTC, ISO 8601, like the next
  std::string updated;
  std::optional<base::Result<ToolResult>> result{};  ///< once it is completed
};

/// Tasks that outlive calls, clients and the server. All may be called from many threads.
struct Tasks {
  /// The task once it has ended, or `seconds` have passed, or nobody waits any more. @error not_found.
  std::function<base::Result<Task>(const std::string& id, double seconds, const std::stop_token& stop)> get;
  /// Asks for its end. @error not_found; invalid_argument: it has ended.
  std::function<base::Result<void>(const std::string& id)> cancel;
};

struct ResourceText {
  std::string mime_type;
  std::string text;
};

/// Resources of one form: "accelopt://runs/{run}/patch".
struct ResourceTemplate {
  std::string uri_template;  ///< with at most one {name}, which stands for one segment
  std::string name;
  std::string description;
  std::string mime_type;
  std::function<base::Result<ResourceText>(const std::string& value)> read;
  /// What {name} may be, given its beginning; empty: nobody knows.
  std::function<base::Result<std::vector<std::string>>(const std::string& beginning)> complete = {};
};

struct PromptArgument {
  std::string name;
  std::string description;
  bool required = false;
};
struct Prompt {
  std::string name;
  std::string title;
  std::string description;
  std::vector<PromptArgument> arguments;
  std::function<std::string(const base::Json& arguments)> text;
};

struct Catalogue {
  std::string name;
  std::string title;
  std::string version;
  std::string instructions;  ///< for the model, of the whole
  std::vector<Tool> tools;
  std::vector<ResourceTemplate> templates;
  std::function<base::Result<std::vector<Link>>()> resources;  ///< those that are there now
  std::vector<Prompt> prompts;
  Tasks tasks = {};  ///< without functions: it has none
};

}  // namespace accelopt::mcp

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
  /// The arguments are as `input` says. Must return within ten seconds; may be called from many threads.
  std::function<base::Result<ToolResult>(const base::Json& arguments, const Call& call)> run;
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
};

}  // namespace accelopt::mcp

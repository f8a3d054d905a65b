// SPDX-License-Identifier: Apache-2.0
// A server's offer without kernels: an echo, a tool that fails, one that waits until nobody waits for it, one with a
// bug.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "mcp/catalogue.hpp"
#include "mcp/schema.hpp"

namespace accelopt::mcp {

inline Tool fake_tool(const std::string& name,
                      std::function<base::Result<ToolResult>(const base::Json&, const Call&)> run) {
  return {.name = name,
          .title = name,
          .description = "for tests",
          .input = schema(R"({"type": "object", "properties": {"text": {"type": "string", "maxLength": 100}},
                              "additionalProperties": false})"),
          .output = schema(R"({"type": "object"})"),
          .run = std::move(run)};
}

inline Catalogue fake_catalogue() {
  Catalogue out{.name = "fake",
                .title = "Fake",
                .version = "1",
                .instructions = "use me",
                .tools = {},
                .templates = {},
                .resources =
                    [] {
                      return std::vector<Link>{{"fake://a", "a", "the letter", "text/plain"}};
                    },
                .prompts = {}};
  out.tools.push_back(fake_tool("echo", [](const base::Json& arguments, const Call& call) -> base::Result<ToolResult> {
    if (call.progress) {
      call.progress(1, "half");
      call.progress(1, "not more than before");
      call.progress(2, "whole");
    }
    return ToolResult{"said " + arguments.value("text", "nothing"),
                      {{"text", arguments.value("text", "")}, {"client", call.client}},
                      {{"fake://a", "a", "", "text/plain"}}};
  }));
  out.tools.push_back(fake_tool("fail", [](const base::Json&, const Call&) -> base::Result<ToolResult> {
    return base::fail(base::ErrorCode::not_found, "there is no such thing; make it first");
  }));
  out.tools.push_back(fake_tool("wait", [](const base::Json&, const Call& call) -> base::Result<ToolResult> {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait(lock, call.stop, [] { return false; });
    return ToolResult{"nobody hears this"};
  }));
  out.tools.push_back(fake_tool("bug", [](const base::Json&, const Call&) -> base::Result<ToolResult> {
    throw std::runtime_error("a cat on the keyboard");
  }));
  out.templates.push_back({"fake://{letter}", "letter", "a letter", "text/plain",
                           [](const std::string& letter) -> base::Result<ResourceText> {
                             if (letter != "a") return base::fail(base::ErrorCode::not_found, "only a is there");
                             return ResourceText{"text/plain", "A"};
                           }});
  out.prompts.push_back({"greet", "Greet", "says hello", {{"name", "whom", true}}, [](const base::Json& arguments) {
                           return "hello " + arguments.value("name", "");
                         }});
  return out;
}

}  // namespace accelopt::mcp

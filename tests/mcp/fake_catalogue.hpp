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

/// Four tasks: "going", "well" and "badly" ended, "cancelled".
inline Tasks fake_tasks() {
  const auto get = [](const std::string& id, double, const std::stop_token&) -> base::Result<Task> {
    Task task{.id = id, .message = "so far", .created = "2026-01-01T00:00:00Z", .updated = "2026-01-01T00:00:05Z"};
    if (id == "well") task.result = ToolResult{"all is well", {{"ok", true}}};
    if (id == "badly") task.result = base::fail(base::ErrorCode::unavailable, "it died; call resume");
    if (task.result) task.status = Task::Status::completed;
    if (id == "cancelled") task.status = Task::Status::cancelled;
    if (task.status == Task::Status::working && id != "going")
      return base::fail(base::ErrorCode::not_found, "there is no such task");
    return task;
  };
  return {.get = get, .cancel = [get](const std::string& id) -> base::Result<void> {
            TRY_ASSIGN(const Task task, get(id, 0, {}));
            if (task.status == Task::Status::working) return {};
            return base::fail(base::ErrorCode::invalid_argument, "it has ended");
          }};
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
  Tool begin = fake_tool("begin", [](const base::Json&, const Call&) -> base::Result<ToolResult> {
    return ToolResult{"it has begun", base::Json::object(), {}, "going"};
  });
  begin.input["properties"]["follow"] = {{"type", "boolean"}};
  begin.follow = "follow";
  out.tools.push_back(std::move(begin));
  out.tasks = fake_tasks();
  out.templates.push_back({"fake://{letter}", "letter", "a letter", "text/plain",
                           [](const std::string& letter) -> base::Result<ResourceText> {
                             if (letter != "a") return base::fail(base::ErrorCode::not_found, "only a is there");
                             return ResourceText{"text/plain", "A"};
                           },
                           [](const std::string& beginning) {
                             return beginning.empty() ? std::vector<std::string>(150, "a") : std::vector<std::string>();
                           }});
  out.prompts.push_back({"greet", "Greet", "says hello", {{"name", "whom", true}}, [](const base::Json& arguments) {
                           return "hello " + arguments.value("name", "");
                         }});
  return out;
}

}  // namespace accelopt::mcp

// SPDX-License-Identifier: Apache-2.0
// Tasks, in both forms: those that a client of revision 2025-11-25 asks for call by call, and the extension of
// 2026-07-28, where the server begins one if the request says that its client knows them.
#include <utility>

#include "mcp/request.hpp"
#include "mcp/server.hpp"

namespace accelopt::mcp {

using base::Json;
using base::text_at;

namespace {

constexpr int kPollMs = 2000;
/// A call that waits for the end of a task looks this often whether anybody still waits for it.
constexpr double kWaitSeconds = 8;
constexpr const char* kRelatedKey = "io.modelcontextprotocol/related-task";
constexpr const char* kImmediateKey = "io.modelcontextprotocol/model-immediate-response";

const char* name_of(const Task& task, bool modern) {
  switch (task.status) {
    case Task::Status::working:
      return "working";
    case Task::Status::cancelled:
      return "cancelled";
    case Task::Status::completed:
      break;
  }
  // The older revision calls it a failure when a tool's result is an error.
  return modern || !task.result || task.result->has_value() ? "completed" : "failed";
}

/// What both forms say of a task. It is kept as long as its run.
Json task_json(const Task& task, bool modern) {
  return {{"taskId", task.id},
          {"status", name_of(task, modern)},
          {"statusMessage", task.message},
          {"createdAt", task.created},
          {"lastUpdatedAt", task.updated},
          {modern ? "ttlMs" : "ttl", nullptr},
          {modern ? "pollIntervalMs" : "pollInterval", kPollMs}};
}

RpcError task_error(const base::Error& error) {
  const bool theirs = error.code == base::ErrorCode::not_found || error.code == base::ErrorCode::invalid_argument;
  return {theirs ? RpcCode::invalid_params : RpcCode::internal, error.message, {}};
}

}  // namespace

bool Connection::wants_task(const Request& request, const Tool& tool) const {
  if (!catalogue_.tasks.get || tool.follow.empty()) return false;
  const Json& params = request.message.params;
  if (request.version == kLegacyWithTasks) return params.contains("task") && params["task"].is_object();
  const Json arguments = object_at(params, "arguments");
  return request.knows_tasks && arguments.value(tool.follow, Json()) == true;
}

Connection::Outcome Connection::begun_task(const Request& request, const ToolResult& result) const {
  const auto task = catalogue_.tasks.get(result.task, 0, request.stop);
  if (!task) return tl::make_unexpected(task_error(task.error()));
  Json json = task_json(*task, request.modern);
  if (!request.modern) return Json{{"task", std::move(json)}, {"_meta", {{kImmediateKey, result.text}}}};
  json["resultType"] = "task";
  return json;
}

Connection::Outcome Connection::task_method(const Request& request) const {
  const std::string method = request.message.method.substr(std::string_view("tasks/").size());
  const std::string id = text_at(request.message.params, "taskId");
  const bool known = method == "get" || method == "cancel" || method == (request.modern ? "update" : "result");
  if (!known || (!request.modern && request.version != kLegacyWithTasks))
    return tl::make_unexpected(
        RpcError{RpcCode::method_not_found, "there is no method \"tasks/" + method.substr(0, 80) + "\"", {}});
  if (request.modern && !request.knows_tasks) {
    return tl::make_unexpected(
        RpcError{RpcCode::missing_capability,
                 "the request does not say that its client knows tasks; the tools status and result need no tasks",
                 {{"requiredCapabilities", {{"extensions", {{kTasksExtension, Json::object()}}}}}}});
  }
  if (method == "result") return task_result(request, id);
  if (method == "cancel") return cancel_task(request, id);
  const auto task = catalogue_.tasks.get(id, 0, request.stop);
  if (!task) return tl::make_unexpected(task_error(task.error()));
  if (method == "update") return Json::object();  // tasks of ours ask for nothing: what was not asked is passed over
  Json json = task_json(*task, request.modern);
  if (request.modern && task->result) {
    json["result"] = call_result(*task->result, request.version);
    json["result"]["resultType"] = "complete";
  }
  return json;
}

Connection::Outcome Connection::task_result(const Request& request, const std::string& id) const {
  for (;;) {
    const auto task = catalogue_.tasks.get(id, kWaitSeconds, request.stop);
    if (!task) return tl::make_unexpected(task_error(task.error()));
    if (task->status == Task::Status::working && !request.stop.stop_requested()) continue;
    if (!task->result)
      return tl::make_unexpected(RpcError{RpcCode::invalid_params, "the task was cancelled: " + task->message, {}});
    Json out = call_result(*task->result, request.version);
    out["_meta"] = {{kRelatedKey, {{"taskId", id}}}};
    return out;
  }
}

Connection::Outcome Connection::cancel_task(const Request& request, const std::string& id) const {
  if (const auto asked = catalogue_.tasks.cancel(id); !asked) {
    // What has ended cannot be cancelled; only the older revision calls that an error.
    if (!request.modern || asked.error().code != base::ErrorCode::invalid_argument)
      return tl::make_unexpected(task_error(asked.error()));
  }
  if (request.modern) return Json::object();
  const auto task = catalogue_.tasks.get(id, kWaitSeconds, request.stop);
  if (!task) return tl::make_unexpected(task_error(task.error()));
  return task_json(*task, request.modern);
}

}  // namespace accelopt::mcp

// SPDX-License-Identifier: Apache-2.0
#include "mcp/server.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "base/text.hpp"
#include "mcp/request.hpp"
#include "mcp/schema.hpp"
#include "report/text_width.hpp"

namespace accelopt::mcp {

using base::Json;
using base::text_at;

namespace {

constexpr std::array<std::string_view, 4> kLegacyVersions{kNewestLegacyVersion, "2025-06-18", "2025-03-26",
                                                          "2024-11-05"};

/// The first revision that says in its capabilities whether a server completes arguments.
constexpr std::string_view kFirstWithCompletions = "2025-03-26";

// @source MCP 2026-07-28, basic: the keys of a request's _meta.
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kClientKey = "io.modelcontextprotocol/clientInfo";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";

Json supported_versions() {
  Json all = Json::array({kModernVersion});
  for (const auto version : kLegacyVersions) all.push_back(version);
  return all;
}

RpcError unsupported_version(const std::string& requested) {
  return {
      RpcCode::unsupported_version,
      "protocol version " + Json(requested).dump(-1, ' ', false, Json::error_handler_t::replace) + " is not supported",
      {{"supported", supported_versions()}, {"requested", requested}}};
}

/// What a client may keep, and for how long: the lists never change while a server runs.
void let_cache(Json& result, std::chrono::milliseconds time) {
  result["ttlMs"] = time.count();
  result["cacheScope"] = "private";
}
constexpr std::chrono::minutes kListsStay{10};

/// The name that a client gives itself, fit for a record.
std::string name_of_client(const Json& info) {
  constexpr std::size_t kLongest = 64;
  std::string name;
  for (const char c : text_at(info, "name").substr(0, kLongest)) name += (c >= ' ' && c <= '~') ? c : '?';
  return name;
}

Json content_of(const ToolResult& result) {
  Json content = Json::array({{{"type", "text"}, {"text", result.text}}});
  for (const Link& link : result.links) {
    content.push_back({{"type", "resource_link"},
                       {"uri", link.uri},
                       {"name", link.name},
                       {"description", link.description},
                       {"mimeType", link.mime_type}});
  }
  return content;
}

Json annotations_of(const Tool& tool) {
  return {{"title", tool.title},
          {"readOnlyHint", tool.effect == Effect::reads},
          {"destructiveHint", tool.effect == Effect::ends},
          {"idempotentHint", tool.again == Again::same},
          {"openWorldHint", false}};
}

/// What the segment that stands for {name} means; none: the address is of another form.
std::optional<std::string> fits(const std::string& uri_template, const std::string& uri) {
  const std::size_t opens = uri_template.find('{');
  const std::string before = uri_template.substr(0, opens);
  const std::string after = uri_template.substr(uri_template.find('}') + 1);
  if (!uri.starts_with(before) || !uri.ends_with(after) || uri.size() <= before.size() + after.size())
    return std::nullopt;
  const std::string segment = uri.substr(before.size(), uri.size() - before.size() - after.size());
  if (segment.find('/') != std::string::npos) return std::nullopt;
  return base::percent_decoded(segment);
}

}  // namespace

bool speaks(std::string_view version) {
  return version == kModernVersion || std::ranges::find(kLegacyVersions, version) != kLegacyVersions.end();
}

Json object_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : Json::object();
}

Json call_result(base::Result<ToolResult> result, std::string_view version) {
  // For the model, which can do something about it: no error of the protocol.
  if (!result)
    return {{"content", Json::array({{{"type", "text"}, {"text", report::printable_lines(result.error().message)}}})},
            {"isError", true}};
  if (version < kFirstStructured && !version.empty()) {
    result->links.clear();
    return {{"content", content_of(*result)}, {"isError", false}};
  }
  return {{"content", content_of(*result)}, {"structuredContent", result->structured}, {"isError", false}};
}

void Connection::handle(const Message& message) {
  if (message.is_notification()) {
    if (message.method == "notifications/cancelled") cancel(message.params);
    return;
  }
  Request request{message, false, false, {}, {}, stop_of(message.id)};
  const Json meta = object_at(message.params, "_meta");
  const std::string stated = text_at(meta, kVersionKey);
  {
    const std::scoped_lock lock(mutex_);
    request.modern = !stated.empty() || message.method == "server/discover";
    request.version = request.modern ? std::string(kModernVersion) : version_;
    request.knows_tasks =
        request.modern && object_at(object_at(meta, kCapabilitiesKey), "extensions").contains(kTasksExtension);
    request.client = request.modern ? name_of_client(object_at(meta, kClientKey)) : client_;
  }
  Outcome outcome =
      !stated.empty() && stated != kModernVersion ? tl::make_unexpected(unsupported_version(stated)) : Outcome(Json());
  if (outcome) {
    // The one place where a bug ends a call and not the server with all others that wait.
    try {
      outcome = dispatch(request);
    } catch (const std::exception& problem) {
      outcome = tl::make_unexpected(
          RpcError{RpcCode::internal, std::string("a bug in accelopt: ") + problem.what() + "; please report it", {}});
    }
  }
  if (outcome && request.modern) {
    outcome->emplace("resultType", "complete");
    (*outcome)["_meta"][kServerKey] = server_info();
  }
  {
    const std::scoped_lock lock(mutex_);
    in_progress_.erase(message.id.dump());
    if (closed_) return;
  }
  // A cancelled request gets no reply.
  if (request.stop.stop_requested()) return;
  send_(outcome ? reply(message.id, std::move(*outcome)) : error_reply(message.id, outcome.error()));
}

void Connection::refuse(const Unreadable& unreadable) {
  {
    const std::scoped_lock lock(mutex_);
    in_progress_.erase(unreadable.id.dump());
  }
  send_(error_reply(unreadable.id, unreadable.error));
}

void Connection::expect(const Message& message) {
  if (!message.is_notification()) static_cast<void>(stop_of(message.id));
}

std::stop_token Connection::stop_of(const Json& id) {
  const std::scoped_lock lock(mutex_);
  std::stop_source& source = in_progress_.try_emplace(id.dump()).first->second;
  if (closed_) source.request_stop();
  return source.get_token();
}

void Connection::cancel(const Json& params) {
  const std::scoped_lock lock(mutex_);
  const auto found = in_progress_.find(params.value("requestId", Json()).dump());
  if (found != in_progress_.end()) found->second.request_stop();
}

void Connection::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  for (auto& [id, source] : in_progress_) source.request_stop();
}

void Connection::assume_version(std::string_view version) {
  const std::scoped_lock lock(mutex_);
  version_ = version;
}

Connection::Outcome Connection::dispatch(Request& request) {
  const std::string& method = request.message.method;
  const Json& params = request.message.params;
  const auto lasting = [&](Json result) {
    if (request.modern) let_cache(result, kListsStay);
    return result;
  };
  if (method == "server/discover") return lasting(discover());
  if (!request.modern) {  // these are of the old era alone
    if (method == "initialize") return initialize(params);
    if (method == "ping") return Json::object();
    if (method == "logging/setLevel") return Json::object();
  }
  if (method == "tools/list") return lasting(list_tools(request));
  if (method == "tools/call") return call_tool(request);
  if (method == "resources/list") {
    Outcome listed = list_resources();
    if (listed && request.modern) let_cache(*listed, {});
    return listed;
  }
  if (method == "resources/templates/list") return lasting(list_templates());
  if (method == "resources/read") {
    Outcome read = read_resource(request);
    if (read && request.modern) let_cache(*read, {});
    return read;
  }
  if (method == "prompts/list") return lasting(list_prompts());
  if (method == "prompts/get") return get_prompt(params);
  if (method == "completion/complete") return complete(params);
  if (method.starts_with("tasks/") && catalogue_.tasks.get) return task_method(request);
  return tl::make_unexpected(
      RpcError{RpcCode::method_not_found, "there is no method \"" + method.substr(0, 80) + "\"", {}});
}

Connection::Outcome Connection::initialize(const Json& params) {
  const std::string asked = text_at(params, "protocolVersion");
  const bool known = std::ranges::find(kLegacyVersions, asked) != kLegacyVersions.end();
  const std::scoped_lock lock(mutex_);
  version_ = known ? asked : std::string(kNewestLegacyVersion);
  client_ = name_of_client(object_at(params, "clientInfo"));
  return Json{{"protocolVersion", version_},
              {"capabilities", capabilities(version_)},
              {"serverInfo", server_info()},
              {"instructions", catalogue_.instructions}};
}

Json Connection::discover() const {
  return {{"supportedVersions", supported_versions()},
          {"capabilities", capabilities(kModernVersion)},
          {"instructions", catalogue_.instructions}};
}

Json Connection::capabilities(std::string_view version) const {
  Json out = {{"tools", Json::object()}, {"resources", Json::object()}, {"prompts", Json::object()}};
  if (version >= kFirstWithCompletions) out["completions"] = Json::object();
  if (!catalogue_.tasks.get) return out;
  if (version == kModernVersion) out["extensions"] = {{kTasksExtension, Json::object()}};
  if (version == kLegacyWithTasks)
    out["tasks"] = {{"cancel", Json::object()}, {"requests", {{"tools", {{"call", Json::object()}}}}}};
  return out;
}

Json Connection::server_info() const {
  return {{"name", catalogue_.name}, {"title", catalogue_.title}, {"version", catalogue_.version}};
}

Json Connection::list_tools(const Request& request) const {
  Json tools = Json::array();
  for (const Tool& tool : catalogue_.tools) {
    tools.push_back({{"name", tool.name},
                     {"title", tool.title},
                     {"description", tool.description},
                     {"inputSchema", tool.input},
                     {"outputSchema", tool.output},
                     {"annotations", annotations_of(tool)}});
    if (request.version == kLegacyWithTasks && catalogue_.tasks.get && !tool.follow.empty())
      tools.back()["execution"] = {{"taskSupport", "optional"}};
  }
  return {{"tools", std::move(tools)}};
}

Connection::Outcome Connection::call_tool(Request& request) {
  const Json& params = request.message.params;
  const std::string name = text_at(params, "name");
  const auto tool = std::ranges::find(catalogue_.tools, name, &Tool::name);
  if (tool == catalogue_.tools.end()) {
    return tl::make_unexpected(RpcError{
        RpcCode::invalid_params, "there is no tool \"" + name.substr(0, 80) + "\"; tools/list names them", {}});
  }
  const Json arguments = params.value("arguments", Json::object());
  Call call{.stop = request.stop, .client = request.client};
  const Json token = object_at(params, "_meta").value("progressToken", Json());
  if (token.is_string() || token.is_number_integer()) {
    call.progress = [this, token, told = -1.0](double done, const std::string& text) mutable {
      if (done <= told) return;  // it must grow
      told = done;
      send_(notification("notifications/progress", {{"progressToken", token}, {"progress", done}, {"message", text}}));
    };
  }
  const bool as_task = wants_task(request, *tool);
  if (!as_task && request.version == kLegacyWithTasks && params.contains("task")) {
    return tl::make_unexpected(
        RpcError{RpcCode::method_not_found, name + " begins no task; call it without \"task\"", {}});
  }
  auto result = [&]() -> base::Result<ToolResult> {
    TRY(check(arguments, tool->input));
    return tool->run(arguments, call);
  }();
  if (result && as_task && !result->task.empty()) return begun_task(request, *result);
  return call_result(std::move(result), request.version);
}

Connection::Outcome Connection::list_resources() const {
  auto links = catalogue_.resources();
  if (!links) return tl::make_unexpected(RpcError{RpcCode::internal, links.error().message, {}});
  Json resources = Json::array();
  for (const Link& link : *links) {
    resources.push_back(
        {{"uri", link.uri}, {"name", link.name}, {"description", link.description}, {"mimeType", link.mime_type}});
  }
  return Json{{"resources", std::move(resources)}};
}

Json Connection::list_templates() const {
  Json templates = Json::array();
  for (const ResourceTemplate& it : catalogue_.templates) {
    templates.push_back({{"uriTemplate", it.uri_template},
                         {"name", it.name},
                         {"description", it.description},
                         {"mimeType", it.mime_type}});
  }
  return {{"resourceTemplates", std::move(templates)}};
}

Connection::Outcome Connection::read_resource(const Request& request) const {
  const std::string uri = text_at(request.message.params, "uri");
  const RpcCode absent = request.modern ? RpcCode::invalid_params : RpcCode::resource_not_found;
  for (const ResourceTemplate& it : catalogue_.templates) {
    const auto value = fits(it.uri_template, uri);
    if (!value) continue;
    const auto read = it.read(*value);
    if (!read) {
      const bool missing = read.error().code == base::ErrorCode::not_found;
      return tl::make_unexpected(RpcError{missing ? absent : RpcCode::internal, read.error().message, {{"uri", uri}}});
    }
    return Json{{"contents", Json::array({{{"uri", uri}, {"mimeType", read->mime_type}, {"text", read->text}}})}};
  }
  return tl::make_unexpected(RpcError{absent, "there is no such resource", {{"uri", uri.substr(0, 200)}}});
}

Json Connection::list_prompts() const {
  Json prompts = Json::array();
  for (const Prompt& prompt : catalogue_.prompts) {
    Json arguments = Json::array();
    for (const PromptArgument& it : prompt.arguments)
      arguments.push_back({{"name", it.name}, {"description", it.description}, {"required", it.required}});
    prompts.push_back({{"name", prompt.name},
                       {"title", prompt.title},
                       {"description", prompt.description},
                       {"arguments", std::move(arguments)}});
  }
  return {{"prompts", std::move(prompts)}};
}

Connection::Outcome Connection::get_prompt(const Json& params) const {
  const auto prompt = std::ranges::find(catalogue_.prompts, text_at(params, "name"), &Prompt::name);
  if (prompt == catalogue_.prompts.end())
    return tl::make_unexpected(
        RpcError{RpcCode::invalid_params, "there is no such prompt; prompts/list names them", {}});
  const Json arguments = object_at(params, "arguments");
  for (const PromptArgument& it : prompt->arguments) {
    if (it.required && text_at(arguments, it.name.c_str()).empty()) {
      return tl::make_unexpected(
          RpcError{RpcCode::invalid_params, "\"" + it.name + "\" is missing: " + it.description, {}});
    }
  }
  const Json content = {{"type", "text"}, {"text", prompt->text(arguments)}};
  return Json{{"description", prompt->description},
              {"messages", Json::array({{{"role", "user"}, {"content", content}}})}};
}

Connection::Outcome Connection::complete(const Json& params) const {
  constexpr std::size_t kMostValues = 100;  // @source MCP, completion
  const Json reference = object_at(params, "ref");
  const auto absent = [](const char* what) {
    return tl::make_unexpected(RpcError{RpcCode::invalid_params, std::string("there is no such ") + what, {}});
  };
  std::vector<std::string> values;
  if (text_at(reference, "type") == "ref/prompt") {
    if (std::ranges::find(catalogue_.prompts, text_at(reference, "name"), &Prompt::name) == catalogue_.prompts.end())
      return absent("prompt; prompts/list names them");
  } else {
    const auto found =
        std::ranges::find(catalogue_.templates, text_at(reference, "uri"), &ResourceTemplate::uri_template);
    if (found == catalogue_.templates.end()) return absent("template; resources/templates/list names them");
    if (found->complete) {
      auto completed = found->complete(text_at(object_at(params, "argument"), "value"));
      if (!completed) return tl::make_unexpected(RpcError{RpcCode::internal, completed.error().message, {}});
      values = std::move(*completed);
    }
  }
  const std::size_t total = values.size();
  if (total > kMostValues) values.resize(kMostValues);
  return Json{{"completion", {{"values", values}, {"total", total}, {"hasMore", total > kMostValues}}}};
}

}  // namespace accelopt::mcp

// SPDX-License-Identifier: Apache-2.0
// The protocol of `accelopt serve` with the tools, resources and prompts that MCP's conformance suite asks for by name,
// so that the suite checks the protocol and not what accelopt offers. Prints its address; serves until it is killed.
#include <fmt/format.h>

#include <cstdio>

#include "mcp/http.hpp"
#include "mcp/schema.hpp"

namespace accelopt::mcp {
namespace {

using base::Json;
using base::Result;

Tool tool(const char* name, std::function<Result<ToolResult>(const Json&, const Call&)> run) {
  return {.name = name,
          .title = name,
          .description = "asked for by the conformance suite",
          .input = schema(R"json({"type": "object"})json"),
          .output = schema(R"json({"type": "object"})json"),
          .run = std::move(run)};
}

std::vector<Tool> tools() {
  std::vector<Tool> out{
      tool("test_simple_text",
           [](const Json&, const Call&) -> Result<ToolResult> { return ToolResult{"a simple text"}; }),
      tool("test_error_handling",
           [](const Json&, const Call&) -> Result<ToolResult> {
             return base::fail(base::ErrorCode::unavailable, "this tool always fails");
           }),
      tool("test_tool_with_progress",
           [](const Json&, const Call& call) -> Result<ToolResult> {
             for (const double done : {0.0, 50.0, 100.0})
               if (call.progress) call.progress(done, "on its way");
             return ToolResult{"progress was told"};
           }),
      tool("json_schema_2020_12_tool",
           [](const Json&, const Call&) -> Result<ToolResult> { return ToolResult{"ok"}; })};
  out.back().input = schema(R"json({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
      "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
      "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}}, "additionalProperties": false})json");
  return out;
}

Catalogue catalogue() {
  const auto text = [](const std::string& type, const std::string& content) -> Result<ResourceText> {
    return ResourceText{type, content};
  };
  return {.name = "conformance",
          .title = "What the conformance suite asks for",
          .version = "1",
          .instructions = "for tests",
          .tools = tools(),
          .templates = {{"test://static-{form}", "static", "a resource that stays", "text/plain",
                         [text](const std::string& form) {
                           if (form == "text") return text("text/plain", "the static text");
                           return Result<ResourceText>(base::fail(base::ErrorCode::not_found, "there is text alone"));
                         }},
                        {"test://template/{id}/data", "template", "data by its id", "application/json",
                         [text](const std::string& id) {
                           return text("application/json", base::canonical(Json{{"id", id}, {"data", "of " + id}}));
                         }}},
          .resources =
              [] {
                return std::vector<Link>{{"test://static-text", "static text", "a resource that stays", "text/plain"}};
              },
          .prompts = {
              {"test_simple_prompt", "Simple", "without arguments", {}, [](const Json&) { return "a simple prompt"; }},
              {"test_prompt_with_arguments",
               "Arguments",
               "with two",
               {{"arg1", "the first", true}, {"arg2", "the second", true}},
               [](const Json& arguments) {
                 return fmt::format("arg1={}, arg2={}", base::text_at(arguments, "arg1"),
                                    base::text_at(arguments, "arg2"));
               }}}};
}

}  // namespace
}  // namespace accelopt::mcp

int main() {
  using namespace accelopt;
  mcp::HttpOptions options;
  options.listening = [](const std::string& url) {
    fmt::print("{}\n", url);
    std::fflush(stdout);
  };
  return mcp::serve_http(mcp::catalogue(), options, {}) ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// Tools that compile, measure or read sources of others: each is this program's own command in a process of its own, so
// that none can hold up, or bring down, the server. One that takes longer than a call may is asked for again by its
// job.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/background.hpp"
#include "app/workspace.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "mcp/desk.hpp"
#include "mcp/schema.hpp"
#include "report/text_width.hpp"

namespace accelopt::mcp {
namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using base::text_at;
namespace fs = std::filesystem;

/// Commands that go on at the same time; what measures waits for the device anyway.
constexpr int kMostJobs = 8;
constexpr std::size_t kMostText = 20'000;
constexpr std::size_t kMostOutput = std::size_t{16} << 20U;  ///< bytes

using Words = std::vector<std::string>;

/// A tool that is a command: how its words follow from the arguments.
struct CommandTool {
  Tool tool;
  std::function<Result<Words>(const Desk&, const Json&)> words;
  bool json = true;  ///< it writes JSON lines
};

fs::path jobs_folder(const Desk& desk) {
  return desk.workspace / "jobs";
}

std::string tail(std::string text) {
  return text.size() <= kMostText ? text : "...\n" + text.substr(text.size() - kMostText);
}

/// The objects that it wrote, one a line; of problems, the first ones, each cut to what is read.
void add_lines(Json& structured, const std::string& out) {
  constexpr int kMostProblems = 50;
  constexpr std::size_t kLongestProblem = 1000;
  int problems = 0;
  Json& lines = structured["lines"] = Json::array();
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t end = std::min(out.find('\n', at), out.size());
    Json line = base::json_or_discarded(out.substr(at, end - at));
    at = end + 1;
    if (!line.is_object()) continue;
    if (text_at(line, "type") == "problem") {
      if (++problems > kMostProblems) continue;
      line["message"] = report::clip(text_at(line, "message"), kLongestProblem);
    }
    lines.push_back(std::move(line));
  }
  if (problems > kMostProblems) structured["left_out"] = problems - kMostProblems;
}

/// What it wrote, when it has ended.
Result<ToolResult> outcome_of(const CommandTool& command, const fs::path& stem, int exit) {
  const auto written = base::read_foreign_file(stem.string() + ".out", kMostOutput);
  if (!written) return fail(ErrorCode::corrupt, "what it wrote cannot be read: " + written.error().message);
  const std::string& out = *written;
  const std::string err =
      report::printable_lines(tail(base::read_foreign_file(stem.string() + ".err", kMostOutput).value_or("")));
  constexpr int kCheckFailed = 5;  // what a check found is what was asked for
  if (exit != 0 && exit != kCheckFailed) return fail(ErrorCode::unavailable, err.empty() ? "it failed" : err);
  ToolResult result{report::printable_lines(tail(out)) + (err.empty() ? "" : "\n" + err)};
  result.structured = {{"state", "done"}, {"job", stem.filename().string()}, {"ok", exit == 0}};
  if (!command.json) {
    result.structured["text"] = report::printable_lines(tail(out));
  } else {
    add_lines(result.structured, out);
  }
  if (result.text.empty()) result.text = exit == 0 ? "ok" : "a check failed";
  return result;
}

int jobs_going(const Desk& desk) {
  int going = 0;
  std::error_code problem;
  for (fs::directory_iterator it(jobs_folder(desk), problem), end; !problem && it != end; it.increment(problem)) {
    if (it->path().extension() == ".exit" && app::goes_on_in_background(it->path().parent_path() / it->path().stem()))
      ++going;
  }
  return going;
}

/// The file name of a job that a client names.
Result<fs::path> stem_of(const Desk& desk, const std::string& tool, const std::string& job) {
  const bool fine = job.starts_with(tool + "-") &&
                    job.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == std::string::npos;
  std::error_code ignored;
  const fs::path stem = jobs_folder(desk) / job;
  if (fine && fs::exists(stem.string() + ".out", ignored)) return stem;
  return fail(ErrorCode::not_found, "there is no job of that name; call " + tool + " with its arguments again");
}

Result<fs::path> begin(Desk& desk, const CommandTool& command, const Json& arguments) {
  TRY_ASSIGN(Words words, command.words(desk, arguments));
  if (command.json) words.emplace_back("--json");
  const std::scoped_lock lock(desk.starting);
  if (jobs_going(desk) >= kMostJobs)
    return fail(ErrorCode::exhausted, fmt::format("{} commands are already running; try again later", kMostJobs));
  const fs::path stem = jobs_folder(desk) / (command.tool.name + "-" + app::new_run_id());
  TRY(app::start_in_background(desk.shell, {std::move(words), stem, desk.folders.all().front()}));
  return stem;
}

Result<ToolResult> carry_out(Desk& desk, const CommandTool& command, const Json& arguments, const Call& call) {
  const std::string job = text_at(arguments, "job");
  TRY_ASSIGN(const fs::path stem,
             job.empty() ? begin(desk, command, arguments) : stem_of(desk, command.tool.name, job));
  Result<std::optional<int>> exit;
  wait_until(
      arguments.value("wait_s", kLongestWaitSeconds), call.stop,
      [&] {
        exit = app::exit_of_background(stem);
        return !exit || exit->has_value();
      },
      [&](double elapsed) {
        if (call.progress) call.progress(elapsed, command.tool.name + " goes on");
      });
  if (!exit) return tl::make_unexpected(exit.error());
  if (*exit) return outcome_of(command, stem, **exit);
  const std::string name = stem.filename().string();
  return ToolResult{"it goes on; call " + command.tool.name + " again with job=\"" + name + "\" and nothing else",
                    {{"state", "running"}, {"job", name}, {"ok", nullptr}}};
}

/// "--iterations 3" for what the arguments say; a list gives one mention each, and an empty text none.
void add_option(Words& words, const Json& arguments, const char* key, const char* option) {
  const auto found = arguments.find(key);
  if (found == arguments.end() || found->is_null()) return;
  const Json all = found->is_array() ? *found : Json::array({*found});
  for (const Json& one : all) {
    if (one.is_boolean()) {
      if (one.get<bool>()) words.emplace_back(option);
      continue;
    }
    const std::string value = one.is_string() ? one.get<std::string>() : one.dump();
    // One word, so that no value is taken for an option; one that ends with "=" takes the next word.
    if (!value.empty()) words.push_back(std::string(option) + "=" + value);
  }
}

/// What is done with a path that a client names.
enum class PathUse { read, written };

Result<std::string> path_of(const Desk& desk, const Json& arguments, const char* key, PathUse use = PathUse::read) {
  const std::string given = text_at(arguments, key);
  if (given.empty())
    return fail(ErrorCode::invalid_argument,
                "\"" + std::string(key) + "\" is missing (or \"job\", of an earlier call)");
  TRY_ASSIGN(const fs::path path, use == PathUse::read ? desk.folders.resolve(given)
                                                       : desk.folders.resolve_for_writing(given, desk.workspace));
  return path.string();
}

Json input_with(const char* properties) {
  Json input = schema(R"json({"type": "object", "properties": {
      "job": {"type": "string", "maxLength": 100, "description": "Of an earlier call that went on: asks for its outcome"},
      "wait_s": {"type": "number", "minimum": 0, "maximum": 8, "description": "Seconds to wait (default 8)"}},
      "additionalProperties": false})json");
  input["properties"].update(schema(properties));
  return input;
}

Tool command(const char* name, const char* title, const char* description, Effect effect, const char* properties) {
  return {.name = name,
          .title = title,
          .description = description,
          .effect = effect,
          .input = input_with(properties),
          .output = schema(R"json({"type": "object", "properties": {
              "state": {"type": "string", "enum": ["done", "running"]}, "job": {"type": "string"},
              "ok": {"type": ["boolean", "null"], "description": "whether every check passed"},
              "lines": {"type": "array", "description": "the objects of docs/json.md"},
              "left_out": {"type": "integer", "description": "problems beyond those in lines"},
              "text": {"type": "string"}}, "required": ["state", "job"]})json"),
          .run = {}};
}

constexpr const char* kTask =
    R"json({"task": {"type": "string", "maxLength": 4000, "description": "Folder of the task"}})json";

CommandTool doctor_tool() {
  return {command("doctor", "What this machine has",
                  "Reports compilers, devices, sandbox and models: what is missing, "
                  "and what to do about it.",
                  Effect::reads, "{}"),
          [](const Desk& desk, const Json&) -> Result<Words> {
            return Words{"doctor", "--workspace=" + desk.workspace.string()};
          }};
}

CommandTool lint_tool() {
  return {
      command("lint", "Check a task",
              "Checks a task folder and builds its reference and baseline: every problem with file, line and key. No "
              "lines and ok=true: nothing is wrong.",
              Effect::reads, kTask),
      [](const Desk& desk, const Json& arguments) -> Result<Words> {
        TRY_ASSIGN(const std::string task, path_of(desk, arguments, "task"));
        return Words{"lint", task};
      }};
}

CommandTool estimate_tool() {
  return {command("estimate", "Predict what a run costs",
                  "Predicts calls, tokens, dollars, evaluations and times of a "
                  "run before anything is spent.",
                  Effect::reads,
                  R"json({"task": {"type": "string", "maxLength": 4000, "description": "Folder of the task"},
                      "iterations": {"type": "integer", "minimum": 1}, "plans": {"type": "integer", "minimum": 1},
                      "attempts": {"type": "integer", "minimum": 1}, "beam": {"type": "integer", "minimum": 1},
                      "max_usd": {"type": "number", "minimum": 0}})json"),
          [](const Desk& desk, const Json& arguments) -> Result<Words> {
            TRY_ASSIGN(const std::string task, path_of(desk, arguments, "task"));
            Words words{"estimate", task, "--workspace=" + desk.workspace.string()};
            for (const auto& [key, option] : {std::pair{"iterations", "--iterations"},
                                              {"plans", "--plans"},
                                              {"attempts", "--attempts"},
                                              {"beam", "--beam"},
                                              {"max_usd", "--max-usd"}})
              add_option(words, arguments, key, option);
            return words;
          }};
}

CommandTool evaluate_tool() {
  return {command("evaluate", "Judge one kernel",
                  "Builds, verifies and races a kernel against the task's baseline: the "
                  "same verdict that a run gives. Without `file`, the baseline against itself.",
                  Effect::reads,
                  R"json({"task": {"type": "string", "maxLength": 4000, "description": "Folder of the task"},
                      "file": {"type": "string", "maxLength": 4000, "description": "The kernel's file"},
                      "confirm": {"type": "boolean", "description": "As a run confirms its winner"},
                      "interpret": {"type": "boolean", "description": "Verify by the language's interpreter, untimed"},
                      "device": {"type": "string", "maxLength": 40, "description": "cpu, cpu:N or cuda:N"}})json"),
          [](const Desk& desk, const Json& arguments) -> Result<Words> {
            TRY_ASSIGN(const std::string task, path_of(desk, arguments, "task"));
            Words words{"eval", task, "--workspace=" + desk.workspace.string()};
            if (!text_at(arguments, "file").empty()) {
              TRY_ASSIGN(const std::string file, path_of(desk, arguments, "file"));
              words.push_back(file);
            }
            add_option(words, arguments, "confirm", "--confirm");
            add_option(words, arguments, "interpret", "--interpret");
            add_option(words, arguments, "device", "--device");
            return words;
          }};
}

/// "FUNCTION" or "FILE:FUNCTION", whose file a client may name as any other. Empty: none is stated.
Result<std::string> reference_of(const Desk& desk, const Json& arguments) {
  const std::string given = text_at(arguments, "reference");
  const std::size_t colon = given.rfind(':');
  if (colon == std::string::npos) return given;
  TRY_ASSIGN(const fs::path file, desk.folders.resolve(given.substr(0, colon)));
  return file.string() + given.substr(colon);
}

CommandTool init_tool() {
  return {
      command(
          "init", "Make a task from a function",
          "Makes a task folder from a function in the user's own C or C++ file (shapes and the raced workload must be "
          "said), or from an operator in a .py or .cu file (by an example of a call). Then lint it.",
          Effect::writes,
          R"json({"file": {"type": "string", "maxLength": 4000, "description": "The .c, .cpp, .py or .cu file"},
                      "function": {"type": "string", "maxLength": 500, "description": "f, a::f in a namespace"},
                      "shapes": {"type": "array", "items": {"type": "string", "maxLength": 500},
                                 "description": "NAME=AXIS,AXIS for each array parameter"},
                      "outputs": {"type": "array", "items": {"type": "string", "maxLength": 500},
                                  "description": "Parameters that the function writes"},
                      "inouts": {"type": "array", "items": {"type": "string", "maxLength": 500},
                                 "description": "Parameters that it changes in place"},
                      "axes": {"type": "array", "items": {"type": "string", "maxLength": 500},
                               "description": "NAME=EXTENT in the raced workload"},
                      "constants": {"type": "array", "items": {"type": "string", "maxLength": 500},
                                    "description": "NAME=EXTENT: constant although a parameter has that name"},
                      "inits": {"type": "array", "items": {"type": "string", "maxLength": 500},
                               "description": "NAME=GENERATOR: how an input is drawn, like x=normal(0, 1)"},
                      "ties": {"type": "array", "items": {"type": "string", "maxLength": 500},
                               "description": "INDICES=VALUES: an output of indices that follow from comparing VALUES"},
                      "example": {"type": "string", "maxLength": 4000,
                                  "description": "Of a .py or .cu file, a call: x: float16[M=4096, K=512], eps: float32 -> y: float16[M, K]"},
                      "reference": {"type": "string", "maxLength": 4000,
                                    "description": "Of a .py file, the same operation in PyTorch: FUNCTION in it, or FILE:FUNCTION"},
                      "op_type": {"type": "string", "maxLength": 100,
                                  "description": "The kind of operator, like matmul (default: the function's name)"},
                      "folder": {"type": "string", "maxLength": 4000, "description": "Folder to make"}})json"),
      [](const Desk& desk, const Json& arguments) -> Result<Words> {
        TRY_ASSIGN(const std::string file, path_of(desk, arguments, "file"));
        TRY_ASSIGN(const std::string folder, path_of(desk, arguments, "folder", PathUse::written));
        Words words{"init", file, "--output=" + folder};
        TRY_ASSIGN(const std::string reference, reference_of(desk, arguments));
        if (!reference.empty()) words.push_back("--reference=" + reference);
        for (const auto& [key, option] : {std::pair{"function", "--function"},
                                          {"shapes", "--shape"},
                                          {"outputs", "--out"},
                                          {"inouts", "--inout"},
                                          {"axes", "--axis"},
                                          {"constants", "--constant"},
                                          {"inits", "--init"},
                                          {"ties", "--ties"},
                                          {"example", "--example"},
                                          {"op_type", "--op-type"}})
          add_option(words, arguments, key, option);
        return words;
      },
      false};
}

CommandTool best_tool() {
  return {
      command("best", "Take the winner home",
              "Writes a run's winner into a new folder: as a task, and as "
              "winner.patch of the user's file where the task has an [entry].",
              Effect::writes,
              R"json({"run": {"type": "string", "maxLength": 200, "description": "A run's id, or last"},
                      "folder": {"type": "string", "maxLength": 4000, "description": "Folder to make"},
                      "measure": {"type": "boolean", "description": "Also measure the gain in the user's own build"}})json"),
      [](const Desk& desk, const Json& arguments) -> Result<Words> {
        TRY_ASSIGN(const std::string folder, path_of(desk, arguments, "folder", PathUse::written));
        const std::string run = text_at(arguments, "run");
        if (run.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos || run.starts_with("-"))
          return fail(ErrorCode::invalid_argument, "\"run\" is no run's id");
        Words words{"best", run.empty() ? "last" : run, "--output=" + folder, "--workspace=" + desk.workspace.string()};
        if (!arguments.value("measure", false)) words.emplace_back("--no-measure");
        return words;
      },
      false};
}

}  // namespace

std::vector<Tool> command_tools(Desk& desk) {
  std::vector<Tool> tools;
  for (CommandTool& command : std::vector<CommandTool>{doctor_tool(), init_tool(), lint_tool(), estimate_tool(),
                                                       evaluate_tool(), best_tool()}) {
    Tool tool = command.tool;
    tool.run = [&desk, command](const Json& arguments, const Call& call) {
      return carry_out(desk, command, arguments, call);
    };
    tools.push_back(std::move(tool));
  }
  return tools;
}

}  // namespace accelopt::mcp

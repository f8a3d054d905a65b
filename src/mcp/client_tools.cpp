// SPDX-License-Identifier: Apache-2.0
// Tools with which a client takes part in a run: next_question, answer, steer.
#include <fmt/format.h>

#include "app/client_answers.hpp"
#include "app/run_progress.hpp"
#include "app/steer.hpp"
#include "mcp/desk.hpp"
#include "mcp/schema.hpp"

namespace accelopt::mcp {
namespace {

using base::Json;
using base::Result;
using base::text_at;

std::string question_text(const llm::MailboxQuestion& question, std::size_t open) {
  return fmt::format(
      "question {} for the {}{}; give the answer, in exactly the form that the prompt asks for, with the "
      "tool answer:\n\n{}",
      question.name, question.role,
      open > 1 ? fmt::format(" ({} more are open, and may be answered in any order)", open - 1) : "", question.text);
}

/// Where there is no question: whether one may still come.
ToolResult no_question(const app::RunProgress& progress) {
  const bool ended = progress.ended();
  Json structured = {{"run", progress.run}, {"ended", ended}, {"open", 0}, {"question", nullptr}};
  if (ended) {
    return ToolResult{
        fmt::format("no question: run {} has ended ({}); call result", progress.run, to_string(progress.state.status)),
        std::move(structured)};
  }
  return ToolResult{"no question yet: run " + progress.run + " builds or measures; call next_question again",
                    std::move(structured)};
}

Result<ToolResult> next_question(const Desk& desk, const Json& arguments, const Call& call) {
  TRY_ASSIGN(app::RunProgress progress, app::read_progress(desk.workspace, text_at(arguments, "run")));
  const std::string run = progress.run;
  Result<std::vector<llm::MailboxQuestion>> questions;
  wait_until(
      arguments.value("wait_s", kUsualWaitSeconds), call.stop,
      [&] {
        questions = app::questions_of_run(desk.workspace, run);
        if (!questions || !questions->empty()) return true;
        auto now = app::read_progress(desk.workspace, run);
        if (now) progress = std::move(*now);
        return progress.ended();
      },
      [&](double elapsed) {
        if (call.progress) call.progress(elapsed, as_line(progress.doing));
      });
  if (!questions) return tl::make_unexpected(questions.error());
  // What a run that is done asked last needs no answer any more.
  if (questions->empty() || progress.state.status == model::RunStatus::done) return no_question(progress);
  const llm::MailboxQuestion& first = questions->front();
  const bool ended = progress.ended();
  const std::string rests = fmt::format("run {} has ended ({}) and asks on when it is continued (tool: resume); ", run,
                                        to_string(progress.state.status));
  return ToolResult{(ended ? rests : "") + question_text(first, questions->size()),
                    {{"run", run},
                     {"ended", ended},
                     {"open", questions->size()},
                     {"question", {{"id", first.name}, {"role", first.role}, {"prompt", first.text}}}}};
}

Tool next_question_tool(const Desk& desk) {
  return {.name = "next_question",
          .title = "What a run asks you",
          .description =
              "Of a run started with agents=\"client\": the oldest open question with its role (planner, executor, "
              "fixer, summarizer) and the whole prompt, which says the form of the answer. Waits up to wait_s "
              "seconds for one. Answer with the tool answer; go on until `ended` is true.",
          .input = schema(R"json({"type": "object", "properties": {
              "run": {"type": "string", "maxLength": 200, "description": "A run's id, the beginning of one, or last"},
              "wait_s": {"type": "number", "minimum": 0, "maximum": 8, "description": "Seconds to wait (default 5)"}},
              "required": ["run"], "additionalProperties": false})json"),
          .output = schema(R"json({"type": "object", "properties": {"run": {"type": "string"},
              "ended": {"type": "boolean"}, "open": {"type": "integer"}, "question": {"type": ["object", "null"],
              "properties": {"id": {"type": "string"}, "role": {"type": "string"}, "prompt": {"type": "string"}}}},
              "required": ["run", "ended", "open", "question"]})json"),
          .run = [&desk](const Json& arguments, const Call& call) { return next_question(desk, arguments, call); }};
}

Tool answer_tool(const Desk& desk) {
  return {.name = "answer",
          .title = "Answer a run's question",
          .description =
              "Your answer to a question of next_question, word for word what a model would say. It is recorded and "
              "never asked for again; one that cannot be read is asked for once more. \"skip\" gives none.",
          .effect = Effect::writes,
          .again = Again::more,
          .input = schema(R"json({"type": "object", "properties": {
              "run": {"type": "string", "maxLength": 200, "description": "A run's id, the beginning of one, or last"},
              "question": {"type": "string", "maxLength": 300, "description": "The question's id"},
              "text": {"type": "string", "minLength": 1, "maxLength": 4000000, "description": "The answer"}},
              "required": ["run", "question", "text"], "additionalProperties": false})json"),
          .output = schema(R"json({"type": "object", "properties": {"question": {"type": "string"}},
              "required": ["question"]})json"),
          .run = [&desk](const Json& arguments, const Call&) -> Result<ToolResult> {
            const std::string question = text_at(arguments, "question");
            TRY(app::answer_question_of_run(desk.workspace, text_at(arguments, "run"), question,
                                            text_at(arguments, "text")));
            return ToolResult{"taken; call next_question for the next one", {{"question", question}}};
          }};
}

Tool steer_tool(const Desk& desk) {
  return {.name = "steer",
          .title = "Give a run a hint",
          .description =
              "A hint for the next round's planners: what you or the user know of the kernel. It is recorded, and "
              "decides nothing by itself: every candidate is verified and measured as always.",
          .effect = Effect::writes,
          .again = Again::more,
          .input = schema(R"json({"type": "object", "properties": {
              "run": {"type": "string", "maxLength": 200, "description": "A run's id, the beginning of one, or last"},
              "hint": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "In plain words"}},
              "required": ["run", "hint"], "additionalProperties": false})json"),
          .output = schema(R"json({"type": "object", "properties": {"run": {"type": "string"}},
              "required": ["run"]})json"),
          .run = [&desk](const Json& arguments, const Call&) -> Result<ToolResult> {
            TRY_ASSIGN(const std::string run,
                       app::steer(desk.shell, desk.workspace, text_at(arguments, "run"), text_at(arguments, "hint")));
            return ToolResult{"the next round's planners of run " + run + " are shown it", {{"run", run}}};
          }};
}

}  // namespace

std::vector<Tool> client_tools(Desk& desk) {
  return {next_question_tool(desk), answer_tool(desk), steer_tool(desk)};
}

}  // namespace accelopt::mcp

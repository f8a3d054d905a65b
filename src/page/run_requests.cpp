// SPDX-License-Identifier: Apache-2.0
// Runs, their candidates, reports and explanations, and suites.
#include <algorithm>
#include <functional>
#include <iterator>

#include "app/bench_history.hpp"
#include "app/candidate_record.hpp"
#include "app/client_answers.hpp"
#include "app/novelty.hpp"
#include "app/refactor_story.hpp"
#include "app/run_outline.hpp"
#include "app/run_progress.hpp"
#include "app/run_state.hpp"
#include "app/run_story.hpp"
#include "app/version.hpp"
#include "app/workspace.hpp"
#include "base/text.hpp"
#include "page/requests.hpp"
#include "report/explanation.hpp"
#include "report/html/refactor_page.hpp"
#include "report/html/run_page.hpp"
#include "report/html/suite_page.hpp"

namespace accelopt::page {
namespace {

using base::Json;
using base::Result;
using mcp::Desk;
using mcp::HttpReply;

constexpr std::int64_t kRunsAtOnce = 1000;
constexpr std::int64_t kLastEvent = std::int64_t{1} << 53;  // a number that scripts can hold

Result<HttpReply> about(const Desk& desk) {
  Json folders = Json::array();
  for (const auto& folder : desk.folders.all()) folders.push_back(folder.string());
  return json_reply({{"version", app::kVersion}, {"folders", folders}, {"workspace", desk.workspace.string()}});
}

Json line_of(const app::ListedRun& run) {
  const Json result = run.info.result.value_or(Json());
  return {{"kind", "run"},
          {"run", run.info.id},
          {"task", run.info.task_name},
          {"created", run.info.created},
          {"status", to_string(run.status)},
          {"outcome", base::text_at(result, "outcome")},
          {"speedup", result.is_object() ? result.value("speedup", Json()) : Json()}};
}

Json line_of(const report::RefactorStory& story) {
  return {{"kind", "refactoring"},
          {"run", story.run},
          {"task", story.task},
          {"created", story.created},
          {"status", to_string(model::RunStatus::done)},
          {"outcome", story.verdict},
          {"speedup", story.speedup}};
}

/// Runs and refactorings, the newest first.
Result<HttpReply> runs(const Desk& desk, const Request& request) {
  TRY_ASSIGN(const std::int64_t offset, request.number("offset", 0, kLastEvent));
  TRY_ASSIGN(const std::int64_t limit, request.number("limit", 100, kRunsAtOnce));
  const auto listed = app::list_runs(desk.workspace);
  if (!listed && listed.error().code != base::ErrorCode::not_found) return tl::make_unexpected(listed.error());
  TRY_ASSIGN(const auto refactorings, app::list_refactorings(desk.workspace));
  std::vector<Json> lines;
  for (const report::RefactorStory& story : refactorings) lines.push_back(line_of(story));
  if (listed) std::ranges::transform(*listed, std::back_inserter(lines), [](const auto& run) { return line_of(run); });
  std::ranges::stable_sort(lines, std::greater(), [](const Json& line) { return base::text_at(line, "created"); });
  const auto count = static_cast<std::int64_t>(lines.size());
  const auto begin = lines.begin() + std::min(offset, count);
  return json_reply(
      {{"total", count}, {"runs", Json(std::vector<Json>(begin, begin + std::min(limit, lines.end() - begin)))}});
}

Result<HttpReply> run(const Desk& desk, const std::string& name) {
  TRY_ASSIGN(const app::RunProgress progress, app::read_progress(desk.workspace, name));
  Json out = app::to_json(progress);
  out["created"] = progress.created;
  out["result"] = progress.result.value_or(Json());
  // Null: its roles are played by others than its client.
  out["questions"] = nullptr;
  if (const auto questions = app::questions_of_run(desk.workspace, progress.run)) {
    out["questions"] = Json::array();
    for (const llm::MailboxQuestion& question : *questions) out["questions"].push_back(question.name);
  }
  return json_reply(out);
}

/// A document of its own: no script runs in it, and it belongs to no site.
HttpReply document(std::string text) {
  return {.type = "text/html; charset=utf-8",
          .body = std::move(text),
          .headers = "Content-Security-Policy: sandbox allow-popups\r\n"};
}

Result<HttpReply> suites(const Desk& desk) {
  const auto history = app::read_history(desk.workspace, {});
  if (!history && history.error().code != base::ErrorCode::not_found) return tl::make_unexpected(history.error());
  return json_reply({{"lines", history ? Json(report::to_json_lines(*history)) : Json::array()}});
}

}  // namespace

std::vector<Route> run_routes(Desk& desk) {
  return {
      {"GET", "about", [&desk](const Request&) { return about(desk); }},
      {"GET", "runs", [&desk](const Request& request) { return runs(desk, request); }},
      {"GET", "runs/{}", [&desk](const Request& request) { return run(desk, request.names.front()); }},
      {"GET", "runs/{}/outline",
       [&desk](const Request& request) -> Result<HttpReply> {
         TRY_ASSIGN(const std::int64_t after, request.number("after", 0, kLastEvent));
         TRY_ASSIGN(const auto outline, app::read_outline(desk.workspace, request.names.front(), after));
         return json_reply(app::to_json(outline));
       }},
      {"GET", "runs/{}/candidates/{}",
       [&desk](const Request& request) -> Result<HttpReply> {
         TRY_ASSIGN(const auto candidate, app::read_candidate(desk.workspace, request.names[0], request.names[1]));
         return json_reply(app::to_json(candidate));
       }},
      {"GET", "runs/{}/explanation",
       [&desk](const Request& request) -> Result<HttpReply> {
         TRY_ASSIGN(const auto story, app::read_run_story(desk.workspace, request.names.front()));
         return json_reply({{"text", report::to_text(report::explain(story))}});
       }},
      {"GET", "runs/{}/report",
       [&desk](const Request& request) -> Result<HttpReply> {
         TRY_ASSIGN(const auto story, app::read_story_with_novelty(desk.workspace, request.names.front()));
         return document(report::html::run_page(story));
       }},
      {"GET", "refactorings/{}",
       [&desk](const Request& request) -> Result<HttpReply> {
         TRY_ASSIGN(const auto story, app::find_refactoring(desk.workspace, request.names.front()));
         Json out = story;
         out["answer"] = report::answer_of(story);
         return json_reply(out);
       }},
      {"GET", "refactorings/{}/report",
       [&desk](const Request& request) -> Result<HttpReply> {
         TRY_ASSIGN(const auto story, app::find_refactoring(desk.workspace, request.names.front()));
         return document(report::html::refactor_page(story));
       }},
      {"GET", "suites", [&desk](const Request&) { return suites(desk); }},
      {"GET", "suites/report",
       [&desk](const Request&) -> Result<HttpReply> {
         TRY_ASSIGN(const auto history, app::read_history(desk.workspace, {}));
         if (history.empty())
           return base::fail(base::ErrorCode::not_found, "there is no suite run; make one with: accelopt bench SUITE");
         return document(report::html::suite_page(history));
       }},
  };
}

}  // namespace accelopt::page

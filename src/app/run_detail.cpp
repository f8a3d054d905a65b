// SPDX-License-Identifier: Apache-2.0
#include "app/run_detail.hpp"

#include <map>

#include <fmt/format.h>

#include "app/cost.hpp"
#include "app/refactor_story.hpp"
#include "app/run_state.hpp"
#include "app/workspace.hpp"
#include "evaluation/evaluator_json.hpp"
#include "model/judges.hpp"

namespace accelopt::app {
namespace {

using base::Json;
using base::Result;
using journal::StepRecord;
using model::StepKind;

bool is_kind(const StepRecord& step, StepKind kind) {
  return model::step_kind(step.key.kind) == kind;
}

double seconds_taken(const StepRecord& step) {
  return std::chrono::duration<double>(step.duration).count();
}

/// Who wrote an answer: the model that the role was played by, or for a chat as its server names itself.
std::string author_of(const StepRecord& step) {
  const bool of_chat = is_kind(step, StepKind::chat) || is_kind(step, StepKind::unanswered);
  const auto found = step.output.find(of_chat ? "model" : "author");
  return step.output.is_object() && found != step.output.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Of a run's several workers the one that made a measurement; empty: there was one, or it is no measurement.
std::string worker_of(const StepRecord& step) {
  const Json nothing = Json::object();
  if (!step.output.is_object()) return "";
  const Json& evaluation = is_kind(step, StepKind::open) ? step.output.value("baseline", nothing) : step.output;
  return evaluation.value("environment", nothing).value("worker", "");
}

}  // namespace

Result<RunDetail> RunDetail::read(const std::filesystem::path& workspace, const std::string& name) {
  RunDetail out;
  TRY_ASSIGN(out.journal_, open_workspace(workspace, journal::Access::read_only));
  auto found = find_run(*out.journal_, name);
  if (!found) return tl::make_unexpected(not_a_run(workspace, name, std::move(found.error())));
  out.run_ = std::move(*found);
  TRY_ASSIGN(out.steps_, out.journal_->steps(out.run_.id));
  return out;
}

std::vector<ShownPlan> RunDetail::plans() const {
  std::vector<ShownPlan> out;
  const auto used = usage_by_plan(steps_);
  const auto add = [&](const StepRecord& step, const model::Identity& identity, std::string text) {
    const std::string id = model::to_string(identity);
    const auto usage = used.find(id);
    out.push_back(
        {id, author_of(step), std::move(text), usage == used.end() ? std::nullopt : std::optional(usage->second)});
  };
  for (const StepRecord& step : steps_) {
    const bool several = is_kind(step, StepKind::plans);
    if (!several && !is_kind(step, StepKind::plan)) continue;
    if (!step.output.value("answered", false)) {
      add(step, step.key.identity, "no answer: " + step.output.value("lost", ""));
    } else if (several) {
      const Json& plans = step.output["value"];
      add(step, step.key.identity, fmt::format("(one question, plans given: {})", plans.size()));
      model::Identity identity = step.key.identity;
      for (identity.plan = 0; identity.plan < static_cast<int>(plans.size()); ++identity.plan)
        add(step, identity, plans[static_cast<std::size_t>(identity.plan)].value("title", ""));
    } else {
      add(step, step.key.identity, step.output["value"].value("title", ""));
    }
  }
  return out;
}

std::vector<ShownRace> RunDetail::races() const {
  std::vector<ShownRace> out;
  for (const StepRecord& step : steps_) {
    const auto kind = model::step_kind(step.key.kind);
    if (kind != StepKind::triage && kind != StepKind::confirm) continue;
    auto evaluation = base::decode<model::Evaluation>(step.output, "journal");
    if (evaluation) out.push_back({step.key.kind, *kind, step.key.identity, std::move(*evaluation)});
  }
  return out;
}

std::vector<ModelUse> RunDetail::models() const {
  std::map<std::pair<std::string, std::string>, model::Usage> used;
  for (const StepRecord& step : steps_) {
    if (!is_kind(step, StepKind::chat) && !is_kind(step, StepKind::unanswered)) continue;
    const std::string_view who = model::asked_of_label(model::step_suffix(step.key.kind));
    used[{std::string(who.empty() ? "?" : who), author_of(step)}] += step.usage;
  }
  std::vector<ModelUse> out;
  for (const auto& [who, usage] : used) out.push_back({who.first, who.second, usage});
  return out;
}

std::vector<StepTime> RunDetail::times() const {
  std::map<std::string, StepTime> kinds;
  for (const StepRecord& step : steps_) {
    const bool mark =
        is_kind(step, StepKind::session) || is_kind(step, StepKind::decisions) || is_kind(step, StepKind::unanswered);
    if (mark) continue;  // takes no time
    StepTime& time = kinds[std::string(model::step_head(step.key.kind))];
    ++time.count;
    time.seconds += seconds_taken(step);
  }
  std::vector<StepTime> out;
  for (auto& [kind, time] : kinds) out.push_back({kind, time.count, time.seconds});
  return out;
}

Result<std::vector<model::Experience>> RunDetail::experiences() const {
  return journal_->experiences(run_.id);
}

std::optional<evaluation::Recomputed> RunDetail::recomputed(const ShownRace& race) const {
  const auto measure = evaluation::read_settings(run_.settings.value("measure", Json::object()), "journal");
  if (!measure) return std::nullopt;
  return evaluation::recompute(run_.task, *measure, race.evaluation);
}

Result<model::Solution> RunDetail::candidate(const std::string& id) const {
  for (const StepRecord& step : steps_) {
    const bool written = is_kind(step, StepKind::execute) || is_kind(step, StepKind::fix);
    if (written && model::to_string(step.key.identity) == id && step.output.value("answered", false))
      return base::decode<model::Solution>(step.output["value"], "journal");
    const std::string_view source = model::step_suffix(step.key.kind);
    if (is_kind(step, StepKind::build) && source.starts_with(id)) return journal_->load_solution(source);
  }
  return base::fail(
      base::ErrorCode::not_found,
      "no candidate " + id + " in this run; `accelopt show` lists identities (i0.b0.p1.a0.f0) and source ids");
}

Result<Json> RunDetail::decisions() const {
  for (const StepRecord& step : steps_) {
    if (is_kind(step, StepKind::decisions)) return step.output;
  }
  return base::fail(base::ErrorCode::not_found,
                    "run " + run_.id +
                        " has no decision log on record: it has not ended, or an older version made it; `accelopt "
                        "replay " +
                        run_.id + "` repeats its decisions");
}

Json to_json(const RunDetail& detail, RawSamples samples) {
  const journal::RunInfo& run = detail.run();
  Json out = {{"type", "run_detail"},
              {"schema", 1},
              {"run", run.id},
              {"task", run.task_name},
              {"created", run.created},
              {"status", to_string(run.status)},
              {"settings", run.settings},
              {"result", run.result ? *run.result : Json()},
              {"decision_hash", run.decision_hash.empty() ? Json() : Json(run.decision_hash)},
              {"steps", Json::array()}};
  for (const StepRecord& step : detail.steps()) {
    Json line = {{"id", model::to_string(step.key.identity)},
                 {"kind", step.key.kind},
                 {"seconds", seconds_taken(step)},
                 {"usage", step.usage}};
    if (const std::string author = author_of(step); !author.empty()) line["author"] = author;
    if (const std::string worker = worker_of(step); !worker.empty()) line["worker"] = worker;
    if (samples == RawSamples::kept && step.output.contains("samples")) line["samples"] = step.output["samples"];
    if (step.output.contains("tuning") && !step.output["tuning"].is_null()) {
      line["tuning"] = step.output["tuning"];
      if (samples == RawSamples::left_out) line["tuning"].erase("heats");
    }
    out["steps"].push_back(std::move(line));
  }
  return out;
}

}  // namespace accelopt::app

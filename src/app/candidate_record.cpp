// SPDX-License-Identifier: Apache-2.0
#include "app/candidate_record.hpp"

#include <algorithm>

#include "app/run_story.hpp"
#include "app/workspace.hpp"
#include "base/text.hpp"
#include "base/unified_diff.hpp"
#include "model/measure.hpp"
#include "report/explanation.hpp"

namespace accelopt::app {
namespace {

using base::Json;
using model::Identity;
using model::StepKind;

constexpr const char* kBaselineName = "baseline";

std::string name_of(const Identity& identity) {
  return identity == Identity{} ? kBaselineName : model::to_string(identity);
}

/// "i0.b0.p1.a0" of "i0.b0.p1.a0.f2": what stays while an attempt is mended.
std::string attempt_part(const std::string& id) {
  return id.substr(0, id.find(".f"));
}

const std::string& text_of(const model::Solution& solution) {
  static const std::string kNone;
  return solution.sources.empty() ? kNone : model::main_text(solution);
}

/// Whether a question with this label was asked for the attempt: by the executor or fixer for itself, or by the
/// planner for its plan or for all plans of its parent.
bool asked_for(std::string_view label, const Identity& identity) {
  const std::size_t begin = label.find(' ');
  if (begin == std::string_view::npos) return false;
  const std::string_view rest = label.substr(begin + 1);
  const std::string_view about = rest.substr(0, rest.find(' '));
  const auto role = model::role_of_label(label);
  if (role == model::AgentRole::summarizer) return false;
  Identity part = identity;
  part.fix = -1;
  if (about == model::to_string(part) || attempt_part(std::string(about)) == model::to_string(part)) return true;
  part.attempt = -1;
  if (about == model::to_string(part)) return true;
  part.plan = -1;
  return about == model::to_string(part);
}

/// Fills in what the run's story does not keep.
base::Result<void> add_steps(journal::Journal& journal, CandidateRecord& out) {
  TRY_ASSIGN(const auto steps, journal.steps(out.run));
  const Identity& identity = out.attempt.identity;
  for (const journal::StepRecord& step : steps) {
    const auto kind = model::step_kind(step.key.kind);
    if (kind == StepKind::triage && step.key.identity.iteration == identity.iteration &&
        step.key.identity.parent == identity.parent && identity != Identity{}) {
      if (base::text_at(step.output, "source_id") != out.attempt.kernel.id()) continue;
      if (auto race = base::decode<model::Evaluation>(step.output, "journal")) out.race = std::move(*race);
    }
    const std::string_view label = model::step_suffix(step.key.kind);
    if (kind != StepKind::chat || identity == Identity{} || !asked_for(label, identity)) continue;
    AskedQuestion question{std::string(label), base::text_at(step.output, "model"), Json(),
                           base::text_at(step.output, "text"), step.usage};
    if (const auto text = journal.load(step.input_hash)) {
      if (auto prompt = base::parse_json(*text, "a prompt")) question.prompt = std::move(*prompt);
    }
    out.questions.push_back(std::move(question));
  }
  return {};
}

}  // namespace

base::Result<CandidateRecord> read_candidate(const std::filesystem::path& workspace, const std::string& run,
                                             const std::string& id) {
  TRY_ASSIGN(const report::RunStory story, read_run_story(workspace, run));
  CandidateRecord out;
  out.run = story.run.id;
  out.id = id;
  const model::Solution& baseline = story.run.task.baseline;
  if (id == kBaselineName) {
    out.attempt.kernel = model::Kernel(baseline);
  } else {
    const auto found = std::ranges::find_if(story.attempts, [&](const report::StoryAttempt& attempt) {
      return attempt_part(model::to_string(attempt.identity)) == attempt_part(id);
    });
    if (found == story.attempts.end())
      return base::fail(base::ErrorCode::not_found, "run " + out.run + " has no candidate " + id);
    out.attempt = *found;
    out.fate = report::fate_of(*found, model::measure_of(story.run.task));
    out.parent = name_of(found->parent);
  }
  out.source = text_of(out.attempt.kernel.solution());
  if (!out.parent.empty() && !out.source.empty()) {
    const report::StoryAttempt* const parent = story.find(out.attempt.parent);
    const std::string& before = text_of(parent != nullptr ? parent->kernel.solution() : baseline);
    out.diff_from_parent = base::unified_diff(before, out.source, "parent", "candidate");
    out.diff_from_baseline = base::unified_diff(text_of(baseline), out.source, kBaselineName, "candidate");
  }
  if (const auto profile = story.profiles.find(out.attempt.kernel.id()); profile != story.profiles.end())
    out.profile = profile->second;
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_only));
  TRY(add_steps(*journal, out));
  return out;
}

Json to_json(const CandidateRecord& candidate) {
  const report::StoryAttempt& attempt = candidate.attempt;
  const auto interval = [](const std::optional<model::Interval>& value) { return value ? Json(*value) : Json(); };
  Json failed = Json::array();
  for (const report::FailedAnswer& one : attempt.failed)
    failed.push_back(
        {{"id", model::to_string(one.identity)}, {"status", model::to_string(one.status)}, {"reason", one.reason}});
  Json questions = Json::array();
  for (const AskedQuestion& one : candidate.questions)
    questions.push_back({{"label", one.label},
                         {"model", one.model},
                         {"prompt", one.prompt},
                         {"answer", one.answer},
                         {"usage", one.usage}});
  const bool is_baseline = candidate.parent.empty();
  return {{"run", candidate.run},
          {"id", candidate.id},
          {"parent", candidate.parent},
          {"plan", attempt.plan},
          {"author", attempt.author},
          {"source_id", attempt.kernel.id()},
          {"source", candidate.source},
          {"fate", is_baseline ? kBaselineName : candidate.fate},
          {"ratio", interval(attempt.ratio)},
          {"score", interval(attempt.score)},
          {"reason", attempt.reason},
          {"note", attempt.note},
          {"winner", attempt.is_winner},
          {"failed", std::move(failed)},
          {"diff_from_parent", candidate.diff_from_parent},
          {"diff_from_baseline", candidate.diff_from_baseline},
          {"race", candidate.race ? Json(*candidate.race) : Json()},
          {"profile", candidate.profile ? Json(*candidate.profile) : Json()},
          {"questions", std::move(questions)}};
}

}  // namespace accelopt::app

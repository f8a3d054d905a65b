// SPDX-License-Identifier: Apache-2.0
#include "app/evidence.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/config.hpp"
#include "app/run.hpp"
#include "app/run_state.hpp"
#include "app/workspace.hpp"
#include "base/output_file.hpp"
#include "model/judges.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using model::StepKind;

/// A folder of this machine, and what stands for it in an archive.
struct Place {
  std::string folder;
  std::string name;
};

/// The longest first, so that one inside of another is named by its own name.
std::vector<Place> places_of(const Shell& shell, const journal::Journal& journal, const journal::RunInfo& run) {
  std::vector<Place> places{{run.task_folder, "<task>"},
                            {std::filesystem::absolute(journal.folder()).lexically_normal().string(), "<workspace>"},
                            {shell.environment("HOME").value_or(""), "<home>"}};
  std::erase_if(places, [](const Place& place) { return place.folder.size() < 2 || place.folder.front() != '/'; });
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.folder.size() > b.folder.size(); });
  return places;
}

/// Where the text names the folder: not as the beginning of another one's name.
std::size_t find_folder(std::string_view text, const std::string& folder, std::size_t from) {
  for (std::size_t at = text.find(folder, from); at != std::string_view::npos; at = text.find(folder, at + 1)) {
    const std::size_t end = at + folder.size();
    const bool goes_on = end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                                               text[end] == '_' || text[end] == '-' || text[end] == '.');
    if (!goes_on) return at;
  }
  return std::string_view::npos;
}

/// Takes out what is private to the machine or was not asked for: its folders, the names of its workers. Sources stay
/// as they are.
void clean(Json& value, const std::vector<Place>& places) {
  if (value.is_string()) {
    auto text = value.get<std::string>();
    for (const auto& [folder, name] : places) {
      for (std::size_t at = find_folder(text, folder, 0); at != std::string::npos; at = find_folder(text, folder, at))
        text.replace(at, folder.size(), name);
    }
    value = std::move(text);
    return;
  }
  if (!value.is_structured() || (value.is_object() && value.contains("sources"))) return;
  if (value.is_object() && value.contains("device") && value.contains("isolation")) value.erase("worker");
  for (Json& inner : value) clean(inner, places);
}

/// Whether decisions or numbers rest on such a step, or the answers were asked for.
bool is_evidence(StepKind kind, RawAnswers answers) {
  switch (kind) {
    case StepKind::chat:
      return answers == RawAnswers::kept;
    case StepKind::unanswered:
    case StepKind::session:
    case StepKind::estimate:
    case StepKind::bundle:
    case StepKind::bundle_taken:
    case StepKind::bundle_given_up:
    case StepKind::deferred:
      return false;
    default:
      return true;
  }
}

Result<Evidence> collect(const Shell& shell, journal::Journal& journal, const EvidenceRequest& request) {
  Evidence out;
  TRY_ASSIGN(out.run, find_run(journal, request.run));
  if (out.run.status != model::RunStatus::done || !out.run.result) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("run {} has not ended ({}), and evidence is of a result; continue it with: accelopt resume {}",
                    out.run.id, to_string(out.run.status), out.run.id));
  }
  const std::vector<Place> places = places_of(shell, journal, out.run);
  TRY_ASSIGN(std::vector<journal::StepRecord> steps, journal.steps(out.run.id));
  for (journal::StepRecord& step : steps) {
    const auto kind = model::step_kind(step.key.kind);
    const bool judged = !model::judge_of_step(step.key.kind).empty();
    if (!judged && (!kind || !is_evidence(*kind, request.answers))) continue;
    if (request.answers == RawAnswers::left_out && step.output.is_object()) step.output.erase("raw");
    clean(step.output, places);
    out.steps.push_back(std::move(step));
  }
  out.run.task_folder.clear();
  for (const char* key : {"noise", "bundles", "estimate"}) out.run.result->erase(key);
  clean(*out.run.result, places);
  return out;
}

/// Names of variables that hold models' keys.
Result<std::vector<std::string>> key_variables(const Shell& shell, const EvidenceRequest& request,
                                               const journal::RunInfo& run) {
  TRY_ASSIGN(const Config config, load_config(request.workspace, shell.environment));
  TRY_ASSIGN(const RunSettings settings, run_settings_from(run.settings));
  std::vector<std::string> names{settings.agents.key_env};
  for (const auto& [name, model] : config.models) names.push_back(model.key_env);
  return names;
}

/// What a source of the user's or a model's answer may have brought in.
Result<void> refuse_private(const Shell& shell, std::string_view archive, const std::vector<Place>& places,
                            const std::vector<std::string>& variables) {
  for (const Place& place : places) {
    if (find_folder(archive, place.folder, 0) == std::string_view::npos) continue;
    return fail(ErrorCode::permission_denied, "a source of the run names " + place.folder +
                                                  ", a folder of this machine; evidence is passed on, so no "
                                                  "archive was written");
  }
  for (const std::string& variable : variables) {
    const std::string key = variable.empty() ? "" : shell.environment(variable).value_or("");
    if (key.empty() || archive.find(key) == std::string_view::npos) continue;
    return fail(ErrorCode::permission_denied, "the record of the run holds the key in " + variable +
                                                  "; evidence is passed on, so no archive was "
                                                  "written");
  }
  return {};
}

}  // namespace

Result<Verification> write_evidence(const Shell& shell, const EvidenceRequest& request) {
  TRY_ASSIGN(const auto journal, open_workspace(request.workspace, journal::Access::read_only));
  TRY_ASSIGN(const journal::RunInfo run, journal->find_run(request.run));
  TRY_ASSIGN(const Evidence evidence, collect(shell, *journal, request));
  TRY_ASSIGN(const std::string archive, pack_evidence(evidence));
  TRY_ASSIGN(const auto variables, key_variables(shell, request, run));
  TRY(refuse_private(shell, archive, places_of(shell, *journal, run), variables));
  TRY_ASSIGN(Verification verification, verify_evidence(archive, shell.stops));
  for (const EvidenceCheck& check : verification.checks) {
    if (check.state != CheckState::failed) continue;
    return fail(ErrorCode::corrupt,
                fmt::format("the record of run {} does not verify, so no archive was written: {}: {}", run.id,
                            check.name, check.text));
  }
  TRY(base::write_output(request.output, archive));
  return verification;
}

}  // namespace accelopt::app

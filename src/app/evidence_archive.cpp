// SPDX-License-Identifier: Apache-2.0
#include "app/evidence_archive.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "evaluation/requests.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using base::TarMember;
namespace fs = std::filesystem;

constexpr int kEvidenceSchema = kEvidenceWithSpreadOfRestarts;
constexpr std::string_view kManifest = "manifest.json";
constexpr std::string_view kRun = "run.json";
constexpr std::string_view kSteps = "steps.jsonl";
constexpr std::string_view kTaskFolder = "task/";
const std::string kWinnerFolder = "winner/";
/// Of JSON in an archive. What accelopt writes is far below; what is above would only exhaust a stack.
constexpr int kDeepestJson = 64;

const TarMember* find(const std::vector<TarMember>& members, std::string_view name) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const auto& one) { return one.name == name; });
  return found == members.end() ? nullptr : &*found;
}

Result<const TarMember*> member(const std::vector<TarMember>& members, const std::string& name) {
  const TarMember* const found = find(members, name);
  if (found == nullptr) return fail(ErrorCode::corrupt, name + " is missing from the archive");
  return found;
}

Json contents_of(const std::vector<TarMember>& members) {
  Json list = Json::array();
  for (const TarMember& one : members) {
    if (one.name != kManifest)
      list.push_back({{"name", one.name}, {"size", one.bytes.size()}, {"sha256", base::sha256_hex(one.bytes)}});
  }
  return list;
}

std::string manifest_of(const std::vector<TarMember>& members, int schema) {
  return base::canonical({{"type", "evidence"},
                          {"schema", schema},
                          {"members", contents_of(members)},
                          {"root", root_hash(members)}}) +
         "\n";
}

/// JSON that anybody may have written, not too deep.
Result<Json> parse_foreign(std::string_view text, const std::string& what) {
  if (base::nests_deeper(text, kDeepestJson)) return fail(ErrorCode::corrupt, what + ": is nested too deeply");
  return base::parse_json(text, what);
}

// Writing -------------------------------------------------------------------------------------------------------------

Result<std::vector<TarMember>> task_members(const model::Task& task) {
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-evidence"));
  TRY(suites::write_task(task, folder.path()));
  std::vector<TarMember> out;
  std::error_code problem;
  for (fs::directory_iterator entry(folder.path(), problem), end; !problem && entry != end; entry.increment(problem)) {
    if (!entry->is_regular_file()) continue;
    TRY_ASSIGN(std::string text, base::read_file(entry->path()));
    out.push_back({std::string(kTaskFolder) + entry->path().filename().string(), std::move(text)});
  }
  if (problem) return fail(base::code_of_errno(problem.value()), "cannot list the task: " + problem.message());
  return out;
}

/// The winner's files, and in place of its texts the files' names.
Result<std::vector<TarMember>> take_out_winner(Json& run) {
  std::vector<TarMember> out;
  const Json solution = run["result"].value("solution", Json());
  run["winner"] = nullptr;
  if (solution.is_null()) return out;
  TRY_ASSIGN(const auto winner, base::decode<model::Solution>(solution, "the run's winner"));
  run["winner"] = {{"language", solution["language"]}, {"files", Json::array()}};
  for (const model::SourceFile& file : winner.sources) {
    run["winner"]["files"].push_back(file.name);
    out.push_back({kWinnerFolder + file.name, file.text});
  }
  run["result"].erase("solution");
  return out;
}

std::string line_of(const journal::StepRecord& step) {
  return base::canonical({{"id", step.key.identity},
                          {"kind", step.key.kind},
                          {"input_hash", step.input_hash},
                          {"output", step.output},
                          {"usage", step.usage},
                          {"started_ms", step.started.count()},
                          {"duration_ms", step.duration.count()}}) +
         "\n";
}

/// The lowest version whose promise the record keeps.
int lowest_schema(const Evidence& evidence) {
  const bool bare = std::any_of(evidence.steps.begin(), evidence.steps.end(), [](const journal::StepRecord& step) {
    return model::step_kind(step.key.kind) == model::StepKind::playoff && step.output.value("blocks", 0) > 0 &&
           !step.output.contains("samples");
  });
  if (bare) return kEvidenceWithPlayoffSamples - 1;
  const bool early = std::any_of(evidence.steps.begin(), evidence.steps.end(), [](const journal::StepRecord& step) {
    return model::step_kind(step.key.kind) == model::StepKind::confirm &&
           !step.output.value("samples", Json()).empty() && step.output.value("statistics", 1) == 1;
  });
  return early ? kEvidenceWithSpreadOfRestarts - 1 : kEvidenceSchema;
}

// Reading -------------------------------------------------------------------------------------------------------------

/// The winner of the run, put together of its files.
Result<void> put_in_winner(const std::vector<TarMember>& members, const Json& winner, Json& result) {
  result["solution"] = nullptr;
  if (winner.is_null()) return {};
  model::Solution solution;
  Json stated = {{"language", winner.at("language")}, {"sources", Json::array()}};
  for (const Json& name : winner.at("files")) {
    TRY_ASSIGN(const TarMember* const file, member(members, kWinnerFolder + name.get<std::string>()));
    stated["sources"].push_back({{"name", name}, {"text", file->bytes}});
  }
  TRY_ASSIGN(solution, base::decode<model::Solution>(stated, std::string(kRun) + ": winner"));
  if (solution.sources.empty()) return fail(ErrorCode::corrupt, std::string(kRun) + ": the winner has no file");
  result["solution"] = solution;
  return {};
}

Result<void> read_run(const std::vector<TarMember>& members, journal::RunInfo& run) {
  TRY_ASSIGN(const TarMember* const text, member(members, std::string(kRun)));
  TRY_ASSIGN(const Json json, parse_foreign(text->bytes, text->name));
  try {
    json.at("run").get_to(run.id);
    json.at("created").get_to(run.created);
    json.at("seed").get_to(run.seed);
    json.at("decision_hash").get_to(run.decision_hash);
    json.at("program_version").get_to(run.program_version);
    run.settings = {{"search", json.at("search")}, {"measure", json.at("measure")}};
    Json result = json.at("result");
    if (!result.is_object()) return fail(ErrorCode::corrupt, text->name + ": the result is no object");
    TRY(put_in_winner(members, json.at("winner"), result));
    run.result = std::move(result);
  } catch (const nlohmann::json::exception& problem) {
    return fail(ErrorCode::corrupt, text->name + ": " + problem.what());
  }
  run.status = model::RunStatus::done;
  return {};
}

Result<void> read_task(const std::vector<TarMember>& members, journal::RunInfo& run) {
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-evidence"));
  for (const TarMember& one : members) {
    if (!one.name.starts_with(kTaskFolder)) continue;
    const std::string name = one.name.substr(kTaskFolder.size());
    if (name.find('/') != std::string::npos) return fail(ErrorCode::corrupt, one.name + ": a task has no folders");
    TRY(base::write_file(folder.path() / name, one.bytes));
  }
  auto task = suites::load_task(folder.path());
  if (!task) {
    std::string message = std::move(task).error().message;
    const std::string here = folder.path().string() + "/";
    for (auto at = message.find(here); at != std::string::npos; at = message.find(here, at))
      message.replace(at, here.size(), kTaskFolder);
    return fail(ErrorCode::corrupt, "the task cannot be read: " + message);
  }
  run.task = std::move(*task);
  run.task_name = run.task.definition.name;
  return {};
}

/// What the replay of decisions relies on.
Result<void> check_output(const journal::StepRecord& step) {
  using model::StepKind;
  const auto kind = model::step_kind(step.key.kind);
  if (!kind) return fail(ErrorCode::corrupt, "there is no such kind of step");
  if (*kind == StepKind::execute || *kind == StepKind::fix) {
    if (!step.output.value("answered", false)) return {};
    TRY_ASSIGN(const auto solution, base::decode<model::Solution>(step.output.at("value"), "value"));
    if (solution.sources.empty()) return fail(ErrorCode::corrupt, "the kernel has no file");
    return {};
  }
  for (const model::Operation operation :
       {model::Operation::open, model::Operation::build, model::Operation::triage, model::Operation::profile,
        model::Operation::playoff, model::Operation::held_out, model::Operation::confirm}) {
    if (model::step_of(operation) == *kind) return evaluation::check_form(operation, step.output);
  }
  return {};
}

Result<journal::StepRecord> read_step(std::string_view line) {
  TRY_ASSIGN(const Json json, parse_foreign(line, "the step"));
  journal::StepRecord step;
  try {
    json.at("id").get_to(step.key.identity);
    json.at("kind").get_to(step.key.kind);
    json.at("input_hash").get_to(step.input_hash);
    step.output = json.at("output");
    json.at("usage").get_to(step.usage);
    step.started = std::chrono::milliseconds(json.at("started_ms").get<std::int64_t>());
    step.duration = std::chrono::milliseconds(json.at("duration_ms").get<std::int64_t>());
    TRY(check_output(step));
  } catch (const nlohmann::json::exception& problem) {
    return fail(ErrorCode::corrupt, problem.what());
  }
  return step;
}

Result<void> read_steps(const std::vector<TarMember>& members, std::vector<journal::StepRecord>& steps) {
  TRY_ASSIGN(const TarMember* const text, member(members, std::string(kSteps)));
  const std::string_view lines = text->bytes;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    if (end == std::string_view::npos) return fail(ErrorCode::corrupt, text->name + ": its last line has no end");
    auto step = read_step(lines.substr(at, end - at));
    if (!step) {
      return fail(ErrorCode::corrupt,
                  fmt::format("{}, line {}: {}", text->name, steps.size() + 1, step.error().message));
    }
    steps.push_back(std::move(*step));
    at = end + 1;
  }
  return {};
}

}  // namespace

std::string root_hash(const std::vector<TarMember>& members) {
  return base::sha256_hex(base::canonical(contents_of(members)));
}

Result<std::string> pack_evidence(const Evidence& evidence) {
  const journal::RunInfo& run = evidence.run;
  Json json = {{"run", run.id},
               {"created", run.created},
               {"seed", run.seed},
               {"decision_hash", run.decision_hash},
               {"program_version", run.program_version},
               {"search", run.settings.value("search", Json::object())},
               {"measure", run.settings.value("measure", Json::object())},
               {"result", run.result.value_or(Json::object())}};
  TRY_ASSIGN(std::vector<TarMember> members, take_out_winner(json));
  TRY_ASSIGN(const std::vector<TarMember> task, task_members(run.task));
  members.insert(members.end(), task.begin(), task.end());
  members.push_back({std::string(kRun), base::canonical(json) + "\n"});
  std::string steps;
  for (const journal::StepRecord& step : evidence.steps) steps += line_of(step);
  members.push_back({std::string(kSteps), std::move(steps)});
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  members.push_back({std::string(kManifest), manifest_of(members, lowest_schema(evidence))});
  return base::write_tar(std::move(members));
}

Result<void> check_manifest(const std::vector<TarMember>& members) {
  TRY_ASSIGN(const TarMember* const manifest, member(members, std::string(kManifest)));
  TRY_ASSIGN(const Json json, parse_foreign(manifest->bytes, manifest->name));
  if (base::text_at(json, "type") != "evidence")
    return fail(ErrorCode::corrupt, "it is no evidence archive of accelopt's");
  const Json schema = json.value("schema", Json());
  if (!schema.is_number_integer() || schema < 1)
    return fail(ErrorCode::corrupt, manifest->name + ": it states no version");
  if (schema > kEvidenceSchema) {
    return fail(ErrorCode::unsupported,
                fmt::format("the archive has version {}, and this accelopt reads version {}; use a newer accelopt",
                            schema.dump(), kEvidenceSchema));
  }
  const Json listed = json.value("members", Json());
  if (!listed.is_array()) return fail(ErrorCode::corrupt, manifest->name + ": it lists no members");
  const Json actual = contents_of(members);
  for (const Json& entry : listed) {
    const std::string name = base::text_at(entry, "name");
    const auto same = std::find_if(actual.begin(), actual.end(), [&](const Json& one) { return one["name"] == name; });
    if (same == actual.end())
      return fail(ErrorCode::corrupt, "\"" + name + "\" is listed, and missing from the archive");
    if (*same != entry) return fail(ErrorCode::corrupt, name + ": it is not what the manifest lists (size or SHA-256)");
  }
  for (const Json& one : actual) {
    if (std::find(listed.begin(), listed.end(), one) == listed.end())
      return fail(ErrorCode::corrupt, one["name"].get<std::string>() + ": the manifest does not list it");
  }
  if (base::text_at(json, "root") != root_hash(members))
    return fail(ErrorCode::corrupt, manifest->name + ": its root hash is not that of the members");
  if (manifest->bytes != manifest_of(members, schema.get<int>()))
    return fail(ErrorCode::corrupt, manifest->name + ": it is not as accelopt writes it");
  return {};
}

Result<Evidence> unpack_evidence(const std::vector<TarMember>& members) {
  Evidence evidence;
  TRY(read_run(members, evidence.run));
  TRY(read_task(members, evidence.run));
  TRY(read_steps(members, evidence.steps));
  TRY_ASSIGN(const TarMember* const manifest, member(members, std::string(kManifest)));
  TRY_ASSIGN(const Json stated, parse_foreign(manifest->bytes, manifest->name));
  TRY_ASSIGN(evidence.schema, base::decode<int>(stated.value("schema", Json()), "the archive's version"));
  const Json solution = evidence.run.result->value("solution", Json());
  const auto of_winner = [&](const std::string& name) {
    return !solution.is_null() &&
           std::any_of(solution["sources"].begin(), solution["sources"].end(),
                       [&](const Json& file) { return kWinnerFolder + file["name"].get<std::string>() == name; });
  };
  for (const TarMember& one : members) {
    const bool known = one.name == kManifest || one.name == kRun || one.name == kSteps ||
                       one.name.starts_with(kTaskFolder) || of_winner(one.name);
    if (!known) return fail(ErrorCode::corrupt, one.name + ": an archive has no such member");
  }
  return evidence;
}

}  // namespace accelopt::app

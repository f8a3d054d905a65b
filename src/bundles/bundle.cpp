// SPDX-License-Identifier: Apache-2.0
#include "bundles/bundle.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <set>
#include <system_error>

#include "base/hash.hpp"
#include "base/names.hpp"
#include "bundles/files.hpp"
#include "bundles/follow_up.hpp"
#include "evaluation/evaluator_json.hpp"
#include "evaluation/requests.hpp"
#include "model/kernel.hpp"

namespace accelopt::bundles {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using model::Operation;

namespace {

constexpr const char* kManifest = "bundle.json";
constexpr const char* kTask = "task.json";
constexpr const char* kSolutions = "solutions";

// Bounds on what is read: far above what a search writes.
constexpr std::size_t kMostManifestBytes = std::size_t{64} << 20;
constexpr std::size_t kMostTaskBytes = std::size_t{64} << 20;
constexpr std::size_t kMostSolutionBytes = std::size_t{8} << 20;
constexpr std::size_t kMostItems = 100'000;

constexpr std::size_t kIdInName = 8;  ///< digits of the id in the folder's name

/// Calls `change` with every solution of a request in turn.
Result<void> each_solution(Json& request, const std::function<Result<void>(Json&)>& change) {
  for (const char* key : {"candidate", "opponent", "solution"}) {
    if (const auto found = request.find(key); found != request.end()) TRY(change(*found));
  }
  const auto arms = request.find("arms");
  if (arms == request.end()) return {};
  if (!arms->is_array()) return fail(ErrorCode::corrupt, "arms are no list");
  for (Json& arm : *arms) {
    if (!arm.is_object() || !arm.contains("solution")) return fail(ErrorCode::corrupt, "an arm has no solution");
    TRY(change(arm["solution"]));
  }
  return {};
}

constexpr auto kWhenNames = std::to_array<base::Named<When>>({{When::built, "built"},
                                                              {When::passed, "passed"},
                                                              {When::promising, "promising"},
                                                              {When::unconfirmed, "unconfirmed"},
                                                              {When::leads, "leads"}});

Result<When> parse_when(const std::string& name) {
  if (const auto when = base::value_in(kWhenNames, name)) return *when;
  return fail(ErrorCode::corrupt, "unknown condition " + name);
}

Json manifest_of(const Bundle& bundle, const std::string& task_hash, std::map<std::string, std::string>& solutions) {
  Json items = Json::array();
  for (const BundleItem& item : bundle.items) {
    Json packed = item.request;
    std::ignore = each_solution(packed, [&](Json& solution) -> Result<void> {
                    const std::string text = base::canonical(solution);
                    const std::string hash = base::sha256_hex(text);
                    solutions[hash] = text;
                    solution = hash;
                    return {};
                  }).has_value();
    Json line = {{"id", item.id}, {"request", std::move(packed)}};
    if (item.only_if) {
      line["only_if"] = {{"item", item.only_if->item}, {"when", std::string(to_string(item.only_if->when))}};
      if (!item.only_if->unlike.empty()) line["only_if"]["unlike"] = item.only_if->unlike;
    }
    if (item.field) line["field"] = to_json_field(*item.field);
    items.push_back(std::move(line));
  }
  return {{"run", bundle.run},
          {"number", bundle.number},
          {"program_version", bundle.program_version},
          {"target", bundle.task.target},
          {"device", bundle.device},
          {"compiler", bundle.compiler},
          {"expected_device", bundle.expected_device},
          {"expected_compiler", bundle.expected_compiler},
          {"task", bundle.task_id},
          {"task_name", bundle.task.definition.name},
          {"task_file", task_hash},
          {"settings", bundle.settings},
          {"items", std::move(items)}};
}

int schema_of(const Bundle& bundle) {
  const bool fields =
      std::any_of(bundle.items.begin(), bundle.items.end(), [](const BundleItem& item) { return item.field; });
  return fields ? kBundleSchema : kSchemaWithoutFields;
}

Result<Json> read_solution(const std::filesystem::path& folder, const Json& hash) {
  if (!hash.is_string() || !is_hash(hash.get<std::string>()))
    return fail(ErrorCode::corrupt, "a solution is not named by its hash");
  const std::string name = hash.get<std::string>() + ".json";
  TRY_ASSIGN(const std::string text, read_plain_file(folder, std::string(kSolutions) + "/" + name, kMostSolutionBytes));
  if (hash != base::sha256_hex(text)) return fail(ErrorCode::corrupt, "solution " + name + " is damaged");
  return parse_distrusted(text, name);
}

Result<BundleItem> read_item(const std::filesystem::path& folder, const Json& line,
                             const std::set<std::string>& before) {
  BundleItem item;
  TRY_ASSIGN(item.id, base::decode<std::string>(line.value("id", Json()), "an item's id"));
  item.request = line.value("request", Json());
  if (!item.request.is_object()) return fail(ErrorCode::corrupt, "an item is not a request");
  TRY(each_solution(item.request, [&](Json& solution) -> Result<void> {
    TRY_ASSIGN(solution, read_solution(folder, Json(solution)));
    TRY_ASSIGN(const auto decoded, base::decode<model::Solution>(solution, "a solution"));
    if (decoded.sources.empty()) return fail(ErrorCode::corrupt, "a solution has no source");
    return {};
  }));
  if (const auto known = evaluation::parse_bundled(item.request); !known)
    return fail(ErrorCode::corrupt, "an item asks for what this accelopt does not know: " + known.error().message);
  if (request_id(item.request) != item.id) return fail(ErrorCode::corrupt, "an item is not what its id says");
  if (before.contains(item.id)) return fail(ErrorCode::corrupt, "an item appears twice");
  if (line.contains("field")) {
    if (evaluation::operation_in(item.request) != Operation::playoff)
      return fail(ErrorCode::corrupt, "what is not a play-off has a field");
    TRY_ASSIGN(item.field, read_field_of(line["field"], item.request["arms"].size()));
    for (const FieldAttempt& attempt : item.field->attempts) {
      if (!attempt.race.empty() && !before.contains(attempt.race))
        return fail(ErrorCode::corrupt, "a play-off depends on a race that does not come before it");
    }
  }
  if (!line.contains("only_if")) return item;
  Condition condition;
  const Json& only_if = line["only_if"];
  if (!only_if.is_object()) return fail(ErrorCode::corrupt, "a condition is not an object");
  TRY_ASSIGN(condition.item, base::decode<std::string>(only_if.value("item", Json()), "a condition"));
  TRY_ASSIGN(const auto when, base::decode<std::string>(only_if.value("when", Json()), "a condition"));
  TRY_ASSIGN(condition.when, parse_when(when));
  TRY_ASSIGN(condition.unlike, base::decode<std::string>(only_if.value("unlike", Json("")), "a condition"));
  if (!before.contains(condition.item)) return fail(ErrorCode::corrupt, "an item depends on none that comes before it");
  item.only_if = std::move(condition);
  return item;
}

Result<Bundle> decode_manifest(const std::filesystem::path& folder, const Json& manifest) {
  Bundle bundle;
  const auto text = [&](const char* key, std::string& out) -> Result<void> {
    TRY_ASSIGN(out, base::decode<std::string>(manifest.value(key, Json()), key));
    return {};
  };
  TRY(text("bundle", bundle.id));
  TRY(text("run", bundle.run));
  TRY(text("program_version", bundle.program_version));
  TRY(text("device", bundle.device));
  TRY(text("compiler", bundle.compiler));
  TRY(text("expected_device", bundle.expected_device));
  TRY(text("expected_compiler", bundle.expected_compiler));
  TRY(text("task", bundle.task_id));
  TRY_ASSIGN(bundle.number, base::decode<int>(manifest.value("number", Json()), "number"));
  TRY_ASSIGN(bundle.settings, evaluation::read_settings(manifest.value("settings", Json()), "settings"));
  TRY_ASSIGN(const std::string task, read_plain_file(folder, kTask, kMostTaskBytes));
  if (manifest.value("task_file", Json()) != base::sha256_hex(task))
    return fail(ErrorCode::corrupt, "task.json is damaged");
  TRY_ASSIGN(const Json task_json, parse_distrusted(task, kTask));
  TRY_ASSIGN(bundle.task, base::decode<model::Task>(task_json, kTask));
  if (bundle.task.baseline.sources.empty()) return fail(ErrorCode::corrupt, "the task has no baseline");
  if (model::task_id(bundle.task) != bundle.task_id) return fail(ErrorCode::corrupt, "task.json is another task");
  const Json items = manifest.value("items", Json());
  if (!items.is_array() || items.empty() || items.size() > kMostItems)
    return fail(ErrorCode::corrupt, "it has no list of items");
  std::set<std::string> before;
  for (const Json& line : items) {
    if (!line.is_object()) return fail(ErrorCode::corrupt, "an item is not an object");
    TRY_ASSIGN(auto item, read_item(folder, line, before));
    before.insert(item.id);
    bundle.items.push_back(std::move(item));
  }
  return bundle;
}

}  // namespace

std::string_view to_string(When when) {
  return base::name_in(kWhenNames, when);
}

Json bundled_open() {
  return {{"op", to_string(Operation::open)}};
}

std::string request_id(const Json& request) {
  return base::sha256_hex(base::canonical(request));
}

Result<std::filesystem::path> write_bundle(const std::filesystem::path& parent, Bundle& bundle) {
  const std::string task = base::canonical(bundle.task) + "\n";
  std::map<std::string, std::string> solutions;
  const std::string manifest =
      sealed(manifest_of(bundle, base::sha256_hex(task), solutions), "accelopt-bundle", "bundle", schema_of(bundle));
  TRY_ASSIGN(const Json parsed, base::parse_json(manifest, kManifest));
  bundle.id = parsed["bundle"].get<std::string>();
  char number[16];
  std::snprintf(number, sizeof number, "%04d-", bundle.number);
  const std::filesystem::path folder = parent / (number + bundle.id.substr(0, kIdInName));
  std::error_code problem;
  if (std::filesystem::exists(folder / kManifest, problem)) return folder;

  const std::filesystem::path unfinished = folder.string() + ".part";
  std::filesystem::remove_all(unfinished, problem);
  TRY(base::make_folders(unfinished / kSolutions));
  for (const auto& [hash, text] : solutions) TRY(base::write_file(unfinished / kSolutions / (hash + ".json"), text));
  TRY(base::write_file(unfinished / kTask, task));
  TRY(base::write_file(unfinished / kManifest, manifest));
  std::filesystem::rename(unfinished, folder, problem);
  if (problem) return base::fail_errno(problem.value(), "cannot write " + folder.string());
  return folder;
}

Result<Bundle> read_bundle(const std::filesystem::path& folder) {
  const std::string name = folder.string();
  auto text = read_plain_file(folder, kManifest, kMostManifestBytes);
  if (!text && text.error().code == ErrorCode::not_found)
    return fail(ErrorCode::not_found, name + " is no bundle: it holds no " + kManifest);
  if (!text) return tl::make_unexpected(text.error());
  TRY_ASSIGN(const Json manifest, unseal(*text, "accelopt-bundle", "bundle", (folder / kManifest).string()));
  auto bundle = decode_manifest(folder, manifest);
  if (bundle) return bundle;
  // A file that is missing is damage here, whatever the operating system calls it.
  const ErrorCode code = bundle.error().code;
  const bool damage = code == ErrorCode::not_found || code == ErrorCode::parse || code == ErrorCode::corrupt;
  return fail(damage ? ErrorCode::corrupt : code,
              "bundle " + name + ": " + bundle.error().message + "; copy the bundle again, whole");
}

Result<std::vector<std::filesystem::path>> find_bundles(const std::filesystem::path& folder) {
  std::error_code problem;
  if (std::filesystem::exists(folder / kManifest, problem)) return std::vector{folder};
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    if (at->path().extension() != ".part" && std::filesystem::exists(at->path() / kManifest, problem))
      found.push_back(at->path());
  }
  if (found.empty())
    return fail(ErrorCode::not_found, folder.string() + " is no bundle and holds none (a bundle has a bundle.json)");
  std::sort(found.begin(), found.end());
  return found;
}

namespace {

Resolved wanted(Json request) {
  Resolved resolved;
  resolved.request.emplace(std::move(request));
  return resolved;
}

Resolved skipped(std::string why) {
  return {std::nullopt, std::move(why), {}};
}

}  // namespace

const Outcome* settled(const Outcomes& outcomes, const std::string& item) {
  const auto found = outcomes.find(item);
  if (found == outcomes.end()) return nullptr;
  const auto twin = found->second.same_as.empty() ? found : outcomes.find(found->second.same_as);
  return twin == outcomes.end() ? nullptr : &twin->second;
}

std::string built_code(const Json& candidate, const Outcomes& outcomes) {
  const Json build = {{"op", to_string(Operation::build)}, {"solution", candidate}};
  const auto found = outcomes.find(request_id(build));
  if (found == outcomes.end() || !found->second.result) return {};
  const auto report = base::decode<model::BuildReport>(*found->second.result, "build");
  return report && report->built ? report->machine_code_id : std::string();
}

namespace {

/// Another race of this very program against the same opponent, before this one.
std::string same_race(const Bundle& bundle, std::size_t item, const std::string& code, const Outcomes& outcomes) {
  const Json& request = bundle.items[item].request;
  for (std::size_t i = 0; i < item; ++i) {
    const Json& other = bundle.items[i].request;
    if (evaluation::operation_in(other) != Operation::triage || other["opponent"] != request["opponent"]) continue;
    const auto found = outcomes.find(bundle.items[i].id);
    const bool carried_out = found != outcomes.end() && found->second.result;
    if (carried_out && built_code(other["candidate"], outcomes) == code) return bundle.items[i].id;
  }
  return {};
}

Resolved resolve_race(const Bundle& bundle, std::size_t item, const Outcomes& before) {
  const BundleItem& race = bundle.items[item];
  const std::string code = built_code(race.request["candidate"], before);
  if (code.empty()) return skipped("it does not build");
  if (code == race.only_if->unlike) return skipped("it is the same program as its opponent");
  if (auto same = same_race(bundle, item, code, before); !same.empty()) return {std::nullopt, {}, std::move(same)};
  return wanted(race.request);
}

/// What follows a race, or the opening of the task: of a candidate that left values open, its chosen configuration.
Resolved resolve_after_race(const BundleItem& item, const Json& result) {
  const auto evaluation =
      base::decode<model::Evaluation>(result.contains("baseline") ? result["baseline"] : result, "race");
  if (!evaluation || evaluation->status != model::Status::passed) return skipped("it did not pass");
  const bool promising =
      evaluation->ratio && evaluation->ratio->estimate > 1 &&
      (evaluation->verdict == model::Verdict::faster ||
       (evaluation->verdict == model::Verdict::undecided && evaluation->decided_by != model::DecidedBy::futility));
  if (item.only_if->when == When::promising && !promising) return skipped("it is not faster");
  Json request = item.request;
  if (evaluation->tuning && evaluation->tuning->chosen) {
    const auto open = base::decode<model::Kernel>(request["solution"], "solution");
    if (!open) return skipped("no configuration was chosen");
    const auto chosen = open->with_values(*evaluation->tuning->chosen);
    if (!chosen) return skipped("no configuration was chosen");
    request["solution"] = *chosen;
  }
  return wanted(std::move(request));
}

bool held(const Outcome& outcome) {
  if (!outcome.result) return false;
  const auto evaluation = base::decode<model::Evaluation>(*outcome.result, "confirmation");
  return evaluation && evaluation->status == model::Status::passed && evaluation->verdict == model::Verdict::faster;
}

}  // namespace

Resolved resolve(const Bundle& bundle, std::size_t item, const Outcomes& before) {
  const BundleItem& asked = bundle.items[item];
  if (asked.field) return resolve_playoff(bundle, item, before);
  if (!asked.only_if) return wanted(asked.request);
  const When when = asked.only_if->when;
  const Outcome* const settled_cause = settled(before, asked.only_if->item);
  if (settled_cause == nullptr) return skipped("what it depends on is not known");
  const Outcome& cause = *settled_cause;
  if (when == When::leads) return resolve_leader(bundle, item, before);
  if (when == When::unconfirmed) {
    if (!cause.result || held(cause)) return skipped("one before it is confirmed");
    return wanted(asked.request);
  }
  if (!cause.result) return skipped("what it depends on has no result of its own");
  if (when == When::built && evaluation::operation_in(asked.request) == Operation::triage)
    return resolve_race(bundle, item, before);
  if (asked.request.contains("solution") && when != When::built) return resolve_after_race(asked, *cause.result);
  return skipped("its condition does not fit it");
}

base::Error lock_error(const std::filesystem::path& folder, int number) {
  const std::string name = "bundle " + folder.string();
  if (number == EWOULDBLOCK) return {ErrorCode::unavailable, name + " is being executed by another process"};
  if (!base::is_without_locks(number))
    return {base::code_of_errno(number), "cannot lock " + name + ": " + std::generic_category().message(number)};
  return {ErrorCode::unsupported,
          name + ": this file system has no locks; copy the bundle to a folder on another one and execute it there"};
}

Result<base::FileDescriptor> lock_bundle(const std::filesystem::path& folder) {
  base::FileDescriptor lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.valid()) return base::fail_errno(errno, "cannot open " + folder.string());
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return tl::make_unexpected(lock_error(folder, errno));
  return lock;
}

}  // namespace accelopt::bundles

// SPDX-License-Identifier: Apache-2.0
// What a bundle's execution leaves in it, one file an item, so that an interrupted one goes on where it stopped.
#include <algorithm>
#include <set>

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "bundles/bundle.hpp"
#include "bundles/files.hpp"
#include "evaluation/requests.hpp"

namespace accelopt::bundles {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

ACCELOPT_JSON(BundleSession) {
  field.required("number", it.number, "program_version", it.program_version, "device", it.device, "compiler",
                 it.compiler, "flags", it.flags, "isolation", it.isolation, "machine", it.machine, "started",
                 it.started);
}

static void to_json(Json& out, const Outcome& outcome) {
  out = {{"item", outcome.item},
         {"request", outcome.request},
         {"session", outcome.session},
         {"seconds", outcome.seconds},
         {"finished", outcome.finished}};
  if (outcome.result) out["result"] = *outcome.result;
  if (outcome.error) out["error"] = worker::error_to_json(*outcome.error);
  if (!outcome.skipped.empty()) out["skipped"] = outcome.skipped;
  if (!outcome.same_as.empty()) out["same_as"] = outcome.same_as;
}

static void from_json(const Json& in, Outcome& outcome) {
  in.at("item").get_to(outcome.item);
  in.at("request").get_to(outcome.request);
  in.at("session").get_to(outcome.session);
  in.at("seconds").get_to(outcome.seconds);
  in.at("finished").get_to(outcome.finished);
  if (in.contains("result")) outcome.result.emplace(in["result"]);
  if (in.contains("error")) {
    outcome.error = base::Error{worker::parse_error_code(in["error"].at("code").get<std::string>()),
                                in["error"].at("message").get<std::string>()};
  }
  base::read_field(in, "skipped", outcome.skipped);
  base::read_field(in, "same_as", outcome.same_as);
}

namespace {

constexpr const char* kResults = "results";
constexpr const char* kSeal = "results.json";
constexpr std::size_t kMostResultBytes = std::size_t{64} << 20;
constexpr std::size_t kMostSealBytes = std::size_t{64} << 20;
constexpr int kMostSessions = 1000;

std::string session_file(int number) {
  return "session-" + std::to_string(number) + ".json";
}

std::string outcome_file(const std::string& item) {
  return item + ".json";
}

std::string below(const std::string& name) {
  return std::string(kResults) + "/" + name;
}

/// Reads one file of the results, which must be of this bundle.
template <class T>
Result<T> read_part(const std::filesystem::path& folder, const Bundle& bundle, const std::string& name,
                    const char* type) {
  TRY_ASSIGN(const std::string text, read_plain_file(folder, below(name), kMostResultBytes));
  TRY_ASSIGN(const Json part, unseal(text, type, "hash", name));
  if (part.value("bundle", Json()) != bundle.id) return fail(ErrorCode::corrupt, name + " is of another bundle");
  try {
    return part.get<T>();
  } catch (const nlohmann::json::exception& problem) {
    return fail(ErrorCode::corrupt, name + ": " + problem.what());
  }
}

Result<void> write_part(const std::filesystem::path& folder, const Bundle& bundle, const std::string& name,
                        const char* type, Json part) {
  const std::filesystem::path results = folder / kResults;
  std::error_code problem;
  if (std::filesystem::is_symlink(results, problem))
    return fail(ErrorCode::corrupt, results.string() + " is a link; results are written into the bundle alone");
  TRY(base::make_folders(results));
  part["bundle"] = bundle.id;
  return base::write_file(results / name, sealed(std::move(part), type, "hash"));
}

/// Whether an outcome is what the item asks for, given the ones before it.
Result<void> check_outcome(const Bundle& bundle, std::size_t index, const Outcome& outcome, const Outcomes& before) {
  const BundleItem& item = bundle.items[index];
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::corrupt,
                "the result of item " + item.id.substr(0, 12) + " (" + item.request.value("op", "") + "): " + why);
  };
  constexpr double kMostSeconds = 1e6;
  if (outcome.item != item.id) return refuse("it is of another item");
  if (!(outcome.seconds >= 0 && outcome.seconds < kMostSeconds)) return refuse("it took no time that can be");
  const Resolved resolved = resolve(bundle, index, before);
  const int said = (outcome.result ? 1 : 0) + (outcome.error ? 1 : 0) + (outcome.skipped.empty() ? 0 : 1) +
                   (outcome.same_as.empty() ? 0 : 1);
  if (said != 1) return refuse("it says not one thing");
  if (!resolved.request) {
    const bool same = outcome.same_as == resolved.same_as && outcome.skipped.empty() == resolved.skipped.empty();
    return same && !outcome.result && !outcome.error ? Result<void>()
                                                     : Result<void>(refuse("it had no cause to be carried out"));
  }
  if (outcome.request != request_id(*resolved.request)) return refuse("it answers another request");
  if (outcome.error && evaluation::operation_in(item.request) == model::Operation::open) return {};
  if (!outcome.result) return refuse("it was left out without cause");
  if (const auto formed = evaluation::check_form(*resolved.request, *outcome.result); !formed)
    return refuse(formed.error().message);
  return {};
}

Result<void> check_environment(const Bundle& bundle, const BundleSession& session) {
  const auto other = [&](const char* what, const std::string& expected, const std::string& found) {
    return fail(ErrorCode::unsupported, "its results are from " + std::string(what) + " \"" + found +
                                            "\"; the run's are from \"" + expected +
                                            "\", and times of different ones cannot be compared: execute it there");
  };
  if (!bundle.expected_device.empty() && session.device != bundle.expected_device)
    return other("device", bundle.expected_device, session.device);
  if (!bundle.expected_compiler.empty() && session.compiler != bundle.expected_compiler)
    return other("compiler", bundle.expected_compiler, session.compiler);
  return {};
}

Result<Json> read_seal(const std::filesystem::path& folder, const Bundle& bundle) {
  TRY_ASSIGN(const std::string text, read_plain_file(folder, kSeal, kMostSealBytes));
  TRY_ASSIGN(Json seal, unseal(text, "accelopt-results", "hash", kSeal));
  if (seal.value("bundle", Json()) != bundle.id)
    return fail(ErrorCode::corrupt, "its results.json is of another bundle");
  if (!seal.value("files", Json()).is_object()) return fail(ErrorCode::corrupt, "its results.json lists no files");
  return seal;
}

/// The hash of a file of the results must be the one in the seal.
Result<void> check_listed(const std::filesystem::path& folder, const Json& files, const std::string& name) {
  const auto read = read_plain_file(folder, below(name), kMostResultBytes);
  if (!read && read.error().code == ErrorCode::not_found)
    return fail(ErrorCode::corrupt, "results/" + name + " is missing");
  if (!read) return tl::make_unexpected(read.error());
  if (files.value(name, Json()) != base::sha256_hex(*read))
    return fail(ErrorCode::corrupt, "results/" + name + " is damaged");
  return {};
}

}  // namespace

Result<void> write_session(const std::filesystem::path& folder, const Bundle& bundle, const BundleSession& session) {
  return write_part(folder, bundle, session_file(session.number), "accelopt-session", session);
}

Result<void> write_outcome(const std::filesystem::path& folder, const Bundle& bundle, const Outcome& outcome) {
  return write_part(folder, bundle, outcome_file(outcome.item), "accelopt-result", outcome);
}

Result<BundleResults> read_unfinished(const std::filesystem::path& folder, const Bundle& bundle) {
  BundleResults results;
  for (int number = 1; number <= kMostSessions; ++number) {
    const auto session = read_part<BundleSession>(folder, bundle, session_file(number), "accelopt-session");
    if (!session || session->number != number || !check_environment(bundle, *session)) break;
    results.sessions.push_back(*session);
  }
  for (std::size_t i = 0; i < bundle.items.size(); ++i) {
    auto outcome = read_part<Outcome>(folder, bundle, outcome_file(bundle.items[i].id), "accelopt-result");
    if (!outcome || outcome->session < 1 || outcome->session > static_cast<int>(results.sessions.size())) continue;
    if (check_outcome(bundle, i, *outcome, results.outcomes))
      results.outcomes.emplace(outcome->item, std::move(*outcome));
  }
  return results;
}

Result<void> seal_results(const std::filesystem::path& folder, const Bundle& bundle) {
  TRY_ASSIGN(const BundleResults results, read_unfinished(folder, bundle));
  Json files = Json::object();
  const auto list = [&](const std::string& name) -> Result<void> {
    TRY_ASSIGN(const std::string text, read_plain_file(folder, below(name), kMostResultBytes));
    files[name] = base::sha256_hex(text);
    return {};
  };
  for (const BundleSession& session : results.sessions) TRY(list(session_file(session.number)));
  for (const BundleItem& item : bundle.items) TRY(list(outcome_file(item.id)));
  const Json seal = {{"bundle", bundle.id}, {"sessions", results.sessions.size()}, {"files", std::move(files)}};
  return base::write_file(folder / kSeal, sealed(seal, "accelopt-results", "hash"));
}

Result<BundleResults> read_results(const std::filesystem::path& folder, const Bundle& bundle) {
  const auto seal = read_seal(folder, bundle);
  if (!seal && seal.error().code == ErrorCode::not_found) {
    TRY_ASSIGN(const auto unfinished, read_unfinished(folder, bundle));
    return fail(ErrorCode::not_found, "it was not executed to its end: " + std::to_string(unfinished.outcomes.size()) +
                                          " of " + std::to_string(bundle.items.size()) + " items are done");
  }
  if (!seal) return tl::make_unexpected(seal.error());
  const Json& files = (*seal)["files"];
  const auto sessions = base::decode<int>(seal->value("sessions", Json()), "sessions");
  if (!sessions || *sessions < 1 || *sessions > kMostSessions)
    return fail(ErrorCode::corrupt, "its results.json names no session");
  BundleResults results;
  results.id = (*seal)["hash"].get<std::string>();
  for (int number = 1; number <= *sessions; ++number) {
    TRY(check_listed(folder, files, session_file(number)));
    TRY_ASSIGN(auto session, read_part<BundleSession>(folder, bundle, session_file(number), "accelopt-session"));
    TRY(check_environment(bundle, session));
    const bool other_part = !results.sessions.empty() && (session.device != results.sessions.front().device ||
                                                          session.compiler != results.sessions.front().compiler);
    if (other_part) return fail(ErrorCode::unsupported, "parts of it were executed on different devices or compilers");
    results.sessions.push_back(std::move(session));
  }
  for (std::size_t i = 0; i < bundle.items.size(); ++i) {
    const std::string name = outcome_file(bundle.items[i].id);
    TRY(check_listed(folder, files, name));
    TRY_ASSIGN(auto outcome, read_part<Outcome>(folder, bundle, name, "accelopt-result"));
    if (outcome.session < 1 || outcome.session > *sessions)
      return fail(ErrorCode::corrupt, "results/" + name + " names no session");
    TRY(check_outcome(bundle, i, outcome, results.outcomes));
    results.outcomes.emplace(outcome.item, std::move(outcome));
  }
  return results;
}

}  // namespace accelopt::bundles

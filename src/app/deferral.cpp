// SPDX-License-Identifier: Apache-2.0
#include "app/deferral.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/version.hpp"
#include "app/workspace.hpp"
#include "base/hash.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "evaluation/evaluator_json.hpp"
#include "evaluation/requests.hpp"
#include "model/target_description.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;
using base::Json;
using bundles::Bundle;
using bundles::BundleSession;
using bundles::Outcome;
using model::step_name;
using model::StepKind;

namespace {

Json environment_of(const BundleSession& session) {
  return {{"device", session.device},   {"compiler", session.compiler},
          {"flags", session.flags},     {"isolation", session.isolation},
          {"machine", session.machine}, {"program_version", session.program_version},
          {"started", session.started}};
}

/// What somebody else wrote, fit for a terminal.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

}  // namespace

base::Result<std::unique_ptr<Deferral>> Deferral::open(journal::Journal& journal, const journal::RunInfo& run) {
  std::unique_ptr<Deferral> deferral(new Deferral(journal, run));
  TRY(deferral->read_journal());
  return deferral;
}

base::Result<void> Deferral::read_journal() {
  TRY_ASSIGN(const auto steps, journal_.steps(run_.id));
  for (const journal::StepRecord& step : steps) {
    const auto kind = model::step_kind(step.key.kind);
    const std::string id(model::step_suffix(step.key.kind));
    if (kind == StepKind::bundle) {
      Written written;
      written.id = id;
      base::read_field(step.output, "number", written.number);
      base::read_field(step.output, "folder", written.folder);
      base::read_field(step.output, "items", written.items);
      base::read_field(step.output, "builds", written.builds);
      written_[written.id] = std::move(written);
    } else if (kind == StepKind::bundle_given_up) {
      written_[id].given_up = true;
    } else if (kind == StepKind::build) {
      ++builds_on_record_;
    } else if (kind == StepKind::bundle_taken) {
      taken_.insert(id);
    } else if (kind == StepKind::deferred) {
      if (step.output.value("here", false)) ++failed_here_;
      // Only to open the task has an error for an answer, and that may have been another machine's: each resume asks
      // again, as with a worker.
      if (step.output.contains("error"))
        asked_again_.insert(id);
      else
        answers_.insert_or_assign(id, bundles::TakenIn(tl::in_place, step.output.value("result", Json())));
    }
  }
  for (const Written& written : open()) {
    if (!written.given_up) under_way_.insert(written.items.begin(), written.items.end());
  }
  return {};
}

/// Written and not taken in, oldest first.
std::vector<Deferral::Written> Deferral::open() const {
  std::vector<Written> out;
  for (const auto& [id, written] : written_) {
    if (!taken_.contains(id)) out.push_back(written);
  }
  std::sort(out.begin(), out.end(), [](const Written& a, const Written& b) { return a.number < b.number; });
  return out;
}

base::Result<void> Deferral::record(const std::string& kind, const Json& output, std::chrono::milliseconds duration,
                                    const std::string& bundle) {
  return journal_.record_step(run_.id, {{{}, kind}, base::sha256_hex(kind + bundle), output, {}, {}, duration});
}

base::Result<double> Deferral::take_in(const std::filesystem::path& returned, Rewrite rewrite, const Notice& notice) {
  double seconds = 0;
  std::map<std::string, std::filesystem::path> folders;  // by the bundle's id
  if (!returned.empty()) {
    TRY_ASSIGN(const auto found, bundles::find_bundles(returned));
    for (const std::filesystem::path& folder : found) {
      TRY_ASSIGN(const Bundle bundle, bundles::read_bundle(folder));
      if (bundle.run != run_.id) {
        return fail(ErrorCode::unsupported,
                    fmt::format("bundle {} belongs to run {}, not to {}; take it in with: "
                                "accelopt resume {} --bundle {}",
                                folder.string(), bundle.run, run_.id, bundle.run, base::shell_word(folder.string())));
      }
      if (!written_.contains(bundle.id)) {
        return fail(ErrorCode::unsupported,
                    fmt::format("bundle {} was not written by run {} of this workspace; name the one with --workspace",
                                folder.string(), run_.id));
      }
      if (taken_.contains(bundle.id))
        notice(fmt::format("bundle {} was taken in already; nothing to do", folder.string()));
      folders[bundle.id] = folder;
    }
  }
  for (const Written& written : open()) {
    const auto given = folders.find(written.id);
    if (written.given_up && given == folders.end()) continue;
    TRY_ASSIGN(const double used,
               take_in_bundle(written, given == folders.end() ? std::filesystem::path(written.folder) : given->second,
                              rewrite, notice));
    seconds += used;
  }
  return seconds;
}

base::Result<double> Deferral::take_in_bundle(const Written& written, const std::filesystem::path& folder,
                                              Rewrite rewrite, const Notice& notice) {
  const auto bundle = bundles::read_bundle(folder);
  if (!bundle && bundle.error().code == ErrorCode::not_found && rewrite == Rewrite::yes) {
    TRY(record(step_name(StepKind::bundle_given_up, written.id), {{"number", written.number}}));
    written_[written.id].given_up = true;
    for (const std::string& item : written.items) under_way_.erase(item);
    notice(fmt::format("bundle {} is not there; what it held goes into the next one", folder.string()));
    return 0;
  }
  if (!bundle && bundle.error().code == ErrorCode::not_found) {
    notice(
        fmt::format("bundle {} is not there; if it is elsewhere: accelopt resume {} --bundle FOLDER; if it is lost: "
                    "accelopt resume {} --defer FOLDER",
                    folder.string(), run_.id, run_.id));
    return 0;
  }
  if (!bundle) return tl::make_unexpected(bundle.error());
  if (bundle->id != written.id) {
    return fail(ErrorCode::corrupt, fmt::format("{} is not the bundle that run {} wrote there; nothing was taken in",
                                                folder.string(), run_.id));
  }
  const auto results = bundles::read_results(folder, *bundle);
  if (!results && results.error().code == ErrorCode::not_found) {
    notice(fmt::format("bundle {}: {}", folder.string(), results.error().message));
    return 0;
  }
  if (!results) {
    return fail(results.error().code,
                fmt::format("bundle {} is refused: {}; nothing of it was taken in. Remove its "
                            "results and execute it again: accelopt worker --bundle {}",
                            folder.string(), printable(results.error().message), base::shell_word(folder.string())));
  }
  double seconds = 0;
  for (const bundles::BundleItem& item : bundle->items) {
    const Outcome* outcome = &results->outcomes.at(item.id);
    const std::string request = outcome->same_as.empty() ? outcome->request : item.id;
    if (!outcome->same_as.empty()) outcome = &results->outcomes.at(outcome->same_as);
    seconds += request == outcome->request ? outcome->seconds : 0;
    const BundleSession& session = results->sessions[static_cast<std::size_t>(outcome->session - 1)];
    TRY(keep_answer(request, item.request.value("op", ""), *outcome, environment_of(session),
                    asked_again_.contains(request) ? written.id : ""));
  }
  Json sessions = Json::array();
  for (const BundleSession& session : results->sessions) sessions.push_back(environment_of(session));
  TRY(record(
      step_name(StepKind::bundle_taken, written.id),
      {{"number", written.number}, {"results", results->id}, {"sessions", sessions}, {"taken", base::utc_now()}}));
  taken_.insert(written.id);
  for (const std::string& item : written.items) under_way_.erase(item);
  const BundleSession& session = results->sessions.front();
  const std::string where = session.machine.host.empty() ? "" : session.machine.host + ", ";
  notice(printable(fmt::format("took in bundle {}: {} items, measured on {} ({}{})", folder.filename().string(),
                               bundle->items.size(), session.device, where, session.started)));
  return seconds;
}

base::Result<void> Deferral::keep_answer(const std::string& request, const std::string& op, const Outcome& outcome,
                                         const Json& environment, const std::string& bundle) {
  Json output = {
      {"op", op}, {"environment", environment}, {"seconds", outcome.seconds}, {"finished", outcome.finished}};
  if (outcome.result)
    output["result"] = *outcome.result;
  else if (outcome.error)
    output["error"] = worker::error_to_json(*outcome.error);
  else
    return {};  // it was not worth carrying out; if it is asked for all the same, the next bundle has it
  const auto duration = std::chrono::duration<double>(outcome.seconds);
  TRY(record(step_name(StepKind::deferred, request), output,
             std::chrono::duration_cast<std::chrono::milliseconds>(duration), bundle));
  if (outcome.error)
    answers_.insert_or_assign(request, bundles::TakenIn(tl::make_unexpected(*outcome.error)));
  else
    answers_.insert_or_assign(request, bundles::TakenIn(tl::in_place, *outcome.result));
  return {};
}

base::Result<std::optional<Json>> Deferral::failed_build(const model::Kernel& kernel, const std::stop_token& stop) {
  if (!builds_here_) return std::nullopt;
  TRY_ASSIGN(const auto there, opened());
  if (!there) return std::nullopt;
  const auto failed = builds_here_->failed(kernel, there->baseline.environment, stop);
  if (!failed) return std::nullopt;
  const Json request = to_json(evaluation::Build{kernel});
  const std::string id = bundles::request_id(request);
  Json result = failed->report;
  const Json output = {{"op", request.value("op", "")},      {"here", true},
                       {"environment", failed->environment}, {"seconds", failed->report.seconds},
                       {"finished", base::utc_now()},        {"result", result}};
  const std::lock_guard lock(mutex_);
  if (answers_.contains(id)) return result;
  TRY(record(step_name(StepKind::deferred, id), output));
  answers_.insert_or_assign(id, bundles::TakenIn(tl::in_place, result));
  return result;
}

base::Result<std::optional<evaluation::OpenReport>> Deferral::opened() const {
  const std::lock_guard lock(mutex_);
  const auto opened = answers_.find(bundles::request_id(bundles::bundled_open()));
  if (opened == answers_.end() || !opened->second) return std::nullopt;
  return base::decode<evaluation::OpenReport>(*opened->second, "the opened task");
}

bundles::DeferredEvaluator& Deferral::evaluator() {
  bundles::DeferredPorts ports;
  ports.answer = [this](const std::string& request) -> base::Result<std::optional<bundles::TakenIn>> {
    const std::lock_guard lock(mutex_);
    const auto found = answers_.find(request);
    return found == answers_.end() ? std::nullopt : std::optional<bundles::TakenIn>(found->second);
  };
  ports.under_way = [this](const std::string& request) { return under_way_.contains(request); };
  ports.failed_build = [this](const model::Kernel& kernel, const std::stop_token& stop) {
    return failed_build(kernel, stop);
  };
  evaluator_ = bundles::make_deferred_evaluator(std::move(ports));
  return *evaluator_;
}

base::Result<void> Deferral::write(const std::filesystem::path& folder, const DeviceFlags& device,
                                   const evaluation::MeasureSettings& settings) {
  Bundle bundle;
  bundle.items = evaluator_->collected();
  if (bundle.items.empty()) return {};
  bundle.run = run_.id;
  bundle.number = static_cast<int>(written_.size()) + 1;
  bundle.program_version = kVersion;
  // A task for another target asks for a device of that kind, whichever it is.
  bundle.device = device.device == DeviceFlags().device ? model::device_kind(run_.task.target) : device.device;
  bundle.compiler = device.compiler;
  bundle.task = run_.task;
  bundle.task_id = model::task_id(run_.task);
  bundle.settings = settings;
  // What the run's results so far are from; the search may not have needed to open the task in this part of it.
  TRY_ASSIGN(auto report, opened());
  if (report) {
    bundle.expected_device = report->device.name;
    bundle.expected_compiler = report->device.compiler;
    bundle.settings.known_peaks = report->device.peaks;
    bundle.settings.known_baseline = std::move(report->baseline);
  }
  TRY_ASSIGN(const auto at, bundles::write_bundle(folder, bundle));
  Written written{bundle.id, bundle.number, at.string(), {}, 0, false};
  for (const bundles::BundleItem& item : bundle.items) {
    written.items.push_back(item.id);
    written.builds += evaluation::operation_in(item.request) == model::Operation::build ? 1 : 0;
  }
  TRY(record(step_name(StepKind::bundle, bundle.id), {{"number", written.number},
                                                      {"folder", written.folder},
                                                      {"items", written.items},
                                                      {"builds", written.builds},
                                                      {"written", base::utc_now()}}));
  written_[bundle.id] = std::move(written);
  return {};
}

int Deferral::builds_put_off() const {
  int builds = failed_here_ - builds_on_record_;
  for (const auto& [id, written] : written_) builds += written.given_up ? 0 : written.builds;
  return std::max(builds, 0);
}

std::vector<std::string> Deferral::under_way() const {
  std::vector<std::string> folders;
  for (const Written& written : open()) {
    if (!written.given_up) folders.push_back(written.folder);
  }
  return folders;
}

std::string Deferral::next_step() const {
  const std::vector<std::string> folders = under_way();
  if (folders.empty()) return {};
  std::string text = folders.size() == 1
                         ? "a bundle has to be executed where the device is"
                         : fmt::format("{} bundles have to be executed where the device is", folders.size());
  for (const std::string& folder : folders)
    text += fmt::format("; accelopt worker --bundle {}", base::shell_word(folder));
  return text;
}

}  // namespace accelopt::app

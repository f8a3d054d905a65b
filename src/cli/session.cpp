// SPDX-License-Identifier: Apache-2.0
#include "cli/session.hpp"

#include <atomic>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/utc.hpp"
#include "cli/deferral.hpp"
#include "cli/estimate.hpp"
#include "cli/knowledge_place.hpp"
#include "cli/run_control.hpp"
#include "cli/version.hpp"
#include "cli/workspace.hpp"
#include "evaluation/evaluator_json.hpp"
#include "search/metered_evaluator.hpp"

namespace accelopt::cli {

using base::Json;

Json to_json(const RunSettings& settings) {
  return {{"search", settings.search},
          {"measure", settings.measure},
          {"agents",
           {{"agents", settings.agents.agents},
            {"model", settings.agents.model},
            {"base_url", settings.agents.base_url},
            {"key_env", settings.agents.key_env},
            {"api", settings.agents.api},
            {"mailbox", settings.agents.mailbox},
            {"record", settings.agents.record},
            {"replay", settings.agents.replay},
            {"exit_when_waiting", settings.agents.exit_when_waiting},
            {"prompts", settings.agents.prompts}}},
          {"device", to_json(settings.device)},
          {"knowledge", settings.knowledge},
          {"schedule", search::to_string(settings.schedule)}};
}

base::Result<RunSettings> run_settings_from(const Json& json) {
  RunSettings settings;
  TRY_ASSIGN(settings.search,
             base::decode<search::SearchSettings>(json.value("search", Json::object()), "the run's settings"));
  TRY_ASSIGN(settings.measure,
             base::decode<evaluation::MeasureSettings>(json.value("measure", Json::object()), "the run's settings"));
  const Json agents = json.value("agents", Json::object());
  base::read_field(agents, "agents", settings.agents.agents);
  base::read_field(agents, "model", settings.agents.model);
  base::read_field(agents, "base_url", settings.agents.base_url);
  base::read_field(agents, "key_env", settings.agents.key_env);
  base::read_field(agents, "api", settings.agents.api);
  base::read_field(agents, "mailbox", settings.agents.mailbox);
  base::read_field(agents, "record", settings.agents.record);
  base::read_field(agents, "replay", settings.agents.replay);
  base::read_field(agents, "exit_when_waiting", settings.agents.exit_when_waiting);
  base::read_field(agents, "prompts", settings.agents.prompts);
  TRY_ASSIGN(settings.device, device_flags_from(json.value("device", Json::object())));
  settings.knowledge = kNoKnowledge;  // of a run of before there was one
  base::read_field(json, "knowledge", settings.knowledge);
  std::string schedule(search::to_string(settings.schedule));
  base::read_field(json, "schedule", schedule);
  TRY_ASSIGN(settings.schedule, search::parse_schedule(schedule));
  return settings;
}

base::Result<journal::RunInfo> begin_run(journal::Journal& journal, const model::Task& task,
                                         const std::filesystem::path& folder, const RunSettings& settings) {
  std::error_code ignored;
  journal::RunInfo run;
  run.id = new_run_id();
  run.task_name = task.definition.name;
  run.task_folder = std::filesystem::absolute(folder, ignored).string();
  run.task = task;
  run.settings = to_json(settings);
  run.seed = settings.measure.seed;
  run.created = base::utc_now();
  run.status = "running";
  run.program_version = kVersion;
  TRY(journal.create_run(run));
  return run;
}

bool discard_failed_start(const journal::Journal& journal, const std::string& run, const base::Error& error) {
  if (error.code == base::ErrorCode::cancelled || journal.folder().empty()) return false;
  const auto control = journal::open_control(journal.folder(), journal::Access::read_write);
  return control && (*control)->discard_unbegun(run).value_or(false);
}

namespace {

/// The run's side of the knowledge store that its settings name; null: it has none.
base::Result<std::unique_ptr<memory::Knowledge>> knowledge_of(const RunSettings& settings, journal::Journal& journal,
                                                              model::EventSink& events,
                                                              const base::Result<KnowledgePlace>& place) {
  if (settings.knowledge == kNoKnowledge) return nullptr;
  const auto notice = [&events](const std::string& text) { events.on(model::Note{text}); };
  if (!place) {
    notice("nothing is learned for other runs: " + place.error().message);
    return nullptr;
  }
  memory::KnowledgePorts ports{.place = place->name, .open = place->open, .journal = &journal, .notice = notice};
  if (!journal.folder().empty()) {
    TRY_ASSIGN(auto opened, journal::open_control(journal.folder(), journal::Access::read_write));
    const std::shared_ptr<journal::Control> control = std::move(opened);
    const std::string fact = "hidden in " + place->name;
    ports.keep_hidden = [control, fact](const std::vector<std::string>& ids) { return control->set_fact(fact, ids); };
    ports.kept_hidden = [control, fact]() -> base::Result<std::vector<std::string>> {
      TRY_ASSIGN(const auto kept, control->fact(fact));
      if (!kept) return std::vector<std::string>();
      return base::decode<std::vector<std::string>>(*kept, fact);
    };
  }
  auto knowledge = std::make_unique<memory::Knowledge>(std::move(ports));
  TRY_ASSIGN(const memory::Delivery delivery, knowledge->deliver());
  if (delivery.sent > 0 && !delivery.refused) notice(describe(delivery, *place));
  return knowledge;
}

/// What somebody is told who has made an answer's file and left it empty.
std::string blank_hint(const std::filesystem::path& answer) {
  return answer.string() + " is empty; write the answer into it, or write 'skip' to give none";
}

/// Empty answers that a run which ends has met. add() may be called from many threads.
class BlankAnswers {
 public:
  void add(const std::filesystem::path& answer) {
    const std::lock_guard lock(mutex_);
    files_.insert(answer);
  }
  /// "; FILE is empty; ..." for each.
  [[nodiscard]] std::string hints() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const std::filesystem::path& file : files_) text += "; " + blank_hint(file);
    return text;
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::filesystem::path> files_;
};

/// The place where a run measures stays with it, so that it is resumed there without being told again.
base::Result<void> keep_place(journal::Journal& journal, const std::string& run, const RunSettings& settings,
                              model::EventSink& events) {
  TRY_ASSIGN(journal::RunInfo kept, journal.find_run(run));
  Json device = to_json(settings.device);
  if (kept.settings["device"] == device) return {};
  kept.settings["device"] = std::move(device);
  TRY(journal.change_settings(run, kept.settings));
  events.on(model::Note{"from now on the run measures " + place_of(settings.device)});
  return {};
}

/// The bundles of a run whose evaluations travel, with what came back taken in; null for any other run.
base::Result<std::unique_ptr<Deferral>> take_in_bundles(journal::Journal& journal, const journal::RunInfo& run,
                                                        const DeviceFlags& device, RunControl& control,
                                                        const Deferral::Notice& notice) {
  if (device.defer.empty()) return nullptr;
  TRY_ASSIGN(auto deferral, Deferral::open(journal, run));
  const auto rewrite = device.rewrite ? Deferral::Rewrite::yes : Deferral::Rewrite::no;
  const auto seconds = deferral->take_in(device.returned, rewrite, notice);
  if (!seconds) {
    TRY(journal.finish_run(run.id, "waiting", run.result, ""));
    return tl::make_unexpected(seconds.error());
  }
  control.budget().spend({.device_seconds = *seconds});
  control.budget().count_put_off(deferral->builds_put_off());
  return deferral;
}

}  // namespace

base::Result<search::RunResult> carry_out(Shell& shell, journal::Journal& journal, const journal::RunInfo& run,
                                          const Config& config, model::EventSink& sink) {
  TRY_ASSIGN(const RunSettings settings, run_settings_from(run.settings));
  const auto place = knowledge_place(settings.knowledge == kNoKnowledge ? "" : settings.knowledge);
  TRY_ASSIGN(const auto control, RunControl::start(journal.folder(), run.id, settings.search, shell.stops, sink));
  model::EventSink& events = *control;
  if (run.status != "done") {
    TRY(journal.finish_run(run.id, "running", std::nullopt, ""));
    TRY(keep_place(journal, run.id, settings, events));
  }
  search::Recorder chats(journal, run.id, search::Missing::do_it);
  std::atomic<int> waiting = 0;
  BlankAnswers blank;
  const auto meet_blank = [&](const std::filesystem::path& answer) {
    if (settings.agents.exit_when_waiting)
      blank.add(answer);
    else
      events.on(model::Note{blank_hint(answer)});
  };
  const auto team = make_team(settings.agents, config, run.seed,
                              {.chats = chats,
                               .budget = control->budget(),
                               .notice = [&](const std::string& text) { events.on(model::Note{text}); },
                               .waiting = &waiting,
                               .stop = control->stops().wind_down,
                               .blank_answer = meet_blank});
  if (!team) {
    const bool stopped = team.error().code == base::ErrorCode::cancelled;
    TRY(journal.finish_run(run.id, stopped ? "interrupted" : "failed", std::nullopt, ""));
    if (stopped) return tl::make_unexpected(team.error());
    return base::fail(base::ErrorCode::unavailable, team.error().message);  // of whatever kind: no verdict on the task
  }
  Config keys = config;  // of the flags' own model as well
  keys.models["flags"].key_env = settings.agents.key_env;
  const auto note = [&](const std::string& text) { events.on(model::Note{text}); };
  TRY_ASSIGN(const auto deferral, take_in_bundles(journal, run, settings.device, *control, note));
  evaluation::DeferredEvaluator* deferred = deferral ? &deferral->evaluator(waiting) : nullptr;
  std::unique_ptr<evaluation::Evaluator> connected;
  if (!deferral) {
    DelayPorts ports{.notice = note, .waiting = {}, .stop_waiting = control->stop_waiting()};
    ports.waiting = [&events](const model::DeviceWait& wait) { events.on(wait); };
    TRY_ASSIGN(connected, make_evaluator(shell, settings.device, keys, std::move(ports)));
  }
  evaluation::Evaluator* evaluator = deferral ? deferred : connected.get();
  const search::RunRequest request{.run = run.id,
                                   .task = run.task,
                                   .settings = settings.search,
                                   .measure = settings.measure,
                                   .seed = run.seed,
                                   .missing = search::Missing::do_it,
                                   .schedule = settings.schedule};
  const auto metered = search::make_metered_evaluator(*evaluator, control->budget());
  search::RunPorts ports{(*team)->team(), metered.get(), &journal, &events};
  ports.budget = &control->budget();
  ports.waiting = &waiting;
  ports.foresight = deferred;
  TRY_ASSIGN(const auto knowledge, knowledge_of(settings, journal, events, place));
  ports.knowledge = knowledge.get();
  auto report = search::run_search(request, ports, control->stops());
  if (!report) {
    const bool stopped = report.error().code == base::ErrorCode::cancelled;
    TRY(journal.finish_run(run.id, stopped ? "interrupted" : "failed", std::nullopt, ""));
    return tl::make_unexpected(report.error());
  }
  report->result.noise = control->noise();
  if (report->result.estimate.is_null()) {
    TRY_ASSIGN(const Json predicted, recorded_estimate(journal, run.id));
    report->result.estimate = to_json(compare(predicted, report->result));
  }
  const bool asked_to_end = report->result.outcome == search::Outcome::interrupted &&
                            control->asked() == journal::Request::stop_now && !shell.stops.wind_down.stop_requested();
  if (asked_to_end) report->result.stopped_by = "stop";
  const bool is_waiting = report->result.outcome == search::Outcome::waiting;
  const bool interrupted = is_waiting || report->result.outcome == search::Outcome::interrupted;
  if (is_waiting) {
    if (deferral) {
      TRY(deferral->write(settings.device.defer, settings.device, settings.measure));
      report->result.bundles = deferral->under_way();
    }
    const int questions = waiting - (deferred == nullptr ? 0 : deferred->put_off());
    std::string& reason = report->result.reason;
    reason = deferral ? deferral->next_step() : "";
    if (questions > 0) {
      reason += fmt::format("{}{} question{} put off until somebody answers{}", reason.empty() ? "" : "; ", questions,
                            questions == 1 ? " is" : "s are",
                            settings.agents.mailbox.empty() ? "" : " in " + settings.agents.mailbox);
      reason += blank.hints();
    }
  }
  const std::optional<Json> result(std::in_place, search::to_result_json(report->result));
  TRY(journal.finish_run(run.id,
                         is_waiting    ? "waiting"
                         : interrupted ? "interrupted"
                                       : "done",
                         result, interrupted ? "" : report->result.decision_hash));
  return report->result;
}

Exit exit_of(search::Outcome outcome) {
  switch (outcome) {
    case search::Outcome::improved:
      return Exit::done;
    case search::Outcome::no_gain:
      return Exit::no_gain;
    case search::Outcome::budget:
      return Exit::budget;
    case search::Outcome::interrupted:
      return Exit::interrupted;
    case search::Outcome::waiting:
      return Exit::waiting;
  }
  return Exit::error;
}

}  // namespace accelopt::cli

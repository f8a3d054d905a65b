// SPDX-License-Identifier: Apache-2.0
#include "app/run.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "app/cost.hpp"
#include "app/critical_run.hpp"
#include "app/deferral.hpp"
#include "app/estimate.hpp"
#include "app/knowledge_place.hpp"
#include "app/readable_preference.hpp"
#include "app/refactor_winner.hpp"
#include "app/reviewer_history.hpp"
#include "app/run_changes.hpp"
#include "app/run_control.hpp"
#include "app/steer.hpp"
#include "app/version.hpp"
#include "app/workspace.hpp"
#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/utc.hpp"
#include "devices/cuda/tool_folder.hpp"
#include "evaluation/evaluator_json.hpp"
#include "refactor/check_json.hpp"
#include "search/metered_evaluator.hpp"
#include "targets/repo/repo_evaluator.hpp"
#include "targets/repo/repo_task.hpp"

namespace accelopt::app {

using base::Json;
using model::RunStatus;

ACCELOPT_JSON(AgentFlags) {
  field.optional("reviewer", it.reviewer, "tester", it.tester);
  field.optional("agents", it.agents, "model", it.model, "base_url", it.base_url, "key_env", it.key_env, "api", it.api,
                 "mailbox", it.mailbox, "record", it.record, "replay", it.replay, "exit_when_waiting",
                 it.exit_when_waiting, "prompts", it.prompts);
}

model::Protocol protocol_of(search::Rules rules) {
  return rules == search::Rules::paper ? model::Protocol::paper : model::Protocol::blocks;
}

Json to_json(const RunSettings& settings) {
  Json out = {{"search", settings.search},       {"measure", settings.measure},
              {"agents", settings.agents},       {"device", to_json(settings.device)},
              {"knowledge", settings.knowledge}, {"schedule", search::to_string(settings.schedule)}};
  if (!settings.against.empty()) out["against"] = to_json(settings.against);
  if (settings.tests > 0) out["tests"] = settings.tests;
  return out;
}

base::Result<RunSettings> run_settings_from(const Json& json) {
  RunSettings settings;
  TRY_ASSIGN(settings.search,
             base::decode<search::SearchSettings>(json.value("search", Json::object()), "the run's settings"));
  TRY_ASSIGN(settings.measure, evaluation::read_settings(json.value("measure", Json::object()), "the run's settings"));
  TRY_ASSIGN(settings.agents, base::decode<AgentFlags>(json.value("agents", Json::object()), "the run's settings"));
  TRY_ASSIGN(settings.device, device_flags_from(json.value("device", Json::object())));
  settings.knowledge = kNoKnowledge;  // of a run of before there was one
  base::read_field(json, "knowledge", settings.knowledge);
  std::string schedule(search::to_string(settings.schedule));
  base::read_field(json, "schedule", schedule);
  TRY_ASSIGN(settings.schedule, search::parse_schedule(schedule));
  base::read_field(json, "tests", settings.tests);
  TRY_ASSIGN(settings.against, run_arms_from(json.value("against", Json::array())));
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
  run.status = model::RunStatus::running;
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

/// One run while it is carried out: everything that it works with, in the order in which it comes about.
class Session {
 public:
  Session(const Shell& shell, journal::Journal& journal, const journal::RunInfo& run, const Config& config,
          const RunSettings& settings, std::shared_ptr<worker::Placement> placement)
      : shell_(shell),
        journal_(journal),
        run_(run),
        config_(config),
        settings_(settings),
        placement_(std::move(placement)),
        chats_(journal, run.id, search::Missing::do_it) {}

  base::Result<search::RunResult> carry_out(model::EventSink& sink, const ResumeOptions& options) {
    TRY_ASSIGN(control_, RunControl::start(journal_.folder(), run_.id, settings_.search, shell_.stops, sink));
    auto result = work(options);
    if (!was_taken_over()) return result;
    return base::fail(base::ErrorCode::unavailable,
                      "run " + run_.id +
                          " goes on in another process, which continued it while this one gave no sign of life; see it "
                          "with: accelopt watch " +
                          run_.id);
  }

 private:
  base::Result<search::RunResult> work(const ResumeOptions& options) {
    if (options.finish) control_->budget().end(model::EndReason::stop);
    if (run_.status != RunStatus::done) {
      TRY(finish(RunStatus::running));
      TRY(keep_changes(journal_, run_.id, settings_, *control_));
    }
    TRY(gather_team());
    TRY(take_in_bundles(options));
    TRY(find_evaluator());
    if (const auto tested = have_tests_written(); !tested) return without_tests(tested.error());
    TRY_ASSIGN(search::RunResult result, search());
    result.tests = tests_;
    TRY(ask_which_is_easier_to_read(result));
    TRY(count_what_is_on_record(result));
    TRY(compare_winner_with_arms(result));
    result.noise = control_->noise();
    if (result.estimate.is_null()) {
      TRY_ASSIGN(const Json predicted, recorded_estimate(journal_, run_.id));
      result.estimate = to_json(compare(predicted, result));
    }
    return record_end(std::move(result));
  }

  void note(const std::string& text) { control_->on(model::Note{text}); }

  [[nodiscard]] bool was_taken_over() { return control_->hear() == journal::Request::taken_over; }

  /// Of a run that was taken over the other process says how it stands.
  base::Result<void> finish(RunStatus status, const std::optional<Json>& result = std::nullopt,
                            std::string_view decision_hash = "") {
    if (was_taken_over()) return {};
    return journal_.finish_run(run_.id, status, result, decision_hash);
  }

  /// Records that the run could not go on, for this reason.
  base::Result<void> give_up(const base::Error& error) {
    return finish(error.code == base::ErrorCode::cancelled ? RunStatus::interrupted : RunStatus::failed);
  }

  base::Result<void> gather_team() {
    const auto meet_blank = [this](const std::filesystem::path& answer) {
      if (settings_.agents.exit_when_waiting)
        blank_.add(answer);
      else
        note(blank_hint(answer));
    };
    auto team = make_team(settings_.agents, config_, run_.seed,
                          {.chats = chats_,
                           .budget = control_->budget(),
                           .notice = [this](const std::string& text) { note(text); },
                           .environment = shell_.environment,
                           .stop = control_->stops().wind_down,
                           .blank_answer = meet_blank,
                           .language = run_.task.baseline.language});
    if (!team) {
      TRY(give_up(team.error()));
      if (team.error().code == base::ErrorCode::cancelled) return tl::make_unexpected(team.error());
      return base::fail(base::ErrorCode::unavailable,
                        team.error().message);  // of whatever kind: no verdict on the task
    }
    team_ = std::move(*team);
    return warn_of_same_model();
  }

  /// A reviewer favours what its own model wrote.
  base::Result<void> warn_of_same_model() {
    TRY_ASSIGN(const auto roles, models_of_roles(settings_.agents, config_));
    TRY_ASSIGN(const auto judges, models_of_judges(settings_.agents, config_));
    for (const RoleModel& judge : judges) {
      const auto same = std::ranges::find_if(roles, [&](const RoleModel& role) {
        return role.role == model::AgentRole::executor && role.name == judge.name;
      });
      if (judge.judge == model::kReviewerRole && same != roles.end())
        note("the reviewer and the developers are one model, " + judge.config.model +
             ": models favour their own text; name another in [models.reviewer]");
    }
    return {};
  }

  /// Of a run whose evaluations travel: what came back.
  base::Result<void> take_in_bundles(const ResumeOptions& options) {
    if (settings_.device.defer.empty()) return {};
    TRY_ASSIGN(deferral_, Deferral::open(journal_, run_));
    const auto rewrite = options.defer.empty() ? Deferral::Rewrite::no : Deferral::Rewrite::yes;
    const auto seconds = deferral_->take_in(options.bundle, rewrite, [this](const std::string& text) { note(text); });
    if (!seconds) {
      TRY(finish(RunStatus::waiting, run_.result));
      return tl::make_unexpected(seconds.error());
    }
    control_->budget().spend({.device_seconds = *seconds});
    control_->budget().count_put_off(deferral_->builds_put_off());
    deferral_->compile_here(std::make_unique<BuildsHere>(shell_, run_.task, settings_.device,
                                                         [this](const std::string& text) { note(text); }));
    deferred_ = &deferral_->evaluator();
    return {};
  }

  /// Of a run without earlier ones to learn from: what the base took says more than the guesses that it began with.
  void estimate_anew(const refactor::Costs& costs) {
    const auto estimate = estimate_run(run_.task, settings_, config_, &journal_, &costs);
    if (estimate) note(describe_costs(costs, *estimate));
  }

  base::Result<void> find_evaluator() {
    if (run_.task.repo) {
      auto gates = targets::repo::make_repo_evaluator(
          {.tools = {settings_.device.tools.begin(), settings_.device.tools.end()},
           .stop = control_->stops().abort,
           .notice = [this](const std::string& text) { note(text); },
           .opened = [this](const refactor::Costs& costs) { estimate_anew(costs); }});
      gates_ = gates.get();
      connected_ = std::move(gates);
    } else if (deferred_ == nullptr) {
      Config keys = config_;  // of the flags' own model as well
      keys.models["flags"].key_env = settings_.agents.key_env;
      DelayPorts ports{.notice = [this](const std::string& text) { note(text); },
                       .waiting = [this](const model::DeviceWait& wait) { control_->on(wait); },
                       .stop_waiting = control_->stop_waiting(),
                       .placement = placement_};
      TRY_ASSIGN(connected_, make_evaluator(shell_, settings_.device, keys, std::move(ports)));
    }
    evaluation::Evaluator* const evaluator = deferred_ != nullptr ? deferred_ : connected_.get();
    metered_ = search::make_metered_evaluator(*evaluator, control_->budget());
    return {};
  }

  [[nodiscard]] CriticalPorts critical(std::string_view role) {
    // In a mailbox all questions are to be there at once.
    constexpr int kInMailbox = 256;
    return {.chat = team_->chat_of(role),
            .evaluator = *gates_,
            .open = {run_.task, settings_.measure},
            .workspace = journal_.folder(),
            .at_once = settings_.agents.mailbox.empty() ? 8 : kInMailbox,
            .notice = [this](const std::string& text) { note(text); }};
  }

  /// Before anything is judged: every candidate has to pass them.
  base::Outcome<void> have_tests_written() {
    if (settings_.tests == 0 || gates_ == nullptr) return {};
    TRY_ASSIGN(const WrittenTests tests, tests_of_run(critical(model::kTesterRole), chats_, control_->budget(),
                                                      settings_.tests, control_->stops().wind_down));
    note(describe(tests));
    tests_ = tests;
    tests_["summary"] = describe(tests);
    return {};
  }

  /// How a run ends whose tests were not written.
  base::Result<search::RunResult> without_tests(const base::NotDone& why) {
    if (why.why == base::Why::failed) {
      TRY(give_up(why.as_error()));
      return tl::make_unexpected(why.as_error());
    }
    const bool waits = why.why == base::Why::put_off;
    search::RunResult result;
    result.run = run_.id;
    result.task = run_.task_name;
    if (run_.task.repo) result.goal = run_.task.definition.op_type;
    result.outcome = waits ? search::RunOutcome::waiting : search::RunOutcome::interrupted;
    result.stopped_by = waits ? model::EndReason::waiting : model::EndReason::signal;
    result.reason = why.message;
    result.usage = control_->budget().by_role();
    questions_put_off_ = waits ? 1 : 0;
    TRY(count_what_is_on_record(result));
    return record_end(std::move(result));
  }

  base::Result<search::RunResult> search() {
    const search::RunRequest request{.run = run_.id,
                                     .task = run_.task,
                                     .settings = settings_.search,
                                     .measure = settings_.measure,
                                     .seed = run_.seed,
                                     .missing = search::Missing::do_it,
                                     .schedule = settings_.schedule};
    const auto place =
        knowledge_place(settings_.knowledge == kNoKnowledge ? "" : settings_.knowledge, shell_.environment);
    TRY_ASSIGN(const auto knowledge, knowledge_of(settings_, journal_, *control_, place));
    search::RunPorts ports{team_->team(), metered_.get(), &journal_, control_.get()};
    ports.budget = &control_->budget();
    ports.lookahead = deferred_;
    ports.knowledge = knowledge.get();
    const auto reviewer = gates_ != nullptr && settings_.search.developers > 0
                              ? make_finalist_reviewer(critical(model::kReviewerRole))
                              : nullptr;
    ports.reviewer = reviewer.get();
    TRY_ASSIGN(ports.hints, hints_of_run(journal_.folder(), run_.id));
    auto report = search::run_search(request, ports, control_->stops());
    if (report) {
      questions_put_off_ = report->questions_put_off;
      return std::move(report->result);
    }
    TRY(give_up(report.error()));
    return tl::make_unexpected(report.error());
  }

  /// The winner beside what the user named. It is paid for by no budget: what it takes is known beforehand.
  base::Result<void> compare_winner_with_arms(search::RunResult& result) {
    if (settings_.against.empty() || result.outcome != search::RunOutcome::improved || !result.solution) return {};
    if (!settings_.device.defer.empty()) {
      note("nothing is compared with the winner: evaluations of this run travel in bundles");
      return {};
    }
    TRY_ASSIGN(result.against, compared_on_record(run_.result));
    if (!result.against.empty()) return {};
    const auto open = [this]() -> base::Result<evaluation::Evaluator*> {
      // Of its own: the search's workers may be at the end of what the budget let them do.
      metered_.reset();
      connected_.reset();
      Config keys = config_;
      keys.models["flags"].key_env = settings_.agents.key_env;
      DelayPorts ports{.notice = [this](const std::string& text) { note(text); },
                       .waiting = [this](const model::DeviceWait& wait) { control_->on(wait); },
                       .stop_waiting = {},
                       .placement = placement_};
      TRY_ASSIGN(connected_, make_evaluator(shell_, settings_.device, keys, std::move(ports)));
      TRY_ASSIGN(const auto opened,
                 base::as_result(connected_->ask(evaluation::Open{run_.task, settings_.measure}, shell_.stops.abort)));
      if (opened.baseline.status != model::Status::passed)
        return base::fail(base::ErrorCode::unavailable, "the baseline no longer passes: " + opened.baseline.reason);
      return connected_.get();
    };
    auto compared =
        compare_winner({.shell = shell_, .open = open, .note = [this](const std::string& text) { note(text); }},
                       settings_.against, run_.task, result);
    if (compared) {
      result.against = std::move(*compared);
      return {};
    }
    if (compared.error().code == base::ErrorCode::cancelled) {
      TRY(give_up(compared.error()));
      return tl::make_unexpected(compared.error());
    }
    note("nothing is compared with the winner: " + compared.error().message);
    return {};
  }

  /// A run that was interrupted may have read its record in part; of any, some questions need not have ended.
  base::Result<void> count_what_is_on_record(search::RunResult& result) {
    TRY_ASSIGN(const auto steps, journal_.steps(run_.id));
    if (result.outcome == search::RunOutcome::interrupted)
      count_all_on_record(result, steps, run_.result.value_or(Json()));
    else
      count_usage_on_record(result, steps);
    return {};
  }

  /// Of simpler code, the reviewer of a critical run. Without an answer it is called simpler and no more; where
  /// somebody may still give one, the run waits.
  base::Result<void> ask_which_is_easier_to_read(search::RunResult& result) {
    const bool has_reviewer = run_.task.repo && gates_ != nullptr && settings_.search.developers > 0;
    if (!has_reviewer || result.outcome != search::RunOutcome::improved ||
        result.goal != refactor::to_string(refactor::Goal::readability))
      return {};
    TRY_ASSIGN(auto checked, base::decode<refactor::CheckResult>(result.confirmation->details, "the confirmation"));
    const auto base = [&](const std::string& path) -> base::Result<std::string> {
      for (const model::SourceFile& file : run_.task.baseline.sources) {
        if (file.name == path) return file.text;
      }
      return base::fail(base::ErrorCode::not_found, path);
    };
    const CriticalPorts ports = critical(model::kReviewerRole);
    TRY_ASSIGN(const review::Standing standing, standing_on_record(ports.workspace, ports.chat->name()));
    const auto asked =
        ask_preference({.chat = ports.chat,
                        .seed = run_.seed,
                        .stop = control_->stops().wind_down,
                        .at_once = ports.at_once,
                        .put_off = [this](std::size_t count) { questions_put_off_ = static_cast<int>(count); }},
                       standing.weight, refactor::code_language(run_.task.repo->language), base, checked);
    if (!asked && asked.error().why == base::Why::put_off) {
      result.outcome = search::RunOutcome::waiting;
      return {};
    }
    if (!asked) {
      note("which of the two is easier to read was not asked: " + asked.error().message);
      return {};
    }
    result.confirmation->details = checked;
    result.confirmation->notes.push_back(
        refactor::describe(checked.readability->preference, checked.readability->reviewer));
    return {};
  }

  base::Result<search::RunResult> record_end(search::RunResult result) {
    if (was_taken_over()) return result;
    const bool is_waiting = result.outcome == search::RunOutcome::waiting;
    const bool is_interrupted = result.outcome == search::RunOutcome::interrupted;
    if (is_interrupted && control_->asked() == journal::Request::stop_now && !shell_.stops.wind_down.stop_requested())
      result.stopped_by = model::EndReason::stop;
    if (is_waiting) TRY(say_for_what_it_waits(result));
    if (run_.task.repo && result.outcome == search::RunOutcome::improved) {
      const auto kept = keep_refactoring(shell_, journal_, run_, settings_.knowledge, result);
      if (!kept) {
        TRY(give_up(kept.error()));
        return tl::make_unexpected(kept.error());
      }
    }
    TRY(finish(is_waiting       ? RunStatus::waiting
               : is_interrupted ? RunStatus::interrupted
                                : RunStatus::done,
               std::optional<Json>(std::in_place, search::to_result_json(result)),
               is_waiting || is_interrupted ? "" : result.decision_hash));
    if (!is_waiting && !is_interrupted && !result.review.is_null()) {
      const auto entered = record_review_of_run(journal_.folder(), run_.id, result.commit, result.review);
      if (!entered) note("the review was not recorded: " + entered.error().message);
    }
    return result;
  }

  /// Writes the next bundle, and gives the result its reason.
  base::Result<void> say_for_what_it_waits(search::RunResult& result) {
    result.reason.clear();
    if (deferral_) {
      TRY(deferral_->write(settings_.device.defer, settings_.device, settings_.measure));
      result.bundles = deferral_->under_way();
      result.reason = deferral_->next_step();
    }
    if (questions_put_off_ == 0) return {};
    result.reason += fmt::format("{}{} question{} put off until somebody answers{}", result.reason.empty() ? "" : "; ",
                                 questions_put_off_, questions_put_off_ == 1 ? " is" : "s are",
                                 settings_.agents.mailbox.empty() ? "" : " in " + settings_.agents.mailbox);
    result.reason += blank_.hints();
    return {};
  }

  const Shell& shell_;
  journal::Journal& journal_;
  const journal::RunInfo& run_;
  const Config& config_;
  const RunSettings& settings_;
  const std::shared_ptr<worker::Placement> placement_;
  search::Recorder chats_;
  int questions_put_off_ = 0;
  BlankAnswers blank_;
  std::unique_ptr<RunControl> control_;
  std::unique_ptr<OwnedTeam> team_;
  std::unique_ptr<Deferral> deferral_;
  bundles::DeferredEvaluator* deferred_ = nullptr;  ///< of deferral_
  std::unique_ptr<evaluation::Evaluator> connected_;
  targets::repo::RepoEvaluator* gates_ = nullptr;  ///< it, of a task of a repository
  Json tests_;                                     ///< what a tester wrote; null: nobody was asked
  std::unique_ptr<evaluation::Evaluator> metered_;
};

}  // namespace

base::Result<search::RunResult> carry_out(const Shell& shell, journal::Journal& journal, const journal::RunInfo& run,
                                          const Config& config, model::EventSink& events,
                                          const ResumeOptions& options) {
  TRY_ASSIGN(const RunSettings settings, resumed_settings(run, options, config));
  return Session(shell, journal, run, config, settings, options.placement).carry_out(events, options);
}

base::Result<RunEnd> start_run(const Shell& shell, journal::Journal& journal, const NewRun& begun, const Config& config,
                               model::EventSink& events) {
  TRY_ASSIGN(const journal::RunInfo run, begin_run(journal, begun.task, begun.folder, begun.settings));
  TRY(record_estimate(journal, run.id, begun.estimate));
  RunEnd end = resume_run(shell, journal, run, config, events, {});
  end.discarded = !end.result && discard_failed_start(journal, run.id, end.result.error());
  return end;
}

RunEnd resume_run(const Shell& shell, journal::Journal& journal, const journal::RunInfo& run, const Config& config,
                  model::EventSink& events, const ResumeOptions& options) {
  // Told now, not once something has to be measured. What has ended is only read.
  if (run.task.repo && run.status != model::RunStatus::done) {
    const auto same = targets::repo::refactor_task_of(run.task);
    if (!same) return {run.id, tl::make_unexpected(same.error())};
  }
  RunEnd end{run.id, carry_out(shell, journal, run, config, events, options)};
  devices::cuda::remove_abandoned_tool_folders();  // of a worker that was killed
  return end;
}

}  // namespace accelopt::app

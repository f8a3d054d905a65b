// SPDX-License-Identifier: Apache-2.0
#include "report/run_story.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "journal/usage.hpp"

namespace accelopt::report {
namespace {

using base::Json;
using base::text_at;
using journal::StepRecord;
using model::Identity;
using model::StepKind;

constexpr Identity kBaseline{};

/// The attempt that an answer belongs to.
Identity attempt_of(Identity identity) {
  identity.fix = -1;
  return identity;
}

Identity plan_of(Identity identity) {
  identity.attempt = identity.fix = -1;
  return identity;
}

const Json& member(const Json& object, const char* name) {
  static const Json kNothing;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : kNothing;
}

template <class T>
std::optional<T> decoded(const Json& json) {
  auto value = base::decode<T>(json, "journal");
  return value ? std::optional<T>(std::move(*value)) : std::nullopt;
}

/// A build on record, and which one it was.
struct Build {
  model::BuildReport report;
  int number = 0;  ///< from 1
};

/// An answer on record.
struct Answer {
  Identity identity;
  std::string author;
  model::Usage usage;
  std::optional<model::Kernel> kernel;  ///< none: it was lost
  std::string lost;
};

class Story {
 public:
  explicit Story(const RunRecord& record) {
    out_.run = record.run;
    out_.learned = record.experiences;
    for (const StepRecord& step : record.steps) take(step);
    out_.usage = journal::usage_by_role(record.steps);
    std::erase_if(out_.usage, [](const auto& one) { return one.second.calls == 0; });
    for (const model::Event& event : record.events) std::visit([this](const auto& own) { hear(own); }, event);
    if (out_.rounds.empty()) rounds_from_decisions();
    out_.timeline = timeline_of(record.steps);
    make_attempts();
    find_winner();
  }

  RunStory take_story() { return std::move(out_); }

 private:
  void take(const StepRecord& step) {
    const auto kind = model::step_kind(step.key.kind);
    if (kind == StepKind::open) take_opening(step.output);
    if (kind == StepKind::plan || kind == StepKind::plans) take_plans(step);
    if (kind == StepKind::execute || kind == StepKind::fix) take_answer(step);
    if (kind == StepKind::build) take_build(step);
    if (kind == StepKind::triage) {
      if (auto race = decoded<model::Evaluation>(step.output))
        races_[{step.key.identity.iteration, step.key.identity.parent}].push_back(std::move(*race));
    }
    if (kind == StepKind::profile) {
      if (auto profile = decoded<model::Profile>(step.output))
        out_.profiles.insert_or_assign(std::string(model::step_suffix(step.key.kind)), std::move(*profile));
    }
    if (kind == StepKind::confirm) {
      if (auto evaluation = decoded<model::Evaluation>(step.output)) {
        if (evaluation->source_id.empty()) evaluation->source_id = model::step_suffix(step.key.kind);
        out_.confirmations.push_back(std::move(*evaluation));
      }
    }
    if (kind == StepKind::recall) take_recall(step);
    if (kind == StepKind::decisions && step.output.is_array()) decisions_ = step.output;
  }

  void take_opening(const Json& opened) {
    out_.device = text_at(member(opened, "device"), "name");
    out_.device_summary = text_at(member(opened, "device"), "summary");
    out_.task_header = text_at(opened, "task_header");
    if (auto baseline = decoded<model::Evaluation>(member(opened, "baseline"))) out_.baseline = std::move(*baseline);
    // Where the opening profiled the baseline, no step of its own does.
    if (const auto& profile = out_.baseline.profile; profile && !profile->items.empty())
      out_.profiles.try_emplace(model::source_id(out_.run.task.baseline), *profile);
  }

  void take_plans(const StepRecord& step) {
    const Json& value = member(step.output, "value");
    Identity identity = step.key.identity;
    if (value.is_object()) {
      if (auto plan = decoded<model::Plan>(value)) plans_[identity] = std::move(*plan);
    } else if (value.is_array()) {
      identity.plan = 0;
      for (const Json& one : value) {
        if (auto plan = decoded<model::Plan>(one)) plans_[identity] = std::move(*plan);
        ++identity.plan;
      }
    }
  }

  void take_answer(const StepRecord& step) {
    Answer answer{step.key.identity, text_at(step.output, "author"), step.usage, std::nullopt,
                  text_at(step.output, "lost")};
    if (auto solution = decoded<model::Solution>(member(step.output, "value")); solution && !solution->sources.empty())
      answer.kernel = model::Kernel(std::move(*solution));
    answers_[attempt_of(step.key.identity)].push_back(std::move(answer));
  }

  void take_build(const StepRecord& step) {
    ++out_.evaluations;
    if (auto report = decoded<model::BuildReport>(step.output))
      builds_[std::string(model::step_suffix(step.key.kind))] = {std::move(*report), out_.evaluations};
  }

  void take_recall(const StepRecord& step) {
    if (!step.output.is_array()) return;
    const bool hints = model::step_suffix(step.key.kind) == "hints";
    for (const Json& one : step.output) {
      if (hints && one.is_string()) out_.hints.push_back(one.get<std::string>());
      if (hints) continue;
      if (auto experience = decoded<model::Experience>(one))
        out_.recalled.push_back({step.key.identity.iteration, step.key.identity.parent, std::move(*experience)});
    }
  }

  /// A session tells all of its run again.
  void hear(const model::RunStarted& /*event*/) {
    out_.rounds.clear();
    moves_.clear();
  }
  void hear(const model::AttemptMoved& event) {
    if (event.state == model::AttemptState::done) moves_[attempt_of(event.identity)] = event;
  }
  void hear(const model::Selected& event) {
    out_.rounds.push_back({event.iteration, event.beam, event.incumbent, event.evaluations, event.usage});
  }
  template <class Other>
  void hear(const Other& /*event*/) {}

  /// Journals of older versions kept no events; their decisions name the beams, without intervals.
  void rounds_from_decisions() {
    for (const Json& entry : decisions_) {
      if (!member(entry, "beam").is_array()) continue;
      StoryRound round{.iteration = entry.value("iteration", 1) - 1, .beam = {}, .incumbent = {}, .usage = {}};
      for (const Json& place : entry["beam"]) {
        if (!place.is_object()) continue;
        const double score = place.value("score", 1.0);
        round.beam.push_back({identity_of(text_at(place, "id")), "", {score, score, score}});
      }
      if (!round.beam.empty() && round.beam.front().identity != kBaseline) round.incumbent = round.beam.front();
      out_.rounds.push_back(std::move(round));
    }
  }

  [[nodiscard]] Identity identity_of(const std::string& id) const {
    for (const auto& [attempt, answers] : answers_) {
      for (const Answer& answer : answers) {
        if (model::to_string(answer.identity) == id) return answer.identity;
      }
    }
    return kBaseline;
  }

  void make_attempts() {
    std::set<Identity> all;
    for (const auto& [identity, answers] : answers_) all.insert(identity);
    for (const auto& [identity, moved] : moves_) {
      if (identity.attempt >= 0) all.insert(identity);
    }
    for (const Identity& identity : all) out_.attempts.push_back(attempt(identity));
    for (const StoryRound& round : out_.rounds) {
      for (const model::BeamMember& place : round.beam) {
        for (StoryAttempt& attempt : out_.attempts) {
          if (attempt.identity == place.identity && !attempt.score) attempt.score = place.score;
        }
      }
    }
  }

  [[nodiscard]] StoryAttempt attempt(const Identity& identity) const {
    StoryAttempt made;
    made.identity = identity;
    made.parent = parent_of(identity);
    if (const auto plan = plans_.find(plan_of(identity)); plan != plans_.end()) made.plan = plan->second;
    if (const auto answers = answers_.find(identity); answers != answers_.end()) add_answers(made, answers->second);
    if (const auto moved = moves_.find(identity); moved != moves_.end()) {
      const model::AttemptMoved& event = moved->second;
      if (!event.title.empty()) made.plan.title = event.title;
      made.status = event.status;
      made.ratio = event.ratio;
      made.note = event.note;
      if (event.identity.fix >= 0) made.identity = event.identity;
      // What was measured is another attempt's, against that one's parent.
      if (made.note == model::kKnownAlready) {
        made.ratio.reset();
        made.verdict = model::Verdict::none;
      }
    }
    return made;
  }

  [[nodiscard]] Identity parent_of(const Identity& identity) const {
    for (const StoryRound& round : out_.rounds) {
      if (round.iteration + 1 != identity.iteration) continue;
      const auto place = static_cast<std::size_t>(identity.parent);
      return place < round.beam.size() ? round.beam[place].identity : kBaseline;
    }
    return kBaseline;
  }

  void add_answers(StoryAttempt& made, const std::vector<Answer>& answers) const {
    const Answer* last = nullptr;
    for (const Answer& answer : answers) {
      made.usage += answer.usage;
      if (!answer.kernel) {
        if (last == nullptr) made.note = "no answer: " + answer.lost;
        continue;
      }
      if (last != nullptr) {
        StoryAttempt before;
        judge(before, *last);
        made.failed.push_back({last->identity, before.status, before.reason});
      }
      last = &answer;
    }
    if (last == nullptr) return;
    made.identity = last->identity;
    made.author = last->author;
    judge(made, *last);
  }

  /// What the record says of an answer.
  void judge(StoryAttempt& made, const Answer& answer) const {
    made.kernel = *answer.kernel;
    const auto build = builds_.find(answer.kernel->id());
    if (build == builds_.end()) return;
    made.evaluation = build->second.number;
    const model::BuildReport& report = build->second.report;
    if (!report.built) {
      made.status = model::Status::compile_error;
      made.reason = report.diagnostics;
      return;
    }
    const auto races = races_.find({answer.identity.iteration, answer.identity.parent});
    if (races == races_.end()) return;
    for (const model::Evaluation& race : races->second) {
      const bool own = race.source_id == answer.kernel->id() ||
                       (race.tuning && race.tuning->source_id == answer.kernel->id()) ||
                       (!race.tuning && race.machine_code_id == report.machine_code_id);
      if (!own) continue;
      made.status = race.status;
      made.verdict = race.verdict;
      made.ratio = race.ratio;
      made.blocks = race.blocks;
      made.reason = race.status == model::Status::passed ? "" : race.reason;
      made.workloads = race.workloads;
      made.tuning = race.tuning;
      if (made.tuning) made.tuning->heats.clear();
      if (race.tuning && race.tuning->chosen) {
        if (auto chosen = answer.kernel->with_values(*race.tuning->chosen)) made.kernel = *chosen;
      }
      return;
    }
  }

  void find_winner() {
    if (!out_.run.result) return;
    const std::string winner = text_at(*out_.run.result, "solution_id");
    // A reviewer speaks after the confirmation, so the result has what its step has not.
    const auto notes = out_.run.result->find("notes");
    if (notes != out_.run.result->end() && notes->is_array()) {
      for (model::Evaluation& one : out_.confirmations) {
        if (one.source_id == winner) one.notes = notes->get<std::vector<std::string>>();
      }
    }
    if (winner.empty()) return;
    // The first way in which a kernel came about counts: what has a place before an equal one that was known already.
    StoryAttempt* found = nullptr;
    for (StoryAttempt& attempt : out_.attempts) {
      if (attempt.kernel.id() != winner) continue;
      if (found == nullptr || (attempt.score && !found->score)) found = &attempt;
    }
    if (found != nullptr) found->is_winner = true;
  }

  RunStory out_;
  std::map<Identity, model::Plan> plans_;
  std::map<Identity, std::vector<Answer>> answers_;                      ///< by attempt
  std::map<Identity, model::AttemptMoved> moves_;                        ///< by attempt, how it ended
  std::map<std::string, Build> builds_;                                  ///< by source id
  std::map<std::pair<int, int>, std::vector<model::Evaluation>> races_;  ///< by iteration and parent's place
  Json decisions_ = Json::array();
};

}  // namespace

RunStory story_of(const RunRecord& record) {
  return Story(record).take_story();
}

const StoryAttempt* RunStory::find(const Identity& identity) const {
  const auto found = std::ranges::find(attempts, identity, &StoryAttempt::identity);
  return found == attempts.end() ? nullptr : &*found;
}

const StoryAttempt* RunStory::winner() const {
  const auto found = std::ranges::find(attempts, true, &StoryAttempt::is_winner);
  return found == attempts.end() ? nullptr : &*found;
}

const model::Evaluation* RunStory::confirmation() const {
  const StoryAttempt* const won = winner();
  const model::Evaluation* best = nullptr;
  for (const model::Evaluation& evaluation : confirmations) {
    if (best == nullptr || (won != nullptr && evaluation.source_id == won->kernel.id())) best = &evaluation;
  }
  return best;
}

std::vector<const StoryAttempt*> RunStory::lineage(const StoryAttempt& last) const {
  std::vector<const StoryAttempt*> steps;
  // A parent is of an earlier iteration: this ends.
  for (const StoryAttempt* step = &last; step != nullptr; step = find(step->parent)) {
    steps.insert(steps.begin(), step);
    if (step->parent.iteration >= step->identity.iteration) break;
  }
  return steps;
}

std::optional<model::Interval> RunStory::chained_speedup(const StoryAttempt& attempt) const {
  if (!attempt.ratio) return std::nullopt;
  model::Interval parent;
  for (const StoryRound& round : rounds) {
    if (round.iteration + 1 != attempt.identity.iteration) continue;
    for (const model::BeamMember& place : round.beam) {
      if (place.identity == attempt.parent) parent = place.score;
    }
  }
  return model::Interval{parent.estimate * attempt.ratio->estimate, parent.low * attempt.ratio->low,
                         parent.high * attempt.ratio->high};
}

}  // namespace accelopt::report

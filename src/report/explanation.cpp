// SPDX-License-Identifier: Apache-2.0
#include "report/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/unified_diff.hpp"
#include "report/format.hpp"
#include "report/review_text.hpp"

namespace accelopt::report {
namespace {

/// Least relative change of a profile's figure that is told, and how many figures are.
constexpr double kTellingChange = 0.1;
constexpr std::size_t kMostFigures = 12;
/// Times of a kernel that was tried beside a step.
constexpr std::size_t kMostTimes = 5;
/// Largest share of a parent's lines that is left where a kernel counts as rewritten, and least lines of that parent.
constexpr double kRewrittenShare = 0.4;
constexpr std::size_t kLinesToRewrite = 20;

bool is_time(const std::string& unit) {
  return nanoseconds_of(0, unit).has_value();
}

/// The figures that a step changed: all times, those of launches that only one of the kernels has too, then the rest in
/// the profile's order.
std::vector<ChangedFigure> changed_figures(const model::Profile& before, const model::Profile& after) {
  std::vector<ChangedFigure> changed;
  for (const model::ProfileItem& item : before.items) {
    const auto other = std::ranges::find(after.items, item.name, &model::ProfileItem::name);
    if (other == after.items.end() || other->unit != item.unit) {
      if (is_time(item.unit)) changed.push_back({item.name, item.unit, item.value, std::nullopt, item.meaning});
      continue;
    }
    const double size = std::max(std::abs(item.value), std::abs(other->value));
    if (size > 0 && std::abs(other->value - item.value) / size >= kTellingChange)
      changed.push_back({item.name, item.unit, item.value, other->value, item.meaning});
  }
  for (const model::ProfileItem& item : after.items) {
    const auto other = std::ranges::find(before.items, item.name, &model::ProfileItem::name);
    if (is_time(item.unit) && (other == before.items.end() || other->unit != item.unit))
      changed.push_back({item.name, item.unit, std::nullopt, item.value, item.meaning});
  }
  std::stable_partition(changed.begin(), changed.end(),
                        [](const ChangedFigure& figure) { return is_time(figure.unit); });
  return changed;
}

/// The item of that name.
const model::ProfileItem* item_of(const model::Profile& profile, std::string_view name) {
  const auto found = std::ranges::find(profile.items, name, &model::ProfileItem::name);
  return found == profile.items.end() ? nullptr : &*found;
}

/// "M = 4096, N = 512"
std::string axes_of(const model::Workload& workload) {
  std::string out;
  for (const auto& [axis, value] : workload.axes) out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", axis, value);
  return out;
}

/// Lines that say something: without blanks around them, none of a single sign.
std::multiset<std::string> telling_lines(const std::string& text) {
  std::multiset<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line(base::trimmed(std::string_view(text).substr(at, end - at)));
    if (line.size() > 1) out.insert(line);
    at = end + 1;
  }
  return out;
}

/// How much of what a step wrote is left in the winner.
void count_lines(LessonStep& step, const std::string& before, const std::string& after, const std::string& winner) {
  const auto old = telling_lines(before);
  const auto last = telling_lines(winner);
  std::multiset<std::string> written = telling_lines(after);
  for (const std::string& line : old) {
    if (const auto found = written.find(line); found != written.end()) written.erase(found);
  }
  std::multiset<std::string> both;
  std::ranges::set_intersection(written, last, std::inserter(both, both.end()));
  step.lines_written = static_cast<int>(written.size());
  step.lines_left = static_cast<int>(both.size());
  std::multiset<std::string> kept;
  std::ranges::set_intersection(old, telling_lines(after), std::inserter(kept, kept.end()));
  if (old.size() >= kLinesToRewrite &&
      static_cast<double>(kept.size()) < kRewrittenShare * static_cast<double>(old.size()))
    step.rewritten = after;
}

Foundation foundation_of(const RunStory& story, const StoryAttempt& attempt, const std::string& id) {
  for (const Recalled& recalled : story.recalled) {
    const model::Experience& experience = recalled.experience;
    if (experience.id != id || recalled.iteration != attempt.identity.iteration) continue;
    return {id, experience.title, fmt::format("an earlier run of {}", experience.task),
            model::taught_effect(experience)};
  }
  for (const model::Experience& experience : story.learned) {
    if (experience.id == id)
      return {id, experience.title, fmt::format("iteration {} of this run", experience.iteration + 1),
              model::taught_effect(experience)};
  }
  return {id, "", "", std::nullopt};
}

class Lesson {
 public:
  explicit Lesson(const RunStory& story) : story_(story) {}

  Explanation tell() {
    Explanation out{.run = story_.run.id,
                    .task = story_.run.task_name,
                    .device = story_.device,
                    .answer = answer_of(story_),
                    .about = story_.run.task.definition.description,
                    .modelled = story_.is_modelled(),
                    .measure = model::measure_of(story_.run.task),
                    .steps = {},
                    .rounds = {},
                    .dead_ends = {},
                    .learned = story_.learned,
                    .workloads = {},
                    .checked = {}};
    std::vector<const StoryAttempt*> lineage;
    if (const StoryAttempt* winner = story_.winner()) lineage = story_.lineage(*winner);
    for (const StoryAttempt* attempt : lineage) out.steps.push_back(step(*attempt));
    for (const StoryRound& round : story_.rounds) out.rounds.push_back(standings(round, lineage));
    for (const StoryAttempt& attempt : story_.attempts) {
      const bool told = std::ranges::any_of(
          lineage, [&](const StoryAttempt* step) { return step->identity.iteration == attempt.identity.iteration; });
      if (!told) out.dead_ends.push_back(beside_of(attempt));
    }
    if (!lineage.empty() && story_.confirmation() != nullptr) {
      out.workloads = story_.confirmation()->workloads;
      out.checked = story_.confirmation()->notes;
    }
    for (const model::Axis& axis : story_.run.task.definition.axes) {
      if (!axis.value) continue;
      out.fixed_axes += fmt::format("{}{} = {}", out.fixed_axes.empty() ? "" : ", ", axis.name, *axis.value);
    }
    if (story_.run.result) {
      out.tested = tests_lines(*story_.run.result);
      out.reviewed = review_lines(*story_.run.result);
    }
    for (const model::Workload& workload : story_.run.task.workloads) out.axes[workload.name] = axes_of(workload);
    if (!out.workloads.empty()) out.differs = differing_times(out.workloads);
    for (const model::WorkloadTiming& workload : out.workloads) {
      if (workload.role == model::Role::held_out && workload.ratio) out.unseen.push_back(unseen_text(workload, out));
    }
    return out;
  }

 private:
  [[nodiscard]] TriedBeside beside_of(const StoryAttempt& attempt) const {
    TriedBeside out{attempt.identity, attempt.plan.title, fate_of(attempt, model::measure_of(story_.run.task)),
                    attempt.ratio, attempt.reason.empty() ? attempt.note : attempt.reason};
    out.than = model::measure_of(story_.run.task).than;
    out.parent = attempt.parent;
    out.score = attempt.score;
    out.built = !attempt.kernel.solution().sources.empty();
    if (!out.built) return out;
    for (const model::Evaluation& confirmation : story_.confirmations) {
      if (confirmation.source_id != attempt.kernel.id()) continue;
      if (confirmation.status != model::Status::passed)
        out.refused = fmt::format("{}: {}", model::to_string(confirmation.status), confirmation.reason);
      else if (confirmation.ratio && confirmation.ratio->low <= 1)
        out.refused = fmt::format("no gain was confirmed, {}", format_ratio(*confirmation.ratio));
    }
    if (const auto profile = story_.profiles.find(attempt.kernel.id()); profile != story_.profiles.end()) {
      std::ranges::copy_if(profile->second.items, std::back_inserter(out.times),
                           [](const model::ProfileItem& item) { return is_time(item.unit); });
      out.times.resize(std::min(out.times.size(), kMostTimes));
    }
    return out;
  }

  /// Where the confirmation timed the baseline otherwise than the search had: its ratio is of times side by side.
  [[nodiscard]] std::vector<std::string> differing_times(const std::vector<model::WorkloadTiming>& confirmed) const {
    const auto profile = story_.profiles.find(model::source_id(story_.run.task.baseline));
    const auto raced = std::ranges::find(confirmed, model::Role::race, &model::WorkloadTiming::role);
    if (profile == story_.profiles.end() || raced == confirmed.end() || !raced->reference_ns) return {};
    const std::string name = story_.run.task.cpu.cache == model::Cache::warm ? "warm time" : "cold time";
    const model::ProfileItem* time = item_of(profile->second, name);
    if (time == nullptr) time = item_of(profile->second, raced->name + ": " + name);  // of several workloads
    const auto profiled_ns = time == nullptr ? std::nullopt : nanoseconds_of(time->value, time->unit);
    if (!profiled_ns || *profiled_ns <= 0) return {};
    if (std::abs(*raced->reference_ns / *profiled_ns - 1) < kTellingChange) return {};
    return {
        fmt::format("The baseline took {} in the confirmation and {} when the search profiled it. A confirmation takes "
                    "both kernels' times in turn, in fresh processes on fresh inputs, so its ratio holds, but it may "
                    "differ from the play-offs' by as much.",
                    format_ns(*raced->reference_ns), format_ns(*profiled_ns))};
  }

  static std::string unseen_text(const model::WorkloadTiming& workload, const Explanation& out) {
    const model::Interval& ratio = *workload.ratio;
    const auto found = out.axes.find(workload.name);
    const std::string axes = found == out.axes.end() ? std::string() : found->second;
    const std::string where =
        fmt::format("On {}{}, which the search never measured", workload.name, axes.empty() ? "" : " (" + axes + ")");
    if (ratio.low <= 1 && ratio.high >= 1) return fmt::format("{}, it gains nothing: {}.", where, format_ratio(ratio));
    return fmt::format("{}: {}.", where, format_ratio(ratio));
  }

  static LessonRound standings(const StoryRound& round, const std::vector<const StoryAttempt*>& lineage) {
    LessonRound out{.iteration = round.iteration, .evaluations = round.evaluations, .kept = {}};
    for (const model::BeamMember& member : round.beam) {
      const bool on_the_way =
          std::ranges::any_of(lineage, [&](const StoryAttempt* step) { return step->identity == member.identity; });
      out.kept.push_back({member.identity, member.title, member.score, on_the_way});
    }
    return out;
  }

  [[nodiscard]] LessonStep step(const StoryAttempt& attempt) const {
    LessonStep out{.identity = attempt.identity,
                   .parent = attempt.parent,
                   .plan = attempt.plan,
                   .ratio = attempt.ratio,
                   .score = attempt.score,
                   .diff = {},
                   .mended = attempt.failed,
                   .profile = {},
                   .rests_on = {},
                   .beside = {}};
    const StoryAttempt* const parent = story_.find(attempt.parent);
    const model::Solution& before = parent != nullptr ? parent->kernel.solution() : story_.run.task.baseline;
    const model::Solution& after = attempt.kernel.solution();
    if (!before.sources.empty() && !after.sources.empty()) {
      out.diff = base::unified_diff(model::changeable_text(before), model::changeable_text(after), "parent", "step");
      count_lines(out, model::changeable_text(before), model::changeable_text(after),
                  model::changeable_text(story_.winner()->kernel.solution()));
    }
    out.tuning = attempt.tuning;
    const auto profile_before =
        story_.profiles.find(parent != nullptr ? parent->kernel.id() : model::source_id(story_.run.task.baseline));
    const auto profile_after = story_.profiles.find(attempt.kernel.id());
    if (profile_before != story_.profiles.end() && profile_after != story_.profiles.end())
      out.profile = changed_figures(profile_before->second, profile_after->second);
    if (out.profile.size() > kMostFigures) {
      out.figures_left_out = static_cast<int>(out.profile.size() - kMostFigures);
      out.profile.resize(kMostFigures);
    }
    for (const std::string& id : attempt.plan.rests_on) out.rests_on.push_back(foundation_of(story_, attempt, id));
    for (const StoryAttempt& other : story_.attempts) {
      if (other.identity.iteration == attempt.identity.iteration && other.identity != attempt.identity)
        out.beside.push_back(beside_of(other));
    }
    return out;
  }

  const RunStory& story_;
};

}  // namespace

Explanation explain(const RunStory& story) {
  return Lesson(story).tell();
}

std::string answer_of(const RunStory& story) {
  const journal::RunInfo& run = story.run;
  const model::Evaluation* const confirmation = story.confirmation();
  if (story.winner() != nullptr && confirmation != nullptr && confirmation->ratio) {
    const model::Measure& measure = model::measure_of(run.task);
    return fmt::format("{} {} on {}, {}.", run.task_name,
                       model::compared(measure, format_ratio(*confirmation->ratio), "the baseline"), story.device,
                       story.is_modelled() ? "by the model and verified on fresh inputs; no device measured these times"
                                           : "confirmed in fresh processes on fresh inputs");
  }
  if (!run.result)
    return fmt::format("{} is not finished ({}); this is what it has so far.", run.id, to_string(run.status));
  const std::string reason = base::text_at(*run.result, "reason");
  if (run.task.repo)
    return fmt::format("No change of {} was confirmed to be {}{}.", run.task_name, model::measure_of(run.task).better,
                       reason.empty() ? "" : ": " + reason);
  return fmt::format("No faster kernel for {} was confirmed{}.", run.task_name, reason.empty() ? "" : ": " + reason);
}

std::string fate_of(const StoryAttempt& attempt, const model::Measure& measure) {
  if (attempt.note.starts_with("no answer")) return "no answer";
  if (attempt.note.starts_with("no plan")) return "no plan";
  const bool known = attempt.note == model::kKnownAlready;
  if (known && attempt.status == model::Status::passed) return "known already";
  const bool raced = attempt.status == model::Status::passed && attempt.verdict != model::Verdict::none;
  std::string word =
      raced ? model::verdict_word(attempt.verdict, measure) : base::lower(model::to_string(attempt.status));
  std::ranges::replace(word, '_', ' ');
  if (known) word += ", known already";
  if (attempt.is_winner) word += ", the winner";
  return word;
}

base::Json to_json(const Explanation& explanation) {
  using base::Json;
  const auto name_of = [](const model::Identity& identity) {
    return identity == model::Identity{} ? std::string("baseline") : model::to_string(identity);
  };
  const auto ratio = [](const std::optional<model::Interval>& interval) { return interval ? Json(*interval) : Json(); };
  const auto beside = [&](const std::vector<TriedBeside>& all) {
    Json list = Json::array();
    for (const TriedBeside& one : all) {
      list.push_back({{"id", model::to_string(one.identity)},
                      {"title", one.title},
                      {"fate", one.fate},
                      {"parent", name_of(one.parent)},
                      {"ratio", ratio(one.ratio)},
                      {"score", ratio(one.score)},
                      {"built", one.built},
                      {"why", one.why},
                      {"refused", one.refused}});
    }
    return list;
  };
  Json steps = Json::array();
  for (const LessonStep& step : explanation.steps) {
    Json profile = Json::array();
    for (const ChangedFigure& figure : step.profile)
      profile.push_back({{"name", figure.name},
                         {"unit", figure.unit},
                         {"before", Json(figure.before)},
                         {"after", Json(figure.after)}});
    Json rests_on = Json::array();
    for (const Foundation& one : step.rests_on)
      rests_on.push_back({{"id", one.id}, {"title", one.title}, {"from", one.from}, {"effect", ratio(one.effect)}});
    Json mended = Json::array();
    for (const FailedAnswer& one : step.mended)
      mended.push_back(
          {{"id", model::to_string(one.identity)}, {"status", model::to_string(one.status)}, {"reason", one.reason}});
    steps.push_back({{"id", model::to_string(step.identity)},
                     {"parent", name_of(step.parent)},
                     {"plan", step.plan},
                     {"ratio", ratio(step.ratio)},
                     {"score", ratio(step.score)},
                     {"diff", step.diff},
                     {"mended", mended},
                     {"profile", profile},
                     {"figures_left_out", step.figures_left_out},
                     {"lines_written", step.lines_written},
                     {"lines_left", step.lines_left},
                     {"rests_on", rests_on},
                     {"beside", beside(step.beside)}});
  }
  Json rounds = Json::array();
  for (const LessonRound& round : explanation.rounds) {
    Json kept = Json::array();
    for (const Standing& one : round.kept)
      kept.push_back(
          {{"id", name_of(one.identity)}, {"title", one.title}, {"score", one.score}, {"on_the_way", one.on_the_way}});
    rounds.push_back({{"iteration", round.iteration}, {"evaluations", round.evaluations}, {"kept", kept}});
  }
  Json learned = Json::array();
  for (const model::Experience& one : explanation.learned)
    learned.push_back({{"id", one.id},
                       {"title", one.title},
                       {"polarity", model::to_string(one.polarity)},
                       {"effect", ratio(one.effect)},
                       {"strategy", one.strategy}});
  return {{"type", "explanation"},
          {"schema", 1},
          {"run", explanation.run},
          {"task", explanation.task},
          {"device", explanation.device},
          {"modelled", explanation.modelled},
          {"answer", explanation.answer},
          {"about", explanation.about},
          {"unseen", explanation.unseen},
          {"steps", steps},
          {"rounds", rounds},
          {"dead_ends", beside(explanation.dead_ends)},
          {"learned", learned},
          {"workloads", explanation.workloads},
          {"tested", explanation.tested},
          {"reviewed", explanation.reviewed},
          {"checked", explanation.checked}};
}

}  // namespace accelopt::report

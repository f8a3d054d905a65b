// SPDX-License-Identifier: Apache-2.0
#include "app/earlier_runs.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <set>
#include <vector>

#include "app/cost.hpp"
#include "app/run.hpp"
#include "model/stages.hpp"

namespace accelopt::app {

using base::Json;
using base::Result;
using model::AgentRole;
using model::step_kind;
using model::StepKind;
using search::EstimateFacts;
using search::Range;

namespace {

/// Earlier runs that are looked at, the newest ones.
constexpr int kMostRuns = 6;

/// One number of each earlier run, and the range that a further run's is in.
class Samples {
 public:
  void add(double value) {
    if (std::isfinite(value)) values_.push_back(value);
  }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] Range range() const {
    // One run tells little of how much they differ.
    const double slack = values_.size() == 1 ? 2.0 : values_.size() == 2 ? 1.6 : 1.4;
    const auto [least, most] = std::minmax_element(values_.begin(), values_.end());
    double sum = 0;
    for (const double value : values_) sum += value;
    return {*least / slack, sum / static_cast<double>(values_.size()), *most * slack};
  }

 private:
  std::vector<double> values_;
};

/// Sums over the steps of one run.
struct Sum {
  double count = 0;
  double total = 0;
  void add(double value) {
    ++count;
    total += value;
  }
  [[nodiscard]] double mean() const { return count > 0 ? total / count : std::nan(""); }
};

struct RoleSums {
  Sum input, output, seconds, calls;
  double all_input = 0;
  double cached = 0;
  std::string author;
};

struct RunSums {
  std::map<AgentRole, RoleSums> roles;
  std::map<StepKind, Sum> seconds;
  std::map<int, std::set<std::pair<int, int>>> plans;
  double iterations = 0;
};

/// Steps whose time is that of the device, and is told by the answer instead where evaluations travel as bundles: the
/// step only looked it up. A race tells its time by its stages.
bool is_looked_up(std::optional<StepKind> kind) {
  constexpr std::array kinds{StepKind::open, StepKind::build, StepKind::profile, StepKind::playoff, StepKind::confirm};
  return kind && std::ranges::find(kinds, *kind) != kinds.end();
}

RunSums sums_of(const std::vector<journal::StepRecord>& steps) {
  RunSums sums;
  const bool travelled = std::any_of(steps.begin(), steps.end(),
                                     [](const auto& s) { return step_kind(s.key.kind) == StepKind::deferred; });
  for (const journal::StepRecord& step : steps) {
    const auto kind = step_kind(step.key.kind);
    if (kind == StepKind::deferred) {
      const auto operation = model::named<model::Operation>(step.output.value("op", ""));
      if (operation && is_looked_up(step_of(*operation)))
        sums.seconds[step_of(*operation)].add(step.output.value("seconds", 0.0));
    }
    if (!kind || kind == StepKind::deferred || (travelled && is_looked_up(kind))) continue;
    const double seconds = std::chrono::duration<double>(step.duration).count();
    const auto role = model::role_of(kind);
    if (kind == StepKind::plan)
      sums.plans[step.key.identity.iteration].insert({step.key.identity.parent, step.key.identity.plan});
    if (kind == StepKind::plans && step.output.value("answered", false)) {
      for (int plan = 0; plan < static_cast<int>(step.output.at("value").size()); ++plan)
        sums.plans[step.key.identity.iteration].insert({step.key.identity.parent, plan});
    }
    if (kind == StepKind::stop) ++sums.iterations;
    if (!role) {
      sums.seconds[*kind].add(kind == StepKind::triage
                                  ? model::measured_seconds(model::stages_in(step.output)).value_or(seconds)
                                  : seconds);
      continue;
    }
    RoleSums& own = sums.roles[*role];
    if (step.output.is_object()) own.author = step.output.value("author", own.author);
    if (step.usage.calls == 0) {
      own.calls.add(0);
      continue;
    }
    const auto calls = static_cast<double>(step.usage.calls);
    own.input.add(static_cast<double>(step.usage.input_tokens) / calls);
    own.output.add(static_cast<double>(step.usage.output_tokens) / calls);
    own.seconds.add(seconds / calls);
    own.calls.add(calls);
    own.all_input += static_cast<double>(step.usage.input_tokens);
    own.cached += static_cast<double>(step.usage.cached_input_tokens);
  }
  return sums;
}

/// Earlier runs of the same task, as ranges in place of guesses.
class History {
 public:
  void add(const RunSums& run, const RunSettings& then, const std::map<AgentRole, std::string>& authors) {
    const auto seconds = [&](StepKind kind) {
      const auto found = run.seconds.find(kind);
      return found == run.seconds.end() ? std::nan("") : found->second.mean();
    };
    open_.add(seconds(StepKind::open));
    build_.add(seconds(StepKind::build));
    race_.add(seconds(StepKind::triage));
    profile_.add(seconds(StepKind::profile));
    confirm_.add(seconds(StepKind::confirm));
    const auto playoff = run.seconds.find(StepKind::playoff);
    if (run.iterations > 0) playoff_.add(playoff == run.seconds.end() ? 0 : playoff->second.total / run.iterations);
    ++runs;
    for (const auto& [role, own] : run.roles) {
      const auto author = authors.find(role);
      if (author == authors.end() || author->second != own.author) return;  // another team behaves in another way
    }
    const auto count = [&](AgentRole role) {
      const auto found = run.roles.find(role);
      return found == run.roles.end() ? 0.0 : found->second.calls.count;
    };
    for (const auto& [role, own] : run.roles) {
      input_[role].add(own.input.mean());
      output_[role].add(own.output.mean());
      seconds_[role].add(own.seconds.mean());
    }
    double input = 0;
    double cached = 0;
    for (const auto& [role, own] : run.roles) {
      input += own.all_input;
      cached += own.cached;
    }
    if (input > 0) cached_.add(cached / input);
    const double attempts = count(AgentRole::executor);
    if (attempts > 0) {
      fixes_.add(count(AgentRole::fixer) / attempts);
      const auto builds = run.seconds.find(StepKind::build);
      if (builds != run.seconds.end()) built_.add(builds->second.count / (attempts + count(AgentRole::fixer)));
    }
    if (run.iterations > 0) lessons_.add(count(AgentRole::summarizer) / run.iterations);
    double later = 0;
    double members = 0;
    for (const auto& [iteration, plans] : run.plans) {
      if (iteration == 0) continue;
      ++later;
      members += static_cast<double>(plans.size()) / std::max(then.search.plans, 1);
    }
    if (later > 0 && then.search.beam > 0) beam_share_.add(members / later / then.search.beam);
    ++alike;
  }

  void improve(EstimateFacts& facts, const search::SearchSettings& settings) const {
    const auto take = [](Range& range, const Samples& samples) {
      if (!samples.empty()) range = samples.range();
    };
    take(facts.open_seconds, open_);
    take(facts.build_seconds, build_);
    take(facts.race_seconds, race_);
    take(facts.profile_seconds, profile_);
    take(facts.playoff_seconds, playoff_);
    take(facts.confirm_seconds, confirm_);
    facts.confirm_seconds.low = 0;  // where nothing is found there is nothing to confirm
    if (alike == 0) return;
    for (auto& [role, known] : facts.roles) {
      if (const auto found = input_.find(role); found != input_.end()) take(known.input_tokens, found->second);
      if (const auto found = output_.find(role); found != output_.end()) take(known.output_tokens, found->second);
      if (const auto found = seconds_.find(role); found != seconds_.end()) take(known.seconds, found->second);
    }
    if (!cached_.empty()) {
      constexpr double kMoreOrLess = 0.15;  // caches are emptied, and other prompts share more or less
      const Range share = cached_.range();
      facts.cached = {std::max(share.low - kMoreOrLess, 0.0), share.expected, std::min(share.high + kMoreOrLess, 1.0)};
    }
    take(facts.fixes, fixes_);
    facts.fixes.high = std::min<double>(std::max(facts.fixes.high, 0.2), settings.fixes);
    facts.fixes.expected = std::min(facts.fixes.expected, facts.fixes.high);
    facts.fixes.low *= 0.5;
    take(facts.built, built_);
    facts.built = {facts.built.low * 0.7, std::min(facts.built.expected, 1.0), 1};
    take(facts.lessons, lessons_);
    facts.lessons.low *= 0.5;
    facts.lessons.high = std::min(std::max(facts.lessons.high, 1.0), static_cast<double>(settings.memory_new));
    if (!beam_share_.empty()) {
      const Range share = beam_share_.range();
      const double beam = settings.beam;
      facts.beam = {std::clamp(share.low * beam, 1.0, beam), std::clamp(share.expected * beam, 1.0, beam),
                    std::clamp(share.high * beam, 1.0, beam)};
    }
  }

  int runs = 0;   ///< of the same task
  int alike = 0;  ///< of them by the same agents

 private:
  Samples open_, build_, race_, profile_, playoff_, confirm_, cached_, fixes_, built_, lessons_, beam_share_;
  std::map<AgentRole, Samples> input_, output_, seconds_;
};

}  // namespace

Result<EarlierRuns> learn_from_earlier_runs(journal::Journal& journal, const model::Task& task,
                                            const std::map<AgentRole, std::string>& authors,
                                            const search::SearchSettings& settings, EstimateFacts& facts) {
  History history;
  EarlierRuns earlier;
  TRY_ASSIGN(const auto runs, journal.list_runs());
  for (const journal::RunInfo& run : runs) {
    if (run.task_name != task.definition.name || run.status != model::RunStatus::done) continue;
    const auto then = run_settings_from(run.settings);
    if (!then) continue;
    // Tasks for different kinds of device may have one name.
    TRY_ASSIGN(const journal::RunInfo whole, journal.find_run(run.id));
    if (whole.task.target != task.target) continue;
    TRY_ASSIGN(const auto steps, journal.steps(run.id));
    // A question for several plans is another question.
    const bool asked_alike = then->search.asking == settings.asking;
    history.add(sums_of(steps), *then, asked_alike ? authors : std::map<AgentRole, std::string>());
    if (run.result) earlier.devices.insert(run.result->value("device", "an unknown device"));
    if (history.runs == kMostRuns) break;
  }
  earlier.runs = history.runs;
  earlier.alike = history.alike;
  if (earlier.runs > 0) history.improve(facts, settings);
  return earlier;
}

}  // namespace accelopt::app

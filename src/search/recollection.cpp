// SPDX-License-Identifier: Apache-2.0
#include "search/recollection.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "evaluation/evaluator_json.hpp"
#include "memory/ranking.hpp"
#include "memory/sanitation.hpp"
#include "search/selection.hpp"

namespace accelopt::search {

using base::Json;
using base::Result;

namespace {

/// Of the kernel's text: what is beyond this says little that the beginning does not.
constexpr std::size_t kMostText = 20'000;

/// Its id in the store: what was recalled has it, of whatever form it is; the run's own have short ones.
std::string store_id(const model::Experience& experience, const std::string& run) {
  return experience.run == run ? memory::made_fit(experience).experience.id : experience.id;
}

std::string bound_of(const std::vector<model::WorkloadTiming>& workloads) {
  for (const model::WorkloadTiming& workload : workloads) {
    if (workload.role == model::Role::race && workload.roofline) return workload.roofline->bound;
  }
  return {};
}

/// Hundreds of them are recalled and recorded: who weighs them by number reads no code.
void keep_numbers_only(model::Experience& experience) {
  experience.diff.clear();
  experience.before.clear();
  experience.after.clear();
}

/// A plan and what its attempts came to.
struct Branch {
  const model::Plan* plan = nullptr;
  int parent = 0;
  bool judged = false;  ///< an attempt was measured, or failed
  bool faster = false;
  std::optional<model::Interval> best;
};

std::map<std::pair<int, int>, Branch> branches_of(const std::vector<AttemptOutcome>& outcomes, Showing showing) {
  std::map<std::pair<int, int>, Branch> branches;
  for (const AttemptOutcome& outcome : outcomes) {
    Branch& branch = branches[{outcome.identity.parent, outcome.identity.plan}];
    branch.plan = &outcome.plan;
    branch.parent = outcome.parent;
    if (!outcome.candidate || outcome.candidate->evaluation.status == model::Status::not_measured) continue;
    const model::Evaluation& evaluation = outcome.candidate->evaluation;
    if (evaluation.status == model::Status::passed && !evaluation.ratio) continue;  // not raced against this parent
    // A model that hands back its parent's program has not tried the plan; a recipe's change was made, and changed
    // nothing.
    if (showing == Showing::read && is_parents_program(outcome)) continue;
    branch.judged = true;
    if (!evaluation.ratio) continue;
    branch.faster = branch.faster || evaluation.verdict == model::Verdict::faster;
    if (!branch.best || evaluation.ratio->estimate > branch.best->estimate) branch.best = *evaluation.ratio;
  }
  return branches;
}

memory::SolutionRecord record_of(const Candidate& candidate, const model::Task& task, const std::string& run) {
  model::Evaluation evaluation = candidate.evaluation;
  evaluation.samples.clear();
  if (evaluation.tuning) evaluation.tuning->heats.clear();
  return {.id = candidate.kernel.id(),
          .language = model::language_name(task),
          .task = task.definition.name,
          .run = run,
          .sources = Json(candidate.kernel),
          .evaluation = Json(evaluation)};
}

}  // namespace

base::Outcome<std::vector<memory::Queue>> Recollection::shown(int iteration, const std::vector<Candidate>& beam,
                                                              const memory::Queue& own) {
  std::vector<memory::Queue> all;
  for (std::size_t parent = 0; parent < beam.size(); ++parent) {
    TRY_ASSIGN(auto queue, recall(iteration, static_cast<int>(parent), beam[parent], own));
    all.push_back(std::move(queue));
  }
  return all;
}

base::Outcome<memory::Queue> Recollection::recall(int iteration, int parent, const Candidate& candidate,
                                                  const memory::Queue& own) {
  const auto capacity = static_cast<std::size_t>(settings_.memory_capacity);
  const bool wanted = settings_.recall == Recall::ranked && own.size() < capacity;
  if (!wanted || (knowledge_ == nullptr && !recorder_.replaying())) return own;
  const journal::StepKey key{{.iteration = iteration, .parent = parent}, model::step_name(model::StepKind::recall)};
  const Json input = {{"kernel", candidate.kernel.id()},
                      {"own", own.size()},
                      {"capacity", capacity},
                      {"exclude_family", settings_.exclude_family}};
  if (recorder_.replaying()) {
    TRY_ASSIGN(const bool known, recorder_.on_record(key, input));
    if (!known) return own;  // the run had no store
  }
  using Experiences = std::vector<model::Experience>;
  TRY_ASSIGN(const auto recalled, recorder_.once<Experiences>(key, input, [&]() -> base::Outcome<Experiences> {
    auto found = knowledge_->recall(query_for(candidate), static_cast<int>(capacity - own.size()));
    if (settings_.memory_everything) {
      for (model::Experience& experience : found) keep_numbers_only(experience);
    }
    return found;
  }));
  memory::Queue queue = own;
  queue.insert(queue.end(), recalled.begin(), recalled.end());
  return queue;
}

memory::Query Recollection::query_for(const Candidate& candidate) const {
  memory::Query query;
  query.language = model::language_name(task_);
  query.target = task_.target;
  query.op_type = task_.definition.op_type;
  query.bound = bound_of(candidate.workloads.empty() ? candidate.evaluation.workloads : candidate.workloads);
  query.without_run = recorder_.run();
  if (settings_.memory_everything) {
    query.alike = memory::Alike::each;
    query.limit = std::max(query.limit, settings_.memory_capacity);
  }
  if (settings_.exclude_family) query.without_op_types = memory::family_of(query.op_type);
  query.text =
      task_.definition.description + "\n" + model::changeable_text(candidate.kernel.solution()).substr(0, kMostText);
  if (candidate.evaluation.profile) {
    for (const std::string& remark : candidate.evaluation.profile->remarks) query.text += "\n" + remark;
    for (const model::ProfileItem& item : candidate.evaluation.profile->items) query.text += "\n" + item.name;
  }
  return query;
}

Result<void> Recollection::contribute(int iteration, const std::vector<model::Experience>& fresh,
                                      const std::vector<AttemptOutcome>& outcomes,
                                      const std::vector<Candidate>& parents, const std::vector<memory::Queue>& shown) {
  if (knowledge_ == nullptr || recorder_.replaying() || settings_.memory_capacity == 0) return {};
  memory::Contribution contribution{fresh,
                                    {},
                                    credit_of(recorder_.run(), iteration, outcomes, shown,
                                              settings_.memory_everything ? Showing::weighed : Showing::read)};
  std::set<std::string> wanted;
  for (const model::Experience& experience : fresh) wanted.insert({experience.slow, experience.fast});
  const auto offer = [&](const Candidate& candidate) {
    if (wanted.erase(candidate.kernel.id()) > 0)
      contribution.solutions.push_back(record_of(candidate, task_, recorder_.run()));
  };
  for (const Candidate& parent : parents) offer(parent);
  for (const AttemptOutcome& outcome : outcomes) {
    if (outcome.candidate) offer(*outcome.candidate);
    if (outcome.broken) offer(*outcome.broken);
  }
  if (contribution.experiences.empty() && contribution.credit.empty()) return {};
  return knowledge_->contribute(recorder_.run(), "i" + std::to_string(iteration), contribution);
}

std::vector<memory::CreditEvent> credit_of(const std::string& run, int iteration,
                                           const std::vector<AttemptOutcome>& outcomes,
                                           const std::vector<memory::Queue>& shown, Showing showing) {
  using Kind = memory::CreditEvent::Kind;
  std::vector<memory::CreditEvent> events;
  std::vector<std::map<std::string, std::string>> id_in_store(shown.size());  // by parent, by the id that was shown
  const auto branches = branches_of(outcomes, showing);
  const auto counts = [&](std::size_t parent, const std::string& id) {
    return showing == Showing::read || std::ranges::any_of(branches, [&](const auto& it) {
             const auto& named = it.second.plan->rests_on;
             return static_cast<std::size_t>(it.second.parent) == parent && std::ranges::find(named, id) != named.end();
           });
  };
  for (std::size_t parent = 0; parent < shown.size(); ++parent) {
    const std::string where = run + " i" + std::to_string(iteration) + ".b" + std::to_string(parent);
    for (const model::Experience& experience : shown[parent]) {
      const std::string id = store_id(experience, run);
      id_in_store[parent][experience.id] = id;
      if (!counts(parent, experience.id)) continue;
      events.push_back({.id = where + " shown " + id, .experience = id, .kind = Kind::shown, .run = run});
    }
  }
  for (const auto& [place, branch] : branches) {
    if (!branch.judged || static_cast<std::size_t>(branch.parent) >= shown.size()) continue;
    const auto& known = id_in_store[static_cast<std::size_t>(branch.parent)];
    const std::string where = run + " i" + std::to_string(iteration) + ".b" + std::to_string(place.first) + ".p" +
                              std::to_string(place.second);
    for (const std::string& rests_on : branch.plan->rests_on) {
      const auto found = known.find(rests_on);
      if (found == known.end()) continue;
      events.push_back({.id = where + " " + found->second,
                        .experience = found->second,
                        .kind = branch.faster ? Kind::confirmed : Kind::refuted,
                        .run = run,
                        .plan = branch.plan->title,
                        .speedup = branch.best});
    }
  }
  return events;
}

}  // namespace accelopt::search

// SPDX-License-Identifier: Apache-2.0
#include "search/learning.hpp"

#include <array>
#include <map>
#include <thread>

#include "base/unified_diff.hpp"
#include "memory/pseudo_code.hpp"
#include "search/exploration.hpp"
#include "search/recorder.hpp"
#include "search/selection.hpp"

namespace accelopt::search {

using base::Why;
using model::Polarity;

namespace {

using LessonAnswer = base::Outcome<agents::Answer<std::optional<agents::Lesson>>>;

/// What bounded the slow kernel: the roofline's word on its first raced workload.
std::string bound_of(const model::Evaluation& evaluation) {
  for (const model::WorkloadTiming& workload : evaluation.workloads) {
    if (workload.role == model::Role::race && workload.roofline) return workload.roofline->bound;
  }
  return {};
}

agents::SummarizeQuestion question_for(const Learning& learning, const AttemptOutcome& outcome, Polarity polarity) {
  const Candidate& child = *outcome.candidate;
  const Candidate& parent = learning.beam[static_cast<std::size_t>(outcome.parent)];
  const Candidate& slow = polarity == Polarity::improves ? parent
                          : polarity == Polarity::mends  ? *outcome.broken
                                                         : child;
  const Candidate& fast = polarity == Polarity::regresses ? parent : child;
  agents::SummarizeQuestion question;
  // One outcome may teach twice: its effect, and the mend. The mend goes by the identity of what was broken.
  const model::Identity& identity = polarity == Polarity::mends ? outcome.broken->identity : outcome.identity;
  question.context = {identity, &learning.task, learning.opened.task_header, device_line(learning.opened.device),
                      learning.seed};
  question.parent = parent.kernel;
  question.slow = slow.kernel;
  question.fast = fast.kernel;
  if (polarity == Polarity::mends) {
    question.mend_as_written = child.open;
    question.failed_mends = outcome.failed_fixes;
  }
  const model::Kernel& after = question.mend_as_written ? *question.mend_as_written : fast.kernel;
  question.diff = base::unified_diff(model::changeable_text(slow.kernel.solution()),
                                     model::changeable_text(after.solution()), "slow", "fast");
  question.plan = child.plan;
  question.parent_evaluation = parent.evaluation;
  question.slow_evaluation = slow.evaluation;
  question.fast_evaluation = fast.evaluation;
  question.polarity = polarity;
  question.effect = *child.evaluation.ratio;
  return question;
}

model::Experience experience_from(const Learning& learning, const agents::SummarizeQuestion& question,
                                  const agents::Answer<std::optional<agents::Lesson>>& answer) {
  const agents::Lesson& lesson = **answer.value;
  model::Experience experience;
  experience.title = lesson.title;
  experience.strategy = lesson.strategy;
  experience.before = lesson.before;
  experience.after = lesson.after;
  if (learning.settings.asking == Asking::apart_renamed) {
    const std::array<std::string, 2> sources{model::main_text(question.slow.solution()),
                                             model::main_text(question.fast.solution())};
    experience.before = memory::without_names(lesson.before, learning.task.definition, sources);
    experience.after = memory::without_names(lesson.after, learning.task.definition, sources);
  }
  experience.diff = question.diff;
  experience.polarity = question.polarity;
  experience.effect = question.effect;
  // Triage measured the child, which is the slow one where the change made it slower.
  const model::Evaluation& measured =
      question.polarity == Polarity::regresses ? question.slow_evaluation : question.fast_evaluation;
  for (const model::WorkloadTiming& workload : measured.workloads) {
    if (workload.ratio) experience.workloads.push_back({workload.name, *workload.ratio});
  }
  experience.task = learning.task.definition.name;
  experience.toolchain = measured.environment.compiler;
  if (!measured.environment.flags.empty()) experience.toolchain += " " + measured.environment.flags;
  experience.language = model::language_name(learning.task);
  experience.op_type = learning.task.definition.op_type;
  experience.target = learning.task.target;
  experience.device = learning.opened.device.name;
  experience.bound = bound_of(question.slow_evaluation);
  experience.slow = question.slow.id();
  experience.fast = question.fast.id();
  experience.run = learning.run;
  experience.iteration = learning.iteration;
  experience.model = answer.author;
  return experience;
}

/// Kernels that one question about several changes shows, bytes.
constexpr std::size_t kMostKernelBytes = 64'000;

/// The telling pairs of an iteration and their questions.
class Summaries {
 public:
  Summaries(const Learning& learning, const std::vector<AttemptOutcome>& outcomes)
      : learning_(learning),
        outcomes_(outcomes),
        pairs_(teaching_pairs(outcomes, representatives(outcomes), learning.settings)) {
    for (const TeachingPair& pair : pairs_)
      questions.push_back(question_for(learning, outcomes[pair.outcome], pair.polarity));
    answers.assign(pairs_.size(), base::ending("the run is ending"));
  }

  void ask() {
    std::vector<std::jthread> threads;
    for (const std::vector<std::size_t>& group : groups()) {
      if (learning_.schedule == Schedule::serial)
        ask_about(group);
      else
        threads.emplace_back([this, group] { ask_about(group); });
    }
  }

  std::vector<agents::SummarizeQuestion> questions;
  std::vector<LessonAnswer> answers;  ///< by question

 private:
  /// Pairs of one question: all of one parent's where they are asked about together, as far as there is room.
  [[nodiscard]] std::vector<std::vector<std::size_t>> groups() const {
    std::vector<std::vector<std::size_t>> all;
    std::map<int, std::pair<std::size_t, std::size_t>> open;  // by parent: place in `all`, and bytes so far
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const int parent = outcomes_[pairs_[i].outcome].parent;
      const std::size_t bytes = model::changeable_text(questions[i].slow.solution()).size() +
                                model::changeable_text(questions[i].fast.solution()).size();
      const auto found = open.find(parent);
      if (learning_.settings.asking != Asking::together || found == open.end() ||
          found->second.second + bytes > kMostKernelBytes) {
        open[parent] = {all.size(), bytes};
        all.push_back({i});
      } else {
        all[found->second.first].push_back(i);
        found->second.second += bytes;
      }
    }
    return all;
  }

  /// The same program is measured once.
  base::Outcome<void> add_profile(std::size_t i) {
    if (!learning_.asker.summarizer_reads_profiles()) return {};
    const AttemptOutcome& outcome = outcomes_[pairs_[i].outcome];
    const Candidate& profiled =
        is_parents_program(outcome) ? learning_.beam[static_cast<std::size_t>(outcome.parent)] : *outcome.candidate;
    const auto profile = learning_.measurer.profile(profiled.kernel, learning_.stops.abort);
    if (profile) {
      agents::SummarizeQuestion& question = questions[i];
      (pairs_[i].polarity == Polarity::regresses ? question.slow_evaluation : question.fast_evaluation).profile =
          *profile;
    } else if (profile.error().why == Why::failed || profile.error().why == Why::put_off) {
      return tl::make_unexpected(profile.error());  // put off: the question would be another one without it
    }
    return {};
  }

  void ask_about(const std::vector<std::size_t>& group) {
    std::vector<agents::SummarizeQuestion> together;
    for (const std::size_t i : group) {
      if (const auto added = add_profile(i); !added) {
        for (const std::size_t member : group) answers[member] = tl::make_unexpected(added.error());
        return;
      }
      together.push_back(questions[i]);
    }
    if (learning_.settings.asking != Asking::together) {
      answers[group.front()] = learning_.asker.summarize(together.front(), learning_.stops.wind_down);
      return;
    }
    const auto answer = learning_.asker.summarize_all(together, learning_.stops.wind_down);
    for (std::size_t place = 0; place < group.size(); ++place) {
      LessonAnswer& own = answers[group[place]];
      if (!answer) {
        own = tl::make_unexpected(answer.error());
        continue;
      }
      own = agents::Answer<std::optional<agents::Lesson>>{{}, answer->lost, answer->raw, answer->author, {}, {}};
      const auto* const lesson = answer->value && place < answer->value->size() ? &(*answer->value)[place] : nullptr;
      // Where a part of the answer was lost, what is not there may be that part.
      if (lesson != nullptr && (*lesson || answer->lost.empty())) own->value = *lesson;
    }
  }

  const Learning& learning_;
  const std::vector<AttemptOutcome>& outcomes_;
  std::vector<TeachingPair> pairs_;
};

}  // namespace

base::Result<Lessons> summarize_pairs(const Learning& learning, const std::vector<AttemptOutcome>& outcomes,
                                      int known) {
  Summaries summaries(learning, outcomes);
  summaries.ask();
  std::vector<agents::SummarizeQuestion>& questions = summaries.questions;
  std::vector<LessonAnswer>& answers = summaries.answers;

  Lessons lessons;
  std::vector<model::Experience>& experiences = lessons.experiences;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!answers[i]) {
      if (answers[i].error().why == Why::failed) return tl::make_unexpected(answers[i].error().as_error());
      lessons.put_off = lessons.put_off || answers[i].error().why == Why::put_off;
      continue;
    }
    ++lessons.asked;
    const std::string& plan = questions[i].plan.title;
    if (!answers[i]->value) {
      ++lessons.lost;
      learning.events.on(model::Note{"a summary was lost (\"" + plan + "\"): " + answers[i]->lost});
      continue;
    }
    if (!*answers[i]->value) {
      ++lessons.none;
      learning.events.on(model::Note{"nothing was learned from \"" + plan + "\": the summarizer saw no optimization"});
      continue;
    }
    auto experience = experience_from(learning, questions[i], *answers[i]);
    experience.id = "e" + std::to_string(known + static_cast<int>(experiences.size()) + 1);
    learning.events.on(model::Learned{experience.title, experience.polarity, *experience.effect});
    experiences.push_back(std::move(experience));
  }
  return lessons;
}

}  // namespace accelopt::search

// SPDX-License-Identifier: Apache-2.0
// Agents whose answers are functions given by a test; every question is kept.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "agents/roles.hpp"
#include "model/events.hpp"

namespace accelopt::fakes {

template <class T>
agents::Answer<T> answered(T value) {
  agents::Answer<T> answer;
  answer.value = std::move(value);
  answer.author = "fake";
  answer.usage.calls = 1;
  answer.usage.input_tokens = 100;
  answer.usage.output_tokens = 10;
  return answer;
}

class FakeTeam : public agents::Planner, public agents::Executor, public agents::Fixer, public agents::Summarizer {
 public:
  using PlanResult = base::Outcome<agents::Answer<model::Plan>>;
  using SolutionResult = base::Outcome<agents::Answer<model::Kernel>>;
  using LessonResult = base::Outcome<agents::Answer<std::optional<agents::Lesson>>>;

  std::function<PlanResult(const agents::PlanQuestion&)> on_plan =
      [](const agents::PlanQuestion& question) -> PlanResult {
    return answered(model::Plan{"plan " + model::to_string(question.context.identity), {}, "do it"});
  };
  /// The main file's text.
  std::function<std::string(const agents::ExecuteQuestion&)> on_execute = [](const agents::ExecuteQuestion& question) {
    return model::main_text(question.kernel.solution());
  };
  std::function<std::string(const agents::FixQuestion&)> on_fix = [](const agents::FixQuestion& question) {
    return model::main_text(question.parent.solution());
  };
  std::function<LessonResult(const agents::SummarizeQuestion&)> on_summarize =
      [](const agents::SummarizeQuestion& question) -> LessonResult {
    return answered(std::optional(agents::Lesson{"lesson of " + question.plan.title, "strategy", "before", "after"}));
  };

  agents::Team team() { return {this, this, this, this}; }

  PlanResult plan(const agents::PlanQuestion& question, std::stop_token stop) override {
    if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, "stopped");
    keep(plans, question);
    return on_plan(question);
  }
  SolutionResult execute(const agents::ExecuteQuestion& question, std::stop_token stop) override {
    if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, "stopped");
    keep(executions, question);
    return answered(model::Kernel(model::with_main_text(question.kernel.solution(), on_execute(question))));
  }
  SolutionResult fix(const agents::FixQuestion& question, std::stop_token) override {
    keep(fixes, question);
    return answered(model::Kernel(model::with_main_text(question.broken.solution(), on_fix(question))));
  }
  LessonResult summarize(const agents::SummarizeQuestion& question, std::stop_token) override {
    keep(summaries, question);
    return on_summarize(question);
  }
  [[nodiscard]] bool reads_profiles() const override { return summarizer_reads_profiles; }

  bool summarizer_reads_profiles = true;
  std::vector<agents::PlanQuestion> plans;
  std::vector<agents::ExecuteQuestion> executions;
  std::vector<agents::FixQuestion> fixes;
  std::vector<agents::SummarizeQuestion> summaries;

 private:
  template <class Question>
  void keep(std::vector<Question>& list, const Question& question) {
    const std::scoped_lock lock(mutex_);
    list.push_back(question);
  }
  std::mutex mutex_;
};

/// Keeps what a person is told, and forgets everything else.
class KeptNotes : public model::EventSink {
 public:
  void on(const model::Event& event) override {
    const std::scoped_lock lock(mutex_);
    if (const auto* note = std::get_if<model::Note>(&event)) texts.push_back(note->text);
  }
  std::vector<std::string> texts;

 private:
  std::mutex mutex_;
};

}  // namespace accelopt::fakes

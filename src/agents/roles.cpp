// SPDX-License-Identifier: Apache-2.0
#include "agents/roles.hpp"

#include <utility>

namespace accelopt::agents {
namespace {

/// The part of an answer to several questions that is common to all.
template <class Whole, class Part>
void take_in(Answer<Whole>& whole, Answer<Part>& part) {
  whole.usage += part.usage;
  whole.author = std::move(part.author);
  whole.raw += (whole.raw.empty() ? "" : "\n") + part.raw;
  if (!part.lost.empty()) whole.lost = std::move(part.lost);
}

}  // namespace

base::Outcome<Answer<std::vector<model::Plan>>> Planner::plans(const PlanQuestion& question, std::stop_token stop) {
  Answer<std::vector<model::Plan>> all;
  PlanQuestion one = question;
  one.plans = 1;
  for (int number = 0; number < question.plans; ++number) {
    one.context.identity.plan = number;
    TRY_ASSIGN(auto answer, plan(one, stop));
    take_in(all, answer);
    if (!answer.value) continue;
    if (!all.value) all.value.emplace();
    all.value->push_back(std::move(*answer.value));
  }
  if (all.value) all.lost.clear();
  return all;
}

base::Outcome<Answer<std::vector<std::optional<Lesson>>>> Summarizer::summarize_all(
    const std::vector<SummarizeQuestion>& questions, std::stop_token stop) {
  Answer<std::vector<std::optional<Lesson>>> all;
  all.value.emplace();
  for (const SummarizeQuestion& question : questions) {
    TRY_ASSIGN(auto answer, summarize(question, stop));
    take_in(all, answer);
    all.value->push_back(answer.value ? std::move(*answer.value) : std::nullopt);
  }
  return all;
}

}  // namespace accelopt::agents

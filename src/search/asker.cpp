// SPDX-License-Identifier: Apache-2.0
#include "search/asker.hpp"

#include "base/json_text.hpp"

namespace accelopt::agents {

using base::Json;

ACCELOPT_JSON(Lesson) {
  field.required("title", it.title, "strategy", it.strategy);
  field.optional("before", it.before, "after", it.after);
}
ACCELOPT_JSON_TEXT(Lesson);

template <class T>
static void write_json(base::JsonText& out, const Answer<T>& answer) {
  base::FieldText fields(out);
  fields.required("answered", answer.value.has_value(), "author", answer.author, "lost", answer.lost, "raw",
                  answer.raw);
  fields.unless_empty("title", answer.title);
  fields.required("usage", answer.usage);
  if (answer.value) fields.required("value", *answer.value);
  fields.end();
}

template <class T>
static void from_json(const Json& in, Answer<T>& answer) {
  if (in.at("answered").get<bool>()) answer.value = in.at("value").get<T>();
  in.at("lost").get_to(answer.lost);
  base::read_field(in, "raw", answer.raw);
  base::read_field(in, "author", answer.author);
  base::read_field(in, "title", answer.title);
  base::read_field(in, "usage", answer.usage);
}

}  // namespace accelopt::agents

namespace accelopt::search {

template <class T>
inline constexpr bool kReadsBackEqual<agents::Answer<T>> = true;

using agents::Answer;
using base::ErrorCode;
using base::Json;
using model::AgentRole;
using model::step_name;
using model::StepKind;

bool is_bad_luck(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::rate_limited || code == ErrorCode::timed_out ||
         code == ErrorCode::parse || code == ErrorCode::internal;
}

template <class T, class Ask>
base::Outcome<Answer<T>> Asker::ask(AgentRole role, const journal::StepKey& key, const std::string& input_hash,
                                    Ask&& ask) {
  // A budget that is used up refuses what is not on record, and only that: a resumed run decides as it did.
  auto answer = recorder_.once_hashed<Answer<T>>(key, input_hash, [&]() -> base::Outcome<Answer<T>> {
    const bool may = role == AgentRole::planner ? budget_.may_plan() : budget_.may_ask();
    if (!may) return base::ending("nothing new is begun: " + budget_.explanation());
    return ask();
  });
  if (answer) {
    if (!answer->author.empty()) answered_ = true;
    budget_.charge(role, answer->usage);
    return answer;
  }
  if (answer.error().why == base::Why::put_off) ++put_off_;
  if (answer.error().why != base::Why::failed) return answer;
  // What a server refuses for good says nothing about the task or the command line.
  base::Error reason = answer.error().as_error();
  if (reason.code == ErrorCode::invalid_argument) reason.code = ErrorCode::permission_denied;
  // Who has answered others refuses this one for its text: too long, or filtered. Else the settings are wrong.
  const bool refuses_this = reason.code == ErrorCode::permission_denied && answered_;
  if (!is_bad_luck(reason.code) && !refuses_this) return tl::make_unexpected(reason);
  // The provider has retried what can be retried.
  Answer<T> lost;
  lost.lost = reason.message;
  TRY_ASSIGN(lost.usage,
             recorder_.usage_of_chats(std::string(to_string(role)) + " " + model::to_string(key.identity) + " "));
  budget_.charge(role, lost.usage);
  const std::scoped_lock lock(mutex_);
  lost_.push_back({key, input_hash, base::json_of(lost), lost.usage, std::move(reason)});
  return lost;
}

std::optional<base::Error> Asker::unanswered() const {
  const std::scoped_lock lock(mutex_);
  return lost_.empty() ? std::nullopt : std::optional(lost_.front().reason);
}

base::Result<void> Asker::settle() {
  const std::scoped_lock lock(mutex_);
  for (const LostQuestion& question : lost_)
    TRY(recorder_.record_hashed(question.key, question.input_hash, question.output, question.usage));
  lost_.clear();
  return {};
}

namespace {

/// What a plan depends on; lineage follows from earlier decisions, and of the plans that were given a replay may take
/// fewer.
Json input_of(const agents::PlanQuestion& question) {
  Json input = {{"kernel", question.kernel.id()}, {"memory", question.memory}, {"tried", Json::array()}};
  for (const agents::TriedPlan& tried : question.tried) input["tried"].push_back({tried.title, tried.outcome});
  if (!question.context.hints.empty()) input["hints"] = question.context.hints;
  return input;
}

std::string hash_of(const Json& input) {
  return base::sha256_hex(base::canonical(input));
}

Json input_of(const agents::SummarizeQuestion& question) {
  return {{"slow", question.slow.id()}, {"fast", question.fast.id()}};
}

}  // namespace

std::string Asker::input_hash(const agents::PlanQuestion& question) {
  return hash_of(input_of(question));
}

base::Outcome<Answer<model::Plan>> Asker::plan(const agents::PlanQuestion& question, const std::string& input_hash,
                                               std::stop_token stop) {
  return ask<model::Plan>(AgentRole::planner, {question.context.identity, step_name(StepKind::plan)}, input_hash,
                          [&] { return team_.planner->plan(question, stop); });
}

base::Outcome<Answer<std::vector<model::Plan>>> Asker::plans(const agents::PlanQuestion& question,
                                                             const std::string& input_hash, std::stop_token stop) {
  return ask<std::vector<model::Plan>>(AgentRole::planner, {question.context.identity, step_name(StepKind::plans)},
                                       input_hash, [&] { return team_.planner->plans(question, stop); });
}

base::Outcome<Answer<model::Kernel>> Asker::execute(const agents::ExecuteQuestion& question, std::stop_token stop,
                                                    Budget::KeptEvaluation* kept) {
  const std::string input = base::json_object("kernel", question.kernel.id(), "plan", question.plan);
  return ask<model::Kernel>(AgentRole::executor, {question.context.identity, step_name(StepKind::execute)},
                            base::sha256_hex(input), [&]() -> base::Outcome<Answer<model::Kernel>> {
                              if (kept != nullptr) TRY(kept->keep(stop));
                              return team_.executor->execute(question, stop);
                            });
}

base::Outcome<Answer<model::Kernel>> Asker::fix(const agents::FixQuestion& question, std::stop_token stop,
                                                Budget::KeptEvaluation* kept) {
  const Json input = {{"broken", question.broken.id()}, {"diagnostics", question.diagnostics}};
  return ask<model::Kernel>(AgentRole::fixer, {question.context.identity, step_name(StepKind::fix)}, hash_of(input),
                            [&]() -> base::Outcome<Answer<model::Kernel>> {
                              if (kept != nullptr) TRY(kept->keep(stop));
                              return team_.fixer->fix(question, stop);
                            });
}

base::Outcome<Answer<std::optional<agents::Lesson>>> Asker::summarize(const agents::SummarizeQuestion& question,
                                                                      std::stop_token stop) {
  return ask<std::optional<agents::Lesson>>(
      AgentRole::summarizer, {question.context.identity, step_name(StepKind::summarize)}, hash_of(input_of(question)),
      [&] { return team_.summarizer->summarize(question, stop); });
}

base::Outcome<Answer<std::vector<std::optional<agents::Lesson>>>> Asker::summarize_all(
    const std::vector<agents::SummarizeQuestion>& questions, std::stop_token stop) {
  Json input = Json::array();
  for (const agents::SummarizeQuestion& question : questions) input.push_back(input_of(question));
  return ask<std::vector<std::optional<agents::Lesson>>>(
      AgentRole::summarizer, {questions.front().context.identity, step_name(StepKind::summarize_all)}, hash_of(input),
      [&] { return team_.summarizer->summarize_all(questions, stop); });
}

}  // namespace accelopt::search

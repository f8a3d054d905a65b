// SPDX-License-Identifier: Apache-2.0
#include "agents/model_agents.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "agents/answer_text.hpp"
#include "agents/answers.hpp"
#include "agents/edits.hpp"
#include "agents/kernel_file.hpp"
#include "agents/prompt_text.hpp"
#include "agents/quote.hpp"
#include "agents/special_tokens.hpp"

namespace accelopt::agents {
namespace {

using base::Result;

/// Tries at one question: the question, and once more with the reason why its answer cannot be used.
constexpr int kTries = 2;
/// Longest part of an unusable answer that is sent back with the reason, in bytes.
constexpr std::size_t kRepeatedAnswerBytes = 64'000;
/// The same of one that was cut off: it may have filled the context window, which has to hold a shorter one beside it.
constexpr std::size_t kRepeatedCutBytes = 2'000;
/// Longest part of what a withheld answer says that is told, in bytes.
constexpr std::size_t kShownRefusalBytes = 200;

/// The form of an answer, in short.
std::string form_of(const PlanQuestion& question) {
  const std::string plan = "a line \"Title: ...\", a line \"Rests on: ...\", then the plan";
  return question.plans > 1 ? "each plan as " + plan : plan;
}

std::string form_of_file(Role role, const model::Solution& start) {
  const std::string title = role == Role::fixer ? "a line \"Title: ...\", then " : "";
  if (is_edited_by_path(start)) return title + "search/replace blocks, each behind a line with its file's path";
  return title + "exactly one fenced block with the complete file" +
         (may_be_edited(start) ? ", or search/replace blocks" : "");
}

std::string form_of_lessons() {
  return "one JSON object a change with its number as \"change\" and the texts \"title\", \"strategy\", \"before\" "
         "and \"after\", or the words no optimization";
}

/// Why a reply cannot hold a whole answer, before it is read; empty when it may.
std::string cut_reason(const llm::ChatReply& reply) {
  if (reply.finish == llm::Finish::cut_by_length)
    return "it was cut off at the limit of its length; answer more briefly";
  if (reply.finish == llm::Finish::filtered) {
    const std::string said = clean_line(reply.text, kShownRefusalBytes);
    return "the server withheld it" + (said.empty() ? "" : "; it had written \"" + said + "\"");
  }
  if (reply.text.find_first_not_of(" \t\r\n") == std::string::npos) return "it is empty";
  return {};
}

void ask_again(llm::ChatRequest& request, const std::string& form, std::string_view answer, const std::string& reason) {
  // Some servers refuse an empty message.
  if (!answer.empty()) request.messages.push_back({llm::Speaker::assistant, std::string(answer)});
  request.messages.push_back({llm::Speaker::user, "Your answer cannot be used: " + reason +
                                                      ". Answer again, in this form: " + form +
                                                      ". Nothing else is needed."});
}

/// What is asked, of whom, and how its answer looks.
struct Asked {
  llm::ChatModel& model;
  Role role;
  const model::Identity& identity;
  std::string form;
};

// What two answers to one question give together: the second is given where something is wrong with the first.

void take_later(model::Kernel& kept, model::Kernel later) {
  kept = std::move(later);
}

void take_later(std::vector<model::Plan>& kept, std::vector<model::Plan> later) {
  if (later.size() >= kept.size()) kept = std::move(later);
}

void take_later(std::vector<std::optional<Lesson>>& kept, std::vector<std::optional<Lesson>> later) {
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (later[i]) kept[i] = std::move(later[i]);
  }
}

/// Asks until an answer can be read, at most kTries times. `parse` takes the text and gives Parsed<T>, or the Parsed
/// Parts that T is made of: what is there of them is kept, while a fault is asked about.
template <class T, class Parse>
base::Outcome<Answer<T>> ask(const Asked& asked, llm::ChatRequest request, const std::stop_token& stop,
                             const Parse& parse) {
  Answer<T> answer;
  answer.author = asked.model.name();
  for (int tried = 0; tried < kTries; ++tried) {
    request.label =
        std::string(to_string(asked.role)) + " " + model::to_string(asked.identity) + " try" + std::to_string(tried);
    auto reply = asked.model.chat(request, stop);
    if (!reply) {
      // What a first answer gave is kept; `lost` says what it lacks.
      if (answer.value && reply.error().why != base::Why::put_off) return answer;
      return tl::make_unexpected(std::move(reply).error());
    }
    answer.usage += reply->usage;
    answer.lost = cut_reason(*reply);
    answer.raw = std::move(reply->text);
    if (answer.lost.empty()) {
      auto parsed = parse(answer.raw);
      if (!parsed) {
        answer.lost = std::move(parsed).error();
      } else {
        if constexpr (requires { parsed->fault; }) answer.lost = std::move(parsed->fault);
        if (answer.value)
          take_later(*answer.value, std::move(*parsed));
        else
          answer.value = std::move(*parsed);
        if (answer.lost.empty()) return answer;
      }
    }
    const bool is_cut = reply->finish == llm::Finish::cut_by_length;
    ask_again(request, asked.form,
              std::string_view(answer.raw).substr(0, is_cut ? kRepeatedCutBytes : kRepeatedAnswerBytes), answer.lost);
  }
  return answer;
}

/// What the four agents share.
class ModelAgent {
 public:
  ModelAgent(llm::ChatModel& model, const Prompts& prompts) : model_(model), prompts_(prompts) {}

 protected:
  /// The question's two messages. @error unsupported: no prompts for the language.
  [[nodiscard]] Result<llm::ChatRequest> request(Role role, model::Language language, PlaceValues values) const {
    TRY_ASSIGN(auto texts, filled(role, language, std::move(values)));
    return of_texts(std::move(texts[0]), std::move(texts[1]));
  }

  /// The same where `values()` are those of several questions, whose texts are kept in `common`, if any.
  template <class Values>
  [[nodiscard]] Result<llm::ChatRequest> request(Role role, model::Language language, const Values& values,
                                                 CommonText* common) const {
    if (common == nullptr) return request(role, language, values());
    TRY_ASSIGN(const auto texts, common->get([&] { return filled(role, language, values()); }));
    return of_texts((*texts)[0], (*texts)[1]);
  }

  llm::ChatModel& model() { return model_; }

 private:
  /// The system's text and the user's.
  [[nodiscard]] Result<std::vector<std::string>> filled(Role role, model::Language language, PlaceValues values) const {
    TRY_ASSIGN(const LanguagePrompts* prompts, prompts_.of(language));
    values["contract"] = without_last_line_end(prompts->contract.fill(values));
    const RolePrompt& prompt = prompts->roles.at(role);
    return std::vector{prompt.system.fill(values), prompt.user.fill(values)};
  }

  static llm::ChatRequest of_texts(std::string system, std::string user) {
    llm::ChatRequest request;
    request.messages.reserve(2);
    request.messages.push_back({llm::Speaker::system, std::move(system)});
    request.messages.push_back({llm::Speaker::user, std::move(user)});
    return request;
  }

  static std::string without_last_line_end(std::string text) {
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }

  llm::ChatModel& model_;
  const Prompts& prompts_;
};

/// The only part of an answer of several.
template <class T>
Answer<T> only(Answer<std::vector<T>> all) {
  Answer<T> one{{}, std::move(all.lost), std::move(all.raw), std::move(all.author), {}, all.usage};
  if (all.value) one.value = std::move(all.value->front());
  return one;
}

class ModelPlanner final : public Planner, ModelAgent {
 public:
  using ModelAgent::ModelAgent;
  base::Outcome<Answer<model::Plan>> plan(const PlanQuestion& question, std::stop_token stop) override {
    TRY_ASSIGN(auto answer, plans(question, std::move(stop)));
    return only(std::move(answer));
  }
  base::Outcome<Answer<std::vector<model::Plan>>> plans(const PlanQuestion& question, std::stop_token stop) override {
    TRY_ASSIGN(auto chat, request(
                              Role::planner, question.kernel.solution().language,
                              [&] { return place_values(question); }, question.context.common.get()));
    return ask<std::vector<model::Plan>>(
        {model(), Role::planner, question.context.identity, form_of(question)}, std::move(chat), stop,
        [&](const std::string& text) { return parse_plans(text, question.memory, question.plans); });
  }
};

/// What executor and fixer answer: `start` with its main file replaced or edited. `shown`: the other kernels of the
/// question, which an answer may repeat beside its own.
Parsed<model::Kernel> parse_solution(const std::string& text, const model::Kernel& start,
                                     const std::vector<const model::Kernel*>& shown) {
  const model::Solution& solution = start.solution();
  const std::string answer = without_thoughts(text);
  if (is_edited_by_path(solution)) {
    TRY_ASSIGN(model::Solution changed, edited_files(answer, solution));
    return model::Kernel(std::move(changed));
  }
  const auto from_edits = [&]() -> Parsed<model::Kernel> {
    TRY_ASSIGN(std::string file, edited(answer, model::main_text(solution)));
    return model::Kernel(model::with_main_text(solution, std::move(file)));
  };
  const bool has_edits = agents::has_edits(answer);
  if (has_edits && may_be_edited(solution)) return from_edits();
  ShownTokens tokens;
  tokens.add(model::main_text(solution));
  const auto kernel_of = [&](const std::string& file) {
    return model::Kernel(model::with_main_text(solution, tokens.restored(file)));
  };
  const auto is_shown = [&](const std::string& file) {
    const model::Kernel kernel = kernel_of(file);
    return kernel.id() == start.id() ||
           std::ranges::any_of(shown, [&](const model::Kernel* other) { return other->id() == kernel.id(); });
  };
  const auto file = parse_kernel_file(text, solution.language, is_shown);
  // Edits were not asked for, and are as good.
  if (has_edits && (!file || is_shown(*file))) return from_edits();
  if (!file) return tl::make_unexpected(file.error());
  return kernel_of(*file);
}

/// The kernels that a question shows beside the one that the answer begins with.
std::vector<const model::Kernel*> shown_beside(const std::optional<BetterKernel>& better) {
  return better ? std::vector{&better->kernel} : std::vector<const model::Kernel*>();
}

std::vector<const model::Kernel*> shown_beside(const FixQuestion& question) {
  std::vector<const model::Kernel*> shown = shown_beside(question.better);
  shown.push_back(&question.parent);
  for (const FailedTry& tried : question.earlier) shown.push_back(&tried.kernel);
  return shown;
}

class ModelExecutor final : public Executor, ModelAgent {
 public:
  using ModelAgent::ModelAgent;
  base::Outcome<Answer<model::Kernel>> execute(const ExecuteQuestion& question, std::stop_token stop) override {
    TRY_ASSIGN(auto chat, request(
                              Role::executor, question.kernel.solution().language,
                              [&] { return place_values(question); }, question.context.common.get()));
    return ask<model::Kernel>(
        {model(), Role::executor, question.context.identity, form_of_file(Role::executor, question.kernel.solution())},
        std::move(chat), stop,
        [&](const std::string& text) { return parse_solution(text, question.kernel, shown_beside(question.better)); });
  }
};

class ModelFixer final : public Fixer, ModelAgent {
 public:
  using ModelAgent::ModelAgent;
  base::Outcome<Answer<model::Kernel>> fix(const FixQuestion& question, std::stop_token stop) override {
    TRY_ASSIGN(auto chat, request(Role::fixer, question.broken.solution().language, place_values(question)));
    TRY_ASSIGN(auto answer, ask<model::Kernel>({model(), Role::fixer, question.context.identity,
                                                form_of_file(Role::fixer, question.broken.solution())},
                                               std::move(chat), stop, [&](const std::string& text) {
                                                 return parse_solution(text, question.broken, shown_beside(question));
                                               }));
    answer.title = title_before_file(answer.raw);
    return answer;
  }
};

class ModelSummarizer final : public Summarizer, ModelAgent {
 public:
  using ModelAgent::ModelAgent;
  base::Outcome<Answer<std::optional<Lesson>>> summarize(const SummarizeQuestion& question,
                                                         std::stop_token stop) override {
    TRY_ASSIGN(auto answer, summarize_all({question}, std::move(stop)));
    return only(std::move(answer));
  }
  base::Outcome<Answer<std::vector<std::optional<Lesson>>>> summarize_all(
      const std::vector<SummarizeQuestion>& questions, std::stop_token stop) override {
    TRY_ASSIGN(auto chat,
               request(Role::summarizer, questions.front().slow.solution().language, place_values(questions)));
    return ask<std::vector<std::optional<Lesson>>>(
        {model(), Role::summarizer, questions.front().context.identity, form_of_lessons()}, std::move(chat), stop,
        [&](const std::string& text) { return parse_lessons(text, questions.size()); });
  }
};

}  // namespace

std::unique_ptr<Planner> make_model_planner(llm::ChatModel& model, const Prompts& prompts) {
  return std::make_unique<ModelPlanner>(model, prompts);
}
std::unique_ptr<Executor> make_model_executor(llm::ChatModel& model, const Prompts& prompts) {
  return std::make_unique<ModelExecutor>(model, prompts);
}
std::unique_ptr<Fixer> make_model_fixer(llm::ChatModel& model, const Prompts& prompts) {
  return std::make_unique<ModelFixer>(model, prompts);
}
std::unique_ptr<Summarizer> make_model_summarizer(llm::ChatModel& model, const Prompts& prompts) {
  return std::make_unique<ModelSummarizer>(model, prompts);
}

}  // namespace accelopt::agents

// SPDX-License-Identifier: Apache-2.0
#include "app/estimate.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agents/model_agents.hpp"
#include "agents/prompts.hpp"
#include "app/earlier_runs.hpp"
#include "model/judges.hpp"
#include "refactor/generated_tests.hpp"
#include "report/format.hpp"

namespace accelopt::app {

using base::Json;
using base::Result;
using model::AgentRole;
using search::EstimateFacts;
using search::Range;
using search::RoleFacts;

namespace {

constexpr std::string_view kStep = to_string(model::StepKind::estimate);

/// What is estimated, in the order in which it is shown.
constexpr std::array kFigures{"calls", "tokens", "usd", "evaluations", "device_seconds", "wall_seconds"};

/// Tokens a byte of prompts and kernels, for the tokenizers in use.
constexpr Range kTokensPerByte{1 / 4.8, 1 / 3.8, 1 / 2.7};
/// Tokens a second, of fast and of slow servers, and what passes before the first.
constexpr Range kSecondsPerToken{1.0 / 250, 1.0 / 60, 1.0 / 15};
constexpr Range kSecondsBefore{0.05, 1, 4};

/// Takes a question's size and leaves the answer to somebody else.
class PromptSizer final : public llm::ChatModel {
 public:
  base::Outcome<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token) override {
    bytes = 0;
    for (const llm::Message& message : request.messages) bytes += static_cast<double>(message.text.size());
    return base::put_off("only its size is asked for");
  }
  [[nodiscard]] std::string name() const override { return "prompt sizer"; }
  double bytes = 0;
};

/// Of a reviewer or a tester: instructions, code, driver and generator.
constexpr double kJudgePromptBytes = 9000;

/// Sizes of the four roles' first prompts, bytes.
Result<std::map<AgentRole, double>> prompt_sizes(const model::Task& task, const RunSettings& settings) {
  const std::string& folder = settings.agents.prompts;
  TRY_ASSIGN(const agents::Prompts prompts,
             agents::load_prompts(folder.empty() ? std::nullopt : std::optional<std::filesystem::path>(folder)));
  constexpr std::size_t kHeaderBytes = 1500;  // of the generated task.h, which is not there yet
  constexpr std::size_t kPlanBytes = 900;
  constexpr std::size_t kDiagnosticsBytes = 600;
  const agents::Context context{{.iteration = 0, .parent = 0, .plan = 0, .attempt = 0, .fix = 0},
                                &task,
                                std::string(kHeaderBytes, 'h'),
                                std::string(160, 'd'),
                                0};
  const model::Kernel baseline(task.baseline);
  const model::Plan plan{"a plan", {}, std::string(kPlanBytes, 'p')};
  PromptSizer sizer;
  std::map<AgentRole, double> bytes;
  const auto take_size = [&](AgentRole role, const auto& answer) {
    if (answer || answer.error().why == base::Why::put_off) bytes[role] = sizer.bytes;
  };
  take_size(AgentRole::planner,
            agents::make_model_planner(sizer, prompts)->plan({context, baseline, {}, {}, {}, {}, {}, 1}, {}));
  take_size(AgentRole::executor, agents::make_model_executor(sizer, prompts)->execute({context, baseline, plan}, {}));
  take_size(AgentRole::fixer, agents::make_model_fixer(sizer, prompts)
                                  ->fix({context,
                                         baseline,
                                         baseline,
                                         plan,
                                         model::Status::compile_error,
                                         std::string(kDiagnosticsBytes, 'e'),
                                         {}},
                                        {}));
  agents::SummarizeQuestion pair;
  pair.context = context;
  pair.parent = pair.slow = pair.fast = baseline;
  pair.diff = model::changeable_text(task.baseline);
  pair.plan = plan;
  take_size(AgentRole::summarizer, agents::make_model_summarizer(sizer, prompts)->summarize(pair, {}));
  return bytes;
}

RoleFacts guess_role(AgentRole role, double prompt_bytes, const model::Task& task,
                     const search::SearchSettings& settings, const ModelConfig& model) {
  RoleFacts facts;
  const double kernel = static_cast<double>(model::changeable_text(task.baseline).size());
  Range bytes{prompt_bytes * 0.9, prompt_bytes * 1.1 + 1000, prompt_bytes * 1.4 + 4000};
  if (role == AgentRole::planner) {
    // The profile, what was tried, and experiences, of which the later rounds have more.
    bytes.expected += 1500 + 250.0 * settings.memory_capacity;
    bytes.high += 3000 + 1500.0 * settings.memory_capacity;
  } else {
    bytes.high += 2 * kernel;  // kernels grow
  }
  facts.input_tokens = bytes * kTokensPerByte;
  if (role == AgentRole::planner) {
    const bool together = settings.asking == search::Asking::together;
    facts.output_tokens = search::exactly(together ? settings.plans : 1) * Range{60, 500, 2500};
  }
  if (role == AgentRole::summarizer) facts.output_tokens = {40, 250, 1200};
  if (role == AgentRole::executor || role == AgentRole::fixer) {
    const Range file{0.7 * kernel, 2 * kernel + 300, 6 * kernel + 3000};
    facts.output_tokens = file * kTokensPerByte;
  }
  if (llm::is_asked(model.reasoning)) {
    const double tokens = llm::budget_tokens(model.reasoning);
    facts.output_tokens = facts.output_tokens + Range{0, 0.4 * tokens, 1.2 * tokens};
  } else {
    facts.output_tokens.high += 4000;  // it may think without being told to
  }
  if (model.max_output_tokens) {
    const double most = *model.max_output_tokens;
    facts.output_tokens = {std::min(facts.output_tokens.low, most), std::min(facts.output_tokens.expected, most),
                           std::min(facts.output_tokens.high, most)};
  }
  facts.seconds = kSecondsBefore + facts.output_tokens * kSecondsPerToken;
  return facts;
}

/// What the figures rest on, for people.
std::string basis_of(const EarlierRuns& earlier, const model::Task& task, const RunSettings& settings,
                     const refactor::Costs* costs) {
  std::string text;
  if (earlier.runs == 0 && costs != nullptr) {
    text = "what building, testing and running the base took; guesses of what models do";
  } else if (earlier.runs == 0 && task.repo) {
    text = "guesses: nothing of this repository was measured yet";
  } else if (earlier.runs == 0) {
    text = fmt::format("guesses: no earlier run of this task for {} in this workspace", task.target);
  } else {
    text = fmt::format("{} earlier run{} of this task ({}), {} of them by the same agents", earlier.runs,
                       earlier.runs == 1 ? "" : "s", fmt::join(earlier.devices, "; "), earlier.alike);
  }
  if (!settings.device.defer.empty())
    text += "; bundles are executed elsewhere: wall time is this program's own, without them";
  return text;
}

/// Of a repository that nothing is known of: tests and builds of seconds to minutes.
void guess_repository(EstimateFacts& facts) {
  facts.open_seconds = {4, 25, 240};
  facts.build_seconds = {0.1, 2, 60};
  facts.race_seconds = {3, 15, 120};
  facts.profile_seconds = {0.5, 3, 30};
  facts.playoff_seconds = {0, 15, 150};
  facts.confirm_seconds = {0, 30, 300};
}

/// A tester's tests on the base, and mutants of the code in scope, of which many are killed by the first gate.
Range seconds_of_tests(const refactor::Costs* costs) {
  constexpr double kLimit = std::chrono::duration<double>(refactor::kMutantLimit).count();
  if (costs == nullptr) return {2, 60, kLimit};
  constexpr double kRuns = 3 * 6.0;  // rounds on the base of about six tests
  // A mutant is one process for each input: what the generator makes and the base does with it is kept.
  const double compared = 16.0 * costs->families * costs->small_pair / 3;
  const double tried = kRuns * costs->small_pair;
  const auto mutants = [&](double count, double of_tests, double of_comparison) {
    return tried + std::min(kLimit, count * (costs->build + of_tests * costs->tests + of_comparison * compared));
  };
  return {mutants(1, 0.2, 0), mutants(refactor::kMostMutants / 2.0, 0.7, 0.3), mutants(refactor::kMostMutants, 1, 1)};
}

}  // namespace

void use_costs(const refactor::Costs& costs, EstimateFacts& facts) {
  const auto times = [](double least, double expected, double most, double seconds) {
    return Range{least * seconds, expected * seconds, most * seconds};
  };
  // A failed gate ends it, and a machine that others use too takes longer than it did a moment ago.
  const double compared = costs.tests + 16.0 * costs.families * costs.small_pair;
  const Range race = times(3, 8, 32, costs.raced_pairs) + search::exactly(refactor::kStartUpPairs * costs.small_pair);
  const Range rest =
      times(8, 20, 40, costs.all_pairs) + times(3, 5, 8, 2 * costs.build + refactor::kStartUpPairs * costs.small_pair);
  facts.open_seconds = search::around(costs.open, 1.3, 1.3);
  facts.build_seconds = search::around(costs.build, 0.5, 2);
  facts.race_seconds = times(0.2, 1, 2, compared) + race;
  facts.race_seconds.low = 0.3 * costs.tests;
  facts.profile_seconds = times(0.8, 1, 2, costs.all_pairs + refactor::kStartUpPairs * costs.small_pair);
  facts.playoff_seconds = {0, 8 * costs.raced_pairs, 3 * 16 * costs.raced_pairs};
  facts.confirm_seconds = times(0.8, 1, 2, compared) + race + rest;
  facts.confirm_seconds.low = 0;  // of a run that finds nothing
}

std::string describe_costs(const refactor::Costs& costs, const search::Estimate& estimate) {
  EstimateFacts facts;
  use_costs(costs, facts);
  return fmt::format(
      "the base took {} to build, test and run; examining a change will take about {}, confirming one "
      "{}, and the run {} ({} to {})",
      report::format_seconds(costs.open), report::format_seconds(facts.race_seconds.expected),
      report::format_seconds(facts.confirm_seconds.expected), report::format_seconds(estimate.wall_seconds.expected),
      report::format_seconds(estimate.wall_seconds.low), report::format_seconds(estimate.wall_seconds.high));
}

std::string describe_check(const refactor::Costs& costs) {
  EstimateFacts facts;
  use_costs(costs, facts);
  const auto whole = [&](const Range& rest) {
    return report::format_seconds(facts.build_seconds.expected + rest.expected);
  };
  return fmt::format(
      "the base took {} to build, test and run; examining the change will take about {}, proving it {} in all; a gate "
      "that refuses it ends it sooner",
      report::format_seconds(costs.open), whole(facts.race_seconds), whole(facts.confirm_seconds));
}

Result<search::Estimate> estimate_run(const model::Task& task, const RunSettings& settings, const Config& config,
                                      journal::Journal* history, const refactor::Costs* costs) {
  EstimateFacts facts = search::facts_of_settings(settings.search);
  if (costs != nullptr)
    use_costs(*costs, facts);
  else if (task.repo)
    guess_repository(facts);
  TRY_ASSIGN(const auto roles, models_of_roles(settings.agents, config));
  facts.models = !roles.empty();
  std::map<AgentRole, std::string> authors;
  if (facts.models) {
    TRY_ASSIGN(const auto bytes, prompt_sizes(task, settings));
    facts.concurrency = 0;
    for (const RoleModel& role : roles) {
      const auto size = bytes.find(role.role);
      RoleFacts known =
          guess_role(role.role, size == bytes.end() ? 0 : size->second, task, settings.search, role.config);
      known.price = role.config.price;
      facts.roles[role.role] = known;
      authors[role.role] = role.config.model;
      facts.concurrency = std::max(facts.concurrency, role.config.max_concurrency);
    }
    TRY_ASSIGN(const auto judges, models_of_judges(settings.agents, config));
    for (const RoleModel& judge : judges) {
      RoleFacts known = guess_role(AgentRole::summarizer, kJudgePromptBytes, task, settings.search, judge.config);
      known.price = judge.config.price;
      const bool reviews = judge.judge == model::kReviewerRole;
      facts.judges[judge.judge] = {
          .questions = reviews ? search::questions_of_review(settings.search) : search::exactly(1), .known = known};
      if (!reviews) facts.tests_seconds = seconds_of_tests(costs);
    }
  } else {
    for (const auto& [role, name] : model::Names<AgentRole>::kTable) authors[role] = "recipes";
    // Recipes run out of plans, and many lead to the same program.
    facts.answered = {0.3, 0.9, 1};
    facts.built = {0.1, 0.7, 1};
    facts.fixes = {0, 0, std::min(0.2, static_cast<double>(settings.search.fixes))};
  }
  facts.elsewhere = !settings.device.defer.empty();
  EarlierRuns earlier;
  if (history != nullptr) {
    TRY_ASSIGN(earlier, learn_from_earlier_runs(*history, task, authors, settings.search, facts));
  }
  search::Estimate estimate = search::estimate(settings.search, facts);
  estimate.basis = basis_of(earlier, task, settings, costs);
  return estimate;
}

Json json_line(const search::Estimate& estimate, const model::Task& task) {
  Json line = estimate;
  line["type"] = "estimate";
  line["schema"] = 1;
  line["task"] = task.definition.name;
  return line;
}

Result<void> record_estimate(journal::Journal& journal, const std::string& run, const search::Estimate& estimate) {
  return journal.record_step(run, {{{}, std::string(kStep)}, std::string(kStep), Json(estimate), {}, {}, {}});
}

Result<Json> recorded_estimate(journal::Journal& journal, const std::string& run) {
  TRY_ASSIGN(const auto step, journal.find_step(run, {{}, std::string(kStep)}, kStep));
  return step ? step->output : Json();
}

std::vector<search::Comparison> compare(const Json& estimate, const search::RunResult& result) {
  std::vector<search::Comparison> list;
  if (!estimate.is_object()) return list;
  model::Usage total;
  for (const auto& [role, usage] : result.usage) total += usage;
  const std::map<std::string, std::optional<double>> actual{
      {"calls", static_cast<double>(total.calls)},
      {"tokens", static_cast<double>(total.tokens())},
      {"usd", total.total_usd()},
      {"evaluations", static_cast<double>(result.evaluations)},
      {"device_seconds", result.device_seconds},
      {"wall_seconds", result.wall_seconds},
  };
  for (const std::string name : kFigures) {
    search::Comparison comparison{name, std::nullopt, actual.at(name)};
    if (estimate.contains(name) && !estimate[name].is_null()) comparison.predicted = estimate[name].get<Range>();
    list.push_back(comparison);
  }
  return list;
}

Json to_json(const std::vector<search::Comparison>& comparisons) {
  if (comparisons.empty()) return {};
  Json out = Json::object();
  for (const search::Comparison& comparison : comparisons) {
    const bool known = comparison.predicted && comparison.actual;
    out[comparison.name] = {{"predicted", Json(comparison.predicted)},
                            {"actual", Json(comparison.actual)},
                            {"inside", known ? Json(comparison.inside()) : Json()}};
  }
  return out;
}

std::vector<search::Comparison> comparisons_of(const Json& json) {
  std::vector<search::Comparison> list;
  if (!json.is_object()) return list;
  for (const std::string name : kFigures) {
    const auto found = json.find(name);
    if (found == json.end()) continue;
    search::Comparison comparison{name, std::nullopt, std::nullopt};
    base::read_field(*found, "predicted", comparison.predicted);
    base::read_field(*found, "actual", comparison.actual);
    list.push_back(std::move(comparison));
  }
  return list;
}

}  // namespace accelopt::app

// SPDX-License-Identifier: Apache-2.0
#include "cli/estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "agents/model_agents.hpp"
#include "agents/prompts.hpp"
#include "report/format.hpp"
#include "report/text_table.hpp"

namespace accelopt::cli {

using base::Json;
using base::Result;
using search::EstimateFacts;
using search::Range;
using search::RoleFacts;

namespace {

constexpr const char* kStep = "estimate";
/// Earlier runs that are looked at, the newest ones.
constexpr std::size_t kMostRuns = 6;

/// Tokens a byte of prompts and kernels, for the tokenizers in use.
constexpr Range kTokensPerByte{1 / 4.8, 1 / 3.8, 1 / 2.7};
/// Tokens a second, of fast and of slow servers, and what passes before the first.
constexpr Range kSecondsPerToken{1.0 / 250, 1.0 / 60, 1.0 / 15};
constexpr Range kSecondsBefore{0.05, 1, 4};

/// Takes a question's size and answers none.
class Scales final : public llm::ChatModel {
 public:
  Result<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token) override {
    bytes = 0;
    for (const llm::Message& message : request.messages) bytes += static_cast<double>(message.text.size());
    return base::fail(base::ErrorCode::cancelled, "only weighed");
  }
  [[nodiscard]] std::string name() const override { return "scales"; }
  double bytes = 0;
};

/// Sizes of the four roles' first prompts, bytes.
Result<std::map<std::string, double>> weigh_prompts(const model::Task& task, const RunSettings& settings) {
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
  const model::Plan plan{"a plan", {}, std::string(kPlanBytes, 'p')};
  Scales scales;
  std::map<std::string, double> bytes;
  const auto weigh = [&](const char* role, const auto& answer) {
    if (answer || answer.error().code == base::ErrorCode::cancelled) bytes[role] = scales.bytes;
  };
  weigh("planner", agents::make_model_planner(scales, prompts)->plan({context, task.baseline, {}, {}, {}}, {}));
  weigh("executor", agents::make_model_executor(scales, prompts)->execute({context, task.baseline, plan}, {}));
  weigh("fixer", agents::make_model_fixer(scales, prompts)
                     ->fix({context, task.baseline, task.baseline, plan, model::Status::compile_error,
                            std::string(kDiagnosticsBytes, 'e')},
                           {}));
  agents::SummarizeQuestion pair;
  pair.context = context;
  pair.slow = pair.fast = task.baseline;
  pair.diff = model::main_text(task.baseline);
  pair.plan = plan;
  weigh("summarizer", agents::make_model_summarizer(scales, prompts)->summarize(pair, {}));
  return bytes;
}

RoleFacts guess_role(const std::string& role, double prompt_bytes, const model::Task& task,
                     const search::SearchSettings& settings, const ModelConfig& model) {
  RoleFacts facts;
  const double kernel = static_cast<double>(model::main_text(task.baseline).size());
  Range bytes{prompt_bytes * 0.9, prompt_bytes * 1.1 + 1000, prompt_bytes * 1.4 + 4000};
  if (role == "planner") {
    // The profile, what was tried, and experiences, of which the later rounds have more.
    bytes.expected += 1500 + 250.0 * settings.memory_capacity;
    bytes.high += 3000 + 1500.0 * settings.memory_capacity;
  } else {
    bytes.high += 2 * kernel;  // kernels grow
  }
  facts.input_tokens = bytes * kTokensPerByte;
  if (role == "planner") facts.output_tokens = {60, 500, 2500};
  if (role == "summarizer") facts.output_tokens = {40, 250, 1200};
  if (role == "executor" || role == "fixer") {
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
  std::map<std::string, RoleSums> roles;
  std::map<std::string, Sum> seconds;  ///< by kind of step
  std::map<int, std::set<std::pair<int, int>>> plans;
  double iterations = 0;
};

std::string role_of(const std::string& kind) {
  if (kind == "plan") return "planner";
  if (kind == "execute") return "executor";
  if (kind == "fix") return "fixer";
  return kind == "summarize" ? "summarizer" : "";
}

double race_seconds(const Json& evaluation, double whole) {
  const auto stages = evaluation.find("stages");
  if (stages == evaluation.end() || !stages->is_array() || stages->empty()) return whole;
  double sum = 0;
  for (const Json& stage : *stages) {
    if (stage.value("name", "") != "build") sum += stage.value("seconds", 0.0);
  }
  return sum;
}

RunSums sums_of(const std::vector<journal::StepRecord>& steps) {
  RunSums sums;
  for (const journal::StepRecord& step : steps) {
    const std::string kind = step.key.kind.substr(0, step.key.kind.find(':'));
    const double seconds = std::chrono::duration<double>(step.duration).count();
    const std::string role = role_of(kind);
    if (kind == "plan")
      sums.plans[step.key.identity.iteration].insert({step.key.identity.parent, step.key.identity.plan});
    if (kind == "stop") ++sums.iterations;
    if (role.empty()) {
      sums.seconds[kind].add(kind == "triage" && step.output.is_object() ? race_seconds(step.output, seconds)
                                                                         : seconds);
      continue;
    }
    RoleSums& own = sums.roles[role];
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

/// Earlier runs of the same task by the same agents, as ranges in place of guesses.
class History {
 public:
  void add(const RunSums& run, const RunSettings& then, const std::map<std::string, std::string>& authors) {
    const auto seconds = [&](const char* kind) {
      const auto found = run.seconds.find(kind);
      return found == run.seconds.end() ? std::nan("") : found->second.mean();
    };
    open_.add(seconds("open"));
    build_.add(seconds("build"));
    race_.add(seconds("triage"));
    profile_.add(seconds("profile"));
    confirm_.add(seconds("confirm"));
    const auto playoff = run.seconds.find("playoff");
    if (run.iterations > 0) playoff_.add(playoff == run.seconds.end() ? 0 : playoff->second.total / run.iterations);
    ++runs;
    for (const auto& [role, own] : run.roles) {
      const auto author = authors.find(role);
      if (author == authors.end() || author->second != own.author) return;  // another team behaves in another way
    }
    const auto count = [&](const char* role) {
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
    const double attempts = count("executor");
    if (attempts > 0) {
      fixes_.add(count("fixer") / attempts);
      const auto builds = run.seconds.find("build");
      if (builds != run.seconds.end()) built_.add(builds->second.count / (attempts + count("fixer")));
    }
    if (run.iterations > 0) lessons_.add(count("summarizer") / run.iterations);
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
  std::map<std::string, Samples> input_, output_, seconds_;
};

Result<History> read_history(journal::Journal& journal, const std::string& task,
                             const std::map<std::string, std::string>& authors) {
  History history;
  TRY_ASSIGN(const auto runs, journal.list_runs());
  std::size_t seen = 0;
  for (const journal::RunInfo& run : runs) {
    if (run.task_name != task || run.status != "done") continue;
    const auto then = run_settings_from(run.settings);
    if (!then) continue;
    TRY_ASSIGN(const auto steps, journal.steps(run.id));
    history.add(sums_of(steps), *then, authors);
    if (++seen == kMostRuns) break;
  }
  return history;
}

std::string number(double value) {
  return report::format_count(static_cast<std::int64_t>(std::llround(value)));
}

std::string show(const std::string& name, double value) {
  if (name == "usd") return report::format_usd(value);
  if (name == "device_seconds" || name == "wall_seconds") return report::format_seconds(value);
  return number(value);
}

constexpr std::array kTitles{
    std::pair{"calls", "calls of models"},
    std::pair{"tokens", "tokens"},
    std::pair{"usd", "cost"},
    std::pair{"evaluations", "evaluations"},
    std::pair{"device_seconds", "device"},
    std::pair{"wall_seconds", "wall time"},
};

std::string title_of(const std::string& name) {
  for (const auto& [key, title] : kTitles) {
    if (name == key) return title;
  }
  return name;
}

}  // namespace

Result<search::Estimate> estimate_run(const model::Task& task, const RunSettings& settings, const Config& config,
                                      journal::Journal* history) {
  EstimateFacts facts = search::facts_of_settings(settings.search);
  TRY_ASSIGN(const auto roles, models_of_roles(settings.agents, config));
  facts.models = !roles.empty();
  std::map<std::string, std::string> authors;
  if (facts.models) {
    TRY_ASSIGN(const auto bytes, weigh_prompts(task, settings));
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
  } else {
    for (const char* role : {"planner", "executor", "fixer", "summarizer"}) authors[role] = "recipes";
    // Recipes run out of plans, and many lead to the same program.
    facts.answered = {0.3, 0.9, 1};
    facts.built = {0.1, 0.7, 1};
    facts.fixes = {0, 0, std::min(0.2, static_cast<double>(settings.search.fixes))};
  }
  std::string basis = "guesses: no earlier run of this task in this workspace";
  if (history != nullptr) {
    TRY_ASSIGN(const History earlier, read_history(*history, task.definition.name, authors));
    if (earlier.runs > 0) {
      earlier.improve(facts, settings.search);
      basis = fmt::format("{} earlier run{} of this task, {} of them by the same agents", earlier.runs,
                          earlier.runs == 1 ? "" : "s", earlier.alike);
    }
  }
  search::Estimate estimate = search::estimate(settings.search, facts);
  estimate.basis = std::move(basis);
  return estimate;
}

Json json_line(const search::Estimate& estimate, const model::Task& task) {
  Json line = estimate;
  line["type"] = "estimate";
  line["schema"] = 1;
  line["task"] = task.definition.name;
  return line;
}

std::string describe(const search::Estimate& estimate) {
  report::TextTable table(
      {{"estimate"}, {"from", report::Align::right}, {"expected", report::Align::right}, {"to", report::Align::right}});
  const auto add = [&](const std::string& name, const std::optional<Range>& range) {
    if (!range)
      table.add({title_of(name), "unknown", "unknown", "unknown"});
    else
      table.add({title_of(name), show(name, range->low), show(name, range->expected), show(name, range->high)});
  };
  if (estimate.all_calls.high > 0) {
    add("calls", estimate.all_calls);
    add("tokens", estimate.tokens);
    add("usd", estimate.usd);
  }
  add("evaluations", estimate.evaluations);
  add("device_seconds", estimate.device_seconds);
  add("wall_seconds", estimate.wall_seconds);
  std::string text = table.render();
  if (!estimate.usd) text += "the cost is unknown: a model's price is not known (price in accelopt.toml)\n";
  return text + "rests on " + estimate.basis + "\n";
}

Result<void> record_estimate(journal::Journal& journal, const std::string& run, const search::Estimate& estimate) {
  return journal.record_step(run, {{{}, kStep}, kStep, Json(estimate), {}, {}, {}});
}

Result<Json> recorded_estimate(journal::Journal& journal, const std::string& run) {
  TRY_ASSIGN(const auto step, journal.find_step(run, {{}, kStep}, kStep));
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
  for (const auto& [name, title] : kTitles) {
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
  for (const auto& [name, title] : kTitles) {
    const auto found = json.find(name);
    if (found == json.end()) continue;
    search::Comparison comparison{name, std::nullopt, std::nullopt};
    base::read_field(*found, "predicted", comparison.predicted.emplace());
    if (found->value("predicted", Json()).is_null()) comparison.predicted.reset();
    if (!found->value("actual", Json()).is_null()) comparison.actual = found->at("actual").get<double>();
    list.push_back(std::move(comparison));
  }
  return list;
}

std::string describe(const std::vector<search::Comparison>& comparisons) {
  report::TextTable table({{"estimate and truth"},
                           {"from", report::Align::right},
                           {"expected", report::Align::right},
                           {"to", report::Align::right},
                           {"it was", report::Align::right}});
  for (const search::Comparison& comparison : comparisons) {
    const std::string& name = comparison.name;
    if (!comparison.predicted || (comparison.predicted->high == 0 && comparison.actual == 0.0)) continue;
    const std::string was = comparison.actual ? show(name, *comparison.actual) : "unknown";
    table.add({title_of(name), show(name, comparison.predicted->low), show(name, comparison.predicted->expected),
               show(name, comparison.predicted->high),
               was + (comparison.inside() || !comparison.actual ? "" : " (!)")});
  }
  return table.render();
}

}  // namespace accelopt::cli

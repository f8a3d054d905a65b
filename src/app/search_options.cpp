// SPDX-License-Identifier: Apache-2.0
#include "app/search_options.hpp"

#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "app/knowledge_place.hpp"
#include "base/hash.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;

namespace {

/// Experiences that the recipes planner weighs.
constexpr int kRecipesMemory = 1000;

}  // namespace

void take_repo_defaults(SearchFlags& flags) {
  if (!flags.iterations) flags.iterations = 3;
  if (!flags.attempts) flags.attempts = 1;
  if (flags.critical) return;  // which has its own
  if (!flags.beam) flags.beam = 2;
  if (!flags.plans) flags.plans = 3;
}

void take_critical_of(const refactor::Task& task, SearchFlags& flags) {
  if (!task.critical) return;
  flags.critical = true;
  flags.developers = static_cast<int>(task.critical->developers);
  if (!flags.tests) flags.tests = static_cast<int>(task.critical->tests);
}

base::Result<double> parse_duration(const std::string& text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (problem != std::errc{} || factor == 0 || !(number > 0)) {
    return fail(ErrorCode::invalid_argument, "cannot read \"" + text + "\" as a duration; write 90s, 3m or 2h");
  }
  return number * factor;
}

base::Result<void> check_prices(const RunSettings& settings, const Config& config) {
  if (!settings.search.max_usd || !settings.agents.replay.empty()) return {};
  TRY_ASSIGN(auto roles, models_of_roles(settings.agents, config));
  TRY_ASSIGN(auto judges, models_of_judges(settings.agents, config));
  std::ranges::move(judges, std::back_inserter(roles));
  for (const RoleModel& role : roles) {
    if (role.config.price) continue;
    return fail(ErrorCode::invalid_argument,
                "--max-usd cannot be kept to: the price of " + role.config.model + ", which is the " + role.title() +
                    ", is not known; add to its table in accelopt.toml: price = { input = ..., cached_input = ..., "
                    "output = ... }, dollars a million tokens, or use --max-tokens");
  }
  return {};
}

/// Likewise, of those that say what is recalled and what is learned. What the environment says is no flag.
base::Result<void> check_use_of_memory(const SearchFlags& flags, search::Recall recall) {
  const auto refuse = [](const std::string& text) -> base::Result<void> {
    return fail(ErrorCode::invalid_argument, text);
  };
  const bool no_store = flags.knowledge == kNoKnowledge;
  if (flags.no_memory) {
    const char* const beside = !flags.memory.empty()                   ? "--memory says what planners are shown"
                               : flags.exclude_family                  ? "--exclude-family says what is not recalled"
                               : !flags.knowledge.empty() && !no_store ? "--knowledge says where lessons are kept"
                                                                       : nullptr;
    if (beside == nullptr) return {};
    return refuse(std::string("--no-memory recalls and learns nothing, and ") + beside + "; give one of them");
  }
  if (no_store && flags.memory == search::to_string(search::Recall::ranked)) {
    return refuse(
        "--memory ranked shows the best of a knowledge store, and --knowledge none says that there is none; give one "
        "of them");
  }
  if (!flags.exclude_family) return {};
  if (no_store) {
    return refuse(
        "--exclude-family leaves something out of what a knowledge store gives, and --knowledge none says that there "
        "is none; give one of them");
  }
  if (recall == search::Recall::ranked) return {};
  const char* const why = !flags.memory.empty()          ? "--memory queue recalls"
                          : !flags.agents.record.empty() ? "--record recalls"
                          : !flags.agents.replay.empty() ? "--replay recalls"
                                                         : "this preset recalls";
  return refuse(std::string("--exclude-family leaves something out of what a knowledge store gives, and ") + why +
                " the run's own experiences alone; leave it out, or add --memory ranked" +
                (flags.memory.empty() ? "" : " in place of queue"));
}

/// Refuses flags that would do nothing: whoever gives them expects something of them.
base::Result<void> check_use(const AgentFlags& flags, bool recipes) {
  if (recipes && flags.exit_when_waiting) {
    return fail(
        ErrorCode::invalid_argument,
        "--exit-when-waiting ends a run that waits for a mailbox, and recipes play all roles; give --mailbox DIR");
  }
  if (recipes && !flags.prompts.empty()) {
    return fail(ErrorCode::invalid_argument,
                "--prompts are for models, and recipes play all roles; name a model, or leave it out");
  }
  if (!flags.key_env.empty() && flags.base_url.empty() && flags.api.empty()) {
    return fail(ErrorCode::invalid_argument,
                "--key-env names the key for --base-url or --api; give one of them with --model NAME, or write key_env "
                "into accelopt.toml");
  }
  return {};
}

base::Result<void> check_models(const RunSettings& settings, const Config& config) {
  TRY_ASSIGN(const bool recipes, plays_recipes(settings.agents, config));
  TRY(check_use(settings.agents, recipes));
  TRY(models_of_roles(settings.agents, config));
  return check_prices(settings, config);
}

/// As many developers as the beam is wide, a tester, and a reviewer at the end.
base::Result<void> take_critical(const SearchFlags& flags, bool recipes, RunSettings& settings) {
  constexpr int kTests = 6;
  constexpr int kMostTests = 16;
  settings.tests = flags.tests.value_or(flags.critical ? kTests : 0);
  if (settings.tests < 0 || settings.tests > kMostTests)
    return fail(ErrorCode::invalid_argument,
                fmt::format("--tests is {}; it must be 0 to {}", settings.tests, kMostTests));
  if (recipes && (flags.critical || settings.tests > 0))
    return fail(ErrorCode::invalid_argument,
                "--critical and --tests ask models, and recipes play all roles; name a model (docs/models.md)");
  if (!flags.critical) return {};
  if (flags.plans)
    return fail(ErrorCode::invalid_argument,
                fmt::format("a critical run has {} developers over the beam, and --plans says how many a candidate "
                            "has; leave --plans out",
                            flags.developers));
  if (!flags.beam) settings.search.beam = flags.developers;
  settings.search.developers = flags.developers;
  settings.search.plans = 1;
  return {};
}

base::Result<RunSettings> settings_from(const SearchFlags& flags, const Config& config,
                                        const Environment& environment) {
  RunSettings settings;
  TRY_ASSIGN(settings.search, search::preset(flags.preset));
  search::SearchSettings& search = settings.search;
  TRY_ASSIGN(const bool recipes, plays_recipes(flags.agents, config));
  TRY(check_use(flags.agents, recipes));
  if (recipes) search.attempts = 1;
  if (flags.iterations) search.iterations = *flags.iterations;
  if (flags.beam) search.beam = *flags.beam;
  if (flags.plans) search.plans = *flags.plans;
  if (flags.attempts) search.attempts = *flags.attempts;
  if (flags.fixes) search.fixes = *flags.fixes;
  if (flags.patience) search.patience = *flags.patience;
  // The published method has no such rule: a preset's 0 is changed by the flag alone.
  if (config.near_roofline && search.near_roofline > 0) search.near_roofline = *config.near_roofline;
  if (flags.near_roofline) search.near_roofline = *flags.near_roofline;
  if (!flags.strategy.empty()) {
    TRY_ASSIGN(search.strategy, search::parse_strategy(flags.strategy));
  }
  // A prompt has room for a few experiences; recipes weigh all that speak of one of theirs.
  if (recipes && search.rules == search::Rules::standard) {
    search.memory_capacity = kRecipesMemory;
    search.memory_everything = true;
  }
  if (!recipes && search.rules == search::Rules::standard) search.asking = search::Asking::together;
  TRY(take_critical(flags, recipes, settings));
  if (flags.no_memory) search.memory_capacity = 0;
  // Recorded answers belong to recorded questions, which a store that goes on growing would change.
  if (!flags.agents.record.empty() || !flags.agents.replay.empty()) search.recall = search::Recall::queue;
  if (!flags.memory.empty()) {
    TRY_ASSIGN(search.recall, search::parse_recall(flags.memory));
  }
  TRY(check_use_of_memory(flags, search.recall));
  search.exclude_family = flags.exclude_family;
  settings.knowledge = flags.no_memory ? std::string(kNoKnowledge) : chosen_knowledge(flags.knowledge, environment);
  TRY(check_knowledge(settings.knowledge));
  search.max_evaluations = flags.max_evaluations;
  search.max_tokens = flags.max_tokens;
  search.max_usd = flags.max_usd;
  if (flags.max_time) {
    TRY_ASSIGN(search.max_seconds, parse_duration(*flags.max_time));
  }
  if (flags.max_device_seconds) {
    const std::string& text = *flags.max_device_seconds;
    const bool plain = text.find_first_not_of("0123456789.") == std::string::npos;
    TRY_ASSIGN(search.max_device_seconds, parse_duration(plain ? text + "s" : text));
  }
  TRY(search::check(search));
  TRY_ASSIGN(const auto recorded, recorded_seed(flags.agents));
  settings.measure.seed = flags.seed ? *flags.seed : recorded.value_or(base::random_seed());
  if (!(flags.allow_regression >= 0 && flags.allow_regression < 1)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("allow_regression is {}; it must be at least 0 and under 1, e.g. 0.05 for 5 %",
                            flags.allow_regression));
  }
  settings.measure.allow_regression = flags.allow_regression;
  settings.measure.protocol = protocol_of(search.rules);
  if (flags.preset == search::kNkiBench) settings.measure.outputs = model::OutputCheck::nkibench;
  TRY_ASSIGN(settings.schedule, search::parse_schedule(flags.schedule));
  settings.agents = flags.agents;
  settings.agents.reviewer = flags.critical;
  settings.agents.tester = settings.tests > 0;
  // A run may be resumed from another folder.
  for (std::string* folder : {&settings.agents.mailbox, &settings.agents.record, &settings.agents.replay}) {
    if (folder->empty()) continue;
    *folder = std::filesystem::absolute(*folder).lexically_normal().string();
    // A journal keeps UTF-8.
    if (base::json_or_discarded(base::canonical(*folder)) != base::Json(*folder)) {
      return fail(ErrorCode::invalid_argument,
                  *folder + ": a resumed run would not find it, as its name is not UTF-8; use another folder");
    }
  }
  settings.device = with_configured_workers(flags.device, config);
  TRY(check(settings.device));
  TRY(check_prices(settings, config));
  return settings;
}

}  // namespace accelopt::app

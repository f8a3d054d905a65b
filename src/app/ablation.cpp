// SPDX-License-Identifier: Apache-2.0
#include "app/ablation.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "app/bench_history.hpp"
#include "app/knowledge_place.hpp"
#include "app/novelty.hpp"
#include "app/run_story.hpp"
#include "app/version.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

constexpr const char* kMark = "ablation";  ///< in the settings of a suite run
constexpr std::uint64_t kFirstSeed = 1;
constexpr std::string_view kFixer = model::to_string(model::AgentRole::fixer);

/// A factor's levels as they change the base's flags.
struct Level {
  std::string factor;
  std::string name;
  std::string left_out{};
  SearchFlags flags{};
};

/// Recorded answers fit the questions that they were given to.
constexpr const char* kOtherQuestions =
    "recorded answers fit the questions of the base alone; name a model in their place";

std::vector<Level> levels_of(const SearchFlags& base, const RunSettings& settings, bool recipes) {
  std::vector<Level> out;
  const auto add = [&](std::string_view factor, std::string name, const auto& change) {
    Level level{.factor = std::string(factor), .name = std::move(name), .flags = base};
    change(level);
    out.push_back(std::move(level));
  };
  for (const char* strategy : {"beam", "greedy", "repeated-sampling"})
    add("strategy", strategy, [&](Level& level) { level.flags.strategy = strategy; });
  add("memory", "off", [](Level& level) {
    level.flags.no_memory = true;
    level.flags.memory.clear();
    level.flags.exclude_family = false;
  });
  for (const char* memory : {"queue", "ranked"})
    add("memory", memory, [&](Level& level) { level.flags.memory = memory; });
  for (const int fixes : {0, settings.search.fixes}) {
    add(kFixer, fixes == 0 ? "none" : fmt::format("{} {}", fixes, fixes == 1 ? "try" : "tries"), [&](Level& level) {
      level.flags.fixes = fixes;
      if (recipes)
        level.left_out = "recipes answer the same again, so nothing is mended; name a model, or --replay answers";
    });
  }
  for (const char* who : {"recipes", "model"}) {
    add("agents", who, [&](Level& level) {
      if (who == std::string_view("recipes")) {
        level.flags.agents = {};
        level.flags.agents.agents = who;
      } else {
        level.flags.agents.agents = who;
        if (recipes) level.left_out = "no model is configured; name one, or --replay answers";
      }
    });
  }
  return out;
}

/// Whether a level is what the base does anyway.
bool is_base(const Level& level, const RunSettings& base, bool recipes) {
  if (level.factor == "strategy") return level.name == search::to_string(base.search.strategy);
  if (level.factor == "memory")
    return level.name == (base.search.memory_capacity == 0 ? "off" : search::to_string(base.search.recall));
  if (level.factor == kFixer) return level.flags.fixes == base.search.fixes;
  return level.name == (recipes ? "recipes" : "model");
}

std::string budget_of(const RunSettings& settings) {
  const search::SearchSettings& it = settings.search;
  std::vector<std::string> parts;
  if (it.max_evaluations) parts.push_back(fmt::format("at most {} evaluations", *it.max_evaluations));
  if (it.max_tokens) parts.push_back(fmt::format("at most {} tokens", *it.max_tokens));
  if (it.max_usd) parts.push_back(fmt::format("at most ${}", *it.max_usd));
  if (it.max_seconds) parts.push_back(fmt::format("at most {} s", *it.max_seconds));
  if (it.max_device_seconds) parts.push_back(fmt::format("at most {} s on the device", *it.max_device_seconds));
  return base::joined(parts, ", ");
}

Result<void> check(const AblationRequest& request) {
  const SearchFlags& flags = request.suite.search;
  for (const std::string& factor : request.factors) {
    if (std::ranges::find(ablation_factors(), factor) == ablation_factors().end())
      return fail(ErrorCode::invalid_argument,
                  "there is no factor " + factor + "; there are: " + base::joined(ablation_factors(), ", "));
  }
  if (!flags.knowledge.empty())
    return fail(ErrorCode::invalid_argument,
                "--knowledge would let one arm learn from another; an ablation gives each a store of its own");
  if (flags.no_memory)
    return fail(ErrorCode::invalid_argument, "--no-memory is one of the arms (--factor memory); leave it out");
  const bool bounded =
      flags.max_evaluations || flags.max_tokens || flags.max_usd || flags.max_time || flags.max_device_seconds;
  if (!bounded)
    return fail(ErrorCode::invalid_argument,
                "arms are compared with equal budgets: give one, such as --max-evaluations 12");
  return {};
}

/// Copies a store and what SQLite keeps beside it; of none makes none.
Result<void> copy_store(const std::optional<std::filesystem::path>& from, const std::filesystem::path& to) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::filesystem::path target = to.string() + suffix;
    std::error_code problem;
    std::filesystem::remove(target, problem);
    const std::filesystem::path source = from ? from->string() + suffix : std::string();
    if (!problem && from && std::filesystem::exists(source)) std::filesystem::copy_file(source, target, problem);
    if (problem) return base::fail_errno(problem.value(), "cannot write " + target.string());
  }
  return {};
}

bool is_by_person(const std::optional<model::EndReason>& reason) {
  return reason == model::EndReason::stop || reason == model::EndReason::signal;
}

/// A store of its own for each arm and seed, so that nothing is learned across them, and a copy of it as the last
/// finished task left it: a run that was cut short must not teach the one that is made in its place.
struct ArmStore {
  std::filesystem::path place;
  std::filesystem::path finished;
};

Result<ArmStore> store_of(const SuitePlan& suite) {
  const std::filesystem::path folder = suite.request.workspace / "ablations";
  TRY(base::make_folders(folder));
  const std::string name = base::sha256_hex(base::canonical({suite.made_with, suite.request.only})).substr(0, 16);
  return ArmStore{folder / (name + ".db"), folder / (name + ".finished.db")};
}

std::vector<std::string> names_of(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> names;
  for (const auto& folder : folders) names.push_back(folder.filename().string());
  return names;
}

/// A run that a person stopped had less than the others' budget.
bool counts(const report::SuiteTask& task) {
  return task.finished() && !task.cut_short;
}

/// What suite runs of the same arm and seed came to, in the suite's order: the newest run of a task that counts, else
/// with `also_failed` the newest that failed.
std::vector<report::SuiteTask> made_before(const std::vector<report::SuiteHistoryEntry>& history,
                                           const SuitePlan& suite, bool also_failed) {
  std::vector<report::SuiteTask> made;
  for (const std::string& name : names_of(suite.folders)) {
    const report::SuiteTask* best = nullptr;
    for (const report::SuiteHistoryEntry& entry : history) {
      if (entry.settings != suite.made_with || entry.program_version != kVersion) continue;
      for (const report::SuiteTask& task : entry.begun) {
        const bool ended = counts(task) || (also_failed && !task.error.empty());
        if (task.task == name && ended && (counts(task) || best == nullptr || !counts(*best))) best = &task;
      }
    }
    if (best != nullptr) made.push_back(*best);
  }
  return made;
}

Result<std::vector<report::SuiteHistoryEntry>> history_of(const SuiteRequest& request) {
  auto history = read_history(request.workspace, {.suite = request.suite});
  if (!history && history.error().code == ErrorCode::not_found) return std::vector<report::SuiteHistoryEntry>{};
  return history;
}

/// None where it cannot be found out; the person is told why.
std::optional<report::Novelty> novelty_of_run(const std::filesystem::path& workspace, const report::SuiteTask& task,
                                              const Shell& shell) {
  if (!task.speedup) return std::nullopt;
  const auto story = read_run_story(workspace, task.run);
  auto novelty = story ? novelty_of(*story) : tl::make_unexpected(story.error());
  if (novelty) return *novelty;
  shell.warn("run " + task.run + ": whether recipes could have made it is not known: " + novelty.error().message);
  return std::nullopt;
}

/// One arm with one seed: a suite run. Arms that do the same are one, whatever they are called.
struct Part {
  std::string name;  ///< for people
  std::uint64_t seed;
  SuitePlan suite;
  std::vector<report::AblationCell> cells{};  ///< fewer than tasks: not all made yet
};

std::string key_of(const SuitePlan& suite) {
  return base::canonical(suite.made_with);
}

Result<SuitePlan> suite_of(const Shell& shell, const AblationPlan& plan, std::size_t arm, std::uint64_t seed) {
  SuiteRequest request = plan.request.suite;
  request.search = plan.search[arm];
  // A recording has a seed of its own: its questions were put in an order that it drew.
  if (request.search.agents.replay.empty()) request.search.seed = seed;
  TRY_ASSIGN(SuitePlan suite, plan_suite(shell, std::move(request)));
  suite.made_with[kMark] = {{"seed", seed}, {"tasks", names_of(suite.folders)}};
  return suite;
}

/// The runs of one arm with one seed: those that finished are on record, the others are made now. Fewer than there are
/// tasks: it was interrupted.
Result<std::vector<report::SuiteTask>> tasks_of(const Shell& shell, const Part& part, const SuitePorts& ports) {
  SuitePlan suite = part.suite;
  TRY_ASSIGN(auto history, history_of(suite.request));
  const std::vector<report::SuiteTask> made = made_before(history, suite, false);
  std::erase_if(suite.folders, [&](const std::filesystem::path& folder) {
    return std::ranges::find(made, folder.filename().string(), &report::SuiteTask::task) != made.end();
  });
  if (suite.folders.empty()) return made;
  SearchFlags& flags = suite.request.search;
  SuitePorts own = ports;
  if (flags.memory == search::to_string(search::Recall::queue)) {
    flags.knowledge = kNoKnowledge;
  } else if (!flags.no_memory) {
    TRY_ASSIGN(const ArmStore store, store_of(part.suite));
    if (made.empty()) TRY(copy_store(std::nullopt, store.finished));
    TRY(copy_store(store.finished, store.place));
    flags.knowledge = store.place.string();
    own.finished = [&shell, &ports, store](const SuiteOutcome& outcome) {
      if (outcome.result && !is_by_person(outcome.result->stopped_by)) {
        if (const auto copied = copy_store(store.place, store.finished); !copied) shell.warn(copied.error().message);
      }
      ports.finished(outcome);
    };
  }
  own.progress = [&](const std::string& task) { return ports.progress(part.name + ": " + task); };
  TRY(run_suite(shell, suite, own));
  TRY_ASSIGN(history, history_of(suite.request));
  return made_before(history, part.suite, true);
}

/// What is to be run, in the order of seeds, by key.
Result<std::vector<Part>> parts_of(const Shell& shell, const AblationPlan& plan) {
  std::vector<Part> parts;
  for (const std::uint64_t seed : plan.empty.seeds) {
    for (std::size_t i = 0; i < plan.empty.arms.size(); ++i) {
      const report::AblationArm& arm = plan.empty.arms[i];
      if (!arm.left_out.empty()) continue;
      TRY_ASSIGN(SuitePlan suite, suite_of(shell, plan, i, seed));
      const std::string key = key_of(suite);
      if (std::ranges::any_of(parts, [&](const Part& part) { return key_of(part.suite) == key; })) continue;
      parts.push_back({fmt::format("{} {}, seed {}", arm.factor, arm.level, seed), seed, std::move(suite)});
    }
  }
  return parts;
}

/// Runs the parts, `jobs` of them at a time, until the shell is to wind down. @error as run_suite: the first.
Result<void> run_parts(const Shell& shell, std::vector<Part>& parts, int jobs, const SuitePorts& ports) {
  std::mutex mutex;  // guards the two below
  std::size_t begun = 0;
  std::optional<base::Error> error;
  const auto next = [&]() -> Part* {
    const std::lock_guard lock(mutex);
    if (shell.stops.wind_down.stop_requested() || error || begun == parts.size()) return nullptr;
    return &parts[begun++];
  };
  const auto run_in_turn = [&] {
    while (Part* const part = next()) {
      auto tasks = tasks_of(shell, *part, ports);
      if (tasks) {
        for (const report::SuiteTask& task : *tasks)
          part->cells.push_back({part->seed, task, novelty_of_run(part->suite.request.workspace, task, shell)});
        continue;
      }
      const std::lock_guard lock(mutex);
      if (!error) error = tasks.error();
    }
  };
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < jobs; ++i) others.emplace_back(run_in_turn);
    run_in_turn();
  }
  if (error) return tl::make_unexpected(*error);
  return {};
}

}  // namespace

const std::vector<std::string>& ablation_factors() {
  static const std::vector<std::string> kFactors{"strategy", "memory", std::string(kFixer), "agents"};
  return kFactors;
}

Result<AblationPlan> plan_ablation(const Shell& shell, AblationRequest request) {
  TRY(check(request));
  TRY_ASSIGN(const SuitePlan suite, plan_suite(shell, request.suite));
  TRY_ASSIGN(const RunSettings base, settings_from(request.suite.search, suite.config, shell.environment));
  TRY_ASSIGN(const bool recipes, plays_recipes(base.agents, suite.config));
  AblationPlan plan;
  plan.empty.suite = request.suite.suite;
  plan.empty.budget = budget_of(base);
  for (const auto& folder : suite.folders) plan.empty.tasks.push_back(folder.filename().string());
  const bool recorded = !request.suite.search.agents.replay.empty();
  for (int i = 0; i < (recorded ? 1 : request.seeds); ++i)
    plan.empty.seeds.push_back(request.suite.search.seed.value_or(kFirstSeed) + static_cast<std::uint64_t>(i));
  for (Level& level : levels_of(request.suite.search, base, recipes)) {
    if (!request.factors.empty() && std::ranges::find(request.factors, level.factor) == request.factors.end()) continue;
    const bool own = is_base(level, base, recipes);
    const bool asks_else = level.factor == "strategy" || level.factor == "memory";
    if (!own && asks_else && !base.agents.replay.empty()) level.left_out = kOtherQuestions;
    plan.empty.arms.push_back({.factor = level.factor, .level = level.name, .base = own, .left_out = level.left_out});
    plan.search.push_back(std::move(level.flags));
  }
  plan.request = std::move(request);
  return plan;
}

Result<report::Ablation> run_ablation(const Shell& shell, const AblationPlan& plan, const SuitePorts& ports) {
  TRY_ASSIGN(std::vector<Part> parts, parts_of(shell, plan));
  TRY(run_parts(shell, parts, plan.request.jobs, ports));
  report::Ablation out = plan.empty;
  for (const std::uint64_t seed : out.seeds) {
    for (std::size_t i = 0; i < out.arms.size(); ++i) {
      if (!out.arms[i].left_out.empty()) continue;
      TRY_ASSIGN(const SuitePlan suite, suite_of(shell, plan, i, seed));
      const auto part =
          std::ranges::find_if(parts, [&](const Part& one) { return key_of(one.suite) == key_of(suite); });
      out.arms[i].cells.insert(out.arms[i].cells.end(), part->cells.begin(), part->cells.end());
    }
  }
  return out;
}

}  // namespace accelopt::app

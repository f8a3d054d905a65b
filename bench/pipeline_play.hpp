// SPDX-License-Identifier: Apache-2.0
// What both parts of bench/pipeline.cpp play: a small task, a model's latencies and answers as functions of a seed and
// a name, and the agents that ask it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "agents/model_agents.hpp"
#include "agents/prompts.hpp"
#include "journal/journal.hpp"
#include "llm/chat_model.hpp"
#include "search/search.hpp"

namespace accelopt::bench {

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// In (0, 1), of this seed and name alone.
double uniform(std::uint64_t seed, const std::string& name);

/// Log-normal (median 2 s, p99 20 s), of this seed and name alone.
double latency_seconds(std::uint64_t seed, const std::string& name);

/// The role's answer, which FakeEvaluator understands; a quarter of the executor's does not build.
std::string text_for(const std::string& role, std::uint64_t seed, const std::string& identity);

/// A run "r1" of a small task.
search::RunRequest request_for(const search::SearchSettings& settings, search::Schedule schedule);

/// A journal in which the run "r1" of that task has begun.
base::Result<std::unique_ptr<journal::Journal>> new_journal(const std::filesystem::path& folder);

/// The four roles on one model.
struct Team {
  Team(llm::ChatModel& model, const agents::Prompts& prompts)
      : planner(agents::make_model_planner(model, prompts)),
        executor(agents::make_model_executor(model, prompts)),
        fixer(agents::make_model_fixer(model, prompts)),
        summarizer(agents::make_model_summarizer(model, prompts)) {}
  [[nodiscard]] agents::Team team() const { return {planner.get(), executor.get(), fixer.get(), summarizer.get()}; }

  std::unique_ptr<agents::Planner> planner;
  std::unique_ptr<agents::Executor> executor;
  std::unique_ptr<agents::Fixer> fixer;
  std::unique_ptr<agents::Summarizer> summarizer;
};

}  // namespace accelopt::bench

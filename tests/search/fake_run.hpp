// SPDX-License-Identifier: Apache-2.0
// One run of the search with fakes: no compiler, no network, no device.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fakes/fake_evaluator.hpp"
#include "fakes/fake_team.hpp"
#include "search/search.hpp"

namespace accelopt::search {

using base::ErrorCode;
using fakes::answered;
using fakes::FakeEvaluator;
using fakes::FakeTeam;

inline model::Task small_task() {
  model::Task task;
  task.definition.name = "small";
  task.definition.axes = {{"M", std::nullopt}};
  model::Workload workload;
  workload.name = "small";
  workload.axes = {{"M", 8}};
  task.workloads = {workload};
  task.baseline = {model::Language::cpp, {{"baseline.cpp", "speed=1\n"}}};
  task.reference = {"reference.cpp", "ref"};
  return task;
}

/// One run in a journal of its own, in memory.
template <class EvaluatorOfRun>
struct FakeRunOn {
  std::unique_ptr<journal::Journal> journal = std::move(*journal::open_memory_journal());
  EvaluatorOfRun evaluator;
  FakeTeam team;
  fakes::KeptNotes events;
  std::stop_source wind_down;
  std::stop_source abort;
  RunRequest request{
      .run = "r1", .task = small_task(), .settings = {}, .measure = {}, .seed = 7, .missing = Missing::do_it};

  FakeRunOn() {
    request.settings.iterations = 2;
    request.settings.plans = 2;
    request.settings.attempts = 1;
    journal::RunInfo info;
    info.id = "r1";
    info.task = request.task;
    EXPECT_TRUE(journal->create_run(info));
  }

  base::Result<RunReport> go() {
    const RunPorts ports{team.team(), request.missing == Missing::do_it ? &evaluator : nullptr, journal.get(), &events};
    const Stops stops{wind_down.get_token(), abort.get_token()};
    return run_search(request, ports, stops);
  }
};

using FakeRun = FakeRunOn<FakeEvaluator>;

/// Doubles the parent's speed with plan 0, halves it with any other.
inline std::string double_or_halve(const agents::ExecuteQuestion& question) {
  const double speed = fakes::claimed_speed(model::main_text(question.kernel.solution()));
  return "speed=" + std::to_string(question.context.identity.plan == 0 ? speed * 2 : speed / 2) + "\n";
}

}  // namespace accelopt::search

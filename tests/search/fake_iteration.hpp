// SPDX-License-Identifier: Apache-2.0
// The parts of one iteration with fakes behind them, for tests of a single part.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "search/asker.hpp"
#include "search/attempt.hpp"
#include "search/fake_run.hpp"
#include "search/measurer.hpp"
#include "search/recorder.hpp"

namespace accelopt::search {

/// A journal in memory that knows the run "r1".
inline std::unique_ptr<journal::Journal> journal_of_one_run() {
  auto journal = std::move(*journal::open_memory_journal());
  journal::RunInfo info;
  info.id = "r1";
  info.task = small_task();
  EXPECT_TRUE(journal->create_run(info));
  return journal;
}

/// What stands behind explore() and summarize_pairs(). The beam holds the baseline.
struct FakeIteration {
  std::unique_ptr<journal::Journal> journal = journal_of_one_run();
  FakeTeam team;
  FakeEvaluator evaluator;
  fakes::KeptNotes events;
  model::Task task = small_task();
  SearchSettings settings{.plans = 1, .attempts = 1, .fixes = 0};
  evaluation::MeasureSettings measure;
  std::stop_source wind_down;
  std::stop_source abort;
  Recorder recorder{*journal, "r1", Missing::do_it};
  Budget budget{settings};
  const agents::Team agents = team.team();
  Asker asker{agents, recorder, budget};
  Measurer measurer{&evaluator, recorder, task, measure};
  evaluation::OpenReport opened = *measurer.open({});
  std::vector<Candidate> beam{baseline()};

  [[nodiscard]] Stops stops() const { return {wind_down.get_token(), abort.get_token()}; }

  [[nodiscard]] Candidate baseline() const {
    Candidate candidate;
    candidate.kernel = model::Kernel(task.baseline);
    candidate.machine_code_id = opened.baseline.machine_code_id;
    candidate.evaluation = opened.baseline;
    return candidate;
  }
};

}  // namespace accelopt::search

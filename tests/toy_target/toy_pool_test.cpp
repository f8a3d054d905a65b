// SPDX-License-Identifier: Apache-2.0
// A search whose measurements several workers make: with a clock that counts operations they decide as one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "fakes/fake_team.hpp"
#include "search/search.hpp"
#include "toy_target/toy_target.hpp"
#include "toy_target/toy_task.hpp"
#include "worker/pool.hpp"

namespace accelopt::toy {
namespace {

constexpr const char* kEightfold = "x x + x + x + x + x + x + x +\n";  // 7 operations

/// What is answered, by iteration and place: right and of ever fewer operations, wrong, or no expression.
constexpr std::array<std::array<const char*, 6>, 4> kAnswers{{
    {"x dup + dup + x + x + x + x +\n", "x x +\n", "x + +\n", "x x + dup + x + x + x + x +\n",
     "x dup + dup + x x + + x x + +\n", "x dup + dup + x + x + x + x +\n"},
    {"x dup + dup + x dup + dup + +\n", "x x + dup + x dup + dup + +\n", "x x * x +\n", "x x + dup + x x + dup + +\n",
     "+\n", "x dup + dup + x x + dup + +\n"},
    {"x x + x + x + dup +\n", "x dup + x + x + dup +\n", "x x x + + x + dup +\n", "x x x x + + + dup +\n", "x\n",
     "x x\n"},
    {"x dup + dup + dup +\n", "x x + dup + dup +\n", "x dup dup\n", "dup\n", "x x *\n", "x dup + dup + dup +\n"},
}};

/// A search through these workers: how it decided, and who measured.
struct Searched {
  std::string decision_hash;
  std::string winner;
  std::set<std::string> measured;  ///< of several: their names
};

class ToyPool : public testing::Test {
 protected:
  static worker::WorkerCommand worker(const std::string& name, std::vector<std::string> mortal = {}) {
    mortal.insert(mortal.begin(), ACCELOPT_TOY_WORKER);
    return {std::move(mortal), name};
  }

  static Searched search_through(std::vector<worker::WorkerCommand> workers) {
    const auto evaluator = worker::make_worker_pool({.workers = std::move(workers)});
    const model::Task task = toy_task(kEightfold);
    fakes::FakeTeam team;
    fakes::KeptNotes events;
    team.on_execute = [](const agents::ExecuteQuestion& question) {
      const model::Identity& id = question.context.identity;
      const auto place = static_cast<std::size_t>(3 * id.parent + 2 * id.plan + id.attempt);
      return std::string(kAnswers.at(static_cast<std::size_t>(id.iteration)).at(place % 6));
    };
    const auto journal = *journal::open_memory_journal();
    journal::RunInfo info;
    info.id = "r1";
    info.task = task;
    EXPECT_TRUE(journal->create_run(info));
    search::RunRequest request{.run = "r1", .task = task, .settings = {}, .measure = {}, .seed = 7};
    request.settings.iterations = 4;
    request.settings.beam = 2;
    request.settings.plans = 3;
    request.settings.attempts = 2;
    request.settings.patience = 0;
    request.settings.near_roofline = 0;
    const auto report = search::run_search(request, {team.team(), evaluator.get(), journal.get(), &events}, {});
    EXPECT_TRUE(report) << report.error().message;
    if (!report) return {};
    Searched out{report->result.decision_hash, model::main_text(*report->result.solution), {}};
    const auto steps = journal->steps("r1");
    for (const journal::StepRecord& step : *steps) {
      if (step.key.kind.starts_with("triage")) out.measured.insert(step.output["environment"].value("worker", ""));
    }
    return out;
  }
};

TEST_F(ToyPool, TwoWorkers_DecideAsOne) {
  const Searched one = search_through({worker("a")});
  const Searched two = search_through({worker("a"), worker("b")});
  EXPECT_EQ(two.decision_hash, one.decision_hash);
  EXPECT_EQ(two.winner, one.winner);
  EXPECT_FALSE(one.decision_hash.empty());
  EXPECT_EQ(std::count(one.winner.begin(), one.winner.end(), '+'), 3) << one.winner;
  EXPECT_EQ(one.measured, (std::set<std::string>{""}));
  EXPECT_TRUE(two.measured.contains("a"));
}

TEST_F(ToyPool, KilledOneAfterTheOther_EndsTheSame) {
  const auto folder = *base::TemporaryFolder::create("toy-pool");
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const Searched whole = search_through({worker("a")});
  // Of idle workers the first is asked: a dies in its second play-off, and b, where that moves to, in its first.
  const Searched killed =
      search_through({worker("a", {"playoff", "2", file("a")}), worker("b", {"playoff", "1", file("b")})});
  EXPECT_EQ(killed.decision_hash, whole.decision_hash);
  EXPECT_TRUE(base::read_file(file("a"))) << "a died";
  EXPECT_TRUE(base::read_file(file("b"))) << "b died";
}

TEST_F(ToyPool, KilledWhileItConfirms_EndsTheSame) {
  const auto folder = *base::TemporaryFolder::create("toy-pool");
  const std::string file = (folder.path() / "a").string();
  const Searched whole = search_through({worker("a")});
  const Searched killed = search_through({worker("a", {"confirm", "1", file}), worker("b")});
  EXPECT_EQ(killed.decision_hash, whole.decision_hash);
  EXPECT_EQ(killed.winner, whole.winner);
  EXPECT_TRUE(base::read_file(file)) << "a died";
}

}  // namespace
}  // namespace accelopt::toy

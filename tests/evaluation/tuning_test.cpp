// SPDX-License-Identifier: Apache-2.0
// The race of a kernel's configurations, on a machine without hardware.
#include "evaluation/tune/tuning.hpp"

#include <gtest/gtest.h>

#include <map>

#include "evaluation/build_ahead.hpp"
#include "evaluation/local_evaluator.hpp"
#include "evaluation/tune/tuning_plan.hpp"
#include "fake_target.hpp"
#include "model/kernel.hpp"
#include "stats/halving.hpp"

namespace accelopt::evaluation {
namespace {

using stats::RungFate;

using base::ErrorCode;
using model::Status;
using Values = std::vector<std::int64_t>;

constexpr const char* kSmall = "//@ tune A in {1, 2, 3, 4}  B in {1, 2, 3}\n";
constexpr const char* kSmallCost = "cost=400000 + 60000*(A-3)*(A-3) + 50000*(B-2)*(B-2);";

class Tuning : public testing::Test {
 protected:
  Tuning() : evaluator_(make_local_evaluator(target_)) {}

  void open(model::Task task = fake_task(), MeasureSettings settings = {}) {
    settings.seed = 4711;
    const auto report = evaluator_->ask(Open{task, settings}, {});
    ASSERT_TRUE(report) << report.error().message;
  }
  model::Evaluation triage(const std::string& text) {
    auto out = evaluator_->ask(Race{model::Kernel(fake_kernel(text)), model::Kernel(fake_kernel("time=1000000"))}, {});
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : model::Evaluation{};
  }

  FakeTarget target_;
  std::unique_ptr<Evaluator> evaluator_;
};

int count_of(const model::Tuning& tuning, model::TunedFate fate) {
  return static_cast<int>(std::count_if(tuning.field.begin(), tuning.field.end(),
                                        [&](const auto& configuration) { return configuration.fate == fate; }));
}

TEST(TuningPlan, TriesSmallSpacesWholeAndAShareOfLargeOnes) {
  const auto all = [](std::size_t configurations) { return shares_of(configurations, {}).all; };
  EXPECT_EQ(all(1), 1U);
  EXPECT_EQ(all(32), 32U);
  EXPECT_EQ(all(33), 32U);
  EXPECT_EQ(all(264), 52U);
  EXPECT_EQ(all(4096), 96U);
  EXPECT_EQ(shares_of(264, {}).first, 26U);
  EXPECT_EQ(shares_of(32, {}).first, 32U);
}

TEST(TuningPlan, NeighboursOnTheGridAreNeighboursInValue) {
  const auto space = model::Kernel(fake_kernel("//@ tune A in {8, 2, 4}  B in {1}\n")).space(fake_task().definition);
  ASSERT_TRUE(space);
  EXPECT_EQ(grid_of(*space), (std::vector<stats::GridPoint>{{2, 0}, {0, 0}, {1, 0}}));
}

TEST(BuildAhead, GivesEachReportHoweverOftenItIsAskedFor) {
  FakeTarget target;
  target.builders = 2;
  {
    BuildAhead builds(target, std::make_shared<CompileBudget>(1), {});
    for (int i = 0; i < 20; ++i)
      builds.add(model::Kernel(fake_kernel(i % 2 == 0 ? "time=" + std::to_string(i) : "broken")));
    EXPECT_FALSE(builds.wait(19)->built);
    EXPECT_EQ(builds.wait(4)->machine_code_id, "time=4");
    EXPECT_TRUE(builds.wait(4)->built) << "may be asked for again";
  }
  EXPECT_EQ(target.builds, 20);
  { const BuildAhead idle(target, std::make_shared<CompileBudget>(1), {}); }
}

TEST_F(Tuning, DeterministicClock_OneBlockARungDecides) {
  target_.device_clock = DeviceClock::deterministic;
  open();

  const auto evaluation = triage(std::string(kSmall) + kSmallCost);

  ASSERT_TRUE(evaluation.tuning);
  EXPECT_EQ(evaluation.tuning->chosen, (Values{3, 2}));
  EXPECT_EQ(count_of(*evaluation.tuning, model::TunedFate::slower), 11);
  for (const auto& tried : evaluation.tuning->field) EXPECT_EQ(tried.blocks, 1);
  EXPECT_EQ(evaluation.blocks, 1);
  EXPECT_EQ(evaluation.verdict, model::Verdict::faster);
}

TEST_F(Tuning, TheCompilersOfAllConfigurationsHaveOneBudget) {
  open();
  const std::string text = "//@ tune A in {1, 2, 3, 4, 5, 6, 7, 8}  B in {1, 2, 3, 4}\ntime=900000 compile_seconds=60;";
  const int before = target_.builds;
  const model::Evaluation result = triage(text);
  EXPECT_EQ(result.status, Status::passed) << result.reason;
  ASSERT_TRUE(result.tuning);
  EXPECT_EQ(std::count_if(result.tuning->field.begin(), result.tuning->field.end(),
                          [](const model::TunedConfiguration& one) { return one.status == Status::passed; }),
            5);
  EXPECT_EQ(result.tuning->field.back().reason,
            "not compiled: the compilers of all configurations together have had their 300 s");
  EXPECT_LE(target_.builds - before, 20) << "5 before the race, asked for again in it, and what triage builds";
}

TEST_F(Tuning, ABudgetThatEndsBeforeAnythingIsBuiltIsSaid) {
  open();
  const model::Evaluation result =
      triage("//@ tune A in {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}\nbroken compiles_if=0; compile_seconds=60; time=900000");
  EXPECT_EQ(result.status, Status::compile_error);
  EXPECT_NE(result.reason.find("have had their 300 s"), std::string::npos) << result.reason;
}

TEST_F(Tuning, ConfigurationsThatTheTargetFinds_AreRaced_AndAWrongOneDoesNotWin) {
  target_.found = {.names = {"V"}, .sets = {{1, 2, 3, 4}}, .configurations = {{1}, {2}, {3}, {4}}, .combinations = 4};
  open();
  model::Solution open_kernel = fake_kernel("cost=1000000/V; right_if=4-V;");
  open_kernel.language = model::Language("python");
  const auto race = Race{model::Kernel(open_kernel), model::Kernel(fake_kernel("time=1000000"))};
  EXPECT_TRUE(evaluator_->ask(Build{race.candidate}, {})->built);
  const auto result = evaluator_->ask(race, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->status, Status::passed) << result->reason;
  ASSERT_TRUE(result->tuning);
  EXPECT_EQ(result->tuning->names, std::vector<std::string>{"V"});
  EXPECT_EQ(result->tuning->chosen, Values{3});
  EXPECT_NEAR(result->ratio->estimate, 3, 0.1);
  for (const auto& tried : result->tuning->field) {
    if (tried.values == Values{4}) {
      EXPECT_EQ(tried.fate, model::TunedFate::failed);
      EXPECT_EQ(tried.status, Status::incorrect_numerical);
    }
  }
  const auto chosen = race.candidate.with_values(*result->tuning->chosen);
  ASSERT_TRUE(chosen);
  EXPECT_TRUE(main_text(chosen->solution()).ends_with(";\n# accelopt configuration: 3\n"));
  EXPECT_FALSE(chosen->with_values({2})) << "it is fixed";
}

TEST_F(Tuning, FindsTheFastestConfigurationAndRacesItAgainstTheOpponent) {
  open();
  const std::string text = std::string(kSmall) + kSmallCost;
  const model::Evaluation result = triage(text);
  EXPECT_EQ(result.status, Status::passed) << result.reason;
  EXPECT_EQ(result.verdict, model::Verdict::faster);
  EXPECT_NEAR(result.ratio->estimate, 2.5, 0.05);
  ASSERT_TRUE(result.tuning);
  EXPECT_EQ(result.tuning->chosen, (Values{3, 2}));
  EXPECT_EQ(result.tuning->names, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(result.tuning->configurations, 12);
  EXPECT_EQ(result.tuning->field.size(), 12U);
  EXPECT_EQ(result.tuning->source_id, model::source_id(fake_kernel(text)));
  const model::Solution chosen = model::with_values(fake_kernel(text), {3, 2});
  EXPECT_EQ(result.source_id, model::source_id(chosen));
  EXPECT_EQ(result.machine_code_id, main_text(chosen));
  EXPECT_EQ(result.stages.front().stage, model::Stage::tune);
  for (const model::TunedConfiguration& configuration : result.tuning->field) {
    ASSERT_TRUE(configuration.ratio);
    const double cost =
        400 + 60.0 * std::pow(configuration.values[0] - 3, 2) + 50.0 * std::pow(configuration.values[1] - 2, 2);
    EXPECT_NEAR(configuration.ratio->estimate, 400 / cost, 0.03) << configuration.values[0] << configuration.values[1];
    EXPECT_GE(configuration.blocks, 3);
  }
  EXPECT_EQ(count_of(*result.tuning, model::TunedFate::chosen), 1);
  EXPECT_GE(count_of(*result.tuning, model::TunedFate::slower), 6) << "half of the field is over 15 % slower";
  EXPECT_EQ(target_.repeats, 0) << "no process meets a slot twice";
  EXPECT_EQ(target_.held_quiets + target_.held_locks, 0);
}

TEST_F(Tuning, FindsANearlyBestConfigurationOfALargeSpaceInAShareOfIt) {
  target_.builders = 3;
  open();
  const std::string sets =
      "//@ tune A in {1,2,3,4,5,6} B in {1,2,3,4} C in {1,2,3,4,5} D in {0,1,2}\n//@ require A*B <= 20\n";
  for (const char* cost : {"cost=300000 + 40000*(A-4)*(A-4) + 30000*(B-2)*(B-2) + 10000*max(C-3, 3-C) + 5000*D;",
                           "cost=300000 + 40000*max(A*B-8, 8-A*B) + 50000*(C-2)*(C-2) + 9000*(2-D); spiky",
                           "cost=300000 + 90000*(A % 2) + 20000*(C-1) + 15000*max(B-A, A-B) + 30000*D;"}) {
    const model::Evaluation result = triage(sets + cost);
    ASSERT_EQ(result.status, Status::passed) << result.reason;
    const model::Tuning& tuning = *result.tuning;
    EXPECT_EQ(tuning.combinations, 360);
    EXPECT_LE(tuning.field.size(), static_cast<std::size_t>(tuning.configurations) / 5) << cost;
    const auto cost_of = [&](const Values& values) {
      return *fake_claim(main_text(model::with_values(fake_kernel(sets + cost), values)), "cost", 100);
    };
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    const auto space = model::Kernel(fake_kernel(sets + cost)).space(fake_task().definition);
    for (const Values& values : space->configurations) best = std::min(best, cost_of(values));
    EXPECT_LE(static_cast<double>(cost_of(*tuning.chosen)), 1.05 * static_cast<double>(best))
        << cost << " " << model::configuration_text(tuning.names, *tuning.chosen);
  }
}

TEST_F(Tuning, RecordsWhatFailedAndChoosesAmongTheRest) {
  open();
  const model::Evaluation result =
      triage(std::string(kSmall) + kSmallCost + " compiles_if=A != 4; right_if=A != 3; lives_if=B != 3;");
  ASSERT_EQ(result.status, Status::passed) << result.reason;
  EXPECT_EQ(result.tuning->chosen, (Values{2, 2}));
  std::map<Values, const model::TunedConfiguration*> by_values;
  for (const auto& configuration : result.tuning->field) by_values[configuration.values] = &configuration;
  EXPECT_EQ(by_values[(Values{4, 1})]->status, Status::compile_error);
  EXPECT_NE(by_values[(Values{4, 1})]->reason.find("error: broken"), std::string::npos);
  EXPECT_EQ(by_values[(Values{3, 2})]->fate, model::TunedFate::failed);
  EXPECT_EQ(by_values[(Values{3, 2})]->status, Status::incorrect_numerical);
  EXPECT_FALSE(by_values[(Values{3, 2})]->ratio);
  EXPECT_EQ(by_values[(Values{1, 3})]->status, Status::runtime_error);
  EXPECT_EQ(count_of(*result.tuning, model::TunedFate::failed), 3 + 3 + 2);
}

TEST_F(Tuning, AConfigurationThatFailsVerificationGivesWayToTheNext) {
  open();
  const model::Evaluation result = triage(std::string(kSmall) + kSmallCost + " right_if=M != 37 || A != 3 || B != 2;");
  ASSERT_EQ(result.status, Status::passed) << result.reason;
  EXPECT_NE(result.tuning->chosen, (Values{3, 2}));
  const auto wrong =
      std::find_if(result.tuning->field.begin(), result.tuning->field.end(), [](const auto& configuration) {
        return configuration.values == Values{3, 2};
      });
  EXPECT_EQ(wrong->fate, model::TunedFate::failed);
  EXPECT_NE(wrong->reason.find("workload check"), std::string::npos) << wrong->reason;
}

TEST_F(Tuning, WhereNothingCompilesFewBuildsTellIt) {
  open();
  const std::string text = "//@ tune A in {1,2,3,4,5,6,7,8} B in {1,2,3,4,5,6,7,8}\ncost=1000; compiles_if=0;";
  const auto build = evaluator_->ask(Build{model::Kernel(fake_kernel(text))}, {});
  ASSERT_TRUE(build);
  EXPECT_FALSE(build->built);
  EXPECT_NE(build->diagnostics.find("none of the first 8 configurations compiles; with A="), std::string::npos);
  EXPECT_LE(target_.builds, 2 + 8) << "the baseline and the probes";
  const model::Evaluation result = triage(text);
  EXPECT_EQ(result.status, Status::compile_error);
  EXPECT_EQ(result.reason, build->diagnostics);
  EXPECT_EQ(result.source_id, model::source_id(fake_kernel(text)));
  EXPECT_FALSE(result.tuning->chosen);
}

TEST_F(Tuning, WhereNothingIsRightTheFirstFailureIsTheReason) {
  open();
  const model::Evaluation result = triage(std::string(kSmall) + kSmallCost + " right_if=0;");
  EXPECT_EQ(result.status, Status::incorrect_numerical);
  EXPECT_NE(result.reason.find("all 12 configurations that were tried failed; with A="), std::string::npos)
      << result.reason;
  EXPECT_NE(result.reason.find("workload race"), std::string::npos);
  EXPECT_EQ(count_of(*result.tuning, model::TunedFate::failed), 12);
}

TEST_F(Tuning, WhereNothingPassesVerificationFewAreTried) {
  open();
  const model::Evaluation result = triage(std::string(kSmall) + kSmallCost + " right_if=M != 37;");
  EXPECT_EQ(result.status, Status::incorrect_numerical);
  EXPECT_EQ(result.mismatch->workload, "check");
  EXPECT_NE(result.reason.find("with A="), std::string::npos) << result.reason;
  EXPECT_EQ(count_of(*result.tuning, model::TunedFate::failed), 4);
}

TEST_F(Tuning, MalformedDirectivesAreCompileErrors) {
  open();
  const auto build = evaluator_->ask(Build{model::Kernel(fake_kernel("\n//@ tune A in {}\ntime=1"))}, {});
  ASSERT_TRUE(build);
  EXPECT_EQ(build->diagnostics, "kernel.cpp:2: the set of A is empty");
  const model::Evaluation result = triage("\n//@ tune A in {}\ntime=1");
  EXPECT_EQ(result.status, Status::compile_error);
  EXPECT_FALSE(result.tuning);
}

TEST_F(Tuning, OneConfigurationIsNotRaced) {
  open();
  const model::Evaluation result = triage("//@ tune A in {1, 2}\n//@ require A > 1\ncost=500000;");
  ASSERT_EQ(result.status, Status::passed) << result.reason;
  EXPECT_EQ(result.tuning->chosen, (Values{2}));
  EXPECT_TRUE(result.tuning->heats.empty());
  EXPECT_EQ(result.tuning->field.size(), 1U);
}

TEST_F(Tuning, ValuesThatAreFixedAreNotTuned) {
  open();
  const int before = target_.builds;
  const model::Evaluation result = triage("//@ tune A in {2}\ncost=250000*A;");
  EXPECT_EQ(result.status, Status::passed) << result.reason;
  EXPECT_FALSE(result.tuning);
  EXPECT_LE(target_.builds - before, 3);
  EXPECT_NEAR(result.ratio->estimate, 2, 0.05);
}

TEST_F(Tuning, AnOpenOpponentIsAnErrorAndAnOpenBaselineDoesNotPass) {
  open();
  const auto out = evaluator_->ask(
      Race{model::Kernel(fake_kernel("time=1")), model::Kernel(fake_kernel("//@ tune A in {1,2}\ntime=1"))}, {});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, ErrorCode::invalid_argument);
  FakeTarget other;
  model::Task task = fake_task();
  task.baseline = fake_kernel("//@ tune A in {1,2}\ntime=1000000");
  const auto report = make_local_evaluator(other)->ask(Open{task, {}}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->baseline.status, Status::compile_error);
}

TEST_F(Tuning, TheRecordGivesTheDecisionsAgain) {
  open();
  const model::Evaluation result =
      triage("//@ tune A in {1,2,3,4,5} B in {1,2,3,4,5}\ncost=300000 + 3000*(A-3)*(A-3) + 2000*(B-2)*(B-2); spiky");
  ASSERT_EQ(result.status, Status::passed) << result.reason;
  const model::Tuning& tuning = *result.tuning;
  std::vector<RungFate> fates(tuning.field.size(), RungFate::absent);
  const std::map<RungFate, model::TunedFate> recorded{{RungFate::absent, model::TunedFate::unfinished},
                                                      {RungFate::slower, model::TunedFate::slower},
                                                      {RungFate::level, model::TunedFate::level},
                                                      {RungFate::outranked, model::TunedFate::outranked}};
  std::size_t leader = 0;
  int last_rung = 0;
  for (int rung = 0; rung < 4; ++rung) {
    std::vector<std::vector<double>> samples(tuning.field.size());
    for (const model::TuningHeat& heat : tuning.heats) {
      if (heat.rung != rung) continue;
      last_rung = rung;
      for (std::size_t arm = 0; arm < heat.arms.size(); ++arm) {
        auto& own = samples[static_cast<std::size_t>(heat.arms[arm])];
        if (!own.empty()) continue;  // the leader again, beside others
        for (const double sample : heat.log_ratios[arm]) own.push_back(sample + heat.offset);
      }
    }
    const auto standings = stats::judge_rung(samples);
    for (std::size_t i = 0; i < standings.size(); ++i) {
      if (standings[i].fate == RungFate::leads) leader = i;
      if (standings[i].fate != RungFate::absent) fates[i] = standings[i].fate;
    }
  }
  EXPECT_GE(last_rung, 1);
  EXPECT_EQ(tuning.field[leader].values, *tuning.chosen);
  for (std::size_t i = 0; i < fates.size(); ++i) {
    if (fates[i] == RungFate::leads || fates[i] == RungFate::stays) continue;
    EXPECT_EQ(tuning.field[i].fate, recorded.at(fates[i]));
  }
}

TEST_F(Tuning, WhatIsFarBehindTheBaselineIsNotRacedToTheEnd) {
  open();
  const auto last_rung_of = [&](const std::string& cost) {
    const model::Evaluation result = triage("//@ tune A in {1,2,3,4,5,6,7,8}\n" + cost);
    EXPECT_EQ(result.verdict, model::Verdict::slower) << result.reason;
    int last = 0;
    for (const model::TuningHeat& heat : result.tuning->heats) last = std::max(last, heat.rung);
    return last;
  };
  EXPECT_EQ(last_rung_of("cost=1500000 + 1000*A;"), 0);
  EXPECT_GT(last_rung_of("cost=1100000 + 1000*A;"), 0);
}

TEST_F(Tuning, AMachineThatBecameSlowerDoesNotEndARace) {
  open();
  target_.slowdown = 2;
  const model::Evaluation result = triage("//@ tune A in {1,2,3,4}\ncost=800000 + 200000*A;");
  EXPECT_EQ(result.tuning->chosen, Values{1});
  EXPECT_EQ(count_of(*result.tuning, model::TunedFate::unfinished), 0);
  EXPECT_GT(result.tuning->heats.at(0).log_ratios.at(0).size(), 1U);
}

TEST_F(Tuning, WhereEachConfigurationIsFarBehindOneBlockTellsIt) {
  open();
  const auto blocks_of_first_heat = [&](const std::string& cost) {
    const model::Evaluation result = triage("//@ tune A in {1,2,3,4,5,6,7,8}\n" + cost);
    EXPECT_EQ(result.verdict, model::Verdict::slower) << result.reason;
    return result.tuning->heats.at(0).log_ratios.at(0).size();
  };
  EXPECT_EQ(blocks_of_first_heat("cost=1500000 + 1000*A;"), 1U);
  EXPECT_GT(blocks_of_first_heat("cost=1100000 + 50000*A;"), 1U) << "one of them is not";
}

TEST_F(Tuning, GivesUpRacingWhenTheTimeIsUp) {
  MeasureSettings settings;
  settings.max_tuning_seconds = 0;
  open(fake_task(), settings);
  const model::Evaluation result = triage(std::string(kSmall) + kSmallCost);
  EXPECT_EQ(result.status, Status::passed) << result.reason;
  EXPECT_TRUE(result.tuning->chosen);
  EXPECT_EQ(result.tuning->heats.size(), 1U) << "one heat runs, so that the choice rests on something";
}

TEST_F(Tuning, AStopIsCancelled) {
  open();
  std::stop_source stop;
  stop.request_stop();
  const auto result = evaluator_->ask(
      Race{model::Kernel(fake_kernel(std::string(kSmall) + kSmallCost)), model::Kernel(fake_kernel("time=1000000"))},
      stop.get_token());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace accelopt::evaluation

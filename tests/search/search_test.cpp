// SPDX-License-Identifier: Apache-2.0
// The whole loop with fakes: no compiler, no network, no device.
#include "search/search.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "search/fake_run.hpp"

namespace accelopt::search {
namespace {

TEST(Search, FindsConfirmsAndReportsTheFastestKernel) {
  FakeRun run;
  run.team.on_execute = double_or_halve;

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
  EXPECT_EQ(report->result.stopped_by, model::EndReason::iterations);
  EXPECT_DOUBLE_EQ(report->result.confirmation->ratio->estimate, 4.0);
  EXPECT_EQ(model::main_text(*report->result.solution), "speed=4.000000\n");
  EXPECT_EQ(run.evaluator.confirms, 1);
}

TEST(Search, AsksAsManyQuestionsAsTheMethodCounts) {
  FakeRun run;
  run.request.settings.attempts = 2;
  run.team.on_execute = double_or_halve;

  const auto report = run.go();

  // Round 1: beam of 1; round 2: beam of 2 (the doubled kernel and the baseline). N = 2 plans, K = 2 attempts.
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.team.plans.size(), 2U + 4U);
  EXPECT_EQ(run.team.executions.size(), 2 * run.team.plans.size());
  EXPECT_EQ(report->result.usage.at("planner").calls, 6);
  EXPECT_EQ(report->result.usage.at("executor").calls, 12);
  EXPECT_EQ(report->result.usage.at("fixer").calls, 0);
}

TEST(Search, ShowsTheFirstRoundsExperienceAndTriedPlansInTheSecond) {
  FakeRun run;
  run.team.on_execute = double_or_halve;

  ASSERT_TRUE(run.go());

  bool seen = false;
  for (const auto& question : run.team.plans) {
    if (question.context.identity.iteration == 0) {
      EXPECT_TRUE(question.memory.empty());
      continue;
    }
    ASSERT_EQ(question.memory.size(), 2U);  // one improvement, one regression
    EXPECT_EQ(question.memory[0].id, "e1");
    EXPECT_EQ(question.memory[0].polarity, model::Polarity::improves);
    EXPECT_DOUBLE_EQ(question.memory[0].effect->estimate, 2.0);
    EXPECT_EQ(question.memory[1].polarity, model::Polarity::regresses);
    ASSERT_TRUE(question.evaluation.profile);
    if (model::main_text(question.kernel.solution()) == "speed=1\n") {
      seen = true;
      ASSERT_EQ(question.tried.size(), 2U);
      EXPECT_EQ(question.tried[0].outcome, "2.00x");
      EXPECT_EQ(question.tried[1].outcome, "0.50x");
    }
  }
  EXPECT_TRUE(seen);
}

TEST(Search, WhatAMachineWasTooBusyForIsMeasuredInTheNextRound) {
  class BusyAtFirst final : public FakeEvaluator {
   public:
    base::Result<model::Evaluation> triage(const model::Solution& candidate, const model::Solution& opponent,
                                           std::stop_token stop) override {
      if (races_++ > 0) return FakeEvaluator::triage(candidate, opponent, std::move(stop));
      model::Evaluation busy;
      busy.status = model::Status::not_measured;
      return busy;
    }

   private:
    int races_ = 0;
  };
  FakeRunOn<BusyAtFirst> run;
  run.request.settings.plans = 1;
  run.team.on_execute = [](const auto&) { return "speed=3\n"; };
  const auto report = run.go();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
  EXPECT_EQ(report->result.counts, (std::map<std::string, int>{{"NOT_MEASURED", 1}, {"PASSED", 1}}));
}

TEST(Search, OffersAMendedFailureToTheSummarizerAndRemembersIt) {
  FakeRun run;
  run.request.settings.plans = 1;
  run.team.on_execute = [](const auto&) { return "compile_error speed=1.5\n"; };
  run.team.on_fix = [](const auto&) { return "speed=1.5\n"; };

  ASSERT_TRUE(run.go());

  int mends = 0;
  for (const auto& question : run.team.summaries) {
    if (question.polarity != model::Polarity::mends) continue;
    ++mends;
    EXPECT_EQ(model::main_text(question.slow.solution()), "compile_error speed=1.5\n");
    EXPECT_EQ(model::main_text(question.fast.solution()), "speed=1.5\n");
    EXPECT_EQ(question.slow_evaluation.status, model::Status::compile_error);
  }
  EXPECT_EQ(mends, 1);
  std::set<std::string> identities;
  for (const auto& question : run.team.summaries) identities.insert(model::to_string(question.context.identity));
  EXPECT_EQ(identities.size(), run.team.summaries.size()) << "every question has an identity of its own";
  bool shown = false;
  for (const auto& question : run.team.plans) {
    for (const auto& experience : question.memory) shown = shown || experience.polarity == model::Polarity::mends;
  }
  EXPECT_TRUE(shown);
}

TEST(Search, MendsABrokenSolutionAndGivesTheFixerItsDiagnostics) {
  FakeRun run;
  run.request.settings.iterations = 1;
  run.request.settings.plans = 1;
  run.team.on_execute = [](const auto&) { return "compile_error speed=3\n"; };
  run.team.on_fix = [](const auto&) { return "speed=3\n"; };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(run.team.fixes.size(), 1U);
  EXPECT_EQ(run.team.fixes[0].diagnostics, "line 1: compile_error");
  EXPECT_EQ(run.team.fixes[0].status, model::Status::compile_error);
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
}

TEST(Search, FixesAtMostFTimesAndStopsAtAFixThatFailedBefore) {
  FakeRun run;
  run.request.settings.iterations = 1;
  run.request.settings.plans = 2;
  run.team.on_execute = [](const agents::ExecuteQuestion& question) {
    return "crash " + std::to_string(question.context.identity.plan) + "\n";
  };
  run.team.on_fix = [](const agents::FixQuestion& question) {
    if (question.context.identity.plan == 0) return model::main_text(question.broken.solution());  // the same again
    return "crash fix" + std::to_string(question.context.identity.fix) + "\n";
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.team.fixes.size(), 1U + 3U);
  EXPECT_EQ(report->result.outcome, RunOutcome::no_gain);
  EXPECT_EQ(report->result.counts.at("RUNTIME_ERROR"), 2);
}

TEST(Search, AnOpenSolutionGoesOnAsTheConfigurationThatWasChosen) {
  FakeRun run;
  const std::string open = "//@ tune A in {1, 2}\nspeed=4\n";
  run.team.on_execute = [&](const auto&) { return open; };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
  const std::string chosen = "//@ tune A in {2}\nspeed=4\n";
  ASSERT_TRUE(report->result.solution);
  EXPECT_EQ(model::main_text(*report->result.solution), chosen);
  EXPECT_EQ(report->result.solution_id, model::source_id(*report->result.solution));
  EXPECT_EQ(run.evaluator.triages, 1) << "the same open solution is not tuned again in the second iteration";
  const auto second =
      std::find_if(run.team.plans.begin(), run.team.plans.end(), [&](const agents::PlanQuestion& question) {
        return question.context.identity.iteration == 1 && model::main_text(question.kernel.solution()) == chosen;
      });
  ASSERT_NE(second, run.team.plans.end());
  ASSERT_TRUE(second->evaluation.tuning);
  EXPECT_EQ(second->evaluation.tuning->chosen, (std::vector<std::int64_t>{2}));
  EXPECT_TRUE(run.journal->load_solution(report->result.solution_id));
  model::Solution as_written = *report->result.solution;
  as_written.sources[0].text = open;
  EXPECT_TRUE(run.journal->load_solution(model::source_id(as_written)));

  run.request.missing = Missing::leave_it;
  const auto again = run.go();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->result.decision_hash, report->result.decision_hash);
}

TEST(Search, EqualFailingAnswersAreBuiltOnceAndFixedOnce) {
  FakeRun run;
  run.request.settings.iterations = 1;
  run.request.settings.plans = 3;
  run.team.on_execute = [](const auto&) { return "compile_error same\n"; };
  run.team.on_fix = [](const auto&) { return "speed=2\n"; };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.evaluator.builds, 2);  // the broken one and its mend
  ASSERT_EQ(run.team.fixes.size(), 1U);
  EXPECT_EQ(run.team.fixes[0].context.identity.plan, 0);
}

TEST(Search, EqualProgramsAreRacedOnceAndOnlyTheFirstRepresents) {
  FakeRun run;
  run.request.settings.iterations = 1;
  run.request.settings.plans = 3;
  run.team.on_execute = [](const agents::ExecuteQuestion& question) {
    return "speed=2\nnote " + std::to_string(question.context.identity.plan) + "\n";  // other source, same machine code
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.evaluator.builds, 3);
  EXPECT_EQ(run.evaluator.triages, 1);
  EXPECT_EQ(run.team.summaries.size(), 1U);
}

TEST(Search, ASolutionEqualToItsParentCostsNothingAndTeachesNothing) {
  FakeRun run;
  run.request.settings.iterations = 1;

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.evaluator.builds, 0);
  EXPECT_EQ(run.evaluator.triages, 0);
  EXPECT_TRUE(run.team.summaries.empty());
  EXPECT_EQ(report->result.outcome, RunOutcome::no_gain);
}

TEST(Search, ACandidateThatFailsHeldOutWorkloadsNeverWins) {
  FakeRun run;
  run.request.settings.iterations = 1;
  run.team.on_execute = [](const agents::ExecuteQuestion& question) {
    return std::string(question.context.identity.plan == 0 ? "speed=9 held_out_bad\n" : "speed=2\n");
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_DOUBLE_EQ(report->result.confirmation->ratio->estimate, 2.0);
  EXPECT_EQ(report->result.counts.at("HELD_OUT_FAILED"), 1);
}

TEST(Search, FallsBackWhenTheWinnerDoesNotConfirm) {
  FakeRun run;
  run.request.settings.iterations = 1;
  run.team.on_execute = [](const agents::ExecuteQuestion& question) {
    return std::string(question.context.identity.plan == 0 ? "speed=9 unconfirmed\n" : "speed=2\n");
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
  EXPECT_DOUBLE_EQ(report->result.confirmation->ratio->estimate, 2.0);
  EXPECT_EQ(run.evaluator.confirms, 2);
}

TEST(Search, AFailingBaselineStopsBeforeAnyQuestion) {
  FakeRun run;
  run.evaluator.baseline_status = model::Status::incorrect_numerical;

  const auto report = run.go();

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(report.error().message.find("index 3"), std::string::npos);
  EXPECT_TRUE(run.team.plans.empty());
}

TEST(Search, StopsWhenNothingNewIsFoundForTwoRounds) {
  FakeRun run;
  run.request.settings.iterations = 10;
  run.team.on_execute = [](const auto&) { return "speed=0.5\n"; };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.stopped_by, model::EndReason::patience);
  EXPECT_EQ(report->result.iterations, 2);
}

TEST(Search, APlayOffThatMeasuredNothingKeepsTheBestSoFar) {
  FakeRun run;
  run.evaluator.measured_playoffs = 1;
  run.team.on_execute = double_or_halve;

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.evaluator.playoffs, 2);
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
  ASSERT_TRUE(report->result.confirmation);
  EXPECT_EQ(report->result.confirmation->ratio->estimate, 2);
}

TEST(Search, TellsWhatIsToBeKnownOfAPlayOff) {
  FakeRun run;
  run.request.settings.iterations = 1;
  run.evaluator.playoff_notes = {"play-off measured beside somebody"};
  run.team.on_execute = double_or_halve;

  ASSERT_TRUE(run.go());

  EXPECT_EQ(run.events.texts, run.evaluator.playoff_notes);
}

TEST(Search, StopsNearTheRoofline) {
  FakeRun run;
  run.request.settings.iterations = 10;
  run.evaluator.roofline_of_speed_one = 0.5;
  run.team.on_execute = [](const auto&) { return "speed=1.96\n"; };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.stopped_by, model::EndReason::near_roofline);
  EXPECT_NE(report->result.stopped_because.find("the best candidate: workload"), std::string::npos)
      << report->result.stopped_because;
  EXPECT_NE(report->result.stopped_because.find("runs at 98 % of what this machine's measured arithmetic allows"),
            std::string::npos)
      << report->result.stopped_because;
  EXPECT_EQ(report->result.iterations, 1);
}

TEST(Search, StopsWhenTheBestIsSurelyFastEnough) {
  FakeRun run;
  run.request.settings.iterations = 10;
  run.request.settings.enough = 1.9;
  run.team.on_execute = [](const agents::ExecuteQuestion& question) {
    // The first one's interval holds 1.9.
    return std::string(question.context.identity.iteration == 0 ? "speed=1.91\n" : "speed=2\n");
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
  EXPECT_EQ(report->result.iterations, 2);
  EXPECT_EQ(report->result.stopped_by, model::EndReason::enough);
  EXPECT_EQ(report->result.stopped_because, "1.9x is enough");
}

TEST(Search, EnoughHasToBeASpeedup) {
  FakeRun run;
  run.request.settings.enough = 0.5;

  const auto report = run.go();

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "enough is 0.5; it must be a speed-up over 1, or 0 (never stops for that)");
}

TEST(Search, AQuestionKnowsItsRunByWhichOwnLessonsAreKnown) {
  FakeRun run;
  run.team.on_plan = [](const agents::PlanQuestion& question) -> FakeTeam::PlanResult {
    EXPECT_EQ(question.context.run, "r1");
    return answered(model::Plan{"good", {}, "do it"});
  };

  ASSERT_TRUE(run.go());

  EXPECT_FALSE(run.team.plans.empty());
}

TEST(Search, WithoutThatRuleItSearchesOnAtTheRoofline) {
  FakeRun run;
  run.request.settings.iterations = 3;
  run.request.settings.patience = 0;
  run.request.settings.near_roofline = 0;
  run.evaluator.roofline_of_speed_one = 0.97;

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.stopped_by, model::EndReason::iterations);
  EXPECT_TRUE(report->result.stopped_because.empty());
}

TEST(Search, ABaselineNearTheRooflineIsAnHonestNoGain) {
  FakeRun run;
  run.evaluator.roofline_of_speed_one = 0.97;

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, RunOutcome::no_gain);
  EXPECT_EQ(report->result.stopped_by, model::EndReason::near_roofline);
  EXPECT_NE(report->result.reason.find("97 %"), std::string::npos) << report->result.reason;
  EXPECT_TRUE(run.team.plans.empty());
}

TEST(Search, AnEvaluationBudgetIsNeverExceededAndStillConfirms) {
  FakeRun run;
  run.request.settings.iterations = 10;
  run.request.settings.plans = 4;
  run.request.settings.max_evaluations = 5;
  run.team.on_execute = [](const agents::ExecuteQuestion& question) {
    const auto& id = question.context.identity;
    return "speed=" + std::to_string(2 + id.iteration + 0.1 * id.plan + 0.01 * id.parent) + "\n";
  };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.stopped_by, model::EndReason::max_evaluations);
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
  EXPECT_EQ(run.evaluator.triages, 5);

  run.request.missing = Missing::leave_it;
  const auto again = run.go();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->result.evaluations, report->result.evaluations) << "what the budget refused is not on record";
  EXPECT_EQ(again->result.counts, report->result.counts);
}

TEST(Search, ALostAnswerIsCountedAndTheRunGoesOn) {
  FakeRun run;
  run.request.settings.iterations = 1;
  run.team.on_plan = [](const agents::PlanQuestion& question) -> FakeTeam::PlanResult {
    if (question.context.identity.plan == 0) return base::fail(ErrorCode::unavailable, "the server is overloaded");
    return answered(model::Plan{"good", {}, "do it"});
  };
  run.team.on_execute = [](const auto&) { return "speed=3\n"; };

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
  EXPECT_EQ(report->result.counts.at("NO_ANSWER"), 1);
}

TEST(Search, NoAnswers_EndTheRunResumably) {
  FakeRun run;
  run.team.on_plan = [](const auto&) -> FakeTeam::PlanResult {
    return base::fail(ErrorCode::unavailable, "no route to host");
  };
  const auto broken = run.go();
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::unavailable);
  EXPECT_NE(broken.error().message.find("no route to host"), std::string::npos);

  run.team.on_plan = [](const auto&) -> FakeTeam::PlanResult { return answered(model::Plan{"good", {}, "do it"}); };
  run.team.on_execute = double_or_halve;
  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->result.outcome, RunOutcome::improved);
  EXPECT_EQ(run.evaluator.opens, 2);  // the verified baseline was on record; the device is opened again to measure on
}

TEST(Search, ARefusedKeyEndsTheRun) {
  FakeRun run;
  run.team.on_plan = [](const auto&) -> FakeTeam::PlanResult { return base::fail(ErrorCode::unauthenticated, "401"); };

  const auto report = run.go();

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::unauthenticated);
}

TEST(Search, InterruptedRun_ResumesToTheSameDecisions) {
  FakeRun whole;
  whole.request.settings.iterations = 3;
  whole.request.settings.attempts = 2;
  whole.team.on_execute = double_or_halve;
  const auto uninterrupted = whole.go();
  ASSERT_TRUE(uninterrupted) << uninterrupted.error().message;

  for (const int stop_at : {1, 2, 5, 9, 14}) {
    FakeRun run;
    run.request.settings = whole.request.settings;
    std::atomic<int> executed = 0;
    run.team.on_execute = [&](const agents::ExecuteQuestion& question) {
      if (++executed == stop_at) run.wind_down.request_stop();
      return double_or_halve(question);
    };
    const auto interrupted = run.go();
    ASSERT_TRUE(interrupted) << interrupted.error().message;
    EXPECT_EQ(interrupted->result.outcome, RunOutcome::interrupted);

    run.wind_down = std::stop_source();
    run.team.on_execute = double_or_halve;
    const auto resumed = run.go();

    ASSERT_TRUE(resumed) << resumed.error().message;
    EXPECT_EQ(resumed->result.decision_hash, uninterrupted->result.decision_hash) << "stopped at " << stop_at;
    EXPECT_EQ(run.team.plans.size(), whole.team.plans.size()) << "stopped at " << stop_at;
    EXPECT_EQ(run.team.executions.size(), whole.team.executions.size()) << "stopped at " << stop_at;
    EXPECT_EQ(run.evaluator.triages, whole.evaluator.triages) << "stopped at " << stop_at;
  }
}

TEST(Search, AReplayDecidesAsTheRunDidWithNoModelAndNoDevice) {
  FakeRun run;
  run.request.settings.iterations = 3;
  run.team.on_execute = double_or_halve;
  const auto original = run.go();
  ASSERT_TRUE(original) << original.error().message;
  const auto questions = run.team.plans.size();

  run.request.missing = Missing::leave_it;
  const auto replayed = run.go();

  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(replayed->result.decision_hash, original->result.decision_hash);
  EXPECT_EQ(run.team.plans.size(), questions);
  EXPECT_EQ(replayed->steps_absent, 0);

  run.request.settings.beam = 1;
  const auto other = run.go();
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_NE(other->result.decision_hash, original->result.decision_hash);
  EXPECT_EQ(run.team.plans.size(), questions);
}

TEST(Search, TheOrderOfArrivalDoesNotChangeTheDecisions) {
  std::set<std::string> hashes;
  for (int round = 0; round < 5; ++round) {
    FakeRun run;
    run.request.settings.plans = 4;
    run.request.settings.attempts = 3;
    std::mutex gate;
    run.team.on_execute = [&](const agents::ExecuteQuestion& question) {
      const std::scoped_lock lock(gate);  // lets the scheduler shuffle who comes first
      const auto& id = question.context.identity;
      const double speed = fakes::claimed_speed(model::main_text(question.kernel.solution()));
      if (id.attempt == 2) return std::string("compile_error shared\n");
      return "speed=" + std::to_string(speed * (1 + 0.25 * ((id.plan + id.attempt) % 3))) + "\n";
    };
    run.team.on_fix = [](const auto&) { return "speed=1.75\n"; };
    const auto report = run.go();
    ASSERT_TRUE(report) << report.error().message;
    hashes.insert(report->result.decision_hash);
  }
  EXPECT_EQ(hashes.size(), 1U);
}

TEST(Search, RepeatedSamplingAlwaysStartsFromTheBaseline) {
  FakeRun run;
  run.request.settings.strategy = Strategy::repeated_sampling;
  run.request.settings.beam = 2;
  run.team.on_execute = double_or_halve;

  const auto report = run.go();

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(run.team.plans.size(), 2U * 2U * 2U);
  for (const auto& question : run.team.plans) EXPECT_EQ(model::main_text(question.kernel.solution()), "speed=1\n");
  EXPECT_DOUBLE_EQ(report->result.confirmation->ratio->estimate, 2.0);
}

TEST(Search, EqualAnswersAreOneEvaluation) {
  for (const Strategy strategy : {Strategy::beam, Strategy::repeated_sampling}) {
    FakeRun run;
    run.request.settings.strategy = strategy;
    run.request.settings.attempts = 4;
    run.request.settings.max_evaluations = 2;
    run.team.on_execute = [](const auto& question) {
      return question.context.identity.iteration == 0 ? "speed=2\n" : "speed=3\n";
    };

    const auto report = run.go();

    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->result.evaluations, 2) << to_string(strategy);
  }
}

TEST(Search, TheResultObjectHasTheDocumentedFields) {
  FakeRun run;
  run.team.on_execute = double_or_halve;
  const auto report = run.go();
  ASSERT_TRUE(report) << report.error().message;

  const base::Json out = to_result_json(report->result);

  for (const char* key : {"type", "run", "task", "outcome", "stopped_by", "speedup", "workloads", "solution", "counts",
                          "usage", "wall_seconds"}) {
    EXPECT_TRUE(out.contains(key)) << key;
  }
  EXPECT_EQ(out["type"], "result");
  EXPECT_EQ(out["outcome"], "improved");
  EXPECT_DOUBLE_EQ(out["speedup"]["estimate"].get<double>(), 4.0);
  EXPECT_EQ(out["usage"]["calls"]["planner"], 6);
  EXPECT_TRUE(out["usage"]["usd"].is_null());
  ASSERT_EQ(out["workloads"].size(), 1U);
  EXPECT_DOUBLE_EQ(out["workloads"][0]["baseline_ns"].get<double>(), FakeEvaluator::kBaselineNs);
}

}  // namespace
}  // namespace accelopt::search

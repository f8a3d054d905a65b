// SPDX-License-Identifier: Apache-2.0
// Baseline, triage, play-off, confirmation and profile on a machine without hardware.
#include <gtest/gtest.h>

#include <algorithm>

#include "evaluation/evaluator_json.hpp"
#include "evaluation/local_evaluator.hpp"
#include "evaluation/race/block_runner.hpp"
#include "evaluation/race/recompute.hpp"
#include "evaluation/roofline.hpp"
#include "evaluation/verify/memory_need.hpp"
#include "fake_target.hpp"

namespace accelopt::evaluation {
namespace {

using base::ErrorCode;
using model::Status;
using model::Verdict;

class Flows : public testing::Test {
 protected:
  Flows() : evaluator_(make_local_evaluator(target_)) {}

  OpenReport open(model::Task task = fake_task(), MeasureSettings settings = {}) {
    settings.seed = 4711;
    auto report = evaluator_->ask(Open{task, settings}, {});
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : OpenReport{};
  }
  model::Evaluation triage(const std::string& text, const std::string& opponent = "time=1000000") {
    auto out = evaluator_->ask(Race{model::Kernel(fake_kernel(text)), model::Kernel(fake_kernel(opponent))}, {});
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : model::Evaluation{};
  }

  FakeTarget target_;
  std::unique_ptr<Evaluator> evaluator_;
};

TEST_F(Flows, TheBaselineIsVerifiedOnEverythingAndTimed) {
  const OpenReport report = open();
  EXPECT_EQ(report.baseline.status, Status::passed) << report.baseline.reason;
  ASSERT_EQ(report.baseline.workloads.size(), 3U);
  EXPECT_NEAR(report.baseline.workloads[0].time_ns, 1e6, 2e4);
  EXPECT_TRUE(report.baseline.profile.has_value());
  EXPECT_EQ(report.task_header, "/* task.h */");
  EXPECT_EQ(report.baseline.environment.seed, 4711U);
}

TEST_F(Flows, ABaselineThatFailsSaysWhereAndWhatToMend) {
  model::Task task = fake_task();
  task.baseline = fake_kernel("time=1000 wrong_on=61");
  const OpenReport report = open(task);
  EXPECT_EQ(report.baseline.status, Status::incorrect_numerical);
  ASSERT_TRUE(report.baseline.mismatch);
  EXPECT_EQ(report.baseline.mismatch->workload, "hidden");
  EXPECT_EQ(report.baseline.mismatch->index, 60);
  EXPECT_NE(report.baseline.reason.find("likely to mend"), std::string::npos) << report.baseline.reason;
}

TEST_F(Flows, WithoutADeviceKernelsAreBuiltAndNotMeasured) {
  target_.no_device = "no driver";
  const OpenReport report = open();
  EXPECT_EQ(report.baseline.status, Status::not_measured);
  EXPECT_NE(report.baseline.reason.find("no driver"), std::string::npos) << report.baseline.reason;
  EXPECT_EQ(triage("time=1").status, Status::not_measured);
  EXPECT_EQ(triage("broken").status, Status::compile_error);
  EXPECT_EQ(target_.starts, 0);
}

TEST_F(Flows, OperationsNeedAnOpenTaskAndOpenIsOnce) {
  const auto early = evaluator_->ask(Build{model::Kernel(fake_kernel("time=1"))}, {});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::invalid_argument);
  open();
  const auto again = evaluator_->ask(Open{fake_task(), {}}, {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
}

TEST_F(Flows, ATaskWithoutRacedWorkloadIsRefused) {
  model::Task task = fake_task();
  task.workloads.erase(task.workloads.begin());
  const auto report = evaluator_->ask(Open{task, {}}, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::invalid_argument);
}

TEST_F(Flows, TriageTellsFasterSlowerAndTie) {
  open();
  const model::Evaluation faster = triage("time=500000");
  EXPECT_EQ(faster.verdict, Verdict::faster);
  EXPECT_EQ(faster.decided_by, model::DecidedBy::race);
  EXPECT_NEAR(faster.ratio->estimate, 2.0, 0.05);
  EXPECT_NEAR(*faster.workloads.at(0).reference_ns, 1e6, 2e4);
  const model::Evaluation slower = triage("time=1300000");
  EXPECT_EQ(slower.verdict, Verdict::slower);
  EXPECT_LE(slower.blocks, 8);
  const model::Evaluation same = triage("time=1000000");
  EXPECT_TRUE(same.verdict == Verdict::tie || same.verdict == Verdict::undecided);
  EXPECT_EQ(same.samples.size(), static_cast<std::size_t>(same.blocks));
}

TEST_F(Flows, WaitingForTheDeviceIsNoTimeOfAStageOrARace) {
  open();
  target_.wait_a_lock = std::chrono::hours(1);  // said to have been waited: no time passes for it here
  const model::Evaluation raced = triage("time=500000");
  EXPECT_EQ(raced.decided_by, model::DecidedBy::race) << "waiting does not use up the time of a race";
  double counted = 0;
  for (const model::StageTime& stage : raced.stages) counted += stage.seconds;
  const double waited = target_.use().waited_seconds();
  EXPECT_GE(waited, 8 * 3600) << "a block is an hour";
  EXPECT_NEAR(counted, -waited, 60) << "all that was waited is taken off";
}

TEST_F(Flows, ARaceTellsHowFarItIs) {
  open();
  std::vector<model::StepShare> shares;
  target_.use().progressed = [&](const model::StepShare& share) { shares.push_back(share); };
  const model::Evaluation raced = triage("time=500000");
  const auto is_race = [](const model::StepShare& share) { return share.part == model::StepShare::Part::racing; };
  const auto first_block = std::ranges::find_if(shares, is_race);
  ASSERT_TRUE(first_block != shares.begin() && first_block != shares.end());
  EXPECT_LT(shares.front().done, shares.front().of);
  const model::StepShare verified = *std::prev(first_block);
  EXPECT_EQ(model::describe(verified), "100 % verified") << verified.done << " of " << verified.of;
  EXPECT_EQ(std::ranges::count_if(shares, is_race), raced.blocks);
  EXPECT_EQ(model::describe(shares.back()), std::to_string(raced.blocks) + " of at most 200 blocks");
}

TEST_F(Flows, AnEvaluationSaysThatTheDeviceWasPossiblyShared) {
  open();
  target_.neighbour = "process 4711 (sleep, user ann)";
  const auto confirmed = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=500000"))}, {});
  ASSERT_TRUE(confirmed);
  for (const model::Evaluation& evaluation : {triage("time=500000"), *confirmed}) {
    EXPECT_TRUE(evaluation.environment.noisy);
    EXPECT_NE(evaluation.environment.isolation.find("device possibly shared"), std::string::npos);
    ASSERT_FALSE(evaluation.notes.empty());
    EXPECT_NE(evaluation.notes.back().find(target_.neighbour), std::string::npos) << evaluation.notes.back();
  }
  const std::vector<Arm> arms{{model::Kernel(fake_kernel("time=1000000"))},
                              {model::Kernel(fake_kernel("time=500000"))}};
  const auto shared = evaluator_->ask(PlayOff{arms, 1}, {});
  ASSERT_TRUE(shared && shared->notes.size() == 1);
  EXPECT_NE(shared->notes[0].find(target_.neighbour), std::string::npos) << shared->notes[0];
  const auto read = base::decode<PlayoffReport>(base::Json(*shared), "the report");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->notes, shared->notes) << "a worker tells it to its run";
  target_.neighbour.clear();
  EXPECT_FALSE(triage("time=500000").environment.noisy) << "of the next one nothing is said";
  EXPECT_TRUE(evaluator_->ask(PlayOff{arms, 1}, {})->notes.empty());
}

TEST_F(Flows, NoProcessMeetsASlotTwice) {
  open();
  triage("time=1000000");
  ASSERT_TRUE(evaluator_->ask(
      PlayOff{{{model::Kernel(fake_kernel("time=1000000"))}, {model::Kernel(fake_kernel("time=990000"))}}, 1}, {}));
  ASSERT_TRUE(evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=990000"))}, {}));
  ASSERT_TRUE(evaluator_->ask(Profile{model::Kernel(fake_kernel("time=990000"))}, {}));
  ASSERT_TRUE(evaluator_->ask(HeldOut{model::Kernel(fake_kernel("time=990000"))}, {}));
  EXPECT_GT(target_.calls, 100);
  EXPECT_EQ(target_.repeats, 0);
  EXPECT_EQ(target_.held_locks, 0);
  EXPECT_EQ(target_.held_quiets, 0);
}

TEST_F(Flows, FailuresAreStatusesAndNeverNameHeldOutWorkloads) {
  open();
  EXPECT_EQ(triage("broken").status, Status::compile_error);
  EXPECT_EQ(triage("time=1 crash").status, Status::runtime_error);
  EXPECT_EQ(triage("time=1 hang").status, Status::timeout);
  EXPECT_EQ(triage("time=1 outside").status, Status::runtime_error);
  // What proves intent comes before what the kernel did besides.
  const model::Evaluation caught = triage("time=1 cheats outside wrong");
  EXPECT_EQ(caught.status, Status::reward_hack);
  EXPECT_NE(caught.reason.find("caught cheating"), std::string::npos) << caught.reason;
  EXPECT_EQ(triage("time=900000000").status, Status::timeout) << "five times the baseline and 50 ms";
  const model::Evaluation wrong = triage("time=1 wrong_on=37");
  EXPECT_EQ(wrong.status, Status::incorrect_numerical);
  EXPECT_EQ(wrong.mismatch->workload, "check");
  const model::Evaluation hidden = triage("time=1000000 wrong_on=61");
  EXPECT_EQ(hidden.status, Status::passed);
  const auto status = evaluator_->ask(HeldOut{model::Kernel(fake_kernel("time=1000000 wrong_on=61"))}, {});
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, Status::incorrect_numerical);
}

TEST_F(Flows, AnOpponentThatDoesNotBuildIsAnError) {
  open();
  const auto out =
      evaluator_->ask(Race{model::Kernel(fake_kernel("time=1")), model::Kernel(fake_kernel("broken"))}, {});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, ErrorCode::invalid_argument);
}

TEST_F(Flows, ATimeThatTheMachineCannotReachIsRejectedAfterANewProbe) {
  target_.peaks = {1e12, 1e12, 8e8};  // 800 bytes: a microsecond
  model::Task task = fake_task();
  open(task);
  const model::Evaluation result = triage("time=500");
  EXPECT_EQ(result.status, Status::reward_hack);
  EXPECT_EQ(result.verdict, Verdict::none);
  EXPECT_NE(result.reason.find("faster than the machine can move or compute"), std::string::npos);
  EXPECT_EQ(target_.probes, 1);
  EXPECT_EQ(triage("time=900").status, Status::passed) << "0.8 of the floor is believed";
}

TEST_F(Flows, ATimeNearThePeaksHasThemMeasuredAnewOnce) {
  target_.peaks = {1e12, 1e12, 8e8};
  open();
  target_.peaks = {1e12, 1e12, 1.6e9};  // the first measurement met a slow moment
  const model::Evaluation result = triage("time=1050");
  ASSERT_TRUE(result.workloads.at(0).roofline);
  EXPECT_NEAR(result.workloads.at(0).roofline->fraction, 500.0 / 1050, 0.05);
  EXPECT_EQ(target_.probes, 1);
  target_.peaks = {1e12, 1e12, 1e8};
  EXPECT_EQ(triage("time=520").status, Status::passed) << "the best peaks are kept";
  EXPECT_EQ(target_.probes, 1);
}

TEST_F(Flows, PeaksThatTheRunKnowsHold) {
  target_.peaks = {1e12, 1e12, 8e8};
  model::Task task = fake_task();
  MeasureSettings settings;
  settings.seed = 4711;
  settings.known_peaks = Peaks{1e9, 1e9, 3.2e9};
  const auto report = evaluator_->ask(Open{task, settings}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->device.peaks.bytes_per_second, 3.2e9);
  EXPECT_EQ(report->device.peaks.flops_per_second, 1e12);
}

TEST_F(Flows, ConstantDisturbanceEndsAndIsMarked) {
  open();
  const model::Evaluation result = triage("time=1000000 disturbed");
  EXPECT_EQ(result.status, Status::passed);
  EXPECT_TRUE(result.environment.noisy || result.blocks < 40) << result.blocks;
  EXPECT_TRUE(result.samples.at(0).disturbed);
}

/// Calls that a triage makes before its first block: all slots of the smallest workload, some of the others, a
/// repetition, and the warm-up.
int calls_before_the_race(FakeTarget& target, const std::function<model::Evaluation()>& triage) {
  const int before = target.calls;
  const model::Evaluation evaluation = triage();
  return target.calls - before - 2 * evaluation.blocks;
}

TEST_F(Flows, TheDevicesClockIsKeptInEverySampleThatHasOne) {
  open();
  const model::Evaluation evaluation = triage("time=500000 clock");
  ASSERT_FALSE(evaluation.samples.empty());
  for (const model::BlockSample& sample : evaluation.samples) {
    EXPECT_EQ(sample.candidate_mhz, std::vector<double>{2000});
    EXPECT_EQ(sample.candidate_lag_ns, std::vector<double>{5000});
    EXPECT_TRUE(sample.reference_mhz.empty()) << "the baseline's text has no clock";
    EXPECT_TRUE(sample.shifted_mhz.empty());
  }
  const auto confirmed = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=500000 clock"))}, {});
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->samples.at(0).shifted_mhz, (std::vector<double>{2000, 2000}));
}

TEST_F(Flows, ABlockWithALowClockDoesNotCount) {
  open();
  const int before = calls_before_the_race(target_, [&] { return triage("time=500000"); });
  target_.slow_calls = before + 8;  // verification, warm-up and four blocks
  const model::Evaluation evaluation = triage("time=700000 clock");
  EXPECT_EQ(target_.slow_calls, 0);
  EXPECT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  EXPECT_EQ(evaluation.verdict, Verdict::faster);
  EXPECT_EQ(evaluation.reason, "the clock was low");
  EXPECT_FALSE(evaluation.environment.noisy);
  for (const model::BlockSample& sample : evaluation.samples) {
    EXPECT_EQ(sample.candidate_mhz, std::vector<double>{2000});
    EXPECT_FALSE(sample.disturbed);
    EXPECT_LT(sample.reference_ns.at(0), 1.2e6);
  }
}

TEST_F(Flows, AClockThatStaysLowIsTheDevicesClock) {
  open();
  target_.slow_calls = 1000000;
  const model::Evaluation evaluation = triage("time=500000 clock");
  EXPECT_EQ(evaluation.status, Status::passed) << evaluation.reason;
  EXPECT_EQ(evaluation.verdict, Verdict::faster);
  EXPECT_TRUE(evaluation.environment.noisy);
  EXPECT_EQ(evaluation.samples.at(0).candidate_mhz, std::vector<double>{1000});
  EXPECT_TRUE(evaluation.samples.at(0).disturbed);
}

TEST_F(Flows, TimesBesideAnotherProcessDoNotCountAndItIsNamed) {
  open();
  const int before = calls_before_the_race(target_, [&] { return triage("time=500000"); });
  target_.occupied_calls = before + 6;
  const model::Evaluation evaluation = triage("time=500000");
  EXPECT_EQ(target_.occupied_calls, 0);
  EXPECT_EQ(evaluation.verdict, Verdict::faster);
  EXPECT_EQ(evaluation.reason, "process 7 (other) was on the device at the same time");
  for (const model::BlockSample& sample : evaluation.samples) EXPECT_FALSE(sample.disturbed);
}

TEST_F(Flows, AnotherProcessThatStaysLeavesNothingMeasured) {
  open();
  target_.occupied_calls = 1000000;
  const std::string expected =
      "process 7 (other) was on the device at the same time, and times taken then do not count; 0.04 s did not change "
      "that";
  const model::Evaluation raced = triage("time=500000");
  EXPECT_EQ(raced.status, Status::not_measured);
  EXPECT_EQ(raced.reason, expected);
  EXPECT_EQ(raced.verdict, Verdict::none);
  EXPECT_TRUE(raced.samples.empty());
  const auto confirmed = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=500000"))}, {});
  ASSERT_TRUE(confirmed) << confirmed.error().message;
  EXPECT_EQ(confirmed->status, Status::not_measured);
  EXPECT_EQ(confirmed->reason, expected);
  const auto raced_all = evaluator_->ask(
      PlayOff{{{model::Kernel(fake_kernel("time=1000000"))}, {model::Kernel(fake_kernel("time=990000"))}}, 1}, {});
  ASSERT_FALSE(raced_all);
  EXPECT_EQ(raced_all.error().code, ErrorCode::unavailable);
  EXPECT_NE(raced_all.error().message.find(expected), std::string::npos) << raced_all.error().message;
  const model::Evaluation tuned = triage("//@ tune T in {1, 2, 3}\ncost=1000000*T;");
  EXPECT_EQ(tuned.status, Status::not_measured);
  EXPECT_EQ(tuned.reason, expected);
  const auto profile = evaluator_->ask(Profile{model::Kernel(fake_kernel("time=500000"))}, {});
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->notes,
            std::vector<std::string>{"times of workload race: process 7 (other) was on the device at the same time"});
  // What is wrong is wrong, whoever is there.
  EXPECT_EQ(triage("time=500000 wrong").status, Status::incorrect_numerical);
  target_.occupied_calls = 0;
  EXPECT_EQ(triage("time=500000").verdict, Verdict::faster);
}

TEST_F(Flows, ABaselineBesideAnotherProcessIsNotMeasured) {
  target_.occupied_calls = 1000000;
  const OpenReport report = open();
  EXPECT_EQ(report.baseline.status, Status::not_measured);
  EXPECT_NE(report.baseline.reason.find("process 7 (other) was on the device"), std::string::npos)
      << report.baseline.reason;
}

TEST_F(Flows, ABaselineIsVerifiedAgainWhenTheOtherProcessHasLeft) {
  target_.patience = std::chrono::seconds(10);
  target_.occupied_calls = 100;
  const OpenReport report = open();
  EXPECT_EQ(report.baseline.status, Status::passed) << report.baseline.reason;
  EXPECT_EQ(target_.occupied_calls, 0);
}

TEST_F(Flows, TimesOnWhichTwoClocksDisagreeNeverCount) {
  open();
  target_.doubtful_calls = 1000000;
  const model::Evaluation evaluation = triage("time=500000");
  EXPECT_EQ(evaluation.status, Status::not_measured);
  EXPECT_NE(evaluation.reason.find("the device's time of a call and the host's contradict each other"),
            std::string::npos)
      << evaluation.reason;
}

TEST_F(Flows, PlayoffScoresAgainstTheBaselineAndKeepsReasons) {
  open();
  const auto report = evaluator_->ask(PlayOff{{{model::Kernel(fake_kernel("time=1000000"))},
                                               {model::Kernel(fake_kernel("time=400000"))},
                                               {model::Kernel(fake_kernel("time=500000"))},
                                               {model::Kernel(fake_kernel("broken"))},
                                               {model::Kernel(fake_kernel("time=1 crash"))}},
                                              1},
                                      {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->separated);
  EXPECT_NEAR(report->arms[1].score.estimate, 2.5, 0.1);
  EXPECT_NEAR(report->arms[2].score.estimate, 2.0, 0.1);
  EXPECT_FALSE(report->arms[3].measured);
  EXPECT_NE(report->arms[3].reason.find("broken"), std::string::npos);
  EXPECT_FALSE(report->arms[4].measured);
  EXPECT_NE(report->arms[4].reason.find("SIGSEGV"), std::string::npos);
  const auto none = evaluator_->ask(PlayOff{{}, 1}, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::invalid_argument);
}

TEST_F(Flows, ConfirmationWantsCertaintyAndHeldOutWorkloads) {
  open();
  const auto good = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=800000"))}, {});
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->verdict, Verdict::faster);
  EXPECT_GE(good->blocks, 32);
  EXPECT_EQ(good->workloads.size(), 2U);
  EXPECT_TRUE(good->reason.empty());
  const auto same = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=1000000"))}, {});
  ASSERT_TRUE(same);
  EXPECT_NE(same->verdict, Verdict::faster);
  EXPECT_NE(same->reason.find("not confirmed"), std::string::npos);
  const auto wrong = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=800000 wrong_on=61"))}, {});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->status, Status::incorrect_numerical);
}

TEST_F(Flows, ConfirmationReportsTheWorseOfTwoPlacements) {
  open();
  const auto lucky = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=800000 shifted_time=990000"))}, {});
  ASSERT_TRUE(lucky) << lucky.error().message;
  EXPECT_LT(lucky->ratio->estimate, 1.1);
  ASSERT_FALSE(lucky->samples.empty());
  EXPECT_EQ(lucky->samples[0].shifted_ns.size(), 2U);
  const auto unconfirmed = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=800000 shifted_time=1000000"))}, {});
  ASSERT_TRUE(unconfirmed);
  EXPECT_NE(unconfirmed->verdict, Verdict::faster);
}

TEST_F(Flows, CallsMadeAloneCountWhereTheyContradictThoseMadeTogether) {
  open();
  target_.times_several = true;
  const auto honest = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=500000"))}, {});
  ASSERT_TRUE(honest) << honest.error().message;
  EXPECT_EQ(honest->verdict, Verdict::faster) << honest->reason;
  EXPECT_EQ(honest->notes, std::vector<std::string>{});
  EXPECT_EQ(target_.met_again["time=500000"], 0);
  const auto cheat = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=500000 alone=1000000"))}, {});
  ASSERT_TRUE(cheat && cheat->notes.size() == 1);
  EXPECT_NE(cheat->verdict, Verdict::faster);
  EXPECT_NEAR(cheat->ratio->estimate, 1, 0.02);
  EXPECT_NE(cheat->notes[0].find("calls made alone count"), std::string::npos) << cheat->notes[0];
  target_.times_several = false;
  EXPECT_EQ(evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=500000 alone=1000000"))}, {})->verdict,
            Verdict::faster);
}

TEST_F(Flows, CountersAreAWitnessOfAConfirmationAndNoJudge) {
  open();
  target_.counters = {
      {{"first: counted time", 400, "us", ""}, {"hits", 7, "", ""}, {"second: counted time", 90, "us", ""}}, ""};
  const auto honest = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=500000"))}, {});
  ASSERT_TRUE(honest) << honest.error().message;
  ASSERT_EQ(honest->notes.size(), 1U);
  EXPECT_EQ(honest->notes[0].find("workload race: hardware counters saw kernels at work for 490.0 us, the race 50"), 0U)
      << honest->notes[0];
  EXPECT_EQ(honest->notes[0].find("far more"), std::string::npos);
  target_.counters.items = {{"counted time", 5000, "us", ""}};
  const auto odd = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=500000"))}, {});
  ASSERT_TRUE(odd && odd->notes.size() == 1);
  EXPECT_EQ(odd->verdict, Verdict::faster) << odd->reason;
  EXPECT_NE(odd->notes[0].find("far more than was raced"), std::string::npos) << odd->notes[0];
}

TEST_F(Flows, WhatWatchersFindIsNotConfirmed) {
  open();
  const auto unwatched = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=800000 leaks_on=37"))}, {});
  ASSERT_TRUE(unwatched);
  EXPECT_EQ(unwatched->status, Status::passed);
  EXPECT_TRUE(unwatched->notes.empty());
  EXPECT_TRUE(target_.watched.empty());
  target_.watches = true;
  const auto clean = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=800000 leaks_on=61"))}, {});
  ASSERT_TRUE(clean);
  EXPECT_EQ(clean->verdict, Verdict::faster) << clean->reason;
  EXPECT_EQ(clean->notes, (std::vector<std::string>{"workload check: watched", "workload race: watched"}));
  EXPECT_EQ(target_.watched, (std::vector<std::int64_t>{37, 100}));  // never the held-out one
  const auto leaky = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=800000 leaks_on=37"))}, {});
  ASSERT_TRUE(leaky);
  EXPECT_EQ(leaky->status, Status::runtime_error);
  EXPECT_EQ(leaky->reason, "workload check: the watcher found a leak");
  EXPECT_EQ(leaky->verdict, Verdict::none);
  EXPECT_TRUE(leaky->samples.empty());
  EXPECT_EQ(target_.calls_outside_lock, 0);
}

TEST_F(Flows, InputsThatDoNotFitIntoMemoryAreRefusedBeforeAnyIsDrawn) {
  model::Task task = fake_task();
  task.workloads[0].axes["M"] = std::int64_t{1} << 42;
  const auto report = evaluator_->ask(Open{task, {}}, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, base::ErrorCode::exhausted);
  EXPECT_NE(report.error().message.find("GiB are free; make the workloads smaller, or fewer"), std::string::npos)
      << report.error().message;
  EXPECT_EQ(target_.calls, 0);
}

TEST(MemoryNeed, CountsEverySetOfEveryWorkload) {
  model::Task task = fake_task();  // three families: 1, 2 and 3 slots are 3
  const double inputs = 4 * (100 + 37 + 61);
  const double outputs = 8 * (100 + 37 + 61);
  const double making = 8 * 100 * (5 + 8);
  EXPECT_EQ(memory_need(task, 9), 9 * (inputs + outputs) + making);
  EXPECT_EQ(memory_need(task, 1), 3 * (inputs + outputs) + making);
  EXPECT_TRUE(check_memory(task, 9, static_cast<std::uint64_t>(memory_need(task, 9))));
  EXPECT_FALSE(check_memory(task, 9, static_cast<std::uint64_t>(memory_need(task, 9)) - 1));
}

TEST_F(Flows, AKernelThatFailsWhileItIsProfiledDidNotPass) {
  open();
  const model::Solution kernel = fake_kernel("time=500000 bad_when_warm");
  EXPECT_EQ(evaluator_->ask(Race{model::Kernel(kernel), model::Kernel(fake_task().baseline)}, {})->status,
            Status::passed);
  const auto profile = evaluator_->ask(Profile{model::Kernel(kernel)}, {});
  ASSERT_TRUE(profile) << profile.error().message;
  model::Evaluation evaluation;
  evaluation.status = Status::passed;
  evaluation.verdict = Verdict::faster;
  evaluation.ratio = {2, 2, 2};
  evaluation.profile = *profile;
  EXPECT_TRUE(model::failed_in_profile(evaluation));
  model::take_failure(evaluation);
  EXPECT_EQ(evaluation.status, Status::incorrect_numerical);
  EXPECT_NE(evaluation.reason.find("while it was profiled: workload race"), std::string::npos) << evaluation.reason;
  EXPECT_EQ(evaluation.verdict, Verdict::none);
  EXPECT_FALSE(evaluation.ratio || evaluation.profile);
}

TEST_F(Flows, CountersOfTheLongestWorkloadStandInAProfile) {
  model::Task task = fake_task();
  task.workloads.push_back({"long", {{"M", 200}}, model::Role::race, 1.0});
  open(task);
  target_.counted.clear();
  target_.counters = {{{"hits", 0.5, "", "of all"}}, ""};
  const auto profile = evaluator_->ask(Profile{model::Kernel(task.baseline)}, {});
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(target_.counted, std::vector<std::int64_t>{200});
  EXPECT_EQ(
      std::count_if(profile->items.begin(), profile->items.end(),
                    [](const model::ProfileItem& item) { return item.name == "long: hits" && item.value == 0.5; }),
      1);
  EXPECT_TRUE(profile->notes.empty());
  target_.counters = {{}, "no counters here"};
  EXPECT_EQ(evaluator_->ask(Profile{model::Kernel(task.baseline)}, {})->notes,
            std::vector<std::string>{"no counters here"});
  EXPECT_EQ(target_.calls_outside_lock, 0);
}

TEST_F(Flows, StoredSamplesGiveTheVerdictAgain) {
  open();
  const model::Task task = fake_task();
  const auto check = [&](const model::Evaluation& evaluation) {
    const auto again = recompute(task, {}, evaluation);
    ASSERT_TRUE(again) << to_string(evaluation.kind);
    EXPECT_EQ(again->verdict, evaluation.verdict);
    EXPECT_DOUBLE_EQ(again->ratio.estimate, evaluation.ratio->estimate);
    EXPECT_DOUBLE_EQ(again->ratio.low, evaluation.ratio->low);
    EXPECT_EQ(again->blocks, evaluation.blocks);
  };
  check(triage("time=500000"));
  check(triage("time=1000000"));
  check(triage("time=1100000"));
  check(*evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=800000 shifted_time=850000"))}, {}));
  check(*evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=1000000"))}, {}));
  model::Evaluation damaged = triage("time=500000");
  damaged.samples.front().candidate_ns.clear();
  EXPECT_FALSE(recompute(task, {}, damaged));
  EXPECT_FALSE(recompute(task, {}, model::Evaluation{}));
}

TEST_F(Flows, ThePaperProtocolComparesMeans) {
  MeasureSettings settings;
  settings.protocol = model::Protocol::paper;
  open(fake_task(), settings);
  const model::Evaluation faster = triage("time=500000");
  EXPECT_EQ(faster.verdict, Verdict::faster);
  EXPECT_DOUBLE_EQ(faster.ratio->low, faster.ratio->high);
  const int before = target_.calls;
  triage("time=700000");
  EXPECT_LT(target_.calls - before, 120) << "the opponent's latency is the recorded one";
  const auto report = evaluator_->ask(PlayOff{{{model::Kernel(fake_kernel("time=1000000"))},
                                               {model::Kernel(fake_kernel("time=500000"))},
                                               {model::Kernel(fake_kernel("broken"))}},
                                              1},
                                      {});
  ASSERT_TRUE(report);
  EXPECT_NEAR(report->arms[1].score.estimate, 2.0, 0.05);
  EXPECT_FALSE(report->arms[2].measured);
  EXPECT_EQ(target_.repeats, 0);
}

TEST_F(Flows, AStopIsCancelled) {
  open();
  std::stop_source stop;
  stop.request_stop();
  for (const auto& result :
       {evaluator_->ask(Race{model::Kernel(fake_kernel("time=1")), model::Kernel(fake_kernel("time=1"))},
                        stop.get_token()),
        evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=1"))}, stop.get_token())}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::cancelled);
  }
}

TEST(CallLimit, IsFiveTimesTheParentAndALittle) {
  using std::chrono::milliseconds;
  EXPECT_EQ(call_limit(10e6, milliseconds{5000}), milliseconds{100});
  EXPECT_EQ(call_limit(10e9, milliseconds{5000}), milliseconds{5000});
  EXPECT_EQ(call_limit(0, milliseconds{5000}), milliseconds{5000}) << "unknown";
}

}  // namespace
}  // namespace accelopt::evaluation

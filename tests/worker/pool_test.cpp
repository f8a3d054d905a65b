// SPDX-License-Identifier: Apache-2.0
#include "worker/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/files.hpp"
#include "evaluation/fake_task.hpp"

namespace accelopt::worker {
namespace {

using base::ErrorCode;
using evaluation::source;
using evaluation::task;
using model::Solution;
using model::Status;

class WorkerPoolTest : public testing::Test {
 protected:
  WorkerPoolTest() : folder_(*base::TemporaryFolder::create("accelopt-pool-test")) {}

  std::unique_ptr<evaluation::Evaluator> pool() { return make_worker_pool({.workers = {worker()}}); }
  /// What starts a worker that misbehaves so; its starts are counted.
  WorkerCommand worker(const std::string& manner = "") {
    WorkerCommand command{{ACCELOPT_FAKE_WORKER, starts_file()}};
    if (!manner.empty()) command.words.push_back(manner);
    return command;
  }
  std::string starts_file() { return (folder_.path() / "starts").string(); }
  std::size_t starts() { return base::read_file(starts_file()).value_or("").size(); }
  std::unique_ptr<evaluation::Evaluator> open_pool() {
    auto out = pool();
    const auto report = out->ask(evaluation::Open{task()}, {});
    EXPECT_TRUE(report) << report.error().message;
    return out;
  }

  base::TemporaryFolder folder_;
};

TEST_F(WorkerPoolTest, CarriesEveryOperation) {
  const auto evaluator = pool();
  const auto opened = evaluator->ask(evaluation::Open{task()}, {});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->device.name, "fake");
  EXPECT_EQ(opened->baseline.status, Status::passed);

  const auto built = evaluator->ask(evaluation::Build{model::Kernel(source("compile_error"))}, {});
  ASSERT_TRUE(built);
  EXPECT_FALSE(built->built);
  EXPECT_EQ(built->diagnostics, "line 1: compile_error");

  const auto raced =
      evaluator->ask(evaluation::Race{model::Kernel(source("speed=2")), model::Kernel(source("speed=1"))}, {});
  ASSERT_TRUE(raced);
  EXPECT_EQ(raced->verdict, model::Verdict::faster);
  EXPECT_DOUBLE_EQ(raced->ratio->estimate, 2.0);

  const auto profile = evaluator->ask(evaluation::Profile{model::Kernel(source("speed=3"))}, {});
  ASSERT_TRUE(profile);
  EXPECT_DOUBLE_EQ(profile->items.at(0).value, 3.0);

  const auto report = evaluator->ask(
      evaluation::PlayOff{{{model::Kernel(source("speed=1"))}, {model::Kernel(source("speed=4"))}}, 1}, {});
  ASSERT_TRUE(report);
  EXPECT_DOUBLE_EQ(report->arms.at(1).score.estimate, 4.0);

  const auto held_out = evaluator->ask(evaluation::HeldOut{model::Kernel(source("held_out_bad"))}, {});
  ASSERT_TRUE(held_out);
  EXPECT_EQ(*held_out, Status::incorrect_numerical);

  const auto confirmed = evaluator->ask(evaluation::Confirm{model::Kernel(source("speed=2"))}, {});
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->kind, model::EvaluationKind::confirm);
  EXPECT_EQ(starts(), 1U);
}

TEST_F(WorkerPoolTest, ToldSharesArePassedOnAndUnknownEventsOver) {
  std::vector<std::string> told;
  const auto evaluator = make_worker_pool(
      {.workers = {worker()},
       .connection = {.progressed = [&](const model::StepShare& share) { told.push_back(describe(share)); }}});
  ASSERT_TRUE(evaluator->ask(evaluation::Open{task()}, {}));
  const auto raced =
      evaluator->ask(evaluation::Race{model::Kernel(source("progress speed=2")), model::Kernel(source("speed=1"))}, {});
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_DOUBLE_EQ(raced->ratio->estimate, 2.0);
  EXPECT_EQ(told, std::vector<std::string>{"12 of at most 100 blocks"});
}

TEST_F(WorkerPoolTest, SharesThatNobodyHearsDoNoHarm) {
  const auto raced = open_pool()->ask(
      evaluation::Race{model::Kernel(source("progress speed=2")), model::Kernel(source("speed=1"))}, {});
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_DOUBLE_EQ(raced->ratio->estimate, 2.0);
}

TEST_F(WorkerPoolTest, AnswersManyThreadsAtOnce) {
  const auto evaluator = open_pool();
  std::vector<std::jthread> threads;
  std::vector<double> speeds(16);
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      const auto raced = evaluator->ask(
          evaluation::Race{model::Kernel(source("speed=" + std::to_string(i + 1))), model::Kernel(source("speed=1"))},
          {});
      if (raced) speeds[static_cast<std::size_t>(i)] = raced->ratio->estimate;
    });
  }
  threads.clear();
  for (int i = 0; i < 16; ++i) EXPECT_DOUBLE_EQ(speeds[static_cast<std::size_t>(i)], i + 1.0);
}

TEST_F(WorkerPoolTest, OneDeathIsRetriedInAFreshWorker) {
  const auto evaluator = open_pool();
  const auto raced =
      evaluator->ask(evaluation::Race{model::Kernel(source("speed=2 die_once=" + (folder_.path() / "died").string())),
                                      model::Kernel(source("speed=1"))},
                     {});
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_EQ(raced->status, Status::passed);
  EXPECT_EQ(starts(), 2U);
}

TEST_F(WorkerPoolTest, TheSecondDeathIsTheSolutionsRuntimeError) {
  const auto evaluator = open_pool();
  const auto raced =
      evaluator->ask(evaluation::Race{model::Kernel(source("die_always")), model::Kernel(source("speed=1"))}, {});
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_EQ(raced->status, Status::runtime_error);
  EXPECT_NE(raced->reason.find("signal 9"), std::string::npos) << raced->reason;
  EXPECT_EQ(starts(), 2U);
  // The run goes on in a third worker.
  const auto next =
      evaluator->ask(evaluation::Race{model::Kernel(source("speed=2")), model::Kernel(source("speed=1"))}, {});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->status, Status::passed);
  EXPECT_EQ(starts(), 3U);
}

TEST_F(WorkerPoolTest, ThreeDeathsOfNobodyAreAnError) {
  const auto evaluator = open_pool();
  const auto built = evaluator->ask(evaluation::Build{model::Kernel(source("die_building"))}, {});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::unavailable);
  EXPECT_EQ(starts(), 3U);
}

TEST_F(WorkerPoolTest, AWorkerThatNeverStartsIsAnError) {
  const auto evaluator = make_worker_pool({.workers = {worker("fail")}});
  const auto opened = evaluator->ask(evaluation::Open{task()}, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::unavailable);
  EXPECT_NE(opened.error().message.find("exit code 3"), std::string::npos) << opened.error().message;
  EXPECT_EQ(starts(), 3U);
}

TEST_F(WorkerPoolTest, BannersBeforeTheHelloArePassedOver) {
  std::vector<Hello> heard;
  const auto evaluator = make_worker_pool(
      {.workers = {worker("banner")}, .connection = {.greeted = [&](const Hello& hello) { heard.push_back(hello); }}});
  const auto opened = evaluator->ask(evaluation::Open{task()}, {});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->device.name, "fake");
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].version, "9.9.9");
}

/// A clock that goes on by so much each time that it is read.
WorkerProcess::Now leaping(std::chrono::minutes leap) {
  const auto time = std::make_shared<std::atomic<std::int64_t>>(0);
  return [time, leap] { return std::chrono::steady_clock::time_point() + leap * time->fetch_add(1); };
}

TEST_F(WorkerPoolTest, AWorkerThatGoesOnTellingIsNotSilent) {
  // From each of its lines to the next one it takes 20 of the 30 minutes.
  const auto evaluator =
      make_worker_pool({.workers = {worker()}, .connection = {.now = leaping(std::chrono::minutes(20))}});
  ASSERT_TRUE(evaluator->ask(evaluation::Open{task()}, {}));
  const auto raced =
      evaluator->ask(evaluation::Race{model::Kernel(source("progress speed=2")), model::Kernel(source("speed=1"))}, {});
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_EQ(raced->status, Status::passed);
  EXPECT_EQ(starts(), 1U);
}

TEST_F(WorkerPoolTest, ASilentWorkerIsEndedAndSaidToBe) {
  std::vector<std::string> told;
  const auto evaluator =
      make_worker_pool({.workers = {worker("deaf")},
                        .connection = {.notice = [&](const std::string& text) { told.push_back(text); },
                                       .now = leaping(std::chrono::minutes(40))}});
  const auto opened = evaluator->ask(evaluation::Open{task()}, {});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("gave no answer for 30 minutes and was ended"), std::string::npos)
      << opened.error().message;
  EXPECT_EQ(opened.error().message.find("signal"), std::string::npos) << opened.error().message;
  ASSERT_EQ(told.size(), 3U);
  EXPECT_NE(told[0].find("was lost (the worker gave no answer for 30 minutes"), std::string::npos) << told[0];
}

TEST_F(WorkerPoolTest, AWorkerThatReadsNothingIsEnded) {
  const auto evaluator =
      make_worker_pool({.workers = {worker("deaf")}, .connection = {.send_limit = std::chrono::seconds(1)}});
  model::Task large = task();
  large.baseline = source(std::string(std::size_t{4} << 20, ' '));  // more than a channel holds
  const auto opened = evaluator->ask(evaluation::Open{large, {}}, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::unavailable);
  EXPECT_EQ(starts(), 3U);
}

/// How a worker misbehaves at its start, and what is said about it.
struct BadStart {
  const char* manner;
  ErrorCode code;
  std::vector<const char*> words;
  std::size_t starts;
  int limit_ms = 60'000;  ///< for the hello
};

class BadStarts : public WorkerPoolTest, public testing::WithParamInterface<BadStart> {};

TEST_P(BadStarts, AreErrorsWithTheReasonAndTheNextStep) {
  const auto evaluator =
      make_worker_pool({.workers = {worker(GetParam().manner)},
                        .connection = {.hello_limit = std::chrono::milliseconds(GetParam().limit_ms)}});
  model::Task cpu_task = task();
  cpu_task.target = "cpu";
  const auto opened = evaluator->ask(evaluation::Open{cpu_task, {}}, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, GetParam().code) << opened.error().message;
  for (const char* word : GetParam().words)
    EXPECT_NE(opened.error().message.find(word), std::string::npos) << opened.error().message;
  EXPECT_EQ(starts(), GetParam().starts);
}

INSTANTIATE_TEST_SUITE_P(
    WorkerPool, BadStarts,
    testing::Values(
        BadStart{"fail", ErrorCode::unavailable, {"exit code 3", "before it said hello", "doctor"}, 3},
        BadStart{"orphan", ErrorCode::unavailable, {"exit code 4"}, 3},
        BadStart{"missing", ErrorCode::not_found, {"accelopt: not found", "PATH"}, 1},
        BadStart{"babble", ErrorCode::unsupported, {"no such words are spoken", "accelopt worker"}, 1},
        BadStart{"silent", ErrorCode::timed_out, {"did not say hello within 1 s", "password"}, 1, 1000},
        BadStart{"old", ErrorCode::unsupported, {"accelopt 9.9.9", "version 0", "version 1", "same accelopt"}, 1},
        BadStart{"echo", ErrorCode::unsupported, {"echoes its input", "ssh -T"}, 1},
        BadStart{"cuda", ErrorCode::unsupported, {"measures on fake", "target cpu"}, 1}),
    [](const auto& tested) { return std::string(tested.param.manner); });

TEST_F(WorkerPoolTest, KeysStayOutOfItsEnvironment) {
  setenv("SOME_VENDOR_API_KEY", "sk-hidden", 1);          // NOLINT(concurrency-mt-unsafe): one thread
  setenv("MY_UNUSUAL_NAME", "sk-withheld", 1);            // NOLINT(concurrency-mt-unsafe): one thread
  setenv("KEYBOARD_AND_MONKEY", "these may be seen", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  const auto evaluator = make_worker_pool({.workers = {worker()}, .connection = {.withheld = {"MY_UNUSUAL_NAME"}}});
  ASSERT_TRUE(evaluator->ask(evaluation::Open{task()}, {}));
  const std::string file = (folder_.path() / "environment").string();
  ASSERT_TRUE(evaluator->ask(
      evaluation::Race{model::Kernel(source("speed=2 environment=" + file)), model::Kernel(source("speed=1"))}, {}));
  const std::string seen = base::read_file(file).value_or("");
  EXPECT_NE(seen.find("PATH="), std::string::npos) << seen;
  EXPECT_NE(seen.find("these may be seen"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("sk-"), std::string::npos) << seen;
}

TEST_F(WorkerPoolTest, AMissingWorkerIsNamed) {
  const auto opened =
      make_worker_pool({.workers = {{{"/nowhere/accelopt-worker"}}}})->ask(evaluation::Open{task()}, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::not_found);
  EXPECT_NE(opened.error().message.find("/nowhere/accelopt-worker"), std::string::npos);
}

TEST_F(WorkerPoolTest, AnswersThatNoMeasurementGivesAreErrors) {
  const auto evaluator = open_pool();
  for (const auto& [text, words] :
       {std::pair{"no_ratio", "it passed and has no ratio"}, std::pair{"low_end", "the ratio is no interval of ratios"},
        std::pair{"no_end", "the ratio is no interval of ratios"}, std::pair{"negative_time", "has no time"},
        std::pair{"zero_sample", "a sample is no time"}}) {
    const model::Kernel kernel(source(text));
    const auto raced = evaluator->ask(evaluation::Race{kernel, model::Kernel(source("speed=1"))}, {});
    const auto confirmed = evaluator->ask(evaluation::Confirm{kernel}, {});
    for (const auto* answer : {&raced, &confirmed}) {
      ASSERT_FALSE(*answer) << text;
      EXPECT_EQ(answer->error().code, ErrorCode::parse);
      EXPECT_TRUE(answer->error().message.starts_with("the worker's answer to ")) << answer->error().message;
      EXPECT_NE(answer->error().message.find(words), std::string::npos) << answer->error().message;
    }
  }
}

TEST_F(WorkerPoolTest, VerificationAlone_RacesHaveNoRatio) {
  const auto evaluator = pool();
  ASSERT_TRUE(evaluator->ask(evaluation::Open{task(), {.protocol = model::Protocol::verify}}, {}));
  const auto raced =
      evaluator->ask(evaluation::Race{model::Kernel(source("no_ratio")), model::Kernel(source("speed=1"))}, {});
  EXPECT_TRUE(raced) << raced.error().message;
}

TEST_F(WorkerPoolTest, AStopReachesTheWorker) {
  const auto evaluator = open_pool();
  std::stop_source stop;
  std::jthread stopper([&stop] { stop.request_stop(); });
  const auto raced = evaluator->ask(
      evaluation::Race{model::Kernel(source("wait_for_stop")), model::Kernel(source("speed=1"))}, stop.get_token());
  ASSERT_FALSE(raced);
  EXPECT_EQ(raced.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(evaluator->ask(evaluation::Race{model::Kernel(source("speed=2")), model::Kernel(source("speed=1"))}, {}))
      << "the worker measures on";
  EXPECT_EQ(starts(), 1U);
}

TEST_F(WorkerPoolTest, NothingWorksBeforeOpenAndOpenOnlyOnce) {
  const auto closed = pool();
  const auto early = closed->ask(evaluation::Build{model::Kernel(source("speed=1"))}, {});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::invalid_argument);
  const auto evaluator = open_pool();
  const auto again = evaluator->ask(evaluation::Open{task()}, {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace accelopt::worker

// SPDX-License-Identifier: Apache-2.0
// Several pools over the same workers, as a suite's runs have them.
#include "worker/placement.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "base/files.hpp"
#include "evaluation/fake_task.hpp"
#include "worker/pool.hpp"

namespace accelopt::worker {
namespace {

using evaluation::source;
using evaluation::task;
using std::chrono::seconds;

using Places = std::vector<std::size_t>;

TEST(Placement, Runs_SideBySide_BeginOnDifferentWorkers) {
  Placement placement(2, 2);
  EXPECT_EQ(placement.find_home(), Places{0});
  EXPECT_EQ(placement.find_home(), Places{1});
  placement.leave_home(1);
  EXPECT_EQ(placement.find_home(), Places{1}) << "its run has ended";
}

TEST(Placement, Home_OfMoreRunsThanWorkers_IsTheLeastBusy) {
  Placement placement(2, 4);
  placement.find_home();
  placement.find_home();
  placement.begin_measuring(0);
  EXPECT_EQ(placement.find_home(), Places{1});
}

TEST(Placement, Share_OfFewerRunsThanWorkers_IsSeveral) {
  EXPECT_EQ(Placement(4, 1).find_home(), (Places{0, 1, 2, 3}));
  Placement two(4, 2);
  EXPECT_EQ(two.find_home(), (Places{0, 1}));
  two.begin_opening(0);
  two.begin_opening(1);
  EXPECT_EQ(two.find_home(), (Places{2, 3}));
}

TEST(Placement, Home_PassesOverAWorkerThatFailed) {
  Placement placement(2, 2);
  placement.begin_opening(0);
  placement.fail_opening(0);
  EXPECT_EQ(placement.find_home(), Places{1});
  EXPECT_FALSE(placement.is_idle(0));
  placement.begin_opening(0);
  placement.end_opening(0, "tasks", DeviceKind{"device", "", ""});
  EXPECT_EQ(placement.find_home(), Places{0}) << "it is there again";
}

TEST(Placement, Kind_IsWhatTheFirstOfTheListSays) {
  Placement placement(2, 2);
  placement.begin_opening(0);
  placement.begin_opening(1);
  placement.end_opening(1, "tasks", DeviceKind{"other", "", ""});
  std::optional<Placement::Settled> settled;
  {
    const std::jthread waits([&](const std::stop_token& stop) { settled = placement.settle(1, "tasks", stop); });
    placement.end_opening(0, "tasks", DeviceKind{"device", "", ""});
  }
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->kind.name, "device");
  EXPECT_EQ(settled->worker, 0U);
}

TEST(Placement, Kind_OfAWorkerThatFailed_IsNotWaitedFor) {
  Placement placement(2, 2);
  placement.begin_opening(0);
  placement.begin_opening(1);
  placement.end_opening(1, "tasks", DeviceKind{"other", "", ""});
  placement.fail_opening(0);
  EXPECT_EQ(placement.settle(1, "tasks", {})->worker, 1U);
  placement.begin_opening(0);
  placement.end_opening(0, "tasks", DeviceKind{"device", "", ""});
  EXPECT_EQ(placement.settle(0, "tasks", {})->kind.name, "other") << "it stays what it was when the first run began";
}

TEST(Placement, Settle_WhenStopped_IsNone) {
  Placement placement(2, 2);
  placement.begin_opening(0);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(placement.settle(1, "tasks", stop.get_token()));
}

TEST(IdleWaiting, CountsWhatIdleWorkersCouldHaveTaken) {
  IdleWaiting waiting;
  const IdleWaiting::Time began{};
  waiting.note(began, 2, 0);
  waiting.note(began + seconds(1), 3, 1);  // nobody was idle
  waiting.note(began + seconds(3), 1, 4);  // one of three waited two seconds in vain
  EXPECT_EQ(waiting.waited(), seconds(2));
  waiting.note(began + seconds(4), -1, 4);
  EXPECT_EQ(waiting.waited(), seconds(3));
  waiting.note(began + seconds(9), 0, 4);
  EXPECT_EQ(waiting.waited(), seconds(3)) << "nobody waited";
  waiting.forget();
  EXPECT_EQ(waiting.waited(), seconds(0));
}

class PlacedPools : public testing::Test {
 protected:
  PlacedPools() : folder_(*base::TemporaryFolder::create("accelopt-placement-test")) {}

  std::unique_ptr<evaluation::Evaluator> pool(const std::shared_ptr<Placement>& placement,
                                              const std::vector<std::string>& manners = {"", ""}) {
    PoolOptions options{.workers = {}, .connection = {}, .placement = placement};
    for (std::size_t i = 0; i < manners.size(); ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      options.workers.push_back({{ACCELOPT_FAKE_WORKER, path(name)}, name});
      if (!manners[i].empty()) options.workers.back().words.push_back(manners[i]);
    }
    options.connection.notice = [this](const std::string& text) { notices_ += text + "\n"; };
    return make_worker_pool(std::move(options));
  }
  /// On which worker the baseline was verified; "(error)" where it was not.
  static std::string home_of(evaluation::Evaluator& evaluator) {
    const auto opened = evaluator.ask(evaluation::Open{task()}, {});
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? opened->baseline.environment.worker : "(error)";
  }
  static std::string racer_of(evaluation::Evaluator& evaluator, const std::string& text) {
    const auto raced =
        evaluator.ask(evaluation::Race{model::Kernel(source(text)), model::Kernel(source("speed=1"))}, {});
    EXPECT_TRUE(raced) << raced.error().message;
    return raced ? raced->environment.worker : "(error)";
  }
  std::string path(const std::string& name) { return (folder_.path() / name).string(); }
  std::size_t starts(const std::string& name) { return base::read_file(path(name)).value_or("").size(); }

  base::TemporaryFolder folder_;
  std::string notices_;
};

TEST_F(PlacedPools, TwoRuns_OnTwoWorkers_OpenEachTaskOnce) {
  const auto placement = std::make_shared<Placement>(2, 2);
  const auto one = pool(placement);
  EXPECT_EQ(home_of(*one), "a");
  const auto two = pool(placement);
  EXPECT_EQ(home_of(*two), "b");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(racer_of(*one, "speed=" + std::to_string(2 + i)), "a");
    EXPECT_EQ(racer_of(*two, "speed=" + std::to_string(2 + i)), "b");
  }
  EXPECT_EQ(starts("a") + starts("b"), 2U);
}

TEST_F(PlacedPools, RunThatEnds_LeavesItsWorkerToTheNext) {
  const auto placement = std::make_shared<Placement>(2, 2);
  auto one = pool(placement);
  auto two = pool(placement);
  EXPECT_EQ(home_of(*one), "a");
  EXPECT_EQ(home_of(*two), "b");
  two.reset();
  const auto three = pool(placement);
  EXPECT_EQ(home_of(*three), "b");
}

TEST_F(PlacedPools, RequestsThatWait_OpenTheTaskOnAnIdleWorker) {
  const auto evaluator = pool(std::make_shared<Placement>(2, 2));
  EXPECT_EQ(home_of(*evaluator), "a");
  // The two wait behind each other until a third, which the other worker takes, lets them go.
  std::string first;
  std::string second;
  const auto meet = [&](const std::string& own, const std::string& other) {
    return racer_of(*evaluator, "speed=2 meets=" + path(own) + "," + path(other));
  };
  const std::jthread one([&] { first = meet("one", "three"); });
  const std::jthread two([&] { second = meet("two", "three"); });
  const auto began = std::chrono::steady_clock::now();
  while (starts("b") == 0 && std::chrono::steady_clock::now() - began < seconds(60))
    EXPECT_TRUE(evaluator->ask(evaluation::Build{model::Kernel(source("speed=3"))}, {}));
  EXPECT_EQ(starts("b"), 1U) << "they waited as long as an opening takes";
  EXPECT_TRUE(base::write_file(path("three"), "x"));
}

TEST_F(PlacedPools, BusyWorker_OfAnotherRun_IsLeftToIt) {
  const auto placement = std::make_shared<Placement>(2, 2);
  const auto evaluator = pool(placement);
  EXPECT_EQ(home_of(*evaluator), "a");
  placement->begin_measuring(1);  // by another run
  {
    const std::jthread one([&] { racer_of(*evaluator, "speed=2 meets=" + path("one") + "," + path("go")); });
    const std::jthread two([&] { racer_of(*evaluator, "speed=3 meets=" + path("two") + "," + path("go")); });
    for (int i = 0; i < 300; ++i)  // many times as long as an opening takes
      EXPECT_TRUE(evaluator->ask(evaluation::Build{model::Kernel(source("speed=4"))}, {}));
    EXPECT_TRUE(base::write_file(path("go"), "x"));
  }
  EXPECT_EQ(starts("b"), 0U);
}

TEST_F(PlacedPools, Death_OpensTheTaskOnTheOther) {
  const auto evaluator = pool(std::make_shared<Placement>(2, 2), {"once", ""});
  EXPECT_EQ(home_of(*evaluator), "a");
  EXPECT_EQ(racer_of(*evaluator, "speed=2 die_once=" + path("died")), "b");
  EXPECT_EQ(starts("b"), 1U);
}

TEST_F(PlacedPools, FullDisk_OpensTheTaskOnTheOtherInEveryRun) {
  const auto placement = std::make_shared<Placement>(2, 2);
  const auto one = pool(placement, {"full", ""});
  EXPECT_EQ(home_of(*one), "a");
  EXPECT_TRUE(one->ask(evaluation::Build{model::Kernel(source("speed=2"))}, {}));
  EXPECT_NE(notices_.find("the worker \"a\" is given up: the disk is full"), std::string::npos) << notices_;
  EXPECT_EQ(home_of(*pool(placement, {"full", ""})), "b") << "the second run begins elsewhere";
}

TEST_F(PlacedPools, HomeThatCannotOpen_IsPassedOver) {
  const auto placement = std::make_shared<Placement>(2, 2);
  const auto one = pool(placement, {"fail", ""});
  EXPECT_EQ(home_of(*one), "b");
  EXPECT_NE(notices_.find("the worker \"a\" died 3 times"), std::string::npos) << notices_;
  const auto two = pool(placement, {"fail", ""});
  EXPECT_EQ(home_of(*two), "b");
  EXPECT_EQ(starts("a"), 3U) << "the second run did not try it";
}

TEST_F(PlacedPools, DeviceOfAnotherKind_IsRefusedInEveryRun) {
  const auto placement = std::make_shared<Placement>(2, 2);
  const auto one = pool(placement, {"", "device"});
  EXPECT_EQ(home_of(*one), "a");
  const auto two = pool(placement, {"", "device"});
  EXPECT_EQ(home_of(*two), "a") << "a suite's tasks are measured on one kind of device";
  EXPECT_NE(
      notices_.find("the worker \"b\" is refused: its device is \"another device\", and that of the worker \"a\" was"),
      std::string::npos)
      << notices_;
}

}  // namespace
}  // namespace accelopt::worker

// SPDX-License-Identifier: Apache-2.0
// Several workers behind one evaluator.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "base/files.hpp"
#include "evaluation/fake_task.hpp"
#include "worker/pool.hpp"

namespace accelopt::worker {
namespace {

using base::ErrorCode;
using evaluation::source;
using evaluation::task;
using model::Status;

constexpr std::chrono::seconds kPatience{60};  ///< for what another thread does

/// What a pool says of its workers.
class Notices {
 public:
  std::function<void(const std::string&)> sink() {
    return [this](const std::string& text) {
      {
        const std::lock_guard lock(mutex_);
        texts_.push_back(text);
      }
      changed_.notify_all();
    };
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return texts_;
  }
  /// Waits until a notice holds the words.
  bool come(const std::string& words) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return holds(words); });
  }
  bool has(const std::string& words) {
    const std::lock_guard lock(mutex_);
    return holds(words);
  }

 private:
  bool holds(const std::string& words) const {
    return std::any_of(texts_.begin(), texts_.end(),
                       [&](const std::string& text) { return text.find(words) != std::string::npos; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
};

class SeveralWorkers : public testing::Test {
 protected:
  SeveralWorkers() : folder_(*base::TemporaryFolder::create("accelopt-pool-test")) {}

  /// A worker of this name, which counts its starts in a file of its own.
  WorkerCommand worker(const std::string& name, const std::string& manner = "") {
    WorkerCommand command{{ACCELOPT_FAKE_WORKER, path(name)}, name};
    if (!manner.empty()) command.words.push_back(manner);
    return command;
  }
  std::unique_ptr<evaluation::Evaluator> pool(std::vector<WorkerCommand> workers) {
    return make_worker_pool({.workers = std::move(workers), .connection = {.notice = notices_.sink()}});
  }
  std::unique_ptr<evaluation::Evaluator> open_pool(std::vector<WorkerCommand> workers) {
    auto out = pool(std::move(workers));
    const auto report = out->ask(evaluation::Open{task()}, {});
    EXPECT_TRUE(report) << report.error().message;
    return out;
  }
  std::string path(const std::string& name) { return (folder_.path() / name).string(); }
  std::size_t starts(const std::string& name) { return base::read_file(path(name)).value_or("").size(); }
  /// Who measures the solution against the baseline; "(error)" where nobody does.
  static std::string racer_of(evaluation::Evaluator& evaluator, const std::string& text) {
    const auto raced =
        evaluator.ask(evaluation::Race{model::Kernel(source(text)), model::Kernel(source("speed=1"))}, {});
    EXPECT_TRUE(raced) << raced.error().message;
    return raced ? raced->environment.worker : "(error)";
  }

  base::TemporaryFolder folder_;
  Notices notices_;
};

TEST_F(SeveralWorkers, Races_AtOnce_MeetOnTwoWorkers) {
  const auto evaluator = open_pool({worker("a"), worker("b")});
  std::string first;
  std::string second;
  {
    const std::jthread other([&] { first = racer_of(*evaluator, "speed=2 meets=" + path("one") + "," + path("two")); });
    second = racer_of(*evaluator, "speed=3 meets=" + path("two") + "," + path("one"));
  }
  EXPECT_EQ((std::set<std::string>{first, second}), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(starts("a"), 1U);
  EXPECT_EQ(starts("b"), 1U);
  EXPECT_TRUE(notices_.all().empty()) << notices_.all().front();
}

TEST_F(SeveralWorkers, Open_NamesWhoVerifiedTheBaseline) {
  const auto opened = pool({worker("a"), worker("b")})->ask(evaluation::Open{task()}, {});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->baseline.environment.worker, "a");
  const auto alone = pool({worker("a")})->ask(evaluation::Open{task()}, {});
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(alone->baseline.environment.worker, "") << "one worker is not told from others";
}

TEST_F(SeveralWorkers, Inputs_DifferByWorker) {
  const auto evaluator = pool({worker("a"), worker("b")});
  evaluation::MeasureSettings settings;
  settings.seed = 7;
  ASSERT_TRUE(evaluator->ask(evaluation::Open{task(), settings}, {}));
  const auto on_the_first = evaluator->ask(
      evaluation::Race{model::Kernel(source("speed=2 tells_seed")), model::Kernel(source("speed=1"))}, {});
  const auto on_the_other =
      evaluator->ask(evaluation::Race{model::Kernel(source("speed=2 tells_seed die_once=" + path("died"))),
                                      model::Kernel(source("speed=1"))},
                     {});
  ASSERT_TRUE(on_the_first && on_the_other);
  EXPECT_EQ(on_the_first->environment.seed, 7U) << "as where there is one worker";
  EXPECT_EQ(on_the_other->environment.worker, "b");
  EXPECT_NE(on_the_other->environment.seed, 7U);
}

TEST_F(SeveralWorkers, Names_OfEqualCommands_Differ) {
  WorkerCommand command{{ACCELOPT_FAKE_WORKER, path("a")}};
  const auto evaluator = open_pool({command, command});
  std::string first;
  std::string second;
  {
    const std::jthread other([&] { first = racer_of(*evaluator, "speed=2 meets=" + path("one") + "," + path("two")); });
    second = racer_of(*evaluator, "speed=3 meets=" + path("two") + "," + path("one"));
  }
  const std::string name = std::string(ACCELOPT_FAKE_WORKER) + " " + path("a");
  EXPECT_EQ((std::set<std::string>{first, second}), (std::set<std::string>{name, name + " (2)"}));
}

TEST_F(SeveralWorkers, Death_MovesTheRaceToTheOther) {
  const auto evaluator = open_pool({worker("a"), worker("b")});
  EXPECT_EQ(racer_of(*evaluator, "speed=2 die_once=" + path("died")), "b");
  const auto said = notices_.all();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("the worker \"a\" was lost (the worker was ended by signal 9"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("the others do its work meanwhile"), std::string::npos) << said[0];
}

TEST_F(SeveralWorkers, Deaths_OneAfterTheOther_LeaveNothingUndone) {
  const auto evaluator = open_pool({worker("a"), worker("b")});
  for (int i = 0; i < 6; ++i) {
    const auto raced =
        evaluator->ask(evaluation::Race{model::Kernel(source("speed=2 die_once=" + path("died" + std::to_string(i)))),
                                        model::Kernel(source("speed=1"))},
                       {});
    ASSERT_TRUE(raced) << raced.error().message;
    EXPECT_EQ(raced->status, Status::passed);
  }
  EXPECT_EQ(notices_.all().size(), 6U) << "each loss is told once";
}

TEST_F(SeveralWorkers, SecondDeath_OnAnotherWorker_IsTheSolutions) {
  const auto evaluator = open_pool({worker("a"), worker("b")});
  const auto raced =
      evaluator->ask(evaluation::Race{model::Kernel(source("die_always")), model::Kernel(source("speed=1"))}, {});
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_EQ(raced->status, Status::runtime_error);
  EXPECT_NE(raced->reason.find("signal 9"), std::string::npos) << raced->reason;
  EXPECT_TRUE(notices_.has("\"a\" was lost"));
  EXPECT_TRUE(notices_.has("\"b\" was lost"));
  EXPECT_NE(racer_of(*evaluator, "speed=2"), "") << "one of them was started again";
}

TEST_F(SeveralWorkers, ThirdDeathOfNobody_IsAnError) {
  const auto built =
      open_pool({worker("a"), worker("b")})->ask(evaluation::Build{model::Kernel(source("die_building"))}, {});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::unavailable);
}

TEST_F(SeveralWorkers, LostForGood_LeavesTheRunToTheOthers) {
  const auto evaluator = open_pool({worker("a", "once"), worker("b")});
  EXPECT_EQ(racer_of(*evaluator, "speed=2 die_once=" + path("died")), "b");
  ASSERT_TRUE(notices_.come("1 of 2 workers are left"));
  EXPECT_TRUE(notices_.has("the worker \"a\" died 3 times"));
  EXPECT_EQ(racer_of(*evaluator, "speed=3"), "b");
  EXPECT_EQ(notices_.all().size(), 2U) << "lost, and given up: each once";
  EXPECT_EQ(starts("a"), 4U);
}

TEST_F(SeveralWorkers, AllLostForGood_IsAnError) {
  const auto evaluator = open_pool({worker("a", "once"), worker("b", "once")});
  EXPECT_EQ(racer_of(*evaluator, "speed=2 die_once=" + path("died")), "b");
  const auto raced = evaluator->ask(
      evaluation::Race{model::Kernel(source("speed=3 die_once=" + path("died too"))), model::Kernel(source("speed=1"))},
      {});
  ASSERT_FALSE(raced);
  EXPECT_EQ(raced.error().code, ErrorCode::unavailable);
  EXPECT_NE(raced.error().message.find("no worker is left"), std::string::npos) << raced.error().message;
  EXPECT_NE(raced.error().message.find("exit code 3"), std::string::npos) << raced.error().message;
}

TEST_F(SeveralWorkers, DiesAtEveryBuild_IsGivenUp) {
  const auto evaluator = open_pool({worker("a", "dies_building"), worker("b")});
  for (int i = 0; !notices_.has("is given up"); ++i) {
    ASSERT_LT(starts("a"), 4U) << "it was started again and again";
    const auto built = evaluator->ask(evaluation::Build{model::Kernel(source("speed=" + std::to_string(i + 1)))}, {});
    ASSERT_TRUE(built) << built.error().message;
    EXPECT_TRUE(built->built);
  }
  EXPECT_TRUE(notices_.has("the worker \"a\" is given up: it died 3 times between two answers; 1 of 2"));
}

TEST_F(SeveralWorkers, FullDisk_LeavesTheRunToTheOthers) {
  const auto evaluator = open_pool({worker("a", "full"), worker("b"), worker("c")});
  for (int i = 0; i < 3; ++i) {
    const auto built = evaluator->ask(evaluation::Build{model::Kernel(source("speed=" + std::to_string(i + 2)))}, {});
    ASSERT_TRUE(built) << built.error().message;
    EXPECT_TRUE(built->built);
  }
  EXPECT_EQ(notices_.all(),
            std::vector<std::string>{"the worker \"a\" is given up: the disk is full; 2 of 3 workers are left"});
  EXPECT_EQ(racer_of(*evaluator, "speed=2"), "b");
}

TEST_F(SeveralWorkers, FullDisks_OfAll_AreAnErrorThatNamesOne) {
  const auto built = open_pool({worker("a", "full"), worker("b", "full")})
                         ->ask(evaluation::Build{model::Kernel(source("speed=2"))}, {});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::exhausted);
  EXPECT_EQ(built.error().message, "no worker is left: the worker \"a\" is given up: the disk is full");
}

TEST_F(SeveralWorkers, OtherErrors_NameTheirWorker) {
  const auto built =
      open_pool({worker("a", "unsure"), worker("b")})->ask(evaluation::Build{model::Kernel(source("speed=2"))}, {});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().message, "the worker \"a\": no such kernels");
}

TEST_F(SeveralWorkers, UnusableAtTheStart_IsTold) {
  const auto evaluator = open_pool({worker("a", "fail"), worker("b")});
  EXPECT_EQ(racer_of(*evaluator, "speed=2"), "b");
  const auto said = notices_.all();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("the worker \"a\" died 3 times"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("1 of 2 workers are left"), std::string::npos) << said[0];
}

TEST_F(SeveralWorkers, AllUnusableAtTheStart_IsAnError) {
  const auto opened = pool({worker("a", "fail"), worker("b", "missing")})->ask(evaluation::Open{task()}, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::unavailable);
  EXPECT_NE(opened.error().message.find("no worker is left: the worker \"a\""), std::string::npos)
      << opened.error().message;
}

/// What a worker says of itself, and how it is refused.
struct Stranger {
  const char* manner;
  const char* words;
};

class Strangers : public SeveralWorkers, public testing::WithParamInterface<Stranger> {};

TEST_P(Strangers, Open_RefusesThemByName) {
  const auto evaluator = open_pool({worker("a"), worker("b", GetParam().manner), worker("c")});
  const auto said = notices_.all();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("the worker \"b\""), std::string::npos) << said[0];
  EXPECT_NE(said[0].find(GetParam().words), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("2 of 3 workers are left"), std::string::npos) << said[0];
  std::string first;
  std::string second;
  {
    const std::jthread other([&] { first = racer_of(*evaluator, "speed=2 meets=" + path("one") + "," + path("two")); });
    second = racer_of(*evaluator, "speed=3 meets=" + path("two") + "," + path("one"));
  }
  EXPECT_EQ((std::set<std::string>{first, second}), (std::set<std::string>{"a", "c"}));
}

INSTANTIATE_TEST_SUITE_P(
    WorkerPool, Strangers,
    testing::Values(Stranger{"device",
                             "is refused: its device is \"another device\", and that of the worker \"a\" was \"fake\""},
                    Stranger{"driver", "its device and driver are \"fake, driver 2\""},
                    Stranger{"compiler", "its compiler is \"g++ 99\""}, Stranger{"wrong", "the baseline"},
                    Stranger{"cuda", "measures on fake"}),
    [](const auto& tested) { return std::string(tested.param.manner); });

TEST_F(SeveralWorkers, StartedAgainElsewhere_IsRefused) {
  const auto evaluator = open_pool({worker("a", "moves"), worker("b")});
  EXPECT_EQ(racer_of(*evaluator, "speed=2 die_once=" + path("died")), "b");
  ASSERT_TRUE(notices_.come("the worker \"a\" is refused: its device is \"another device\""));
  EXPECT_EQ(racer_of(*evaluator, "speed=3"), "b");
  const auto alone = open_pool({worker("c", "moves")});
  const auto raced = alone->ask(
      evaluation::Race{model::Kernel(source("speed=2 die_once=" + path("died too"))), model::Kernel(source("speed=1"))},
      {});
  ASSERT_FALSE(raced) << "its times would be compared with those of another device";
  EXPECT_EQ(raced.error().code, ErrorCode::unsupported);
  EXPECT_NE(raced.error().message.find("another device"), std::string::npos) << raced.error().message;
}

TEST_F(SeveralWorkers, Open_TakesTheKindOnWhichTheBaselinePasses) {
  const auto evaluator = open_pool({worker("a", "wrong"), worker("b")});
  EXPECT_EQ(racer_of(*evaluator, "speed=2"), "b");
  EXPECT_TRUE(notices_.has("the worker \"a\" is refused: the baseline"));
}

}  // namespace
}  // namespace accelopt::worker

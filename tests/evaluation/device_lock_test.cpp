// SPDX-License-Identifier: Apache-2.0
#include "evaluation/device_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace accelopt::evaluation {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;
using State = model::DeviceWait::State;
constexpr std::int64_t kNow = 1'700'000'000'000;

/// A lock whose time passes only while it waits; `at` does something at a time.
class DeviceLocks : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-lock");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    use_.told = [this](const model::DeviceWait& wait) { told_.push_back(wait); };
  }

  [[nodiscard]] std::string path() const { return (folder_->path() / "device.lock").string(); }

  [[nodiscard]] WaitClock clock() {
    return {.now = [this] { return std::chrono::steady_clock::time_point(passed_); },
            .pause =
                [this](milliseconds time) {
                  passed_ += time;
                  if (event_ && passed_ >= event_at_) std::exchange(event_, nullptr)();
                },
            .unix_ms = [this] { return kNow + std::chrono::duration_cast<milliseconds>(passed_).count(); }};
  }

  DeviceLock lock() {
    auto made = DeviceLock::open(path(), clock());
    EXPECT_TRUE(made);
    return std::move(*made);
  }

  /// The file's lock as somebody holds it who is no accelopt.
  [[nodiscard]] base::FileDescriptor held_by_a_stranger(const std::string& file) const {
    base::FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644));
    EXPECT_EQ(::flock(descriptor.get(), LOCK_EX | LOCK_NB), 0);
    return descriptor;
  }

  void at(seconds when, std::function<void()> event) {
    event_at_ = when;
    event_ = std::move(event);
  }

  DeviceUse use_;
  std::vector<model::DeviceWait> told_;
  std::chrono::nanoseconds passed_{0};

 private:
  std::optional<base::TemporaryFolder> folder_;
  std::function<void()> event_;
  std::chrono::nanoseconds event_at_{0};
};

TEST_F(DeviceLocks, AFreeOneIsTakenAtOnceAndSilently) {
  DeviceLock mine = lock();
  ASSERT_TRUE(mine.acquire(use_));
  EXPECT_EQ(use_.waited.count(), 0);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(base::read_file(path()).value_or(""), std::to_string(::getpid()) + " " + std::to_string(kNow) + "\n");
  mine.release();
}

TEST_F(DeviceLocks, WhoWaitsIsToldWhoHoldsItAndSinceWhen) {
  DeviceLock other = lock();
  DeviceUse of_other;
  ASSERT_TRUE(other.acquire(of_other));
  DeviceLock mine = lock();
  at(seconds(5), [&] { other.release(); });
  ASSERT_TRUE(mine.acquire(use_));
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[0].state, State::waiting);
  EXPECT_EQ(told_[0].holder.pid, ::getpid());
  EXPECT_EQ(told_[0].holder.since_ms, kNow);
  EXPECT_FALSE(told_[0].holder.command.empty());
  EXPECT_FALSE(told_[0].holder.user.empty());
  EXPECT_EQ(told_[1].state, State::over);
  EXPECT_NEAR(told_[1].seconds, 5, 0.1);
  EXPECT_NEAR(use_.waited_seconds(), 5, 0.1);
  EXPECT_TRUE(use_.shared_with.empty());
}

TEST_F(DeviceLocks, AShortWaitCountsAndIsNotTold) {
  const auto stranger = std::make_shared<base::FileDescriptor>(held_by_a_stranger(path()));
  DeviceLock mine = lock();
  at(seconds(0), [&] { stranger->reset(); });
  ASSERT_TRUE(mine.acquire(use_));
  EXPECT_GT(use_.waited.count(), 0);
  EXPECT_TRUE(told_.empty());
}

TEST_F(DeviceLocks, WhoeverIsNextNoticesTheEndAtOnce) {
  const auto stranger = std::make_shared<base::FileDescriptor>(held_by_a_stranger(path()));
  DeviceLock mine = lock();
  at(seconds(1), [&] { stranger->reset(); });
  ASSERT_TRUE(mine.acquire(use_));
  EXPECT_GE(use_.waited, seconds(1));
  EXPECT_LE(use_.waited, seconds(1) + milliseconds(2));
}

TEST_F(DeviceLocks, AStrangerDelaysAMeasurementByAMinuteAtMost) {
  base::FileDescriptor stranger = held_by_a_stranger(path());
  DeviceLock mine = lock();
  ASSERT_TRUE(mine.acquire(use_));
  EXPECT_EQ(use_.waited, DeviceLock::kPatience);
  EXPECT_NE(use_.shared_with.find("process " + std::to_string(::getpid())), std::string::npos) << use_.shared_with;
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[1].state, State::shared);
  mine.release();
  // Who kept it for a minute is not waited for again, and that goes on to be said.
  use_.begin({});
  ASSERT_TRUE(mine.acquire(use_));
  EXPECT_EQ(use_.waited, DeviceLock::kPatience);
  EXPECT_FALSE(use_.shared_with.empty());
  mine.release();
  stranger.reset();
  use_.begin({});
  ASSERT_TRUE(mine.acquire(use_));
  EXPECT_TRUE(use_.shared_with.empty()) << "the device is free again";
  DeviceLock other = lock();
  at(seconds(0), [] {});
  DeviceUse impatient;
  std::stop_source stop;
  stop.request_stop();
  impatient.begin(stop.get_token());
  EXPECT_FALSE(other.acquire(impatient)) << "it excludes others again";
}

TEST_F(DeviceLocks, AStrangerInTheQueueDelaysNoLonger) {
  const base::FileDescriptor stranger = held_by_a_stranger(path() + ".queue");
  DeviceLock mine = lock();
  ASSERT_TRUE(mine.acquire(use_));
  EXPECT_EQ(use_.waited, DeviceLock::kPatience);
  EXPECT_TRUE(use_.shared_with.empty()) << "the device itself was free";
}

TEST_F(DeviceLocks, ThoseWhoGoOnWithoutTheLockExcludeOneAnother) {
  const base::FileDescriptor stranger = held_by_a_stranger(path());
  DeviceLock one = lock();
  DeviceLock two = lock();
  ASSERT_TRUE(one.acquire(use_));
  DeviceUse of_two;
  const auto began = passed_;
  at(std::chrono::duration_cast<seconds>(passed_) + seconds(7), [&] { one.release(); });
  ASSERT_TRUE(two.acquire(of_two));
  EXPECT_GE(passed_ - began, seconds(6)) << "not before the first one has measured";
}

TEST_F(DeviceLocks, WhoHasMeasuredLetsTheOneWhoWaitsGoFirst) {
  DeviceLock one = lock();
  DeviceLock two = lock();
  ASSERT_TRUE(one.acquire(use_));
  DeviceUse of_two;
  bool again = true;
  at(seconds(2), [&] {
    one.release();
    std::stop_source stop;
    stop.request_stop();
    DeviceUse eager;
    eager.begin(stop.get_token());
    again = one.acquire(eager).has_value();
  });
  ASSERT_TRUE(two.acquire(of_two));
  EXPECT_FALSE(again);
}

TEST_F(DeviceLocks, AStopEndsTheWaitAtOnce) {
  const base::FileDescriptor stranger = held_by_a_stranger(path());
  DeviceLock mine = lock();
  std::stop_source stop;
  use_.begin(stop.get_token());
  at(seconds(3), [&] { stop.request_stop(); });
  const auto stopped = mine.acquire(use_);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, base::ErrorCode::cancelled);
  EXPECT_NEAR(use_.waited_seconds(), 3, 0.1);
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[1].state, State::over);
}

TEST_F(DeviceLocks, StoppingToWaitEndsLongWaitsAlone) {
  auto stranger = std::make_shared<base::FileDescriptor>(held_by_a_stranger(path()));
  DeviceLock mine = lock();
  std::stop_source stop_waiting;
  use_.stop_waiting = stop_waiting.get_token();
  stop_waiting.request_stop();
  at(seconds(0), [&] { stranger->reset(); });
  ASSERT_TRUE(mine.acquire(use_)) << "others measure block by block: such a wait goes on";
  mine.release();
  const base::FileDescriptor again = held_by_a_stranger(path());
  EXPECT_EQ(mine.acquire(use_).error().code, base::ErrorCode::cancelled);
  EXPECT_NEAR(use_.waited_seconds(), 1, 0.1);
}

TEST_F(DeviceLocks, HoldsNest) {
  DeviceLock mine = lock();
  auto outer = hold(mine, use_);
  ASSERT_TRUE(outer);
  { ASSERT_TRUE(hold(mine, use_)); }
  const base::FileDescriptor other(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_NE(::flock(other.get(), LOCK_EX | LOCK_NB), 0) << "the inner hold gave it back";
  outer->reset();
  EXPECT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(DeviceLocks, WhatLiesInTheFileIsOnlyText) {
  const std::string self = std::to_string(::getpid());
  for (const std::string& text : {std::string("\x1b[31m; rm -rf /\n"), self + " 99999999999999999999\n", self + " -5\n",
                                  self + "\n", self + " 1e9\n", std::string(5000, '9'), std::string("1 1\n"),
                                  self + " " + std::to_string(kNow + 1'000'000) + "\n"}) {
    ASSERT_TRUE(base::write_file(path(), text));
    const base::FileDescriptor stranger = held_by_a_stranger(path());
    told_.clear();
    use_.begin({});
    passed_ = {};
    DeviceLock mine = lock();
    ASSERT_TRUE(mine.acquire(use_));
    ASSERT_EQ(told_.size(), 2U);
    EXPECT_EQ(told_[0].holder.pid, ::getpid());
    EXPECT_GE(told_[0].holder.since_ms, kNow + 1000) << "when it was first seen: " << text.substr(0, 40);
    EXPECT_LT(told_[0].holder.since_ms, kNow + 1100) << text.substr(0, 40);
    mine.release();
  }
  ASSERT_TRUE(base::write_file(path(), std::string(5000, 'x')));
  DeviceLock mine = lock();
  ASSERT_TRUE(mine.acquire(use_));
  EXPECT_EQ(base::read_file(path()).value_or(""), std::string(5000, 'x')) << "somebody's file is left alone";
}

TEST_F(DeviceLocks, OddFilesInItsPlaceHangNobody) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0644), 0);
  DeviceLock mine = lock();
  EXPECT_TRUE(mine.acquire(use_));
  fs::remove(path());
  fs::create_symlink("/etc/passwd", path());
  EXPECT_FALSE(DeviceLock::open(path()));
  EXPECT_FALSE(DeviceLock::open("/nowhere/lock"));
}

TEST(DeviceWaits, NamesOfOthersBecomePrintableAndShort) {
  const base::Json json = {
      {"state", "shared"}, {"pid", nullptr},      {"command", "\x1b[2Jevil\n" + std::string(100, 'x')},
      {"user", "ann"},     {"since_ms", nullptr}, {"seconds", 61.0}};
  const auto wait = base::decode<model::DeviceWait>(json, "a wait");
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->holder.command.substr(0, 9), "?[2Jevil?");
  EXPECT_EQ(wait->holder.command.size(), 32U);
  EXPECT_EQ(describe(*wait).find('\n'), std::string::npos);
  EXPECT_NE(describe(*wait).find("a process that cannot be seen from here"), std::string::npos) << describe(*wait);
}

}  // namespace
}  // namespace accelopt::evaluation
